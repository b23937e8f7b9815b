// Package zkread reads nodes of an Apache ZooKeeper ensemble by its client
// protocol: connect, exists, getData, getChildren and close, as releases 3.4 to 3.9
// have them on the wire. It is there for what a Fluss cluster keeps in ZooKeeper and
// tells by no call of its own.
//
// It reads only, and that is a property of its code: the five requests above are
// the only ones that it has words for, none of them takes a value to store, and no
// watch is ever set. The one trace that reading leaves is a session, which the
// ensemble notes in its log and which is closed again.
//
// What it must never do: send a login. SASL and digest logins are not spoken here.
// An ensemble that lets nobody in without one says so to the first question and
// ends the session, and a node whose ACL lets only others read is refused; both are
// faults of kind Denied, and what depended on the answer is not known.
//
// Every answer is untrusted. Lengths are bounded by the bytes that remain, a frame
// by [MaxFrame], names of children are checked before anybody makes a path of them,
// and each request has a time limit of its own.
//
// A Conn is one session with one server. A Client asks whichever of several servers
// answers, and asks once more where its session has ended meanwhile.
package zkread
