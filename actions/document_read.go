package actions

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/strictjson"
)

// ParsePlanFile judges the bytes of a plan file of any kind: a Document, or else
// an inspect.CleanupPlan. A plan with a problem is not to be used.
func ParsePlanFile(data []byte) (Plan, *inspect.Problem) {
	if IsDocument(data) {
		return ParseDocument(data)
	}
	return inspect.ParsePlan(data)
}

// IsDocument reports whether the bytes of a plan file say that they are of a
// schema of this program's own, whatever its version, and so no cleanup plan,
// which has no such field.
func IsDocument(data []byte) bool {
	if !bytes.Contains(data, []byte(`"schema"`)) {
		return false
	}
	doc, err := strictjson.Parse(data)
	if err != nil {
		return false
	}
	_, found := doc.Get("schema")
	return found
}

// ParseDocument judges the bytes of a plan file of recoverctl.plan/v1. The first
// check that fails is the problem: it has a reason word and the byte at which
// what is wrong begins.
func ParseDocument(data []byte) (Document, *inspect.Problem) {
	if len(data) > MaxPlanFile {
		return Document{}, refuse("plan-too-large", inspect.Named{"limit": int64(MaxPlanFile)}, "the plan has %s bytes, and at most %s are read", group(int64(len(data))), group(MaxPlanFile))
	}
	doc, err := strictjson.Parse(data)
	if err != nil {
		return Document{}, inspect.JSONProblem(err, "the plan file")
	}
	r := documentReader{}
	d := r.document(doc)
	return d, r.problem
}

// documentReader keeps the first problem. After it, nothing more is judged.
type documentReader struct{ problem *inspect.Problem }

func (r *documentReader) refuse(at strictjson.Value, code string, named inspect.Named, format string, args ...any) {
	if r.problem != nil {
		return
	}
	if named == nil {
		named = inspect.Named{}
	}
	named["position"] = int64(at.Pos())
	r.problem = refuse(code, named, "%s, at byte %d", fmt.Sprintf(format, args...), at.Pos())
}

func (r *documentReader) document(doc strictjson.Value) Document {
	var d Document
	if doc.Kind() != strictjson.Object {
		r.refuse(doc, "plan-not-an-object", nil, "the plan is %s, not a JSON object", doc.Kind())
		return d
	}
	// A later version may have other fields: its number is the better answer.
	if schema, found := doc.Get("schema"); found && schema.Kind() == strictjson.String && schema.Text() != DocumentSchema {
		r.refuse(schema, "plan-schema-unsupported", nil, "the plan is of the schema %s, and only %s is known", quote(schema.Text()), DocumentSchema)
	}
	if !r.hasFields(doc, "the plan", "schema", "planId", "kind", "target", "facts", "parameters") {
		return d
	}
	r.text(doc, "the plan", "schema", true)
	d.PlanID = r.text(doc, "the plan", "planId", true)
	d.Kind = r.text(doc, "the plan", "kind", true)
	d.Target = r.target(doc)
	d.Facts = r.facts(doc)
	d.Parameters = r.parameters(doc)
	if r.problem == nil {
		r.judge(doc, d)
	}
	return d
}

// judge are the checks after every field has its type.
func (r *documentReader) judge(doc strictjson.Value, d Document) {
	kind, _ := doc.Get("kind")
	rules, known := documentKinds[d.Kind]
	if !known {
		r.refuse(kind, "plan-kind-unknown", nil, "the plan is of the kind %s, and this release applies %s", quote(d.Kind), kindNames())
		return
	}
	if r.problem = rules(d); r.problem != nil {
		return
	}
	if id := d.id(); d.PlanID != id {
		written, _ := doc.Get("planId")
		r.refuse(written, "plan-id-mismatch", nil, "the plan says its id is %s, but its content has the id %s: it was changed after it was made", quote(d.PlanID), id)
	}
}

// hasFields refuses an object whose fields are not exactly these.
func (r *documentReader) hasFields(v strictjson.Value, what string, names ...string) bool {
	if v.Kind() != strictjson.Object {
		r.refuse(v, "plan-field-not-an-object", nil, "%s is %s, not a JSON object", what, v.Kind())
		return false
	}
	if v.HasExactly(names...) {
		return true
	}
	for _, m := range v.Members() {
		if !slices.Contains(names, m.Name) {
			r.refuse(m.Value, "plan-field-set", inspect.Named{"field": m.Name}, "%s has a field %s, which is none of %s", what, quote(m.Name), strings.Join(names, ", "))
			return false
		}
	}
	for _, name := range names {
		if _, found := v.Get(name); !found {
			r.refuse(v, "plan-field-set", inspect.Named{"field": name}, "%s has no field %s", what, name)
			return false
		}
	}
	return true
}

