package inspect

import "bytes"

// maxHead is how much of a value is remembered.
const maxHead = 4 << 10

// fast reads the values that known versions write, in the form in which they
// write them: without white space, with each field once. What it can't prove to
// be such a value it leaves to full, so that ok false says nothing about the
// value. Where it is true, full says the same.
//
// A value that begins as head does is not read again so far: the same bytes mean
// the same, and the view says that its event is known. The view must be empty
// before, and says nothing where ok is false.
func (r *stateReader) fast(data, head []byte, view *stateView) (ok bool) {
	if len(data) < 2 || data[0] != '{' {
		return false
	}
	var event, calls, completed bool // were read: each may stand once
	i := 1
	switch {
	case len(head) > 0 && bytes.HasPrefix(data, head):
		i, event, view.known, view.head = len(head), true, true, len(head)
		if i = memberAfter(data, i); i == 0 {
			return true
		}
	case data[i] == '}':
		return true
	}
	for i > 0 {
		switch labelAt(data, i) {
		case labelCompleted:
			if completed {
				return false
			}
			completed = true
			i += len(completedLabel)
			switch {
			case hasWord(data, i, "true"):
				view.completed = true
				i += 4
			case hasWord(data, i, "false"):
				i += 5
			default:
				return false
			}
		case labelCalls:
			if calls {
				return false
			}
			calls = true
			if view.calls, i = r.fastCalls(data, i+len(callsLabel)); i < 0 {
				return false
			}
		case labelEvent:
			if event {
				return false
			}
			event = true
			first := i == 1
			if view.eventType, i = fastEvent(data, i+len(eventLabel)); i < 0 {
				return false
			}
			if first {
				view.head = i
			}
		default:
			if i = fastMember(data, i); i < 0 {
				return false
			}
		}
		if i = memberAfter(data, i); i == 0 {
			return true
		}
	}
	return false
}

// The members of a value that are looked into, as they are written.
const (
	completedLabel = `"completed":`
	callsLabel     = `"callResults":`
	eventLabel     = `"taskEvent":`
)

// label is which of them stands at a place.
type label uint8

const (
	labelOther label = iota
	labelCompleted
	labelCalls
	labelEvent
)

// labelAt tells by the first letters, in which all members differ, which one may
// stand at i, and compares that one alone.
func labelAt(data []byte, i int) label {
	if len(data)-i < len(`"co`) {
		return labelOther
	}
	switch data[i+1] {
	case 'c':
		if data[i+2] == 'o' {
			if hasText(data, i, completedLabel) {
				return labelCompleted
			}
		} else if hasText(data, i, callsLabel) {
			return labelCalls
		}
	case 't':
		if hasText(data, i, eventLabel) {
			return labelEvent
		}
	}
	return labelOther
}

// memberAfter is the position of the next member behind the value that ends at i, 0
// where the object ends, -1 where neither follows.
func memberAfter(data []byte, i int) int {
	if i >= len(data) {
		return -1
	}
	switch data[i] {
	case ',':
		return i + 1
	case '}':
		return 0
	default:
		return -1
	}
}

// fastMember returns the position behind a member whose value is not asked for.
// Most are empty lists.
func fastMember(data []byte, i int) int {
	const letter = len(`"s`) // behind it, one is enough to tell them apart
	empty := ""
	if len(data)-i > letter {
		switch data[i+letter] {
		case 'e':
			empty = `"sensoryMemoryUpdates":[]`
		case 'h':
			empty = `"shortTermMemoryUpdates":[]`
		case 'u':
			empty = `"outputEvents":[]`
		}
	}
	if empty != "" && hasText(data, i, empty) {
		return i + len(empty)
	}
	_, at := fastName(data, i)
	if at < 0 {
		return -1
	}
	return fastValue(data, at)
}

// hasText reports whether a text stands at i.
func hasText(data []byte, i int, text string) bool {
	return len(data)-i >= len(text) && string(data[i:i+len(text)]) == text
}

