package arkflow_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
)

// That no job has a point on record is said where all records were read.
func TestAPointThatMayBeOnRecord(t *testing.T) {
	answer := func(end, body string) arkhubtest.Fault {
		return arkhubtest.On(http.MethodGet, end, func(rw http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
			rw.Header().Set("Content-Type", "application/json")
			_, err := io.WriteString(rw, body)
			return err == nil
		})
	}
	for name, c := range map[string]struct {
		fault arkhubtest.Fault
		want  fault.Kind
	}{
		"all were read":           {answer("/checkpoints", `[]`), fault.NotFound},
		"a round could not be":    {answer("/checkpoints", `[{"sequence":7}]`), fault.Partial},
		"there are no jobs":       {answer("/jobs", `[]`), fault.NotFound},
		"a job could not be read": {answer("/jobs", `[{"version":1}]`), fault.Partial},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, arkhub.GenerationUpgrades)
			w.run(w.spec(1, 1), 1)
			w.hub.Break(c.fault)
			if _, err := w.read.Validate(t.Context(), "checkpoint-7-1", ""); fault.KindOf(err) != c.want {
				t.Errorf("%v, want a fault of kind %v", err, c.want)
			}
		})
	}
}
