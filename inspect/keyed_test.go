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

func keySequence(t *testing.T, kind, text string) inspect.KeySequence {
	t.Helper()
	key, err := flinkkey.New(kind, text)
	if err != nil {
		t.Fatal(err)
	}
	return inspect.KeySequence{Key: inspect.CallKey{Text: &text, Digest: key.Digest()}, Type: kind}
}

func TestKeyIndex(t *testing.T) {
	x := inspect.NewKeyIndex()
	x.Add(keySequence(t, "string", "alice"))
	x.Add(keySequence(t, "string", "7"))
	x.Add(keySequence(t, "long", "7"))
	unread := keySequence(t, "string", "of a class that is not known")
	unread.Key.Text = nil
	x.Add(unread)
	for name, tt := range map[string]struct {
		digest, text string
		known        bool
	}{
		"a key":                      {keySequence(t, "string", "alice").Key.Digest, "alice", true},
		"a number that is a long":    {keySequence(t, "long", "7").Key.Digest, "7", true},
		"a key that is not kept":     {keySequence(t, "string", "bob").Key.Digest, "", false},
		"a key without a text":       {unread.Key.Digest, "", false},
		"a digest that is no digest": {"x6Qqxw", "", false},
		"nothing":                    {"", "", false},
	} {
		if text, known := x.KeyText(tt.digest); text != tt.text || known != tt.known {
			t.Errorf("%s: %q, %v, want %q, %v", name, text, known, tt.text, tt.known)
		}
	}

	// A second operator keeps the same key: it is one entry.
	before := x.Len()
	x.Add(keySequence(t, "string", "alice"))
	if x.Len() != before {
		t.Errorf("%d keys, had %d", x.Len(), before)
	}
}

func TestKeyIndexIsBounded(t *testing.T) {
	x := inspect.NewKeyIndex()
	long := strings.Repeat("k", 1<<20)
	for i := range 40 {
		x.Add(keySequence(t, "string", fmt.Sprintf("%s%d", long, i)))
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
	store := &keyStore{keys: []inspect.KeySequence{keySequence(t, "string", "alice")}}
	index, point, err := inspect.New(store, nil, clock.NewFake(time.Unix(1_700_000_100, 0))).KeyIndex(context.Background(), []string{"/c"}, false)
	if err != nil || point != "/c/chk-1" || index.Len() != 1 || len(store.read) != 1 {
		t.Errorf("%d keys from %q after reading %v: %v", index.Len(), point, store.read, err)
	}
}
