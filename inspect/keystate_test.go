package inspect_test

import (
	"strconv"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/flinkkey"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

// What is said of a key is what the job's own code makes of it: the record keys
// of all three generations are the layouts with sequence, event and action in
// between.
func TestKeysAreFoundInAllGenerations(t *testing.T) {
	for _, c := range cases.TypedKeys(t) {
		k, err := flinkkey.New(c.Type, c.ValueText())
		if err != nil {
			t.Fatal(err)
		}
		s := inspect.KeyOf(k, inspect.KeyFigures{MaxParallelism: 128, Parallelism: 4, Partitions: 64})
		if s.Digest != c.Digest || s.Partition == nil {
			t.Errorf("%s: digest %s on partition %v", c.Name, s.Digest, s.Partition)
		}
		if c.JavaHash == nil {
			if s.KeyGroup != nil || s.PartitionReleased != nil || len(s.RecordKeys) > 0 || s.JavaHash != nil || len(s.Notes) == 0 {
				t.Errorf("%s has no stable hash: %+v", c.Name, s)
			}
			continue
		}
		if *s.KeyGroup != c.KeyGroup["128"] || *s.Subtask != c.Subtask["128/4"] || *s.Partition != c.Partition["64"] {
			t.Errorf("%s: key group %d of subtask %d on partition %d", c.Name, *s.KeyGroup, *s.Subtask, *s.Partition)
		}
		if want, written := c.PartitionReleased["64"]; written != (s.PartitionReleased != nil) || written && *s.PartitionReleased != want {
			t.Errorf("%s: released partition %v, want %d", c.Name, s.PartitionReleased, want)
		}
		middle := func(action string) string { return strconv.FormatInt(c.Seq, 10) + "_" + c.EventUUID + "_" + action }
		for n, written := range []struct{ key, middle string }{
			{c.RecordKeyReleased, middle(c.ActionUUIDReleased)}, {c.RecordKeyG2, middle(c.ActionUUIDReleased)}, {c.RecordKey, middle(c.ActionUUID)},
		} {
			layout := s.RecordKeys[n]
			if got := layout.Prefix + written.middle + layout.Suffix; written.key != "" && got != written.key {
				t.Errorf("%s: record key %q of generation %d, want %q", c.Name, got, layout.Generation, written.key)
			}
		}
	}
}

// What depends on a number that is not known is not said, and the note says which.
func TestWhatIsNotKnownOfAKeyIsNotSaid(t *testing.T) {
	k, err := flinkkey.Parse("string:alice")
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.KeyOf(k, inspect.KeyFigures{})
	if s.KeyGroup != nil || s.Subtask != nil || s.Partition != nil || s.PartitionReleased != nil || len(s.Notes) != 1 || len(s.RecordKeys) != 1 {
		t.Errorf("%+v", s)
	}
}
