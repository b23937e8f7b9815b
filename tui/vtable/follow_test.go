package vtable_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/vtable"
)

// found are the rows of a scan so far; more come anywhere among them.
type found struct {
	names
	looked *int
}

func (found) Constant() {}

// Query knows the word even; anything else is a text.
func (f found) Query(query string) (func(i int) bool, string) {
	if number, ok := strings.CutPrefix(query, "divides:"); ok {
		var n, by int
		if _, err := fmt.Sscanf(number, "%d", &by); err != nil || by < 1 {
			return func(int) bool { return true }, "divides: needs a number"
		}
		return func(i int) bool {
			*f.looked++
			_, err := fmt.Sscanf(f.names[i], "row-%d", &n)
			return err == nil && n%by == 0
		}, ""
	}
	return func(i int) bool { *f.looked++; return strings.Contains(f.names[i], query) }, ""
}

func every(step, upTo int, looked *int) found {
	var rows names
	for i := 0; i < upTo; i += step {
		rows = append(rows, fmt.Sprintf("row-%06d", i))
	}
	return found{rows, looked}
}

// A language of the source's own, its inverse, and what it does not understand.
func TestASourceHasItsOwnFilterLanguage(t *testing.T) {
	looked := 0
	table := vtable.New(plain, nameColumn, every(1, 10, &looked))
	table.Resize(tui.Size{Width: 80, Height: 14})
	tests := map[string]struct {
		want []string
		note string
	}{
		"divides:4":  {[]string{"row-000000", "row-000004", "row-000008"}, "3 of 10 rows"},
		"!divides:2": {[]string{"row-000001", "row-000003", "row-000005", "row-000007", "row-000009"}, "5 of 10 rows"},
		"00003":      {[]string{"row-000003"}, "1 of 10 rows"},
		"divides:x":  {every(1, 10, &looked).names, "esc shows all; divides: needs a number"},
	}
	for query, tt := range tests {
		table.SetFilter(query)
		finish(table)
		view := table.View(tui.Size{Width: 80, Height: 14})
		if got := shown(table); !slices.Equal(got[:len(got)-1], tt.want) || !strings.Contains(view, tt.note) {
			t.Errorf("%s shows %q:\n%s", query, got, view)
		}
	}
}

// A scan gives new rows more often than a filter can look through all of them:
// the rows that pass stay in sight, each filter ends, and at last the newest rows
// are shown, with the selection where it was.
func TestAFilteredTableKeepsItsRowsWhileAScanRuns(t *testing.T) {
	looked := 0
	table := vtable.New(plain, nameColumn, every(64, 40_000, &looked))
	table.Resize(tui.Size{Width: 80, Height: 20})
	table.SetFilter("divides:64")
	finish(table)
	table.Select("row-006400")
	least, _ := table.Shown()
	for step := 32; step >= 1; step /= 2 {
		table.SetSource(every(step, 40_000, &looked))
		for range 3 {
			table.Step()
			n, _ := table.Shown()
			least = min(least, n)
			if view := table.View(tui.Size{Width: 120, Height: 20}); strings.Contains(view, "newer rows") != table.Busy() {
				t.Fatalf("whether newer rows wait, which is %v, is not what the table says:\n%s", table.Busy(), view)
			}
			if id, _ := table.Selected(); id != "row-006400" {
				t.Fatalf("%s is selected", id)
			}
		}
	}
	finish(table)
	if n, complete := table.Shown(); n != 625 || !complete || least != 625 {
		t.Errorf("%d rows, complete %v, at least %d on the way; want 625 always", n, complete, least)
	}
	if id, _ := table.Selected(); id != "row-006400" {
		t.Errorf("%s is selected", id)
	}
	table.SetFilter("")
	if n, _ := table.Shown(); n != 40_000 {
		t.Errorf("without a filter %d rows are shown, not those that came last", n)
	}
}

// Another filter, or none, acts on the newest rows at once.
func TestAnotherFilterTakesTheNewestRows(t *testing.T) {
	for query, want := range map[string]int{"": 30_000, "divides:10000": 3} {
		looked := 0
		table := vtable.New(plain, nameColumn, every(2, 30_000, &looked))
		table.Resize(tui.Size{Width: 80, Height: 20})
		table.SetFilter("divides:1000")
		finish(table)
		table.Select("row-005000")
		table.SetSource(every(1, 30_000, &looked))
		table.SetSource(every(1, 30_000, &looked))
		table.SetFilter(query)
		finish(table)
		if n, _ := table.Shown(); n != want {
			t.Errorf("%q shows %d rows, want %d", query, n, want)
		}
	}
}
