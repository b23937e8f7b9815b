package actions

import (
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
)

// A restart is told to send nothing again only where that is known.
func TestWhatARestartOfAStreamSendsAgain(t *testing.T) {
	n := func(n uint64) *uint64 { return &n }
	for name, x := range map[string]struct {
		log  arkflow.WriteAheadLog
		says string
	}{
		"nothing":             {arkflow.WriteAheadLog{Stable: true, Cursor: n(7), Tail: n(7)}, "nothing is sent again"},
		"three entries":       {arkflow.WriteAheadLog{Stable: true, Cursor: n(7), Tail: n(10), Window: &arkflow.Window{From: 8, To: 10, Entries: 3}}, "3 entries are sent again"},
		"a writer is at work": {arkflow.WriteAheadLog{}, "is not known"},
		"no cursor":           {arkflow.WriteAheadLog{Stable: true, Tail: n(7)}, "is not known"},
		"a segment unread":    {arkflow.WriteAheadLog{Stable: true, Partial: true, Cursor: n(7), Tail: n(7)}, "is not known"},
		"another unread":      {arkflow.WriteAheadLog{Stable: true, Partial: true, Cursor: n(7), Tail: n(9), Window: &arkflow.Window{From: 8, To: 9, Entries: 2}}, "is not known: a start replays 2 entries or more"},
	} {
		t.Run(name, func(t *testing.T) {
			var e ArkFlowEvidence
			e.Stream = &arkflow.StreamDetail{Log: &x.log}
			if got := strings.Join(restartNotes(e), " "); !strings.Contains(got, x.says) {
				t.Errorf("%q", got)
			}
		})
	}
}
