// Package kafkaconn opens connections to a Kafka cluster and says in one
// sentence why one could not be opened or used.
//
// A Conn holds a franz-go client for requests and its admin face. Records are
// read through a Reader: a fresh client that reads given partitions from given
// offsets, without a consumer group, and that never jumps when an offset is
// gone.
//
// Everything is bounded. Opening ends within the dial timeout when no broker
// answers, a request ends within the request timeout, retries are few and
// wait between attempts, and a Reader that no broker answers says so instead
// of waiting.
//
// Explain turns what Kafka and franz-go answer into a fault. A broker that
// simply closes a connection gives no reason; where a bare end of file is all
// there is, the package asks the broker again in another way (a plain request,
// a TLS hello, a SASL handshake) before it names a cause.
//
// The package never writes to a cluster by itself and never logs. Text from a
// broker passes package safetext. Passwords, tokens and keys are revealed only
// to the login.
package kafkaconn
