package inspect_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/flinkkey"
)

func keySequence(t *testing.T, kind, text string, completed *int64) inspect.KeySequence {
	t.Helper()
	key, err := flinkkey.New(kind, text)
	if err != nil {
		t.Fatal(err)
	}
	return inspect.KeySequence{Key: inspect.CallKey{Text: &text, Digest: key.Digest()}, Type: kind, LastCompletedSequenceNumber: completed}
}

func TestKeyIndex(t *testing.T) {
	five, six := int64(5), int64(6)
	x := inspect.NewKeyIndex()
	x.Add(keySequence(t, "string", "alice", &five))
	x.Add(keySequence(t, "string", "42", nil))
	x.Add(keySequence(t, "long", "7", &six))
	text := func(s string) inspect.CallKey { return inspect.CallKey{Text: &s} }
	for name, tt := range map[string]struct {
		key      inspect.CallKey
		sequence int64
		known    bool
	}{
		"by text":                    {text("alice"), 5, true},
		"by digest":                  {inspect.CallKey{Digest: keySequence(t, "string", "alice", nil).Key.Digest}, 5, true},
		"none completed":             {text("42"), -1, true},
		"a number that is a long":    {text("7"), 6, true},
		"a key that is not kept":     {text("bob"), 0, false},
		"a digest that is no digest": {inspect.CallKey{Digest: "x6Qqxw"}, 0, false},
		"neither text nor digest":    {inspect.CallKey{}, 0, false},
	} {
		if sequence, known := x.LastCompleted(tt.key); sequence != tt.sequence || known != tt.known {
			t.Errorf("%s: %d, %v, want %d, %v", name, sequence, known, tt.sequence, tt.known)
		}
	}

	// Two operators keep one key and disagree: nothing is said.
	x.Add(keySequence(t, "string", "alice", &six))
	if _, known := x.LastCompleted(text("alice")); known {
		t.Error("two operators disagree, and one of them is believed")
	}
	if got, known := x.KeyText(keySequence(t, "string", "alice", nil).Key.Digest); !known || got != "alice" {
		t.Errorf("its text is %q, %v", got, known)
	}
}

// A key text that two types share names two keys, which must agree.
func TestKeyIndexOfTwoTypes(t *testing.T) {
	five, six := int64(5), int64(6)
	x := inspect.NewKeyIndex()
	x.Add(keySequence(t, "string", "7", &five))
	x.Add(keySequence(t, "long", "7", &six))
	seven := "7"
	if _, known := x.LastCompleted(inspect.CallKey{Text: &seven}); known {
		t.Error("string:7 and long:7 disagree, and one of them is believed")
	}
}

func TestKeyIndexIsBounded(t *testing.T) {
	x := inspect.NewKeyIndex()
	long := strings.Repeat("k", 1<<20)
	for i := range 40 {
		x.Add(keySequence(t, "string", fmt.Sprintf("%s%d", long, i), nil))
	}
	if n := x.Len(); n >= 40 || n < 20 || !x.Full() {
		t.Errorf("%d keys of 1 MiB, full %v", n, x.Full())
	}
}

// keyStore is a store of two points of which the older one tells its keys.
type keyStore struct {
	inspect.PointStore
	keys []inspect.KeySequence
	read []string
}

func (s *keyStore) Points(context.Context, string) ([]inspect.RecoveryPoint, error) {
	point := func(uri string, id int64, backend inspect.KeyedBackend) inspect.RecoveryPoint {
		at := time.Unix(1_700_000_000+id, 0)
		return inspect.RecoveryPoint{URI: uri, CheckpointID: id, Taken: inspect.Taken{Time: &at},
			Operators: []inspect.Operator{{Keyed: &inspect.KeyedState{Backend: backend}}}}
	}
	return []inspect.RecoveryPoint{point("/c/chk-1", 1, inspect.BackendCanonical), point("/c/chk-2", 2, inspect.BackendFiles)}, nil
}

func (s *keyStore) ReadPoint(_ context.Context, uri string, q inspect.PointQuestion, _ func(inspect.PointProgress)) (inspect.RecoveryPoint, error) {
	s.read = append(s.read, uri)
	for _, k := range s.keys {
		q.Index.Add(k)
	}
	return inspect.RecoveryPoint{URI: uri}, nil
}

func TestKeysComeFromTheNewestPointThatTellsThem(t *testing.T) {
	five := int64(5)
	store := &keyStore{keys: []inspect.KeySequence{keySequence(t, "string", "alice", &five)}}
	index, point, err := inspect.New(store, nil, clock.NewFake(time.Unix(1_700_000_100, 0))).KeyIndex(context.Background(), []string{"/c"}, false)
	if err != nil || point != "/c/chk-1" || index.Len() != 1 || len(store.read) != 1 {
		t.Errorf("%d keys from %q after reading %v: %v", index.Len(), point, store.read, err)
	}
}
