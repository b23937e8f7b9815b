// Package kafkaproxy stands between a program and a Kafka cluster and breaks
// what a network, a broker or a colleague may break, at the very request that
// a test names.
//
// A Proxy has one listener for each broker. It reads the requests that pass,
// and in the answers that name brokers (Metadata, FindCoordinator,
// DescribeCluster, and the hints in Produce and Fetch) it puts its own
// listeners in place of the brokers, so that a client never finds a way
// around it. Everything else passes byte for byte. A broker that is down is
// down through the proxy too: its listener refuses connections until the
// broker is back.
//
// A Rule names a request and a moment (before the broker has it, after the
// broker answered and before the client knows, after the client knows) and
// what happens then: the connection is cut, or goes silent, the request waits,
// the client is told an error, or a function of the test runs while everything
// stands still.
//
// Every request is kept in a trace with what it asked for, what the broker
// answered, and whether the client was told; rules that must hold in every
// run, such as "no records are deleted before the intent is in the log", are
// checked on it.
//
// The proxy must never repair, repeat or reorder: what it does not break
// passes as it came. It speaks plain TCP, without TLS or SASL. Only tests
// import it.
package kafkaproxy
