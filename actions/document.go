package actions

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/atomicfile"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// DocumentSchema is the schema of every plan but the cleanup's.
const DocumentSchema = "recoverctl.plan/v1"

// MaxPlanFile is how many bytes a plan file may have. A cleanup plan of 100,000
// partitions has 4 MB.
const MaxPlanFile = 64 << 20

// Document is a plan of the schema recoverctl.plan/v1. It holds what the plan
// found and what it makes of it, and neither a time nor a user: the same facts
// give the same plan. All its values are texts, so that there is one way to
// write each.
type Document struct {
	PlanID     string // 64 lower-case hex digits, over all the rest
	Kind       string
	Target     inspect.PlanTarget
	Facts      []Fact            // in the order in which they are shown
	Parameters map[string]string // of the kind; may be empty
}

// Fact is one thing that a plan changes. A nil Before is that there was nothing,
// a nil After that there shall be nothing.
type Fact struct {
	Name   string  `json:"name"`
	Before *string `json:"before"`
	Source string  `json:"source"` // where Before came from, in the backend's word; may be empty
	After  *string `json:"after"`
}

// documentKinds are the kinds that this release applies, each with its own rules.
var documentKinds = map[string]func(Document) *inspect.Problem{
	KindTopicSettings: checkTopicSettings,
	KindSavepoint:     checkFlink,
	KindStop:          checkFlink,
	KindCancel:        checkFlink,
	KindRollback:      checkFlink,

	KindArkFlowCheckpoint: checkArkFlow,
	KindArkFlowSavepoint:  checkArkFlow,
	KindArkFlowRollback:   checkArkFlow,
	KindArkFlowPause:      checkArkFlow,
	KindArkFlowResume:     checkArkFlow,
	KindArkFlowCancel:     checkArkFlow,
	KindArkFlowRestart:    checkArkFlow,

	KindProducerDelete:   checkProducer,
	KindProducerRegister: checkProducer,
}

// newDocument makes a plan. The problem is what its reader would say.
func newDocument(kind string, target inspect.PlanTarget, facts []Fact, parameters map[string]string) (Document, *inspect.Problem) {
	d := Document{Kind: kind, Target: target, Facts: facts, Parameters: parameters}
	d.PlanID = d.id()
	_, p := ParseDocument(d.Encode())
	return d, p
}

// Subject is what the plan is about.
func (d Document) Subject() inspect.PlanSubject {
	if FlinkKind(d.Kind) {
		return d.flinkSubject()
	}
	if ArkFlowKind(d.Kind) {
		return d.arkflowSubject()
	}
	if ProducerKind(d.Kind) {
		return d.producerSubject()
	}
	var does []string
	for _, f := range d.Facts {
		if f.After == nil {
			does = append(does, "removes "+f.Name)
		} else {
			does = append(does, "sets "+f.Name+"="+*f.After)
		}
	}
	return inspect.PlanSubject{PlanID: d.PlanID, Kind: d.Kind, Target: d.Target, Does: strings.Join(does, ", ")}
}

// id is the SHA-256, in lower-case hex, over the canonical JSON without the id.
func (d Document) id() string {
	sum := sha256.Sum256(d.canonical(false))
	return hex.EncodeToString(sum[:])
}

// Encode is the file of a plan: its canonical JSON (RFC 8785: members in order
// of their names, no white space) and a newline. A reader takes any order and
// white space; the id is over the canonical form.
func (d Document) Encode() []byte { return append(d.canonical(true), '\n') }

func (d Document) canonical(withID bool) []byte {
	out := []byte(`{"facts":[`)
	for i, f := range d.Facts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"after":`...)
		out = appendTextOrNull(out, f.After)
		out = append(out, `,"before":`...)
		out = appendTextOrNull(out, f.Before)
		out = append(out, `,"name":`...)
		out = appendText(out, f.Name)
		out = append(out, `,"source":`...)
		out = appendText(out, f.Source)
		out = append(out, '}')
	}
	out = append(out, `],"kind":`...)
	out = appendText(out, d.Kind)
	out = append(out, `,"parameters":{`...)
	for i, name := range slices.Sorted(maps.Keys(d.Parameters)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendText(out, name)
		out = append(out, ':')
		out = appendText(out, d.Parameters[name])
	}
	out = append(out, '}')
	if withID {
		out = append(out, `,"planId":`...)
		out = appendText(out, d.PlanID)
	}
	out = append(out, `,"schema":`...)
	out = appendText(out, DocumentSchema)
	out = append(out, `,"target":{`...)
	for i, t := range []struct{ name, text string }{
		{"backend", d.Target.Backend}, {"cluster", d.Target.Cluster}, {"id", d.Target.ID}, {"name", d.Target.Name}, {"object", d.Target.Object},
	} {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendText(out, t.name)
		out = append(out, ':')
		out = appendText(out, t.text)
	}
	return append(out, "}}"...)
}

func appendTextOrNull(out []byte, text *string) []byte {
	if text == nil {
		return append(out, "null"...)
	}
	return appendText(out, *text)
}

// WriteDocument writes a plan file with mode 0600. It never overwrites: the error
// is then a fault of kind Denied that matches fs.ErrExist. A plan that no reader
// would accept is not written, and is a fault of kind Bug.
func WriteDocument(path string, d Document) error {
	data := d.Encode()
	if _, p := ParseDocument(data); p != nil {
		return fault.New(fault.Bug, "write the plan", "the plan is not written, because no reader would accept it: %s", p.Message)
	}
	return atomicfile.Create(path, data)
}

// plainText says why a text can't stand in a document; empty where it can. A
// control character, or a lone surrogate that an escape made, has more than one
// way to be written.
func plainText(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "holds a lone surrogate"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "holds a control character"
	default:
		return ""
	}
}

// isParameterName reports whether a text can be the name of a parameter: one
// word of letters, digits, dots and dashes.
func isParameterName(name string) bool {
	const most = 64
	return name != "" && len(name) <= most && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-'
	})
}

// kindNames are the kinds in a sentence.
func kindNames() string {
	return strings.Join(slices.Sorted(maps.Keys(documentKinds)), ", ")
}

// textOrNothing is one side of a fact in a sentence.
func textOrNothing(value *string) string {
	if value == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q", *value)
}