// text is a field that is a text.
func (r *documentReader) text(v strictjson.Value, what, field string, needed bool) string {
	value, _ := v.Get(field)
	if value.Kind() != strictjson.String {
		r.notText(value, what+"'s "+field, field)
		return ""
	}
	r.plain(value, what+"'s "+field, field)
	if needed && strings.TrimSpace(value.Text()) == "" {
		r.refuse(value, "blank-text", inspect.Named{"field": field}, "%s's %s is blank", what, field)
	}
	return value.Text()
}

func (r *documentReader) notText(value strictjson.Value, what, field string) {
	if value.Kind() == strictjson.Null {
		r.refuse(value, "plan-field-null", inspect.Named{"field": field}, "%s is null", what)
		return
	}
	r.refuse(value, "plan-field-not-a-string", inspect.Named{"field": field}, "%s is %s, not a string", what, value.Kind())
}

func (r *documentReader) plain(value strictjson.Value, what, field string) {
	if why := plainText(value.Text()); why != "" {
		r.refuse(value, "plan-text-not-plain", inspect.Named{"field": field}, "%s %s", what, why)
	}
}

func (r *documentReader) target(doc strictjson.Value) inspect.PlanTarget {
	value, _ := doc.Get("target")
	if !r.hasFields(value, "the plan's target", "backend", "cluster", "object", "name", "id") {
		return inspect.PlanTarget{}
	}
	field := func(name string) string { return r.text(value, "the plan's target", name, true) }
	return inspect.PlanTarget{Backend: field("backend"), Cluster: field("cluster"), Object: field("object"), Name: field("name"), ID: field("id")}
}

func (r *documentReader) facts(doc strictjson.Value) []Fact {
	value, _ := doc.Get("facts")
	if value.Kind() != strictjson.Array {
		r.refuse(value, "facts-not-a-list", nil, "the plan's facts are %s, not a JSON array", value.Kind())
		return nil
	}
	if len(value.Items()) == 0 {
		r.refuse(value, "facts-empty", nil, "the plan changes nothing: it has no facts")
		return nil
	}
	facts := make([]Fact, 0, len(value.Items()))
	seen := make(map[string]bool, len(value.Items()))
	for i, item := range value.Items() {
		what := fmt.Sprintf("fact %d", i)
		if !r.hasFields(item, what, "name", "before", "source", "after") {
			return nil
		}
		f := Fact{Name: r.text(item, what, "name", true), Source: r.text(item, what, "source", false)}
		f.Before, f.After = r.side(item, what, "before"), r.side(item, what, "after")
		switch {
		case seen[f.Name]:
			r.refuse(item, "fact-repeated", inspect.Named{"fact": f.Name}, "%s has the name %s, as one before it", what, quote(f.Name))
		case f.Before == nil && f.After == nil:
			r.refuse(item, "fact-changes-nothing", inspect.Named{"fact": f.Name}, "%s, %s, is nothing before and after", what, quote(f.Name))
		}
		seen[f.Name] = true
		if r.problem != nil {
			return nil
		}
		facts = append(facts, f)
	}
	return facts
}

// side is one side of a fact: a text, or null.
func (r *documentReader) side(item strictjson.Value, what, field string) *string {
	value, _ := item.Get(field)
	switch value.Kind() {
	case strictjson.Null:
		return nil
	case strictjson.String:
		r.plain(value, what+"'s "+field, field)
		text := value.Text()
		return &text
	default:
		r.notText(value, what+"'s "+field, field)
		return nil
	}
}

func (r *documentReader) parameters(doc strictjson.Value) map[string]string {
	value, _ := doc.Get("parameters")
	if value.Kind() != strictjson.Object {
		r.refuse(value, "parameters-not-an-object", nil, "the plan's parameters are %s, not a JSON object", value.Kind())
		return nil
	}
	out := make(map[string]string, len(value.Members()))
	for _, m := range value.Members() {
		what := "the plan's parameter " + safetext.Of(m.Name).String()
		if !isParameterName(m.Name) {
			r.refuse(m.Value, "parameter-name", inspect.Named{"parameter": m.Name}, "%s is not named by one word of letters, digits, dots and dashes", what)
		}
		if m.Value.Kind() != strictjson.String {
			r.notText(m.Value, what, m.Name)
		}
		r.plain(m.Value, what, m.Name)
		if r.problem != nil {
			return nil
		}
		out[m.Name] = m.Value.Text()
	}
	return out
}
