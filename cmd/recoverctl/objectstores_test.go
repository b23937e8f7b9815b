package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
	"github.com/recoverctl/recoverctl/internal/testkit/s3test"
	views "github.com/recoverctl/recoverctl/views/connections"
)

// storeOf is an object-stores element for a test's store, with its key in files.
func storeOf(t *testing.T, s *s3test.Server, match, id, secret string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"id": id, "secret": secret} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("{match: %q, endpoint: %q, region: eu-west-1, path-style: true, credentials: {access-key: {file: %q}, secret-key: {file: %q}}}",
		match, s.URL, filepath.Join(dir, "id"), filepath.Join(dir, "secret"))
}

// What a command says about a snapshot in a store is what it says about the same
// one on disk.
func TestAPointInAStoreIsThePointOnDisk(t *testing.T) {
	const name = "file-backed-p2"
	dir := flinkcases.Copy(t, name)
	s := s3test.Start(t, "flink-state")
	s.PutDir("flink-state", "cp", dir)
	s.Break(s3test.RequireKey)
	file := configured(t, "profiles: [{name: orders, object-stores: ["+storeOf(t, s, "s3://flink-state/", s3test.KeyID, s3test.Secret)+"]}]")
	want := flinkcases.Load(t, name).Snapshots[0]
	onDisk, _ := ask[map[string]any](t, "RecoveryPoint", "inspect", "point", filepath.Join(dir, want.Path), "--map", flinkcases.RecordedRoot+name+"="+dir)
	there, got := ask[map[string]any](t, "RecoveryPoint", "inspect", "point", "s3a://flink-state/cp/"+want.Path, "--map", flinkcases.RecordedRoot+name+"=s3://flink-state/cp", file)
	if taken, ok := there.Data["taken"].(map[string]any); got.code != 0 || !ok || taken["source"] != "object" || taken["time"] == nil {
		t.Errorf("exit %d, taken %v\n%s", got.code, there.Data["taken"], got.errOut)
	}
	for _, data := range []map[string]any{onDisk.Data, there.Data} {
		delete(data, "taken")
		delete(data, "uri")
	}
	if !reflect.DeepEqual(onDisk.Data, there.Data) {
		t.Errorf("on disk %v\nin the store %v", onDisk.Data, there.Data)
	}
	if got := command(t, "inspect", "points", "s3://flink-state/cp", file); got.code > 1 || !strings.Contains(got.out, "s3://flink-state/cp/"+want.Path) {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
}

// Places that can't be read from here are unknown, whatever they are called.
func TestOtherStoresAreNotReadableFromHere(t *testing.T) {
	for _, uri := range []string{"hdfs://namenode:8020/cp/chk-1", "gs://b/chk-1", "abfss://c@a.dfs.core.windows.net/chk-1"} {
		if got := command(t, "inspect", "point", uri); got.code != fault.Unsupported.Exit() || !strings.Contains(got.errOut, "not readable from here") || strings.Contains(got.errOut, "no such") {
			t.Errorf("%s: exit %d\n%s", uri, got.code, got.errOut)
		}
	}
}

type checkedJSON struct {
	Probes []struct{ What, Result, Detail, Hint string }
}

// config check tries each store and names the right that is missing.
func TestConfigCheckTriesTheStores(t *testing.T) {
	refusal := s3test.Status(403, "AccessDenied", "Access Denied")
	tests := map[string]struct {
		faults []s3test.Fault
		id     string
		empty  bool
		result string
		says   string
		hint   string
	}{
		"all is well":   {id: s3test.KeyID, result: "ok", says: "may be listed and read (a byte of cp/"},
		"nothing there": {id: s3test.KeyID, empty: true, result: "ok", says: "reading was not tried"},
		"no listing":    {id: s3test.KeyID, faults: []s3test.Fault{s3test.On(s3test.Listing, refusal)}, result: "failed", says: "s3:ListBucket is missing", hint: "s3:ListBucket"},
		"no reading":    {id: s3test.KeyID, faults: []s3test.Fault{s3test.Body(refusal)}, result: "failed", says: "s3:GetObject is missing", hint: "s3:GetObject"},
		"a wrong key":   {id: "OTHER", faults: []s3test.Fault{s3test.RequireKey}, result: "failed", says: "does not know the access key", hint: "access-key"},
		"elsewhere":     {id: s3test.KeyID, faults: []s3test.Fault{s3test.Elsewhere("ap-south-1")}, result: "failed", says: "is in region ap-south-1", hint: "region: ap-south-1"},
		"no store":      {id: s3test.KeyID, faults: []s3test.Fault{s3test.Page(200)}, result: "failed", says: "does not speak S3", hint: "endpoint"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := s3test.Start(t, "flink-state")
			if !tt.empty {
				s.PutDir("flink-state", "cp", flinkcases.Copy(t, "versioned-p2"))
			}
			s.Break(tt.faults...)
			file := configured(t, "profiles: [{name: orders, object-stores: ["+storeOf(t, s, "s3://flink-state/", tt.id, s3test.Secret)+"]}]")
			a, got := ask[checkedJSON](t, "ConfigCheck", "config", "check", file)
			var tried []string
			for _, p := range a.Data.Probes {
				if !strings.HasPrefix(p.What, "object store s3://flink-state/ at "+s.URL) {
					continue
				}
				tried = append(tried, p.What)
				if p.Result != tt.result || !strings.Contains(p.Detail, tt.says) || !strings.Contains(p.Hint, tt.hint) {
					t.Errorf("%+v", p)
				}
			}
			if len(tried) != 1 || (got.code == 1) != (tt.result == "failed") || strings.Contains(got.out+got.errOut, s3test.Secret) {
				t.Errorf("tried %v, exit %d\n%s%s", tried, got.code, got.out, got.errOut)
			}
		})
	}
}

