package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/flussincident"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/apply"
)

// The demo on Fluss tells its sample as text, and leaves nothing behind.
func TestTheDemoOnFlussAsText(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	environ := []string{"HOME=" + t.TempDir()}
	got := commandIn(t, environ, "", "demo", "--fluss", "--plain")
	if got.code != 0 || got.errOut != "" {
		t.Fatalf("exit %d\n%s", got.code, got.errOut)
	}
	for _, says := range []string{"job order-agent, table flink_agents.order_state", "/chk-58 ", "the markers name the buckets 0-3", "order-totals", "offsets-file-missing", "BUCKET  LEADER"} {
		if !strings.Contains(got.out, says) {
			t.Errorf("it does not say %q:\n%s", says, got.out)
		}
	}
	for _, never := range []string{"topic", "cleanup", "kafka"} {
		if strings.Contains(strings.ToLower(got.out), never) {
			t.Errorf("it speaks of %q:\n%s", never, got.out)
		}
	}
	type both struct {
		Job       struct{ Store, Topic string }
		Producers []struct{ ID, Verdict string }
	}
	data := decodeAnswer[both](t, "FlussSample", commandIn(t, environ, "", "demo", "--fluss", "--plain", "-o", "json")).Data
	if data.Job.Store != "fluss" || data.Job.Topic != flussincident.Table || len(data.Producers) != len(flussincident.Producers()) {
		t.Errorf("%+v", data)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if got := commandIn(t, environ, "", "demo", "--fluss", "--arkflow", "--plain"); got.code != 2 || !strings.Contains(got.errOut, "exclude each other") {
		t.Errorf("exit %d\n%s", got.code, got.errOut)
	}
}

// Where an entry expired the console registers the log ends of the tables that it was
// of; where nothing is stored, and the job's table is its action state, none.
func TestTheConsoleRegistersTheTablesOfAnEntry(t *testing.T) {
	dir := t.TempDir()
	sample, err := flussincident.Start(t.Context(), dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sample.Close)
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, sample.ConfigYAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{streams: streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, environ: []string{"HOME=" + dir, "XDG_STATE_HOME=" + dir}}, clock: clock.System{}}
	if err := newRoot(a).PersistentFlags().Parse([]string{"--config", file}); err != nil {
		t.Fatal(err)
	}
	if err := a.load(); err != nil {
		t.Fatal(err)
	}
	job := *a.selection.Job
	t.Chdir(t.TempDir())
	source := func(id string) consoleProducer {
		return consoleProducer{consoleDocuments: consoleDocuments{a, apply.NewCurrent()}, sources: a.producerSources(job, remembered{}), job: job, id: id, register: true}
	}
	made, err := source(flussincident.Expired).Make(t.Context(), inspect.Job{})
	if made.Plan.PlanID == "" {
		t.Fatal(err)
	}
	plan := actions.ProducerPlanOf(made.Plan)
	if len(plan.Logs) != 1 || plan.Logs[0].Name != "shop.refunds" || len(plan.Logs[0].Buckets) != 2 || *plan.Logs[0].Buckets[0].Offset != 58 || *plan.Logs[0].Buckets[1].Offset != 41 {
		t.Errorf("%+v", plan.Logs)
	}
	if _, err := source(flussincident.NoEntry).Make(t.Context(), inspect.Job{}); fault.KindOf(err) != fault.Config || !strings.Contains(fault.Of(err).Hint, "--table DATABASE.TABLE") {
		t.Errorf("%v", err)
	}
	_, err = source(flussincident.Ready).Make(t.Context(), inspect.Job{}) // what is valid is not registered over
	if err == nil || !strings.Contains(err.Error(), "ALREADY_EXISTS") {
		t.Errorf("%v", err)
	}
	shown := a.consoleFluss(a.selection.Profile, newObjectStores(a.selection.Profile, remembered{}, a.loaded.Timeout, a.clock), remembered{}, theme.New(theme.Options{Palette: theme.NoStyle}), apply.NewCurrent())
	list, faults, err := shown[0].Options.Source.Producers(t.Context())
	if err != nil || len(faults) > 0 || !slices.IsSortedFunc(list, func(a, b fluss.Producer) int { return strings.Compare(a.ID, b.ID) }) || len(list) != len(flussincident.Producers()) {
		t.Errorf("%d producers, %v, %v", len(list), faults, err)
	}
	if shown[0].Options.Sink != "" {
		t.Errorf("the action-state table %s is taken for a sink's", shown[0].Options.Sink)
	}
}
