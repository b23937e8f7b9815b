package inspect

import (
	"bytes"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Unjudged says what of a record's value only the job itself can judge. It is a
// set of bits.
type Unjudged uint8

// What can't be judged from outside the job.
const (
	UnknownClass Unjudged = 1 << iota // an event of a class that may or may not be on the job's class path
	MemoryValue                       // a memory value that Kryo wrote: decoding it needs the job's classes
	OddForm                           // a form that no known version writes and that Java may take all the same
	OddEncoding                       // UTF-16 or UTF-32, which Java detects and reads
)

// ReplayValue is what a restore makes of a record's value.
type ReplayValue struct {
	Problem  *Problem // why it stops the restore; nil: nothing is known that does
	Removes  bool     // a null, be it Kafka's or JSON's: the key is removed
	Unjudged Unjudged
	Class    []byte // the first class that is not known; shares the value's bytes
}

// CheckReplayValue judges a record's value as a restore decodes it: the action
// state as Jackson reads it, with every unknown field, status or memory value
// refused. Each occurrence of a repeated field is judged, and what follows the
// document is not looked at. A nil value is a null one.
//
// What depends on the job's own classes is not judged; Unjudged says so.
func CheckReplayValue(value []byte) ReplayValue {
	if value == nil {
		return ReplayValue{Removes: true}
	}
	if oddEncoding(value) {
		return ReplayValue{Unjudged: OddEncoding}
	}
	v := valueReader{scanner: scanner{data: bytes.TrimPrefix(value, []byte("\xef\xbb\xbf"))}}
	removes := v.document()
	if v.failure != "" {
		return ReplayValue{Problem: problem("record-value-undecodable", nil, "the value can't be decoded: %s", v.failure)}
	}
	return ReplayValue{Removes: removes, Unjudged: v.unjudged, Class: v.class}
}

// oddEncoding reports whether Jackson would read the bytes as UTF-16 or UTF-32:
// by their byte order mark, or by a zero among the first two.
func oddEncoding(value []byte) bool {
	if len(value) < 2 {
		return false
	}
	a, b := value[0], value[1]
	return a == 0 || b == 0 || a == 0xfe && b == 0xff || a == 0xff && b == 0xfe
}

// valueReader walks one action state.
type valueReader struct {
	scanner
	unjudged Unjudged
	class    []byte
}

// document reads the whole value and reports whether it is null.
func (v *valueReader) document() (null bool) {
	v.space()
	switch v.peek() {
	case '{':
		v.object("the action state", (*valueReader).stateField)
		return false
	case 'n':
		return v.literal("null")
	default:
		if v.pos == len(v.data) {
			return v.fail("it is empty")
		}
		if v.skip() {
			v.fail("it is not a JSON object")
		}
		return false
	}
}

// object reads an object field by field. field reads the value of a field that
// it knows, and is false otherwise.
func (v *valueReader) object(what string, field func(*valueReader, []byte) (known bool)) bool {
	if !v.enter() {
		return false
	}
	for first := true; ; first = false {
		name, more := v.member(first)
		if !more {
			return v.failure == ""
		}
		known := field(v, name)
		if v.failure != "" {
			return false
		}
		if !known {
			return v.fail("unknown field %s in %s", quoteBytes(name), what)
		}
	}
}

func (v *valueReader) stateField(name []byte) bool {
	switch string(name) {
	case "taskEvent":
		v.event()
	case "sensoryMemoryUpdates", "shortTermMemoryUpdates":
		v.list(name, (*valueReader).memoryUpdate)
	case "outputEvents":
		v.list(name, (*valueReader).event)
	case "callResults":
		v.list(name, (*valueReader).call)
	case "completed":
		v.boolean(name)
	case "callResultCount": // derived; the job skips it
		v.skip()
	default:
		return false
	}
	return true
}

// list reads an array, or null.
func (v *valueReader) list(name []byte, element func(*valueReader)) {
	switch v.peek() {
	case 'n':
		v.literal("null")
		return
	case '[':
	default:
		if v.skip() {
			v.fail("%s is not a list", name)
		}
		return
	}
	if !v.enter() {
		return
	}
	for first := true; v.element(first); first = false {
		element(v)
		if v.failure != "" {
			return
		}
	}
}

// memoryUpdate reads an element of the memory updates.
func (v *valueReader) memoryUpdate() {
	v.elementObject("a memory update", (*valueReader).memoryField)
}

func (v *valueReader) memoryField(name []byte) bool {
	switch string(name) {
	case "path":
		v.textual(name)
	case "value":
		v.memoryValue()
	default:
		return false
	}
	return true
}

// call reads an element of the call results.
func (v *valueReader) call() {
	v.elementObject("a call result", (*valueReader).callField)
}

func (v *valueReader) callField(name []byte) bool {
	switch string(name) {
	case "functionId", "argsDigest":
		v.textual(name)
	case "resultPayload", "exceptionPayload":
		v.payload(name)
	case "status":
		v.status()
	case "success", "failure", "pending": // derived; the job skips them
		v.skip()
	default:
		return false
	}
	return true
}

// elementObject reads an object, or null.
func (v *valueReader) elementObject(what string, field func(*valueReader, []byte) bool) {
	switch v.peek() {
	case '{':
		v.object(what, field)
	case 'n':
		v.literal("null")
	default:
		if v.skip() {
			v.fail("%s is not an object", what)
		}
	}
}

// textual reads what Java takes for a text: any scalar.
func (v *valueReader) textual(name []byte) {
	switch v.peek() {
	case '{', '[':
		if v.skip() {
			v.fail("%s is not a text", name)
		}
	default:
		v.skip()
	}
}

// boolean reads what Java takes for a boolean.
func (v *valueReader) boolean(name []byte) {
	switch c := v.peek(); {
	case c == '"':
		text := trimJava(v.text())
		switch string(text) {
		case "", "null", "true", "True", "TRUE", "false", "False", "FALSE":
		default:
			v.fail("%s is the text %s", name, quoteBytes(text))
		}
	case c == '-' || isDigit(c):
		if _, integer := v.number(); !integer {
			v.fail("%s is a fraction", name)
		}
	case c == '{' || c == '[':
		if v.skip() {
			v.fail("%s is not a boolean", name)
		}
	default:
		v.skip()
	}
}

// status reads the status of a call: a word, its number, or null.
func (v *valueReader) status() {
	switch c := v.peek(); {
	case c == 'n':
		v.literal("null")
	case c == '"':
		text := trimJava(v.text())
		switch string(text) {
		case "PENDING", "SUCCEEDED", "FAILED", "0", "1", "2":
		default:
			v.fail("unknown status %s of a call", quoteBytes(text))
		}
	case c == '-' || isDigit(c):
		text, _ := v.number()
		switch string(text) {
		case "0", "-0", "1", "2":
		default:
			v.fail("unknown status %s of a call", safetext.Bytes(text))
		}
	default:
		if v.skip() {
			v.fail("the status of a call is not a word")
		}
	}
}

// payload reads the bytes of a call's outcome.
func (v *valueReader) payload(name []byte) {
	switch v.peek() {
	case 'n':
		v.literal("null")
	case '"':
		if text := v.text(); !isJacksonBase64(text) {
			v.fail("%s is not base64", name)
		}
	case '[':
		v.unjudged |= OddForm
		v.skip()
	default:
		if v.skip() {
			v.fail("%s is not base64", name)
		}
	}
}

// memoryValue reads null or the envelope of a value that Kryo wrote. Other
// fields beside the envelope's are ignored, and of repeated ones the last counts.
func (v *valueReader) memoryValue() {
	switch v.peek() {
	case 'n':
		v.literal("null")
		return
	case '{':
	default:
		if v.skip() {
			v.fail("a memory value is neither null nor an envelope")
		}
		return
	}
	var kryo, versioned, texts bool
	var version, payload []byte
	if !v.enter() {
		return
	}
	for first := true; ; first = false {
		name, more := v.member(first)
		if !more {
			break
		}
		kind, start := v.peek(), v.pos
		switch string(name) {
		case "serde":
			if kryo = false; kind == '"' {
				kryo = string(v.text()) == "kryo"
				continue
			}
			v.skip()
		case "version":
			versioned = v.skip()
			version = v.data[start:v.pos]
		case "payload":
			if texts = kind == '"'; texts {
				payload = v.text()
				continue
			}
			v.skip()
		default:
			v.skip()
		}
	}
	switch {
	case v.failure != "":
	case !kryo || !versioned || !texts:
		v.fail("a memory value is neither null nor an envelope")
	case !isJavaBase64(payload):
		v.fail("the payload of a memory value is not base64")
	case string(version) == "1":
		v.unjudged |= MemoryValue
	case isOtherVersion(version):
		v.fail("a memory value has the version %s", safetext.Bytes(version))
	default: // Java makes an integer of it in its own way
		v.unjudged |= MemoryValue | OddForm
	}
}

// isOtherVersion reports whether a JSON value is certainly not what Java makes
// a 1 of.
func isOtherVersion(version []byte) bool {
	switch version[0] {
	case '{', '[', 'n', 'f':
		return true
	}
	_, integer := parseInteger(version)
	return integer && len(version) < 10 || string(version) == "-0"
}
