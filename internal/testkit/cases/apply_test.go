package cases_test

import (
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

func TestApplyCasesAreReadWhole(t *testing.T) {
	names := cases.Names{Data: "action-state", DataID: "6wBnCDrXRZCpbWKBbvCNbQ", DataID2: "2YgKb1hHSkm0Z8QmYcYh5w", OtherID: "AAAAAAAAAAAAAAAAAAAAAQ", Control: "control"}
	applies, injected := 0, 0
	for _, c := range cases.Applies(t) {
		c, err := c.With(names)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Steps {
			if s.Apply == "" {
				if h := s.Happening; h.Recreate == nil && h.AddPartitions == 0 && h.SetConfig == nil && h.DeleteTo == nil &&
					h.Produce == nil && h.ControlAppend == nil && !h.DeleteDataTopic && !h.DeleteControlTopic {
					t.Errorf("%s: a step in which nothing happens", c.Name)
				}
				continue
			}
			applies++
			for _, i := range s.Inject {
				injected += len(i.Do)
			}
			if plan := c.Plans[s.Apply]; plan.Topic != names.Data && c.Name != "other-topic" {
				t.Errorf("%s: plan of topic %q", c.Name, plan.Topic)
			}
			if s.Expect.Success == (s.Expect.Reason != "") {
				t.Errorf("%s: success %v for the reason %q", c.Name, s.Expect.Success, s.Expect.Reason)
			}
		}
		for _, r := range c.Control.Extra {
			if r.Key != nil && len(*r.Key) != 64 {
				t.Errorf("%s: control key %q", c.Name, *r.Key)
			}
		}
	}
	if applies != 113 || injected != 19 {
		t.Errorf("%d applies with %d injections, want 113 with 19", applies, injected)
	}
}
