package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/journal"
)

// The journal names what each plan is about, and a command that answers what became of a
// write whose outcome is not on record.
func TestTheJournalNamesWhatAPlanIsAbout(t *testing.T) {
	const id = "d0802e0838743e7e9624cc76e647ed4b671b135f894fffea7eb0cfed672edc38"
	at := time.Date(2026, 11, 30, 13, 15, 0, 0, time.UTC)
	cleanup := journal.Entry{Time: at, Run: "a", Event: journal.Intent, Step: "commit", PlanID: id, Topic: "action-state", TopicID: "AAAA"}
	job := journal.Entry{Time: at, Run: "b", Event: journal.Intent, Step: "rollback", PlanID: id, Kind: actions.KindArkFlowRollback, Object: "job invoices", ObjectID: "invoices", System: "http://hub:8080"}
	read := journalRead{Entries: []journal.Entry{cleanup, job}, Open: []journal.Entry{cleanup, job}}
	for name, render := range map[string]func(*table, journalRead){"list": renderRuns, "show": renderEntries} {
		var out bytes.Buffer
		table := newTable(&out, 0)
		render(table, read)
		if err := table.flush(); err != nil {
			t.Fatal(err)
		}
		wants := []string{"Ask with recoverctl verify " + id, "Ask with recoverctl verify FILE, with the file of that plan", "action-state", "job invoices"}
		if name == "show" {
			wants = append(wants, "topic action-state (id AAAA)", "job invoices (id invoices) of http://hub:8080")
		}
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s does not say %q:\n%s", name, want, out.String())
			}
		}
	}
}
