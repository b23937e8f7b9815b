package inspect

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// KeyGeneration is which layout the key of an action-state record has. Zero is
// unattributable: none that is known.
type KeyGeneration uint8

// The generations of record keys, as fields joined by "_".
const (
	KeyUnattributable KeyGeneration = iota
	KeyGeneration1                  // <key text>_<sequence>_<event uuid>_<action uuid>, releases 0.1 to 0.3
	KeyGeneration2                  // <key group>_<sequence>_<event uuid>_<action uuid>_<key text>
	KeyGeneration3                  // <key group>_<sequence>_<event uuid>_<action uuid>_<digest>
)

// UUID is an event's or an action's id in its 16 bytes.
type UUID [16]byte

// String is the canonical lower-case form of 36 characters.
func (u UUID) String() string {
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 36)
	for i, b := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			out = append(out, '-')
		}
		out = append(out, digits[b>>4], digits[b&0xf])
	}
	return string(out)
}

// ActionKey is the key of an action-state record taken apart. Text shares the
// bytes that were parsed.
type ActionKey struct {
	Generation KeyGeneration
	KeyGroup   int32 // from 0; -1 in generation 1, which has none
	Sequence   int64 // from 0
	Event      UUID
	Action     UUID
	Text       []byte // generations 1 and 2: the key's text; 3: the digest, 44 characters of base64; unattributable: the whole key
}

// digestLength is that of 32 bytes in padded base64.
const digestLength = 44

// ParseActionKey tells the generations of record keys apart and reads the
// fields. It allocates nothing.
//
// A key is of generation 3 when its fifth field is the canonical base64 of 32
// bytes and the first four fit, of generation 2 when the first four fit, and of
// generation 1 when the last three do. A key text may itself look like the fields
// of a later generation; the job's own code can't tell them apart either.
func ParseActionKey(key []byte) ActionKey {
	// Only a number begins the later generations, so that most keys of the first are
	// not looked through for them.
	if len(key) > 0 && isDigit(key[0]) {
		if k, ok := laterKey(key); ok {
			return k
		}
	}
	k := ActionKey{KeyGroup: -1, Text: key}
	// A UUID has no separator within: the last three stand where they must.
	const event, sequence = uuidLength + 1, 2 * (uuidLength + 1)
	rest := len(key) - sequence
	if rest < 0 || key[rest] != '_' || key[len(key)-event] != '_' {
		return k
	}
	text, number, ok := cutLast(key[:rest])
	if !ok {
		return k
	}
	n, numberOK := parseInteger(number)
	var eventOK, actionOK bool
	k.Event, eventOK = parseUUID(key[rest+1 : rest+event])
	k.Action, actionOK = parseUUID(key[len(key)-uuidLength:])
	if !numberOK || n < 0 || !eventOK || !actionOK {
		return ActionKey{KeyGroup: -1, Text: key}
	}
	k.Generation, k.Sequence, k.Text = KeyGeneration1, n, text
	return k
}

// laterKey reads a key of generation 2 or 3.
func laterKey(key []byte) (k ActionKey, ok bool) {
	fields, ok := splitKey(key)
	if !ok {
		return k, false
	}
	group, groupOK := parseInteger(fields[0])
	sequence, sequenceOK := parseInteger(fields[1])
	event, eventOK := parseUUID(fields[2])
	action, actionOK := parseUUID(fields[3])
	if !groupOK || group < 0 || group > math.MaxInt32 || !sequenceOK || sequence < 0 || !eventOK || !actionOK {
		return k, false
	}
	k = ActionKey{Generation: KeyGeneration2, KeyGroup: int32(group), Sequence: sequence, Event: event, Action: action, Text: fields[4]}
	if isDigest(fields[4]) {
		k.Generation = KeyGeneration3
	}
	return k, true
}

// maxKeyGroups is the largest max parallelism that Flink allows.
const maxKeyGroups = 1 << 15

// CheckReplayKey judges a record key as a restore does: five fields, the key
// group, its range, the sequence, both uuids and the digest, in this order. The
// first that is wrong is returned, nil when none is. A nil key is a null one.
//
// A maxParallelism of 0 is not known: then only what no job can have, a group
// outside Flink's largest range of 32,768, is refused.
func CheckReplayKey(key []byte, maxParallelism int) *Problem {
	fields, ok := splitKey(key)
	switch {
	case key == nil:
		return problem("record-key-malformed", nil, "the record has no key")
	case !ok:
		return problem("record-key-malformed", nil, "the key %s does not have five fields%s", echo(key), released(key))
	}
	if maxParallelism <= 0 {
		maxParallelism = maxKeyGroups
	}
	group, ok := parseInteger(fields[0])
	if !ok || group < math.MinInt32 || group > math.MaxInt32 {
		return badField("key-group", fields[0], key)
	}
	if group < 0 || group >= int64(maxParallelism) {
		return problem("record-key-group-out-of-range", Named{"keyGroup": int32(group), "maxParallelism": int32(maxParallelism)},
			"the key group %d of the key %s is not below the max parallelism %d", group, echo(key), maxParallelism)
	}
	if sequence, ok := parseInteger(fields[1]); !ok || sequence < 0 {
		return badField("sequence number", fields[1], key)
	}
	if _, ok := parseUUID(fields[2]); !ok {
		return badField("event UUID", fields[2], key)
	}
	if _, ok := parseUUID(fields[3]); !ok {
		return badField("action UUID", fields[3], key)
	}
	if !isDigest(fields[4]) {
		return badField("business-key identity", fields[4], key)
	}
	return nil
}

