// Package kafka carries out a cleanup on a Kafka cluster: it reads what the
// steps of package actions ask about, and it writes the three things that a
// cleanup writes. They are the control topic itself, where an operator consents
// to making it, the records COMMITTED and APPLIED on it, and the log starts of
// the data topic's partitions.
//
// The order is that of the Java tool, with the control topic made last of all
// that comes before COMMITTED. The boundary is acknowledged by all in-sync
// replicas and then read back, as any job's reader would read it, before the
// first record is deleted. Log starts are read again from a fresh connection
// before APPLIED is written.
//
// Kafka addresses a topic by its name when records are deleted, so a topic that
// is recreated in that very moment can't be fenced off. Its identity is
// therefore compared directly before each request and directly after it.
//
// A plan of the kind topic-settings is carried out here, too: Settings sets
// exactly the planned settings of the data topic with one request, all or none,
// directly after identity and settings were compared with the plan, and reads
// them again from a fresh connection.
//
// What it must never do: delete to an offset below zero (−1 would mean all
// records, and Target can't hold it), send a deletion a second time without
// having read the log again, delete without having found its own COMMITTED
// record, guess what became of a write, change the settings of a topic on the way
// of a cleanup, or set any setting that no plan names.
package kafka
