package flinkmeta_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"runtime"
	"testing"

	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// sameThroughWindow fails unless both ways to read a file say the same: the same
// values, once what stayed in the file is fetched from where it is said to be, or
// the same error.
func sameThroughWindow(t *testing.T, data []byte) {
	t.Helper()
	want, wantErr := flinkmeta.Decode(data)
	got, err := flinkmeta.DecodeFrom(bytes.NewReader(data), int64(len(data)))
	if wantErr != nil {
		if !reflect.DeepEqual(err, wantErr) {
			t.Fatalf("through a window: %v, in memory: %v", err, wantErr)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got.StateSize(), want.StateSize(); a != b {
		t.Fatalf("state size %+v, in memory %+v", a, b)
	}
	var left []*flinkmeta.Stream
	for ref := range got.Streams() {
		if ref.Stream != nil && ref.Stream.Left() {
			left = append(left, ref.Stream)
		}
	}
	for i, s := range left {
		if s.Size <= flinkmeta.InlineKept {
			t.Fatalf("%d bytes were not kept", s.Size)
		}
		if i == 0 || i == len(left)-1 { // without all of them, and without one
			if _, err := flinkmeta.Encode(got); err == nil {
				t.Fatal("a file without its inline data was written")
			}
		}
		s.Data = data[s.DataPos : s.DataPos+s.Size]
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("through a window: %+v\nin memory: %+v", got, want)
	}
}

func TestWindowReadsWhatMemoryDoes(t *testing.T) {
	for _, name := range flinkcases.Names(t) {
		t.Run(name, func(t *testing.T) {
			for _, s := range flinkcases.Load(t, name).Snapshots {
				data := flinkcases.Metadata(t, name, s)
				sameThroughWindow(t, data)
				for n := 0; n < len(data); n += 1 + len(data)/200 {
					sameThroughWindow(t, data[:n])
				}
			}
		})
	}
	t.Run("many windows", func(t *testing.T) { sameThroughWindow(t, bigMetadata(t, 4<<20)) })
}

// file is a file that fails at a byte.
type file struct {
	*bytes.Reader
	bad  int64
	err  error
	read int64
}

func (f *file) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > f.bad {
		return 0, f.err
	}
	f.read += int64(len(b))
	return f.Reader.ReadAt(b, at)
}

func TestWindowOverAFileThatFails(t *testing.T) {
	data := bigMetadata(t, 1<<20)
	cause := errors.New("connection reset")
	for _, bad := range []int64{0, 4, 300_000, int64(len(data)) - 1} {
		if m, err := flinkmeta.DecodeFrom(&file{Reader: bytes.NewReader(data), bad: bad, err: cause}, int64(len(data))); m != nil || err != cause { //nolint:errorlint // as it is
			t.Errorf("fails at byte %d: %v, error %v", bad, m != nil, err)
		}
	}
	if _, err := flinkmeta.DecodeFrom(bytes.NewReader(data), int64(len(data))+1); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that is shorter than its size: %v", err)
	}
}

// Of large inline data nothing is read or kept.
func TestWindowLeavesInlineDataInTheFile(t *testing.T) {
	const inline = 8 << 20
	data, err := flinkmeta.Encode(&flinkmeta.Metadata{Version: 6, Properties: flinkmeta.CheckpointProperties(), Operators: []flinkmeta.Operator{{
		Parallelism: 1, MaxParallelism: 1, Subtasks: []flinkmeta.Subtask{{
			ManagedOperator: &flinkmeta.OperatorState{Stream: &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: "file:/x", Data: make([]byte, inline)}}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	f := &file{Reader: bytes.NewReader(data), bad: int64(len(data))}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := flinkmeta.DecodeFrom(f, int64(len(data)))
	runtime.ReadMemStats(&after)
	if err != nil || m.StateSize().Bytes != inline {
		t.Fatalf("%+v, error %v", m, err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 || f.read > 1<<20 {
		t.Errorf("%d bytes allocated and %d read for %d bytes of inline data", n, f.read, inline)
	}
	sameThroughWindow(t, data)
}