func badField(field string, text, key []byte) *Problem {
	return problem("record-key-field-invalid", Named{"field": field}, "the %s %s of the key %s is not valid%s", field, echo(text), echo(key), released(key))
}

// released says that a key is of an earlier version, where it is.
func released(key []byte) string {
	switch ParseActionKey(key).Generation {
	case KeyGeneration1:
		return ": releases 0.1 to 0.3 write such keys"
	case KeyGeneration2:
		return ": a development version between release 0.3 and the next one wrote such keys"
	default:
		return ""
	}
}

// maxEcho is how much of a key a refusal repeats, in UTF-16 units.
const maxEcho = 256

// echo quotes a key or field. A long one is cut after 256 UTF-16 units and its
// length is told.
func echo(text []byte) string {
	units, cut := 0, -1
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		width := 1
		if r > 0xffff {
			width = 2
		}
		if cut < 0 && units+width > maxEcho {
			cut = at
		}
		units += width
		at += size
	}
	if cut < 0 {
		return `"` + safetext.Bytes(text).String() + `"`
	}
	return `"` + safetext.Bytes(text[:cut]).String() + `…" (of ` + group(int64(units)) + " characters)"
}

// splitKey splits a key at its first four separators.
func splitKey(key []byte) (fields [5][]byte, ok bool) {
	rest := key
	for i := range 4 {
		at := bytes.IndexByte(rest, '_')
		if at < 0 {
			return fields, false
		}
		fields[i], rest = rest[:at], rest[at+1:]
	}
	fields[4] = rest
	return fields, true
}

// cutLast splits a key at its last separator.
func cutLast(key []byte) (before, field []byte, ok bool) {
	at := bytes.LastIndexByte(key, '_')
	if at < 0 {
		return nil, nil, false
	}
	return key[:at], key[at+1:], true
}

// parseInteger reads a decimal 64-bit integer in the one form that Java writes.
func parseInteger(text []byte) (int64, bool) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	const most = 19 // digits of an int64
	if len(digits) == 0 || len(digits) > most || digits[0] == '0' && len(text) > 1 {
		return 0, false
	}
	var n uint64 // 19 digits fit
	for _, c := range digits {
		if !isDigit(c) {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	switch {
	case len(digits) == len(text):
		return int64(n), n <= math.MaxInt64
	case n > 1<<63:
		return 0, false
	default:
		return -int64(n), true
	}
}

// uuidLength is that of a UUID's text.
const uuidLength = 36

// parseUUID reads a UUID of 36 lower-case characters, of any version.
func parseUUID(text []byte) (u UUID, ok bool) {
	if len(text) != uuidLength || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return u, false
	}
	a, badA := hex8(binary.LittleEndian.Uint64(text))
	b, badB := hex8(uint64(binary.LittleEndian.Uint32(text[9:])) | uint64(binary.LittleEndian.Uint32(text[14:]))<<32)
	c, badC := hex8(uint64(binary.LittleEndian.Uint32(text[19:])) | uint64(binary.LittleEndian.Uint32(text[24:]))<<32)
	d, badD := hex8(binary.LittleEndian.Uint64(text[28:]))
	if badA|badB|badC|badD != 0 {
		return UUID{}, false
	}
	binary.LittleEndian.PutUint32(u[:], a)
	binary.LittleEndian.PutUint32(u[4:], b)
	binary.LittleEndian.PutUint32(u[8:], c)
	binary.LittleEndian.PutUint32(u[12:], d)
	return u, true
}

// hex8 reads eight lower-case hexadecimal digits at a time, the first in the lowest
// byte, into four bytes. Bad is not zero where one is none.
func hex8(text uint64) (value uint32, bad uint64) {
	const halves, letter = 0x0f * ones, 'a' - '0' - 10
	letters := text >> 6 & ones // of the digits none has this bit
	n := text&halves + letters*9
	// What the values are written as must be what was read.
	again := n + '0'*ones + ((n+6*ones)>>4&ones)*letter
	bad = again ^ text | n&^halves
	n = (n<<4 | n>>8) & 0x00ff00ff00ff00ff
	n = (n | n>>8) & 0x0000ffff0000ffff
	return uint32(n | n>>16), bad
}

// hexValue is the value of a lower-case hexadecimal digit, 0xff for other bytes.
var hexValue = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i, c := range []byte("0123456789abcdef") {
		values[c] = byte(i)
	}
	return values
}()

// base64Value is the value of a character of standard base64, 0xff for other
// bytes.
var base64Value = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		values[c] = byte(i)
	}
	return values
}()

// isDigest reports whether a text is the base64 of 32 bytes, with padding and in
// the one form that an encoder writes: the unused bits are zero.
func isDigest(text []byte) bool {
	if len(text) != digestLength || text[digestLength-1] != '=' {
		return false
	}
	for _, c := range text[:digestLength-1] {
		if base64Value[c] == 0xff {
			return false
		}
	}
	return base64Value[text[digestLength-2]]&3 == 0
}
