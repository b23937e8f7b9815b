package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/s3test"
)

// Logs that real engines wrote.
const (
	walFiles   = "../../internal/redbfile/testdata/wal-local/"
	walBuckets = "../../inspect/arkflow/testdata/wal-s3/"
)

// walAnswer are the pinned fields of a log.
type walAnswer struct {
	Cursor, Tail, Count *uint64
	Gaps                []struct{ From, To uint64 }
	Stable              bool
	Problems            []struct {
		Code, Severity, Message string
		Sequence                *uint64
	}
	Entries []struct {
		Sequence      uint64
		Acked         bool
		PayloadBytes  int64
		PayloadSha256 string
	}
}

func (a walAnswer) codes() []string {
	codes := []string{}
	for _, p := range a.Problems {
		codes = append(codes, p.Code)
	}
	return codes
}

// A log's answer has the same fields whatever it is, and the exit code says whether
// something is wrong.
func TestInspectArkFlowWAL(t *testing.T) {
	for place, want := range map[string]struct {
		exit         int
		cursor, tail uint64
		codes        []string
	}{
		walFiles + "clean-acked":                   {0, 20, 20, nil},
		walFiles + "unclean-pending":               {0, 13, 20, nil},
		walFiles + "unclean-pending/wal.redb.gz":   {0, 13, 20, nil},
		walFiles + "bad-entry-clean":               {1, 13, 20, []string{"page-damaged"}},
		walFiles + "bad-table-tree-unclean":        {1, 12, 20, []string{"rolled-back"}},
		walFiles + "zero-length":                   {1, 0, 0, []string{"file-empty"}},
		walBuckets + "s3-pending/bucket":           {0, 13, 20, nil},
		walBuckets + "s3-unreferenced/bucket":      {0, 13, 20, []string{"segment-unreferenced"}},
		walBuckets + "s3-torn-newest/bucket":       {1, 13, 19, []string{"sealed-past-tail", "segment-torn"}},
		walBuckets + "s3-no-manifest/bucket/wal":   {1, 0, 20, []string{"manifest-missing"}},
		walBuckets + "s3-gap/bucket/wal/node-a":    {1, 4, 12, []string{"gap"}},
		walFiles + "lib-v3-reclaimed/wal.redb.gz":  {0, 23, 31, nil},
		walFiles + "bad-slot-primary-clean":        {1, 13, 20, []string{"commit-slot-damaged"}},
		walFiles + "truncated-unclean/wal.redb.gz": {1, 13, 20, []string{"file-short"}},
	} {
		t.Run(strings.TrimPrefix(strings.TrimPrefix(place, walFiles), walBuckets), func(t *testing.T) {
			a, got := ask[walAnswer](t, "WriteAheadLog", "inspect", "arkflow", "wal", place)
			d := a.Data
			if got.code != want.exit || d.Cursor == nil || *d.Cursor != want.cursor || *d.Tail != want.tail || d.Count == nil || !d.Stable {
				t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
			}
			if !slices.Equal(d.codes(), append([]string{}, want.codes...)) || d.Gaps == nil || d.Entries != nil {
				t.Errorf("%v, want %v; gaps %v", d.codes(), want.codes, d.Gaps)
			}
			for _, p := range d.Problems {
				if text := command(t, "inspect", "arkflow", "wal", place); text.code != want.exit || !strings.Contains(text.out, p.Message) {
					t.Errorf("exit %d; %q is not in\n%s", text.code, p.Message, text.out)
				}
			}
		})
	}
}

