package fluss_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/fluss"
	"github.com/recoverctl/recoverctl/internal/fault"
)

func words(logs []fluss.FileLog) string {
	var out []string
	for _, l := range logs {
		w := l.Table
		if l.ID != nil {
			w += fmt.Sprintf("#%d", *l.ID)
		}
		if l.Partition != nil {
			w += fmt.Sprintf("/%d", *l.Partition)
		}
		for _, b := range l.Buckets {
			w += fmt.Sprintf(" %d=%d", b.Bucket, *b.Offset)
		}
		out = append(out, w)
	}
	return strings.Join(out, "; ")
}

// offsetFiles are files in each of the forms, and what they say.
var offsetFiles = map[string]string{
	`{"tables":[{"table":"shop.orders","buckets":[{"bucket":1,"baseline":4},{"bucket":0,"baseline":10}]}]}`:                                                              "shop.orders 1=4 0=10",
	`{"tables":[{"id":3,"partition":7,"buckets":[{"bucket":0,"baseline":0},{"bucket":1,"baseline":null}]}]}`:                                                             "#3/7 0=0",
	`{"schema":"recoverctl/v1","kind":"FlussProducer","data":{"id":"x","tables":[{"id":3,"table":"","partition":null,"buckets":[{"bucket":0,"baseline":9,"undo":1}]}]}}`: "#3 0=9",
	`{"version":1,"table_id":3,"bucket_offsets":[12,-1,7]}`:                                                                                                              "#3 0=12 2=7",
	`{"version":1,"table_id":3,"partition_offsets":[{"partition_id":4,"bucket_offsets":[1]},{"partition_id":5,"bucket_offsets":[-1,2]}]}`:                                "#3/4 0=1; #3/5 1=2",
}

func TestOffsetFilesAreRead(t *testing.T) {
	for file, want := range offsetFiles {
		got, err := fluss.ParseOffsets([]byte(file))
		if err != nil || words(got) != want {
			t.Errorf("%s: %s, %v; want %s", file, words(got), err, want)
		}
	}
}

// The coordinator's own files, as a real one wrote them, with what Fluss's own
// client then read.
func TestTheCoordinatorsOwnFilesAreRead(t *testing.T) {
	for file, want := range map[string]string{"testdata/plain.offsets": "#0 0=34 1=9 2=12 3=5", "testdata/partitioned.offsets": "#3/0 0=15 1=0; #3/1 0=15 1=0"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fluss.ParseOffsets(data)
		if err != nil || words(got) != want {
			t.Errorf("%s: %s, %v; want %s", file, words(got), err, want)
		}
	}
	data, err := os.ReadFile("testdata/negative.offsets")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fluss.ParseOffsets(data); fault.KindOf(err) != fault.Corrupt {
		t.Errorf("an offset of -5, which the coordinator keeps: %s, %v", words(got), err)
	}
}

func TestOddOffsetFilesAreRefused(t *testing.T) {
	for file, says := range map[string]string{
		`{`:             "is no JSON",
		`[]`:            "there is no list tables",
		`{"tables":[]}`: "names no bucket with an offset",
		`{"tables":[{"buckets":[{"bucket":0,"baseline":1}]}]}`:                                       "neither the name of a table nor its id, at byte 11",
		`{"tables":[{"id":1,"buckets":[{"bucket":0,"baseline":1.5}]}]}`:                              "baseline is not a whole number",
		`{"tables":[{"id":1,"buckets":[{"bucket":0,"baseline":-1}]}]}`:                               "baseline is not a whole number from 0 on",
		`{"tables":[{"id":1,"buckets":[{"bucket":0,"baseline":1},{"bucket":0,"baseline":2}]}]}`:      "bucket 0 is named twice",
		`{"tables":[{"id":1,"buckets":[{"bucket":99999999999,"baseline":1}]}]}`:                      "a bucket has no number from 0 on",
		`{"tables":[{"id":1,"buckets":[{"bucket":0,"baseline":99999999999999999999999999999999}]}]}`: "baseline is not a whole number",
		`{"version":2,"table_id":3,"bucket_offsets":[12]}`:                                           "another version",
		`{"version":1,"table_id":3}`:                                                                 "there is no list partition_offsets",
		`{"version":1,"table_id":3,"bucket_offsets":[-7]}`:                                           "from -1 on",
		`{"tables":[{"table":4,"buckets":[]}]}`:                                                      "table is not a name",
	} {
		got, err := fluss.ParseOffsets([]byte(file))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %s, %v; want %q", file, words(got), err, says)
		}
		if kind := fault.KindOf(err); kind != fault.Corrupt && kind != fault.Unsupported {
			t.Errorf("%s: %s", file, kind)
		}
	}
}

func FuzzParseOffsets(f *testing.F) {
	for file := range offsetFiles {
		f.Add([]byte(file))
	}
	for _, name := range []string{"testdata/plain.offsets", "testdata/partitioned.offsets"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		logs, err := fluss.ParseOffsets(data)
		if err != nil {
			return
		}
		for _, l := range logs {
			if l.ID == nil && l.Table == "" || len(l.Buckets) == 0 {
				t.Fatalf("%+v", l)
			}
			seen := map[int32]bool{}
			for _, b := range l.Buckets {
				if b.Offset == nil || *b.Offset < 0 || b.Bucket < 0 || seen[b.Bucket] && !actions.IsDocument(data) {
					t.Fatalf("%+v", l)
				}
				seen[b.Bucket] = true
			}
		}
	})
}
