package arkflow_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/testkit/arkincident"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	views "github.com/recoverctl/recoverctl/views/arkflow"
	"github.com/recoverctl/recoverctl/views/jobs"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scene is the demo's incident, looked at by the real code at the time of the test's
// clock, with what differs from run to run taken out: its folder and its port.
type scene struct {
	*testing.T
	in    *arkincident.Incident
	hub   *arkflow.Hub
	logs  *arkflow.Logs
	plain *strings.Replacer
}

const hubAddress = "http://hub:8080"

func newScene(t *testing.T) *scene {
	t.Helper()
	dir := t.TempDir()
	in, err := arkincident.StartAt(t.Context(), dir, viewtest.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	now := clock.NewFake(viewtest.Now)
	hub, closeHub, err := in.Ask(now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeHub)
	return &scene{T: t, in: in, hub: hub, logs: arkflow.NewLogs(arkflow.Options{Clock: now}),
		plain: strings.NewReplacer(dir, "/srv/arkflow", in.Address, hubAddress)}
}

// source is the hub as one job of the profile asks it.
type source struct {
	*scene
	stream string // whose log is configured, or the job beside which one is; empty: none
}

func (s source) asked() *arkflow.Hub {
	if s.stream == "" {
		return s.hub
	}
	return s.hub.WithLog(s.logs, s.in.Log(s.stream), nil)
}

func (s source) Jobs(ctx context.Context) (arkflow.JobList, error) {
	l, err := s.asked().Jobs(ctx)
	settle(reflect.ValueOf(&l), s.plain)
	return l, err
}

func (s source) Job(ctx context.Context, id string) (arkflow.JobDetail, error) {
	d, err := s.asked().Job(ctx, id, "")
	settle(reflect.ValueOf(&d), s.plain)
	return d, err
}

func (s source) Replay(ctx context.Context, d arkflow.JobDetail, id string) (arkflow.ReplayCost, error) {
	if s.stream == "" {
		return arkflow.ReplayOf(ctx, nil, d, id), nil
	}
	l, err := s.logs.Read(ctx, s.in.Log(s.stream), arkflow.Question{}) // its place is the folder that is there
	if err != nil {
		return arkflow.ReplayCost{}, err
	}
	d.Log = &l
	return arkflow.ReplayOf(ctx, s.logs, d, id), nil
}

// log is a stream's write-ahead log.
type log struct {
	*scene
	stream string
}

func (l log) Read(ctx context.Context) (arkflow.WriteAheadLog, error) {
	out, err := l.logs.Read(ctx, l.in.Log(l.stream), arkflow.Question{})
	settle(reflect.ValueOf(&out), l.plain)
	return out, err
}

func (l log) Lines(ctx context.Context, _ arkflow.WriteAheadLog, from uint64, limit int) ([]arkflow.Line, bool, error) {
	whole, err := l.logs.Read(ctx, l.in.Log(l.stream), arkflow.Question{})
	if err != nil {
		return nil, false, err
	}
	return l.logs.Lines(ctx, whole, from, limit)
}

func (l log) Open(ctx context.Context, _ arkflow.WriteAheadLog, sequence uint64) (arkflow.Opened, error) {
	whole, err := l.logs.Read(ctx, l.in.Log(l.stream), arkflow.Question{})
	if err != nil {
		return arkflow.Opened{}, err
	}
	return l.logs.Open(ctx, whole, sequence)
}

// settle replaces texts in all that a value holds.
func settle(v reflect.Value, texts *strings.Replacer) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			settle(v.Elem(), texts)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				settle(v.Field(i), texts)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			settle(v.Index(i), texts)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(texts.Replace(v.String()))
		}
	}
}

// options are the screens of one job of the profile.
func (s *scene) options(th theme.Theme, name string) views.Options {
	o := views.Options{Theme: th, Now: viewtest.Clock, Job: inspect.Job{Profile: arkincident.Profile, Name: name}, Source: source{scene: s}}
	switch name {
	case arkincident.StreamReady, arkincident.StreamBad, arkincident.JobDegraded:
		o.Source, o.Log = source{s, name}, log{s, name}
	case arkincident.StreamGap:
		o.Source, o.Log = nil, log{s, name}
	}
	return o
}

// list is the list of jobs as the demo's profile has them.
func (s *scene) list(th theme.Theme, names ...string) *jobs.Screen {
	others := map[int]jobs.Other{}
	var all []inspect.Job
	for i, name := range names {
		all = append(all, inspect.Job{Profile: arkincident.Profile, Name: name})
		others[i] = views.NewEntry(s.options(th, name), "arkflow "+name)
	}
	return jobs.New(jobs.Options{Theme: th, Now: viewtest.Clock, Jobs: all, Others: others})
}

func everything() []string {
	return []string{arkincident.JobInOrder, arkincident.JobDegraded, arkincident.JobRejected, arkincident.JobUpgraded, arkincident.StreamReady, arkincident.StreamBad, arkincident.StreamGap}
}

func (s *scene) job(id string) func() tui.Screen {
	return func() tui.Screen { return views.NewJob(s.options(viewtest.Plain(), id), id) }
}
