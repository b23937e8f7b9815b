package live_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/live"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// recordedAt is soon after the answers were recorded.
var recordedAt = time.Date(2026, 11, 29, 18, 30, 0, 0, time.UTC)

// What real JobManagers answered is on the screen: the state, the whole root
// cause, every entry of the history with its path or its reason, what Flink
// would restore by itself and why.
func TestRealJobManagersAnswers(t *testing.T) {
	scenarios := map[string][]string{
		"1.20.5": {"running", "failed", "restarting", "restored"},
		"2.3.0":  {"running", "failed", "restarting", "canceled", "restored", "in-progress", "expired", "no-checkpoints", "ignored-savepoint"},
	}
	for version, names := range scenarios {
		for _, scenario := range names {
			t.Run(version+" "+scenario, func(t *testing.T) {
				r := flinktest.Recorded{Dir: filepath.Join("..", "..", "internal", "flinkrest", "testdata"), Version: version}
				client, err := flinkrest.New(flinkrest.Options{Address: r.Start(t, scenario), Timeout: time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(client.Close)
				store := flink.NewLive(client, clock.NewFake(recordedAt))
				in := inspect.New(viewtest.Shelf{}, nil, clock.NewFake(recordedAt)).WithLive(store)
				job := viewtest.Job()
				job.Flink = inspect.RefOf("http://jobmanager", r.JobID(t, scenario))
				want, err := store.Live(t.Context(), job.Flink)
				if err != nil {
					t.Fatal(err)
				}
				screen := live.New(live.Options{Theme: viewtest.Plain(), Now: func() time.Time { return recordedAt }, Job: job, Source: in})
				d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen, 100, 60)
				for _, c := range want.Checkpoints.History {
					if !strings.Contains(d.Frame(), fmt.Sprintf("%s  %s", figures.Group(c.ID), c.Kind)) {
						t.Errorf("%s %d is not in the history:\n%s", c.Kind, c.ID, d.Frame())
					}
				}
				for _, c := range want.Checkpoints.History {
					switch shown := squeezed(d.Frame()); {
					case c.Path != nil && !strings.Contains(shown, squeezed(*c.Path)):
						t.Errorf("%s %d: its path is not shown:\n%s", c.Kind, c.ID, d.Frame())
					case c.Reason != nil && !strings.Contains(shown, squeezed(*c.Reason)):
						t.Errorf("%s %d: why it failed is not shown:\n%s", c.Kind, c.ID, d.Frame())
					}
					d.Press("j")
				}
				d.Press("tab")
				shown := squeezed(d.Frame())
				parts := []string{want.State, want.JobID, want.Name, want.NextRestore.Why}
				if want.RootCause != nil {
					parts = append(parts, want.RootCause.Type, want.RootCause.Message)
				} else {
					parts = append(parts, "no failure is on record")
				}
				parts = append(parts, want.NextRestore.Unknown...)
				if want.NextRestore.Path != nil {
					parts = append(parts, *want.NextRestore.Path)
				}
				for _, part := range parts {
					if !strings.Contains(shown, squeezed(part)) {
						t.Errorf("%q is not on the screen:\n%s", part, d.Frame())
					}
				}
			})
		}
	}
}

// squeezed is text without the places where it was broken into lines.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }
