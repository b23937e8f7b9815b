package actions

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/atomicfile"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// planSchema is the version of plan files and control records.
const planSchema = "1"

// EncodePlan is the plan file, byte for byte as the Java tool writes it on a
// Unix system: six fields in a fixed order, partitions in ascending numeric
// order, one newline at the end.
//
// A lone surrogate has no UTF-8 form, and the Java tool can't write it. Here it
// is written as its escape, so that the file reads back as the same plan. Bytes
// that are not UTF-8 are written as they are: no reader accepts such a file, and
// CleanupFrom refuses the plan.
func EncodePlan(plan inspect.CleanupPlan) []byte {
	return encode(plan, layout{comma: ",\n  ", colon: " : ", open: "{\n  ", shut: "\n}", inner: ",\n    ", innerOpen: "{\n    ", innerShut: "\n  }", empty: "{ }", end: "\n"})
}

// EncodeRecord is the value of the plan's control record with a status, byte for
// byte as the Java tool writes it. The record's key is the plan's id.
func EncodeRecord(plan inspect.CleanupPlan, status inspect.OperationStatus) []byte {
	object := encode(plan, layout{comma: ",", colon: ":", open: "{", shut: "}", inner: ",", innerOpen: "{", innerShut: "}", empty: "{}"})
	out := []byte(`{"schemaVersion":` + planSchema + `,"status":`)
	out = appendText(out, string(status))
	out = append(out, `,"plan":`...)
	return append(append(out, object...), '}')
}

// layout is the white space of one of the two forms.
type layout struct {
	open, comma, colon, shut    string
	innerOpen, inner, innerShut string
	empty, end                  string
}

func encode(plan inspect.CleanupPlan, l layout) []byte {
	out := []byte(l.open)
	field := func(name string) {
		out = appendText(out, name)
		out = append(out, l.colon...)
	}
	field("schemaVersion")
	out = append(out, planSchema...)
	for _, text := range [...][2]string{
		{"planId", plan.PlanID}, {"sourceRecoveryPoint", plan.SourceRecoveryPoint},
		{"topic", plan.Topic}, {"topicId", plan.TopicID},
	} {
		out = append(out, l.comma...)
		field(text[0])
		out = appendText(out, text[1])
	}
	out = append(out, l.comma...)
	field("offsets")
	out = appendOffsets(out, plan.Offsets, l)
	out = append(out, l.shut...)
	return append(out, l.end...)
}

func appendOffsets(out []byte, offsets inspect.Offsets, l layout) []byte {
	if len(offsets) == 0 {
		return append(out, l.empty...)
	}
	out = append(out, l.innerOpen...)
	for i, p := range offsets.Partitions() {
		if i > 0 {
			out = append(out, l.inner...)
		}
		out = appendText(out, strconv.Itoa(int(p)))
		out = append(out, l.colon...)
		out = strconv.AppendInt(out, offsets[p], 10)
	}
	return append(out, l.innerShut...)
}

// appendText appends a JSON string. Only the quote, the backslash and what is
// below U+0020 are escaped, and a lone surrogate, which package strictjson keeps
// in its three-byte form.
func appendText(out []byte, text string) []byte {
	const hexDigits = "0123456789ABCDEF"
	unit := func(u uint16) {
		out = append(out, '\\', 'u', hexDigits[u>>12], hexDigits[u>>8&0xf], hexDigits[u>>4&0xf], hexDigits[u&0xf])
	}
	out = append(out, '"')
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch short := strings.IndexByte("\b\t\n\f\r\"\\", c); {
		case short >= 0:
			out = append(out, '\\', `btnfr"\`[short])
		case c < 0x20:
			unit(uint16(c))
		case c == 0xed && isSurrogate(text[i:]):
			unit(0xd000 | uint16(text[i+1]&0x3f)<<6 | uint16(text[i+2]&0x3f))
			i += 2
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// isSurrogate reports whether text, which begins with the byte 0xed, begins with
// a surrogate in its three-byte form.
func isSurrogate(text string) bool {
	return len(text) >= utf8.UTFMax-1 && text[1] >= 0xa0 && text[1] <= 0xbf && text[2] >= 0x80 && text[2] <= 0xbf
}

// WritePlan writes a plan file with mode 0600. It never overwrites: the error is
// then a fault of kind Denied that matches fs.ErrExist. A plan that no reader
// would accept is not written, and is a fault of kind Bug: CleanupFrom makes
// none.
func WritePlan(path string, plan inspect.CleanupPlan) error {
	data := EncodePlan(plan)
	if _, p := inspect.ParsePlan(data); p != nil {
		return fault.New(fault.Bug, "write the plan", "the plan is not written, because no reader would accept it: %s", p.Message)
	}
	return atomicfile.Create(path, data)
}

// isPlanID reports whether text has the form of a whole plan id.
func isPlanID(text string) bool {
	const digits = 64
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == digits && strings.ToLower(text) == text
}
