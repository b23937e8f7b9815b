package flink_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
)

// dead is a store that answers nothing.
type dead struct {
	oneFile
	asked *atomic.Int64
}

func (d dead) Stat(context.Context, string) (flink.Entry, error) {
	d.asked.Add(1)
	return flink.Entry{}, errors.New("no access key is set")
}

// A store that answers nothing is not asked for each of thousands of files, and
// none of them is said to be missing.
func TestAStoreThatAnswersNothingIsGivenUp(t *testing.T) {
	md, err := flinkmeta.Decode(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	keyed := &flinkmeta.KeyedState{Kind: flinkmeta.IncrementalV2, HandleID: "x", Range: flinkmeta.KeyGroupRange{Count: 128}, Incremental: &flinkmeta.IncrementalKeys{BackendID: "y"}}
	for i := range 3000 {
		keyed.Incremental.Shared = append(keyed.Incremental.Shared, flinkmeta.NamedStream{Name: fmt.Sprint(i),
			Stream: &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: fmt.Sprintf("dead://bucket/shared/%d", i), Size: 1}})
	}
	agentOf(md).Subtasks[0].RawKeyed = keyed
	data, err := flinkmeta.Encode(md)
	if err != nil {
		t.Fatal(err)
	}
	asked := &atomic.Int64{}
	store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{"dead": dead{asked: asked}}})
	p, err := store.Point(context.Background(), write(t, map[string][]byte{"chk-2/_metadata": data})+"/chk-2")
	if err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n > 40 {
		t.Errorf("the store was asked %d times", n)
	}
	if c := check(t, p, "F10"); c.Severity != inspect.SeverityWarning || !strings.Contains(c.Message, "3,000 files could not be checked") || !strings.Contains(c.Message, "no access key is set") {
		t.Errorf("%+v", c)
	}
	if len(p.Files.Missing) != 0 || len(p.Files.Unchecked) != 3000 {
		t.Errorf("%d missing, %d not checked", len(p.Files.Missing), len(p.Files.Unchecked))
	}
}
