package inspect

// Prospect foretells what a plan, once it is applied, leaves to the rules of a
// restore.
type Prospect struct {
	PlanID  string
	Targets Offsets // below which the plan deletes

	// Leaves is a question as it will be asked then. The problem is why an apply
	// would be refused as things are; nil where nothing that was read refuses it.
	Leaves func(RestoreQuestion) (RestoreQuestion, *Problem)
}

// Later is what a restore would say once a plan is applied. Where the plan would
// be refused as things are, Refused says why, the verdict is unknown, and no rule
// was asked: nothing of it will come about.
type Later struct {
	PlanID    string   `json:"planId"`
	Verdict   Verdict  `json:"verdict"`
	Reasons   []Reason `json:"reasons"`
	Rules     []Rule   `json:"rules"`
	Unchecked []string `json:"unchecked"`
	Refused   *Problem `json:"refused"`

	Calls *CallCounts `json:"calls"` // nil: not scanned, or the restore would be rejected
}

// After answers the question as it will be asked once a plan is applied. It is a
// pure function of the evidence, as ValidateRestore is.
func (p Prospect) After(q RestoreQuestion) Later {
	later, refused := p.Leaves(q)
	if refused != nil {
		return Later{PlanID: p.PlanID, Verdict: Unknown, Reasons: []Reason{}, Rules: []Rule{}, Unchecked: []string{}, Refused: refused}
	}
	v := ValidateRestore(later)
	return Later{PlanID: p.PlanID, Verdict: v.Verdict, Reasons: v.Reasons, Rules: v.Rules, Unchecked: v.Unchecked}
}

// Changed are the rules that do not decide later as they do now, and those that
// refuse for another reason.
func (l Later) Changed(now []Rule) []Rule {
	said := make(map[string]Rule, len(now))
	for _, r := range now {
		said[r.Title] = r // the code of a rule is that of its refusal, where it refuses
	}
	var out []Rule
	for _, r := range l.Rules {
		before, refuses := said[r.Title], r.Result == Failed || r.Result == WouldFail
		if before.Result != r.Result || refuses && before.Message != r.Message {
			out = append(out, r)
		}
	}
	return out
}

// WithProspect returns an inspector that also says of each restore that it is
// asked about what it would be once a plan is applied.
func (i *Inspector) WithProspect(p Prospect) *Inspector {
	out := *i
	out.prospect = &p
	return &out
}

// later fills in what a question would be answered once the plan is applied.
func (i *Inspector) later(q RestoreQuestion, v *RestoreValidation) {
	if i.prospect != nil {
		after := i.prospect.After(q)
		v.Later = &after
	}
}
