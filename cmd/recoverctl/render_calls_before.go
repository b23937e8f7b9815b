package main

import (
	"fmt"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// renderCallsBefore says what a plan does to the calls at risk, and that nobody
// looked.
func renderCallsBefore(t *table, c *actions.CallsBefore) {
	t.line("")
	if c == nil {
		t.line("durable calls: not scanned")
		return
	}
	t.line(fmt.Sprintf("durable calls below the targets, of %s records scanned: %s pending, %s overwritten, %s with a saved result, %s of completed actions in an open sequence",
		figures.Group(c.Records), figures.Group(c.Pending), figures.Group(c.Overwritten), figures.Group(c.Saved), figures.Group(c.Completed)))
	if len(c.Points) == 0 {
		return
	}
	t.row(text("CALLS THAT RUN AGAIN FROM"), num("NOW"), num("AFTER THE PLAN"), num("UNKNOWN"))
	for _, p := range c.Points {
		after := nothing
		if p.Later != nil {
			after = figures.Group(p.Later.RunsAgain)
		}
		t.row(text(p.Point), num(runAgain(p)), num(after), num(figures.Group(p.Calls.Unknown)))
	}
}
