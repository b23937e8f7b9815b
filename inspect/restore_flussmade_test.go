package inspect

import (
	"strings"
	"testing"
	"time"
)

// A table that was made after a recovery point was taken is another one of that name:
// the store, whose markers name none, takes the point all the same, and this is said.
func TestPointsThatAreOlderThanTheirTable(t *testing.T) {
	made := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	data := flussTable(LogRange{0, 10})
	job := Job{Store: StoreFluss, Topic: "agents.state"}
	for name, c := range map[string]struct {
		created time.Time
		taken   *time.Time
		offset  int64
		verdict Verdict
		older   bool
	}{
		"taken before":                 {made, new(made.Add(-time.Hour)), 3, Accepted, true},
		"taken before, and rejected":   {made, new(made.Add(-time.Hour)), 12, Rejected, false},
		"taken since":                  {made, new(made.Add(time.Hour)), 3, Accepted, false},
		"as clocks differ":             {made, new(made.Add(-10 * time.Second)), 3, Accepted, false},
		"it is not known when":         {made, nil, 3, Accepted, false},
		"the server tells no creation": {time.Time{}, new(made.Add(-time.Hour)), 3, Accepted, false},
	} {
		data.Created = c.created
		q := RestoreQuestion{Job: job, Data: data, Markers: []Marker{mapMarker(0, Offsets{0: c.offset})}, Taken: c.taken}
		v := ValidateRestore(q)
		notes := strings.Join(v.Notes, "\n")
		older := strings.Contains(notes, "The table was made at 2026-11-21T09:00:00Z, after this recovery point was taken (2026-11-21T08:00:00Z)")
		if v.Verdict != c.verdict || older != (c.older || c.verdict == Rejected) || older == strings.Contains(notes, "A marker names no table id") {
			t.Errorf("%s: %s, %q", name, v.Verdict, notes)
		}
		found := findings(job, reading{data: data}, nil, []PointSummary{{URI: "file:/p", Verdict: v.Verdict, Offsets: Offsets{0: c.offset}, Taken: Taken{Time: c.taken}}}, nil)
		has := len(found) > 0 && found[0].Rule == "point-older-than-table"
		if has != c.older || has && (found[0].Refs[0] != "file:/p" || found[0].Severity != SeverityError || !strings.Contains(found[0].Cause, "after 1 recovery point was taken that a restore would accept")) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