// The screen of connections has each place and each store with its own fault.
func TestEachPlaceAndStoreHasItsFault(t *testing.T) {
	s := s3test.Start(t, "flink-state", "closed")
	s.PutDir("flink-state", "cp", flinkcases.Copy(t, "versioned-p2"))
	s.Break(s3test.On(s3test.Bucket("closed"), s3test.Status(403, "AccessDenied", "Access Denied")))
	dir := flinkcases.Copy(t, "versioned-p2")
	file := configured(t, "profiles: [{name: orders, object-stores: ["+storeOf(t, s, "s3://flink-state/", s3test.KeyID, s3test.Secret)+", "+storeOf(t, s, "s3://closed/", s3test.KeyID, s3test.Secret)+
		"], jobs: [{name: a, recovery-points: [s3a://flink-state/cp, s3://closed/cp, "+dir+", /nowhere]}]}]")
	a := &app{streams: streams{environ: []string{"HOME=" + t.TempDir()}, err: &strings.Builder{}}, clock: clock.System{}}
	loaded, err := config.Load(config.Options{Environ: append(a.environ, "RECOVERCTL_CONFIG="+strings.TrimPrefix(file, "--config="))})
	if err != nil {
		t.Fatal(err)
	}
	a.loaded = loaded
	selection, err := loaded.Select("orders", "")
	if err != nil {
		t.Fatal(err)
	}
	in, systems, err := a.inspector(selection.Profile, remembered{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(systems.close)
	states := func() string {
		var out []string
		for _, c := range connectionList(selection.Profile, systems) {
			if c.Kind == "recovery points" || c.Kind == "object store" {
				out = append(out, strings.SplitN(c.Address, " ", 2)[0]+" "+c.State+why(c))
			}
		}
		return strings.ReplaceAll(strings.Join(out, "\n"), dir, "DISK")
	}
	if got, want := states(), "s3a://flink-state/cp not asked\ns3://closed/cp not asked\nDISK not asked\n/nowhere not asked\ns3://flink-state/ not asked\ns3://closed/ not asked"; got != want {
		t.Errorf("at first\n%s\nwant\n%s", got, want)
	}
	job := inspect.Job{Name: "a", RecoveryPoints: selection.Profile.Jobs[0].RecoveryPoints}
	list, err := in.Points(t.Context(), job, "")
	if len(list.Points) == 0 || fault.KindOf(err) != fault.Denied {
		t.Errorf("%d points, %v", len(list.Points), err)
	}
	if got, want := states(), "s3a://flink-state/cp ok\ns3://closed/cp FAILED denied\nDISK ok\n/nowhere FAILED not-found\ns3://flink-state/ ok\ns3://closed/ FAILED denied"; got != want {
		t.Errorf("then\n%s\nwant\n%s", got, want)
	}
	if got := systems.stores.connection(); got.Name != "s3" || got.State != "FAILED" {
		t.Errorf("the header says %+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := in.Points(ctx, job, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := states(); !strings.Contains(got, "DISK ok") || strings.Contains(got, "connecting") {
		t.Errorf("what was given up changed what was known:\n%s", got)
	}
}

func why(c views.Connection) string {
	if c.Err == nil {
		return ""
	}
	return " " + fault.KindOf(c.Err).String()
}
