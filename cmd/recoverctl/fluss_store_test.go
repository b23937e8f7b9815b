package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/s3test"
)

// Rows that a leader has no longer on its disk are read from the object store that
// the cluster moved them to; where that refuses, has lost a file or gives a part of
// it, the answer is partial and says which rows of which bucket are missing.
func TestFlussRowsInAnObjectStore(t *testing.T) {
	in := startFlussIncident(t)
	bucket := int32(0)
	if in.end(0) == 0 {
		bucket = 1
	}
	folder := t.TempDir()
	if _, err := in.Tier(in.log, bucket, in.end(bucket), folder); err != nil {
		t.Fatal(err)
	}
	s := s3test.Start(t, "fluss")
	s.PutDir("fluss", "remote", folder)
	if err := os.RemoveAll(folder); err != nil { // the store alone has them
		t.Fatal(err)
	}
	profile, err := os.ReadFile(in.config)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(profile), "    environment: development\n", "    environment: development\n    object-stores: ["+storeOf(t, s, "s3://fluss/", s3test.KeyID, s3test.Secret)+"]\n    path-mappings: [{from: \"file:"+folder+"\", to: \"s3://fluss/remote\"}]\n", 1)
	if err := os.WriteFile(in.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := func() (records int64, partial bool, got outcome) {
		t.Helper()
		got = in.run(t, "inspect", "calls", "-o", "json")
		var a answer[struct {
			Scanned struct {
				Records int64
				Partial bool
			}
		}]
		if err := json.Unmarshal([]byte(got.out), &a); err != nil {
			t.Fatalf("%v: exit %d\n%s%s", err, got.code, got.out, got.errOut)
		}
		return a.Data.Scanned.Records, a.Data.Scanned.Partial, got
	}
	all := in.end(0) + in.end(1)
	if n, partial, got := calls(); n != all || partial || got.code != 0 {
		t.Errorf("%d rows of %d, partial %t, exit %d\n%s", n, all, partial, got.code, got.errOut)
	}
	for name, c := range map[string]struct {
		fault s3test.Fault
		says  string
	}{
		"refused": {s3test.Key(".log", s3test.Status(403, "AccessDenied", "Access Denied")), "s3:GetObject"},
		"lost":    {s3test.Key(".log", s3test.Status(404, "NoSuchKey", "The specified key does not exist.")), "is not there"},
		"cut":     {s3test.Key(".log", s3test.Cut(10)), "remote"},
	} {
		t.Run(name, func(t *testing.T) {
			s.Break(c.fault)
			defer s.Break()
			n, partial, got := calls()
			if n != all-in.end(bucket) || !partial || got.code == 0 {
				t.Errorf("%d rows, partial %t, exit %d", n, partial, got.code)
			}
			if said := got.out + got.errOut; !strings.Contains(said, "was not read from offset 0") || !strings.Contains(said, c.says) {
				t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
			}
		})
	}
}
