package inspect

// The events whose classes belong to Flink Agents itself, with the fields that
// Java knows or skips.
const (
	eventClass       = "org.apache.flink.agents.api.Event"
	inputEventClass  = "org.apache.flink.agents.api.InputEvent"
	outputEventClass = "org.apache.flink.agents.api.OutputEvent"
)

// event reads an event: an object that names its class, or null. The fields of
// a class that is not known are not judged.
func (v *valueReader) event() {
	switch v.peek() {
	case 'n':
		v.literal("null")
	case '[': // class and object as two elements
		v.unjudged |= OddForm
		v.skip()
	case '{':
		v.eventObject()
	default:
		if v.skip() {
			v.fail("an event is not an object")
		}
	}
}

func (v *valueReader) eventObject() {
	class, ok := v.eventClassOf()
	if !ok {
		return
	}
	if !v.enter() {
		return
	}
	e := event{class: class}
	for first := true; ; first = false {
		name, more := v.member(first)
		if !more {
			break
		}
		e.read(v, name)
		if v.failure != "" {
			return
		}
	}
	switch {
	case v.failure != "":
	case e.other():
		v.unjudged |= UnknownClass
		if v.class == nil {
			v.class = class
		}
	case string(class) == eventClass && !e.typed:
		v.fail("an event has no type")
	}
}

// eventClassOf finds the class of the event at the position, which stays where
// it is. Java writes it first; wherever it is, it decides how the others are
// read.
func (v *valueReader) eventClassOf() (class []byte, ok bool) {
	probe := valueReader{scanner: v.scanner}
	if !probe.enter() {
		return nil, v.fail("%s", probe.failure)
	}
	for first := true; ; first = false {
		name, more := probe.member(first)
		if !more {
			break
		}
		if string(name) == "@class" && probe.peek() == '"' {
			if class = probe.text(); probe.failure == "" {
				return class, true
			}
			break
		}
		probe.skip()
	}
	if probe.failure != "" {
		return nil, v.fail("%s", probe.failure)
	}
	return nil, v.fail(`an event has no "@class"`)
}

// event is one event while its fields are read.
type event struct {
	class []byte
	named bool // its class was read
	typed bool // the last type that was read says something
}

// other reports whether the class is not one of Flink Agents' own three.
func (e *event) other() bool {
	switch string(e.class) {
	case eventClass, inputEventClass, outputEventClass:
		return false
	default:
		return true
	}
}

// read reads the value of one field.
func (e *event) read(v *valueReader, name []byte) {
	field := string(name)
	switch {
	case field == "@class" && !e.named:
		e.named = v.peek() == '"'
		v.skip()
	case e.other():
		v.skip()
	case field == "type":
		start := v.pos
		v.textual(name)
		said := string(v.data[start:v.pos])
		e.typed = said != "null" && said != `""`
	case field == "id" || field == "upstreamEventId":
		v.identifier(name)
	case field == "attributes":
		if c := v.peek(); v.skip() && c != '{' && c != 'n' {
			v.fail("the attributes of an event are not an object")
		}
	case field == "upstreamActionName":
		v.textual(name)
	case field == "sourceTimestamp",
		field == "input" && string(e.class) == inputEventClass,
		field == "output" && string(e.class) == outputEventClass: // not stored; the job skips them
		v.skip()
	default:
		v.fail("unknown field %s in an event", quoteBytes(name))
	}
}

// identifier reads a UUID of an event, which may be null or blank: the job then
// makes one.
func (v *valueReader) identifier(name []byte) {
	c := v.peek()
	if c == 'n' {
		v.literal("null")
		return
	}
	if c != '"' {
		if v.skip() {
			v.fail("%s of an event is not a UUID", name)
		}
		return
	}
	text := trimJava(v.text())
	switch {
	case len(text) == 0, isAnyCaseUUID(text):
	case len(text) == 24: // 16 bytes in base64
		v.unjudged |= OddForm
	default:
		v.fail("%s of an event is not a UUID", name)
	}
}

func isAnyCaseUUID(text []byte) bool {
	if len(text) != 36 {
		return false
	}
	for i, c := range text {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c < '0' || hexValue[c|0x20] > 0xf: // the bit makes letters lower-case and keeps digits
			return false
		}
	}
	return true
}