// fastEvent reads the event at i, an object or null, and returns its type and the
// position behind it, -1 where it is not proven.
func fastEvent(data []byte, i int) (kind []byte, next int) {
	if i >= len(data) || data[i] != '{' {
		return nil, fastValue(data, i)
	}
	i++
	if i < len(data) && data[i] == '}' {
		return nil, i + 1
	}
	for {
		name, at := fastName(data, i)
		if at < 0 || at >= len(data) {
			return nil, -1
		}
		if string(name) == "type" {
			kind = nil
			if data[at] == '"' {
				end, escaped := fastString(data, at+1)
				if end < 0 || escaped {
					return nil, -1
				}
				kind = data[at+1 : end-1]
			}
		}
		if i = fastValue(data, at); i < 0 || i >= len(data) {
			return nil, -1
		}
		switch data[i] {
		case ',':
			i++
		case '}':
			return kind, i + 1
		default:
			return nil, -1
		}
	}
}

// fastCalls reads the call results at i and returns the position behind them, -1
// where they are not proven. Calls in another form than a job's are left to the
// full walker, which reads the list alone.
func (r *stateReader) fastCalls(data []byte, i int) (calls []callView, next int) {
	if hasText(data, i, "[]") {
		return nil, i + 2
	}
	r.calls = r.calls[:0]
	for at := i; at < len(data); {
		c, end := fastCall(data, at+1)
		if end < 0 || end >= len(data) {
			break
		}
		r.calls = append(r.calls, c)
		if at = end; data[at] == ']' {
			return r.calls, at + 1
		}
		if data[at] != ',' {
			break
		}
	}
	s := scanner{data: data, pos: i, depth: 1}
	if calls = r.list(&s); s.failure != "" {
		return nil, -1
	}
	return calls, s.pos
}

// fastCall reads a call as a job writes it, and returns the position behind it.
func fastCall(data []byte, i int) (c callView, next int) {
	var ok bool
	text := func(label string) (value []byte) {
		if ok = ok && hasText(data, i, label); !ok {
			return nil
		}
		i += len(label)
		end, escaped := fastString(data, i)
		if ok = end > 0 && !escaped; !ok {
			return nil
		}
		value = data[i : end-1]
		i = end
		return value
	}
	payload := func(label string) (size int64) {
		if ok = ok && hasText(data, i, label); !ok {
			return -1
		}
		if i += len(label); hasText(data, i, "null") {
			i += len("null")
			return -1
		}
		size, i, ok = fastPayload(data, i)
		return size
	}
	ok = true
	c.function = text(`{"functionId":"`)
	c.args = text(`,"argsDigest":"`)
	c.result = payload(`,"resultPayload":`)
	c.exception = payload(`,"exceptionPayload":`)
	c.status = text(`,"status":"`)
	if !ok || i >= len(data) || data[i] != '}' {
		return callView{}, -1
	}
	return c, i + 1
}

// fastPayload reads base64 in one piece: how many bytes it says, and the position
// behind it.
func fastPayload(data []byte, i int) (size int64, next int, ok bool) {
	if i >= len(data) || data[i] != '"' {
		return -1, i, false
	}
	i++
	start := i
	for i < len(data) && base64Value[data[i]] != 0xff {
		i++
	}
	n := i - start
	padding := 0
	for i < len(data) && data[i] == '=' {
		i++
		padding++
	}
	// Two, three or four characters in the last group, and padding for the rest.
	whole := n%4 == 0 && padding == 0 || n%4 == 2 && padding == 2 || n%4 == 3 && padding == 1
	if !whole || i >= len(data) || data[i] != '"' {
		return -1, i, false
	}
	return int64(n) * 6 / 8, i + 1, true
}

// fastName reads a name and its colon and returns the position of the value, -1
// where it is not proven.
func fastName(data []byte, i int) (name []byte, next int) {
	if i >= len(data) || data[i] != '"' {
		return nil, -1
	}
	end, escaped := fastString(data, i+1)
	if end < 0 || escaped || end >= len(data) || data[end] != ':' || end-i > maxJSONName {
		return nil, -1
	}
	return data[i+1 : end-1], end + 1
}

// hasWord reports whether a literal stands at i, with the end of a value behind
// it.
func hasWord(data []byte, i int, word string) bool {
	end := i + len(word)
	return end < len(data) && string(data[i:end]) == word && endsValue(data[end])
}

func endsValue(c byte) bool { return c == ',' || c == '}' || c == ']' }
