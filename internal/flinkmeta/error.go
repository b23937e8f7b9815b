package flinkmeta

import (
	"fmt"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// NoSubtask is the Subtask of an Error or a StreamRef that belongs to no
// subtask.
const NoSubtask int32 = -1

// The checks whose failure an Error names.
const (
	CheckMagic    = "M1"  // not a metadata file
	CheckVersion  = "M2"  // a metadata version that is not read here
	CheckParse    = "M3"  // truncated or damaged
	CheckTag      = "M4"  // a handle tag that is not known
	CheckLength   = "M5"  // a count or length that cannot be
	CheckTail     = "M6"  // bytes after the end, or none where some must be
	CheckID       = "M7"  // negative checkpoint id
	CheckOffset   = "F9"  // an element offset outside its stream
	CheckStream   = "U6"  // an operator state stream version that is not read here
	CheckHeader   = "U7"  // element data does not start where the header ends
	CheckChecksum = "U13" // a compressed chunk that fails its checksum

	CheckKeyedVersion = "K1" // a keyed state stream version that is not read here
	CheckKeyGroup     = "K2" // heap: another key group's number is at an offset
	CheckKeyGroupEnd  = "K3" // heap: bytes of a key group that belong to no state
	CheckKeyedEntry   = "K4" // canonical: an entry that can't be of its key group
)

// Error says where and why bytes could not be read. All of its text is safe for
// a terminal: names from the file are quoted and shortened.
type Error struct {
	Check    string     // one of the Check constants
	Kind     fault.Kind // Corrupt, or Unsupported for a version that is not known
	Pos      int64      // byte in the file or stream, from 0
	What     string     // the field that was being read
	Operator string     // quoted name, or id, of the operator; empty outside one
	Subtask  int32      // subtask index, or NoSubtask
	Message  string     // one sentence with its numbers
	Hint     string     // what to do next; may be empty
}

// Error is the message, with the operator and the subtask where there is one.
func (e *Error) Error() string {
	switch {
	case e.Operator == "":
		return e.Message
	case e.Subtask == NoSubtask:
		return fmt.Sprintf("%s (operator %s)", e.Message, e.Operator)
	default:
		return fmt.Sprintf("%s (operator %s, subtask %d)", e.Message, e.Operator, e.Subtask)
	}
}

// Fault is the error as an operator should read it. The caller adds which file
// it is about.
func (e *Error) Fault() *fault.Fault {
	return &fault.Fault{Kind: e.Kind, Op: "read snapshot", Hint: e.Hint, Err: e}
}

// As lets errors.As find a *fault.Fault in an Error, so that fault.Of and
// fault.KindOf classify it without knowing this package.
func (e *Error) As(target any) bool {
	f, ok := target.(**fault.Fault)
	if ok {
		*f = e.Fault()
	}
	return ok
}

// maxQuoted is how many terminal cells of a foreign name an error repeats.
const maxQuoted = 80

// quote makes a name from the file fit for a message.
func quote(s string) string {
	return `"` + safetext.Of(s).Truncate(maxQuoted).String() + `"`
}