// Entries are those that the redb library reads, to the digest of each payload.
func TestInspectArkFlowWALWithEntries(t *testing.T) {
	var want struct {
		Report struct {
			Redb2 struct {
				Value struct {
					Entries []struct {
						Sequence uint64 `json:"seq"`
						Acked    bool   `json:"acked"`
						Length   int64  `json:"payload_len"`
						Hash     string `json:"payload_sha256"`
					} `json:"entries"`
				} `json:"value"`
			} `json:"redb2"`
		} `json:"engine_and_library_report"`
	}
	text, err := os.ReadFile(walFiles + "kafka-meta/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	a, got := ask[walAnswer](t, "WriteAheadLog", "inspect", "arkflow", "wal", walFiles+"kafka-meta", "--entries")
	entries := want.Report.Redb2.Value.Entries
	if got.code != 0 || len(a.Data.Entries) != len(entries) || len(entries) == 0 {
		t.Fatalf("exit %d, %d entries", got.code, len(a.Data.Entries))
	}
	for i, e := range a.Data.Entries {
		if w := entries[i]; e.Sequence != w.Sequence || e.Acked != w.Acked || e.PayloadBytes != w.Length || e.PayloadSha256 != w.Hash {
			t.Errorf("%+v, want %+v", e, w)
		}
	}
	a, _ = ask[walAnswer](t, "WriteAheadLog", "inspect", "arkflow", "wal", walFiles+"empty-clean", "--entries")
	if a.Data.Entries == nil || len(a.Data.Entries) != 0 {
		t.Errorf("%v: an empty list is no missing one", a.Data.Entries)
	}
}

// What can't be read at all ends with an error alone, which names what to do.
func TestInspectArkFlowWALOfNothing(t *testing.T) {
	for place, want := range map[string]int{
		walFiles + "bad-magic":          9,
		walFiles + "bad-slots-both":     9,
		walFiles + "short-file":         9,
		walFiles + "lib-v1-old":         9,
		walFiles + "future-version":     9,
		walFiles + "bad-entry-unclean":  9,
		walFiles + "hot-copy-corrupt":   9,
		walFiles + "truncated-half":     9,
		filepath.Join(t.TempDir(), "x"): 6,
		t.TempDir():                     6,
		walFiles:                        2,
		"https://host/wal.redb":         2,
	} {
		got := command(t, "inspect", "arkflow", "wal", place, "-o", "json")
		var failed errorEnvelope
		if err := json.Unmarshal([]byte(got.errOut), &failed); err != nil || got.code != want || failed.Error.Exit != want || failed.Error.Hint == "" || got.out != "" {
			t.Errorf("%s: exit %d, want %d\n%s%s", place, got.code, want, got.out, got.errOut)
		}
	}
	if got := command(t, "inspect", "arkflow", "wal", walFiles+"bad-entry-unclean", "--salvage"); got.code != 1 || !strings.Contains(got.out, "no start of the engine gets over this file") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
}

// A log in a store is read with the store's configuration, and is the copy of it.
func TestInspectArkFlowWALInAStore(t *testing.T) {
	s := s3test.Start(t, "logs")
	s.PutDir("logs", "", walBuckets+"s3-bad-middle/bucket")
	s.Break(s3test.RequireKey)
	file := configured(t, "profiles: [{name: orders, object-stores: ["+storeOf(t, s, "s3://logs/", s3test.KeyID, s3test.Secret)+"], jobs: [{name: orders-eu, arkflow: {wal: 's3://logs/wal/node-a/orders-eu'}}]}]")
	onDisk, _ := ask[walAnswer](t, "WriteAheadLog", "inspect", "arkflow", "wal", walBuckets+"s3-bad-middle/bucket")
	for _, args := range [][]string{{"s3a://logs/wal/node-a/orders-eu"}, {"s3://logs"}, nil} {
		a, got := ask[walAnswer](t, "WriteAheadLog", append(append([]string{"inspect", "arkflow", "wal"}, args...), file)...)
		if got.code != 1 || !slices.Equal(a.Data.codes(), onDisk.Data.codes()) || *a.Data.Cursor != *onDisk.Data.Cursor || *a.Data.Tail != *onDisk.Data.Tail {
			t.Errorf("%v: exit %d\n%s%s", args, got.code, got.out, got.errOut)
		}
	}
	if got := command(t, "inspect", "arkflow", "wal", file, "-j", "nobody"); got.code == 0 {
		t.Errorf("exit %d", got.code)
	}
	if got := command(t, "inspect", "arkflow", "wal"); got.code != 3 || !strings.Contains(got.errOut, "arkflow.wal") {
		t.Errorf("exit %d\n%s", got.code, got.errOut)
	}
}

// Payloads are shown as rows, hexadecimal, their own bytes and JSON; values only
// where they are asked for.
func TestInspectArkFlowEntries(t *testing.T) {
	at := walFiles + "kafka-meta"
	got := command(t, "inspect", "arkflow", "entries", at, "--pending")
	if got.code != 0 || !strings.Contains(got.out, "payments-in") || strings.Contains(got.out, "customer") || strings.Contains(got.out, "acknowledged") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	got = command(t, "inspect", "arkflow", "entries", at, "--sequence", "11")
	if got.code != 0 || !strings.Contains(got.out, `"customer": "c000"`) || !strings.Contains(got.out, "timestamp[ns]") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	raw := command(t, "inspect", "arkflow", "entries", at, "--sequence", "11", "--as", "raw")
	if raw.code != 0 || len(raw.out) != 3159 || !strings.HasPrefix(raw.out, "\x00\x00\x00\x0bpayments-in") {
		t.Errorf("exit %d, %d bytes", raw.code, len(raw.out))
	}
	hex := command(t, "inspect", "arkflow", "entries", at, "--sequence", "11", "--as", "hex")
	if hex.code != 0 || !strings.Contains(hex.out, "payments-in") || !strings.Contains(hex.out, "00000000") {
		t.Errorf("exit %d\n%s", hex.code, hex.out)
	}
	lines := command(t, "inspect", "arkflow", "entries", at, "--from", "17", "-o", "json")
	docs := strings.Split(strings.TrimSpace(lines.out), "\n")
	var line struct {
		Sequence uint64
		Input    string
		Columns  []struct{ Name, Type string }
		Rows     [][]any
	}
	if err := json.Unmarshal([]byte(docs[len(docs)-1]), &line); err != nil || len(docs) != 2 || line.Sequence != 18 || line.Input != "payments-in" || len(line.Rows) != 1 || len(line.Rows[0]) != len(line.Columns) {
		t.Errorf("%v, %+v\n%s", err, line, lines.out)
	}
	for _, wrong := range [][]string{{"--as", "raw"}, {"--as", "x"}, {"--sequence", "1", "--from", "1"}, {"--from", "1", "--pending"}, {"--limit", "0"}} {
		if got := command(t, append([]string{"inspect", "arkflow", "entries", at}, wrong...)...); got.code != 2 {
			t.Errorf("%v: exit %d", wrong, got.code)
		}
	}
	if got := command(t, "inspect", "arkflow", "entries", at, "--sequence", "99"); got.code != 6 || !strings.Contains(got.errOut, "no entry with the sequence 99") {
		t.Errorf("exit %d\n%s", got.code, got.errOut)
	}
	// Payloads that are no batches are shown as what they are, and counted as wrong.
	if got := command(t, "inspect", "arkflow", "entries", "../../internal/redbfile/testdata/redb/example-v2"); got.code != 1 || !strings.Contains(got.out, "no batch") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
}
