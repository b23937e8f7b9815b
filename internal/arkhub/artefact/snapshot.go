package artefact

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/fnv"
	"slices"
	"strconv"
)

// Snapshot is what a state snapshot holds, without its keys and values.
type Snapshot struct {
	FormatVersion uint64 // of 32 bits
	Entries       int
	Namespaces    []string // each once, sorted
	Checksum      uint64   // as recorded
	Computed      uint64   // of the entries as they are: FNV-1a
}

// Sealed reports whether the recorded checksum is right.
func (s Snapshot) Sealed() bool { return s.Checksum == s.Computed }

// ParseSnapshot reads a state snapshot, one entry at a time.
func ParseSnapshot(data []byte) (Snapshot, error) {
	var s Snapshot
	seen := map[string]bool{}
	namespaces := map[string]bool{}
	h := fnv.New64a()
	err := object(data, func(name string, value json.RawMessage) error {
		seen[name] = true
		switch name {
		case "format_version":
			return readUint(value, 32, &s.FormatVersion)
		case "checksum":
			return readUint(value, 64, &s.Checksum)
		case "entries":
			return array(value, func(v json.RawMessage) error {
				e, err := readEntry(v)
				if err != nil {
					return err
				}
				s.Entries++
				namespaces[e.Namespace] = true
				_, _ = h.Write([]byte(e.Namespace)) // a hash takes all
				_, _ = h.Write(e.Key)
				_, _ = h.Write(e.Value)
				_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, e.ExpiresAtMs))
				return nil
			})
		}
		return nil
	})
	if err == nil {
		err = missing(seen, "format_version", "entries", "checksum")
	}
	if err != nil {
		return Snapshot{}, err
	}
	for n := range namespaces {
		s.Namespaces = append(s.Namespaces, n)
	}
	slices.Sort(s.Namespaces)
	s.Computed = h.Sum64()
	return s, nil
}

// Entry is one key of a job's state.
type Entry struct {
	Namespace   string // job:JOB:task:TASK
	Key, Value  []byte
	ExpiresAtMs uint64 // 0: never
}

func readEntry(data []byte) (e Entry, err error) {
	seen := map[string]bool{}
	err = object(data, func(name string, v json.RawMessage) error {
		seen[name] = true
		switch name {
		case "namespace":
			return readText(v, &e.Namespace)
		case "key":
			return readBytes(v, &e.Key)
		case "value":
			return readBytes(v, &e.Value)
		case "expires_at_ms":
			if isNull(v) {
				return nil
			}
			return readUint(v, 64, &e.ExpiresAtMs)
		}
		return nil
	})
	if err == nil {
		err = missing(seen, "namespace", "key", "value")
	}
	return e, err
}

// readBytes reads an array of numbers from 0 to 255.
func readBytes(data []byte, to *[]byte) error {
	if len(data) < 2 || data[0] != '[' {
		return errors.New("is not an array of bytes")
	}
	number, digits := 0, 0
	for _, c := range data[1:] {
		switch {
		case c >= '0' && c <= '9':
			number = number*10 + int(c-'0')
			digits++
			if number > 255 {
				return errors.New("holds a number above 255")
			}
		case c == ',' || c == ']':
			if digits > 0 {
				*to = append(*to, byte(number))
			}
			number, digits = 0, 0
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		default:
			return errors.New("holds something that is no number from 0 to 255")
		}
	}
	return nil
}

// AppendSnapshot writes a snapshot of entries as the engine does, sealed.
func AppendSnapshot(b []byte, format uint64, entries []Entry) []byte {
	h := fnv.New64a()
	b = strconv.AppendUint(append(b, `{"format_version":`...), format, 10)
	b = append(b, `,"entries":[`...)
	for i, e := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"namespace":`...), e.Namespace)
		b = appendBytes(append(b, `,"key":`...), e.Key)
		b = appendBytes(append(b, `,"value":`...), e.Value)
		b = append(b, `,"expires_at_ms":`...)
		if e.ExpiresAtMs == 0 {
			b = append(b, `null}`...)
		} else {
			b = append(strconv.AppendUint(b, e.ExpiresAtMs, 10), '}')
		}
		_, _ = h.Write([]byte(e.Namespace)) // a hash takes all
		_, _ = h.Write(e.Key)
		_, _ = h.Write(e.Value)
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, e.ExpiresAtMs))
	}
	b = append(b, `],"checksum":`...)
	return append(strconv.AppendUint(b, h.Sum64(), 10), '}')
}

func appendBytes(b, data []byte) []byte {
	b = append(b, '[')
	for i, c := range data {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(c), 10)
	}
	return append(b, ']')
}
