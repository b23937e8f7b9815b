package inspect

import "bytes"

// stateView is what a record's value says of an action and its durable calls. It
// is read more leniently than a restore does: fields that the job would refuse
// are skipped, so that what can be shown is shown.
type stateView struct {
	null      bool // a null, be it Kafka's or JSON's: the key is removed
	completed bool
	eventType []byte // of the event that the action handles; nil where it names none
	calls     []callView

	head  int  // bytes up to the end of the event, where the value begins with it; 0: not known
	known bool // the value begins as one that was read before: eventType is that one's
}

// callView is one element of the call results.
type callView struct {
	absent    bool // a null instead of a call
	function  []byte
	args      []byte
	status    []byte // the word as it is written; nil: none
	result    int64  // decoded bytes; -1: none
	exception int64
}

// stateReader reads values. It may be used again and again: what it returned
// before is then no longer valid.
type stateReader struct {
	calls []callView
}

// read reads a value as fast as it can. A failure says why it is no action state;
// the view is then empty.
func (r *stateReader) read(value []byte) (view stateView, failure string) {
	failure = r.readAfter(nil, value, &view)
	return view, failure
}

// readAfter is read for a value that may begin as another one did, as far as that
// one's view says. The view, which must be empty before, is written where it is
// wanted: this is done for every record.
func (r *stateReader) readAfter(head, value []byte, view *stateView) (failure string) {
	if value == nil {
		view.null = true
		return ""
	}
	if r.fast(value, head, view) {
		return ""
	}
	*view, failure = r.full(value)
	return failure
}

// full reads a value with the walker that judges every byte as Jackson does. It
// is what the fast way must agree with.
func (r *stateReader) full(value []byte) (view stateView, failure string) {
	if value == nil {
		return stateView{null: true}, ""
	}
	if oddEncoding(value) {
		return stateView{}, "it is UTF-16 or UTF-32"
	}
	s := scanner{data: bytes.TrimPrefix(value, []byte("\xef\xbb\xbf"))}
	r.calls = r.calls[:0]
	s.space()
	switch {
	case s.peek() == '{':
		r.state(&s, &view)
	case s.peek() == 'n':
		view.null = s.literal("null")
	case s.pos == len(s.data):
		s.fail("it is empty")
	case s.skip():
		s.fail("it is not a JSON object")
	}
	if s.failure != "" {
		return stateView{}, s.failure
	}
	return view, ""
}

// state reads the object. Of repeated fields the last counts.
func (r *stateReader) state(s *scanner, view *stateView) {
	s.enter()
	for first := true; ; first = false {
		name, more := s.member(first)
		if !more {
			return
		}
		switch string(name) {
		case "taskEvent":
			view.eventType = eventTypeOf(s)
		case "callResults":
			view.calls = r.list(s)
		case "completed":
			view.completed = completedOf(s)
		default:
			s.skip()
		}
	}
}

// eventTypeOf reads the event. Nil: it has no type that is a text.
func eventTypeOf(s *scanner) (kind []byte) {
	if s.peek() != '{' {
		s.skip()
		return nil
	}
	s.enter()
	for first := true; ; first = false {
		name, more := s.member(first)
		if !more {
			return kind
		}
		if string(name) != "type" {
			s.skip()
			continue
		}
		if kind = nil; s.peek() == '"' {
			kind = s.text()
			continue
		}
		s.skip()
	}
}

// completedOf reads what Java makes of the field.
func completedOf(s *scanner) bool {
	switch c := s.peek(); {
	case c == '"':
		text := trimJava(s.text())
		switch string(text) {
		case "true", "True", "TRUE":
			return true
		case "", "null", "false", "False", "FALSE":
			return false
		default:
			return s.fail("completed is the text %s", quoteBytes(text))
		}
	case c == '-' || isDigit(c):
		text, integer := s.number()
		if s.failure == "" && !integer {
			return s.fail("completed is a fraction")
		}
		return string(text) != "0" && string(text) != "-0"
	case c == 't':
		return s.literal("true")
	case c == 'f' || c == 'n':
		s.skip()
		return false
	default:
		if s.skip() {
			s.fail("completed is not a boolean")
		}
		return false
	}
}

// list reads the call results: an array, or null.
func (r *stateReader) list(s *scanner) []callView {
	r.calls = r.calls[:0]
	switch s.peek() {
	case 'n':
		s.literal("null")
		return nil
	case '[':
	default:
		if s.skip() {
			s.fail("callResults is not a list")
		}
		return nil
	}
	s.enter()
	for first := true; s.element(first); first = false {
		r.calls = append(r.calls, callOf(s))
		if s.failure != "" {
			return nil
		}
	}
	if len(r.calls) == 0 {
		return nil
	}
	return r.calls
}

// callOf reads one call. Fields that are not known are skipped.
func callOf(s *scanner) callView {
	c := callView{result: -1, exception: -1}
	switch s.peek() {
	case '{':
	case 'n':
		c.absent = s.literal("null")
		return c
	default:
		if s.skip() {
			s.fail("a call result is not an object")
		}
		return c
	}
	s.enter()
	for first := true; ; first = false {
		name, more := s.member(first)
		if !more {
			return c
		}
		switch string(name) {
		case "functionId":
			c.function = scalarOf(s, "functionId")
		case "argsDigest":
			c.args = scalarOf(s, "argsDigest")
		case "status":
			c.status = scalarOf(s, "status")
		case "resultPayload":
			c.result = payloadSize(s, "resultPayload")
		case "exceptionPayload":
			c.exception = payloadSize(s, "exceptionPayload")
		default:
			s.skip()
		}
	}
}

// scalarOf reads a text, or what Java takes for one: nil for null.
func scalarOf(s *scanner, name string) []byte {
	switch s.peek() {
	case '"':
		if text := s.text(); text != nil {
			return text
		}
		return []byte{}
	case '{', '[':
		if s.skip() {
			s.fail("%s of a call is not a text", name)
		}
		return nil
	case 'n':
		s.literal("null")
		return nil
	default:
		start := s.pos
		s.skip()
		return s.data[start:s.pos]
	}
}

// payloadSize reads the bytes of an outcome and says how many they are: -1 for
// null.
func payloadSize(s *scanner, name string) int64 {
	switch s.peek() {
	case 'n':
		s.literal("null")
		return -1
	case '"':
		text := s.text()
		if s.failure == "" && !isJacksonBase64(text) {
			s.fail("%s of a call is not base64", name)
			return -1
		}
		var n int64
		for _, c := range text {
			if base64Value[c] != 0xff {
				n++
			}
		}
		return n * 6 / 8
	default:
		if s.skip() {
			s.fail("%s of a call is not base64", name)
		}
		return -1
	}
}
