// Package story plays recovery situations that are written down as text: what
// was there, which commands an operator gave, what others did in the middle, and
// how it has to end. A story is one file. It is played against a Kafka cluster,
// one in this process or a real one, with the program behind a proxy.
//
// A line that begins at the margin happens, in the order of the file. Lines that
// are indented belong to the command above them: what is done while it runs, and
// what is expected of it. A line that begins with # is for people; the first one
// is the story's title.
//
//	# The first cleanup of a job makes its control topic.
//	topic with 2 partitions of 20 records
//	point chk-42 at 10 15
//	point chk-43 at 12 18
//	plan P from chk-42
//	  exit 0
//	apply P
//	  accepting job-state-unknown
//	  creating the control topic
//	  when COMMITTED is written: 5 more records are written to the topic
//	  exit 0
//	  verdict applied
//	  control P COMMITTED, P APPLIED
//	  log starts 10 15
//
// Offsets stand in the order of the partitions. Points have checkpoints of their
// own on disk; a plan "from" a point is made by the program, and one "at" offsets
// by somebody else, who needed no point.
//
// What may stand in a line is in the tables of events.go, commands.go and
// clauses.go. A line that is in none of them fails the story, and so does a
// "when" that never comes.
//
// The package must not import what it tests: ids and control records are those of
// package cases, and topics are read past the program.
package story
