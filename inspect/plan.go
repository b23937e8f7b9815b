package inspect

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/recoverctl/recoverctl/internal/strictjson"
)

// ZeroTopicID is the topic id of a broker that has none. It identifies nothing,
// so it can't authorise a cleanup.
const ZeroTopicID = "AAAAAAAAAAAAAAAAAAAAAA"

// planSchema is the version of plans and of the markers they are made from.
const planSchema = 1

// ParsePlan judges the bytes of a plan file. The checks run in the order of the
// Java tool, and the first that fails is the problem; a plan with a problem is
// not to be used.
func ParsePlan(data []byte) (CleanupPlan, *Problem) {
	doc, err := strictjson.Parse(data)
	if err != nil {
		return CleanupPlan{}, JSONProblem(err, "the plan file")
	}
	return judgePlan(doc)
}

// PlanID is the id that belongs to a plan's content: the lower-case hex SHA-256
// over the schema version, the three texts and one "partition=offset" line per
// partition in ascending order. A lone surrogate is hashed as "?".
func PlanID(sourceRecoveryPoint, topic, topicID string, offsets Offsets) string {
	hash := sha256.New()
	line := func(text string) {
		// A hash never fails to take bytes.
		_, _ = io.WriteString(hash, text+"\n")
	}
	line(strconv.Itoa(planSchema))
	line(loneSurrogatesAsMarks(sourceRecoveryPoint))
	line(loneSurrogatesAsMarks(topic))
	line(loneSurrogatesAsMarks(topicID))
	for _, p := range offsets.Partitions() {
		line(fmt.Sprintf("%d=%d", p, offsets[p]))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// loneSurrogatesAsMarks writes text as Java encodes it: UTF-8 has no form for a
// lone surrogate, and Java's encoder puts "?" in its place.
func loneSurrogatesAsMarks(text string) string {
	if !strings.Contains(text, "\xed") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == 0xed && i+2 < len(text) && text[i+1] >= 0xa0 {
			b.WriteByte('?')
			i += 2
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// judgePlan judges a plan file's document and the plan object inside a control
// record alike.
func judgePlan(doc strictjson.Value) (CleanupPlan, *Problem) {
	var plan CleanupPlan
	if doc.Kind() != strictjson.Object {
		return plan, problem("plan-not-an-object", nil, "the plan is %s, not a JSON object", doc.Kind())
	}
	if !doc.HasExactly("schemaVersion", "planId", "sourceRecoveryPoint", "topic", "topicId", "offsets") {
		return plan, problem("plan-field-set", nil,
			"the plan has the fields %s instead of exactly schemaVersion, planId, sourceRecoveryPoint, topic, topicId, offsets", fieldNames(doc))
	}
	var p *Problem
	if plan.Offsets, p = planOffsets(doc); p != nil {
		return plan, p
	}
	schema, p := planSchemaVersion(doc)
	if p != nil {
		return plan, p
	}
	texts := []struct {
		field string
		into  *string
	}{
		{"planId", &plan.PlanID}, {"sourceRecoveryPoint", &plan.SourceRecoveryPoint},
		{"topic", &plan.Topic}, {"topicId", &plan.TopicID},
	}
	for _, t := range texts {
		if *t.into, p = planText(doc, t.field); p != nil {
			return plan, p
		}
	}
	if schema != planSchema {
		return plan, problem("plan-schema-unsupported", Named{"schemaVersion": schema},
			"the plan has schema version %d; only version %d is known", schema, planSchema)
	}
	for _, t := range texts[1:] {
		if isBlank(*t.into) {
			return plan, problem("blank-text", Named{"field": t.field}, "the plan's %s is blank", t.field)
		}
	}
	return plan, judgePlanValues(plan)
}

// judgePlanValues are the checks after every field has its type.
func judgePlanValues(plan CleanupPlan) *Problem {
	if plan.TopicID == ZeroTopicID {
		return problem("zero-topic-id", nil, "the plan's topic id is the zero id, which identifies no topic")
	}
	if len(plan.Offsets) == 0 {
		return problem("offsets-empty", nil, "the plan names no partition")
	}
	if p := negativeEntry(plan.Offsets, "the plan"); p != nil {
		return p
	}
	if id := PlanID(plan.SourceRecoveryPoint, plan.Topic, plan.TopicID, plan.Offsets); plan.PlanID != id {
		return problem("plan-id-mismatch", nil,
			"the plan says its id is %s, but its content has the id %s: it was changed after it was made", quote(plan.PlanID), id)
	}
	return nil
}

// negativeEntry is the first partition or offset below zero, lowest partition
// first.
func negativeEntry(offsets Offsets, what string) *Problem {
	p, found := firstNegative(offsets)
	switch {
	case !found:
		return nil
	case p < 0:
		return problem("partition-negative", Named{"partition": p}, "%s names the partition %d; partitions begin at 0", what, p)
	default:
		return problem("offset-negative", Named{"partition": p, "requested": offsets[p]},
			"%s has the offset %s for partition %d; offsets begin at 0", what, group(offsets[p]), p)
	}
}

// firstNegative is the lowest partition that is negative or has a negative
// offset. It does not sort: markers of hundreds of subtasks are judged with it.
func firstNegative(offsets Offsets) (lowest int32, found bool) {
	for p, offset := range offsets {
		if (p < 0 || offset < 0) && (!found || p < lowest) {
			lowest, found = p, true
		}
	}
	return lowest, found
}

func planOffsets(doc strictjson.Value) (Offsets, *Problem) {
	value, _ := doc.Get("offsets")
	if value.Kind() == strictjson.Null {
		return nil, nullField("offsets")
	}
	if value.Kind() != strictjson.Object {
		return nil, problem("offsets-not-an-object", nil, "the plan's offsets are %s, not a JSON object", value.Kind())
	}
	offsets := make(Offsets, len(value.Members()))
	for _, m := range value.Members() {
		named := Named{"partition": m.Name}
		offset, ok := m.Value.Int64()
		if !ok {
			return nil, problem("offset-not-an-int64", named,
				"the plan's offset of partition %s is %s, not a 64-bit integer", quote(m.Name), shown(m.Value))
		}
		partition, ok := javaParseInt(m.Name)
		if !ok {
			return nil, problem("partition-not-an-int32", named, "the plan's partition %s is not a 32-bit integer", quote(m.Name))
		}
		if strconv.Itoa(int(partition)) != m.Name {
			return nil, problem("partition-not-canonical", named, "the plan writes partition %d as %s", partition, quote(m.Name))
		}
		offsets[partition] = offset
	}
	return offsets, nil
}

func planSchemaVersion(doc strictjson.Value) (int32, *Problem) {
	value, _ := doc.Get("schemaVersion")
	if value.Kind() == strictjson.Null {
		return 0, nullField("schemaVersion")
	}
	version, ok := value.Int32()
	if !ok {
		return 0, problem("plan-schema-not-an-integer", nil, "the plan's schemaVersion is %s, not a 32-bit integer", shown(value))
	}
	return version, nil
}

func planText(doc strictjson.Value, field string) (string, *Problem) {
	value, _ := doc.Get(field)
	switch value.Kind() {
	case strictjson.Null:
		return "", nullField(field)
	case strictjson.String:
		return value.Text(), nil
	default:
		return "", problem("plan-field-not-a-string", Named{"field": field}, "the plan's %s is %s, not a string", field, value.Kind())
	}
}

func nullField(field string) *Problem {
	return problem("plan-field-null", Named{"field": field}, "the plan's %s is null", field)
}

// JSONProblem turns an error of package strictjson into a problem.
func JSONProblem(err error, what string) *Problem {
	var e *strictjson.Error
	if !errors.As(err, &e) {
		return problem(string(strictjson.Malformed), nil, "%s: %s", what, quote(err.Error()))
	}
	switch e.Code {
	case strictjson.DuplicateName:
		return problem(string(e.Code), Named{"name": e.Name}, "%s: the name %s occurs twice in one object, again at byte %d", what, quote(e.Name), e.Pos)
	case strictjson.Limit:
		return problem(string(e.Code), Named{"limit": e.Name}, "%s: %s", what, e.Error())
	default:
		return problem(string(e.Code), nil, "%s: %s", what, e.Error())
	}
}

func problem(code string, named Named, format string, args ...any) *Problem {
	if named == nil {
		named = Named{}
	}
	return &Problem{Code: code, Message: fmt.Sprintf(format, args...), Named: named}
}

// shown is a JSON value in a sentence: its literal where that is short.
func shown(v strictjson.Value) string {
	const short = 40
	if text := v.Text(); v.Kind() == strictjson.Number && len(text) <= short {
		return text
	}
	return v.Kind().String()
}

// fieldNames lists the names of an object in a sentence.
func fieldNames(doc strictjson.Value) string {
	const most = 10
	names := make([]string, 0, most)
	for i, m := range doc.Members() {
		if i == most {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(doc.Members())-most)
		}
		names = append(names, quote(m.Name))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// isBlank follows Java's String.trim: nothing is left after characters up to
// U+0020 are taken from both ends. U+00A0 and U+3000 are text.
func isBlank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return r <= ' ' }) == ""
}

// javaParseInt follows Java's Integer.parseInt: an optional sign, then decimal
// digits of any script, each one UTF-16 unit.
func javaParseInt(text string) (int32, bool) {
	negative := strings.HasPrefix(text, "-")
	digits := strings.TrimPrefix(text, "-")
	if !negative {
		digits = strings.TrimPrefix(text, "+")
	}
	if digits == "" {
		return 0, false
	}
	var n int64
	for _, r := range digits {
		d, ok := decimalDigit(r)
		if !ok {
			return 0, false
		}
		n = n*10 + d
		if n > math.MaxInt32+1 {
			return 0, false
		}
	}
	if negative {
		n = -n
	}
	if n > math.MaxInt32 {
		return 0, false
	}
	return int32(n), true
}

// decimalDigit is the value of a decimal digit. Unicode keeps the ten digits of
// a script side by side, so the value is the distance from its zero.
func decimalDigit(r rune) (int64, bool) {
	if r >= '0' && r <= '9' {
		return int64(r - '0'), true
	}
	if r > 0xffff || !unicode.Is(unicode.Nd, r) {
		return 0, false
	}
	for _, block := range unicode.Nd.R16 {
		if r >= rune(block.Lo) && r <= rune(block.Hi) {
			return int64(r-rune(block.Lo)) % 10, true
		}
	}
	return 0, false
}
