package console_test

import (
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/firstrun"
	"github.com/recoverctl/recoverctl/views/fluss"
	"github.com/recoverctl/recoverctl/views/guide"
	"github.com/recoverctl/recoverctl/views/rollback"
	"github.com/recoverctl/recoverctl/views/viewtest"
	"github.com/recoverctl/recoverctl/views/wal"
)

// The page of keys is made from the tables that run them, on the real screens.
func TestKeysAreDocumented(t *testing.T) {
	pages := []struct {
		name string
		walk []string
	}{
		{"Jobs", nil},
		{"Job", []string{"enter"}},
		{"Recovery point", []string{"enter", "enter"}},
		{"Restore check", []string{"enter", "v"}},
		{"Calls", []string{"enter", "c"}},
		{"Call", []string{"enter", "c", "enter"}},
		{"Records", []string{"enter", "b"}},
		{"Record", []string{"enter", "b", "G", "enter"}},
		{"Findings", []string{"enter", "f"}},
		{"Operations", []string{"enter", "o"}},
		{"Operation", []string{"enter", "o", "enter"}},
		{"Verdict on an operation", []string{"enter", "o", "e"}},
		{"Cleanup plan", []string{"enter", "p"}},
		{"Live", []string{"enter", "l"}},
		{"Compare", []string{"enter", "space", "j", "="}},
	}
	var screens []tui.Documented
	for _, page := range pages {
		o, newRoot := open(theme.New(theme.Options{}))
		d := tuitest.New(t, o, newRoot(), 120, 40)
		d.Press(page.walk...)
		screens = append(screens, documented(page.name, d.Top()))
	}
	o := viewtest.Options(theme.New(theme.Options{}))
	running, err := viewtest.NewPlans(viewtest.Store(), viewtest.Log()).Apply(t.Context(), viewtest.Checkpoints+"/chk-44", true)
	if err != nil {
		t.Fatal(err)
	}
	steps := tuitest.New(t, o, apply.New(apply.Options{Theme: o.Theme, Running: running}), 120, 40)
	screens = append(screens, documented("Apply, in steps", steps.Top()))
	running.Stop()
	if _, err := running.Wait(); err == nil {
		t.Error("an apply that was stopped went through")
	}
	screens = append(screens,
		documented("Settings plan", document.New(document.Options{Theme: o.Theme, Words: document.Settings("")})),
		documented("Rollback plan", rollback.New(rollback.Options{Theme: o.Theme})),
		documented("Guided procedure", guide.New(guide.Options{Theme: o.Theme, Name: actions.GuideNewControlTopic})))
	log := tuitest.New(t, o, wal.New(wal.Options{Theme: o.Theme, Source: oneLog{}}), 120, 40)
	screens = append(screens, documented("Write-ahead log", log.Top()))
	log.Press("enter")
	screens = append(screens, documented("Entry of a write-ahead log", log.Top()))
	log.Press("esc", "p")
	screens = append(screens, documented("Problems and facts of a write-ahead log", log.Top()))
	cluster := fluss.Options{Theme: o.Theme}
	screens = append(screens,
		documented("Producers of a Fluss cluster", fluss.NewProducers(cluster)),
		documented("Producer", fluss.NewProducer(cluster, "orders-sink")),
		documented("Buckets of a Fluss table", fluss.NewBuckets(cluster)))
	screens = append(screens, arkflowPages(t)...)
	first := tuitest.New(t, o, firstrun.New(firstrun.Options{Theme: o.Theme}), 120, 40)
	screens = append(screens, documented("First steps", first.Top()))
	tuitest.GoldenFile(t, "../../docs/keys.md", tui.KeysMarkdown(screens))
}

func documented(name string, s tui.Screen) tui.Documented {
	doc := tui.Documented{Name: name, Keys: s.Keys()}
	if c, ok := s.(tui.Commander); ok {
		doc.Commands = c.Commands()
	}
	return doc
}
