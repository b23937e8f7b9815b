package cases

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// PlanCase is one plan file and Java's verdict for it. Reason and Named are
// empty for an accepted one.
type PlanCase struct {
	Name      string     `json:"name"`
	Accepted  bool       `json:"accepted"`
	File      string     `json:"file"`
	Build     []Segment  `json:"build"` // instead of File, for large inputs
	PlanID    string     `json:"planId"`
	Value     *PlanValue `json:"value"`
	Canonical bool       `json:"canonical"` // the file is what Java would write

	// CanonicalSHA256 is the SHA-256 of what Java would write, in hex. Empty for a
	// plan with a lone surrogate, which Java can't write.
	CanonicalSHA256 string `json:"canonicalSha256"`

	Reason string                     `json:"reason"`
	Named  map[string]json.RawMessage `json:"named"`
}

// Segment is a piece of a large input: Text, or Repeat that many Times.
type Segment struct {
	Text   string `json:"text"`
	Repeat string `json:"repeat"`
	Times  int    `json:"times"`
}

// LongText stands in a PlanValue for a text of 30 kB and more.
const LongText = "(long)"

// PlanValue is a plan's content as Java parsed it.
type PlanValue struct {
	Source  string           `json:"sourceRecoveryPoint"`
	Topic   string           `json:"topic"`
	TopicID string           `json:"topicId"`
	Offsets map[string]int64 `json:"offsets"`
}

// Content is the file, byte for byte as a tool would be given it.
func (c PlanCase) Content(tb testing.TB) []byte {
	tb.Helper()
	if c.File != "" {
		return read(tb, "plans/"+c.File)
	}
	var b bytes.Buffer
	for _, s := range c.Build {
		b.WriteString(s.Text)
		b.WriteString(strings.Repeat(s.Repeat, s.Times))
	}
	return b.Bytes()
}

// GoldenCase is a set of markers and the plan that Java writes for it.
type GoldenCase struct {
	Name           string                     `json:"name"`
	Source         string                     `json:"sourceRecoveryPoint"`
	Markers        json.RawMessage            `json:"markers"` // elements as in a markers file
	Accepted       bool                       `json:"accepted"`
	PlanID         string                     `json:"planId"`
	File           string                     `json:"file"`
	CommittedValue string                     `json:"committedValue"` // value of the COMMITTED record
	Reason         string                     `json:"reason"`
	Named          map[string]json.RawMessage `json:"named"`
}

// Content is the plan file that Java wrote; only for an accepted case.
func (c GoldenCase) Content(tb testing.TB) []byte {
	tb.Helper()
	return read(tb, "plans/golden/"+c.File)
}

// Plan is a plan of a case by its content. Its id follows from that.
type Plan struct {
	Source  string           `json:"sourceRecoveryPoint"`
	Topic   string           `json:"topic"`
	TopicID string           `json:"topicId"`
	Offsets map[string]int64 `json:"offsets"`
}

// ID is the plan's id: SHA-256 over its lines.
func (p Plan) ID() string {
	var b strings.Builder
	b.WriteString("1\n" + p.Source + "\n" + p.Topic + "\n" + p.TopicID + "\n")
	for _, partition := range p.partitions() {
		b.WriteString(partition + "=" + strconv.FormatInt(p.Offsets[partition], 10) + "\n")
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// partitions are the partitions in ascending numeric order.
func (p Plan) partitions() []string {
	return slices.SortedFunc(maps.Keys(p.Offsets), func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
}

// ControlRecord is the plan's control record with that status.
func (p Plan) ControlRecord(status string) (key, value []byte) {
	return []byte(p.ID()), p.controlValue(status)
}

func (p Plan) controlValue(status string) []byte {
	var b bytes.Buffer
	text := func(s string) {
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			panic("cases: " + err.Error()) // a string can always be encoded
		}
		b.Truncate(b.Len() - 1) // the encoder ends a line
	}
	b.WriteString(`{"schemaVersion":1,"status":"` + status + `","plan":{"schemaVersion":1,"planId":"` + p.ID() + `","sourceRecoveryPoint":`)
	text(p.Source)
	b.WriteString(`,"topic":`)
	text(p.Topic)
	b.WriteString(`,"topicId":`)
	text(p.TopicID)
	b.WriteString(`,"offsets":{`)
	for i, partition := range p.partitions() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + partition + `":` + strconv.FormatInt(p.Offsets[partition], 10))
	}
	b.WriteString("}}}")
	return b.Bytes()
}
