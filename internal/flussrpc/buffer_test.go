package flussrpc

import (
	"bytes"
	"encoding/binary"
	"sync"
	"testing"
)

func large(fill byte, size int) []byte {
	frame := binary.BigEndian.AppendUint32(nil, uint32(size))
	return append(frame, bytes.Repeat([]byte{fill}, size)...)
}

// Frames are read into memory that was let go of, and never into what somebody
// holds.
func TestFramesAreReadIntoWhatWasLetGoOf(t *testing.T) {
	var home sync.Pool
	reused := false
	for range 50 { // the runtime may give a kept buffer away
		held, first, err := readFrame(bytes.NewReader(large(0, 300<<10)), &home)
		if err != nil {
			t.Fatal(err)
		}
		first.hold()
		first.release() // one holder is left
		other, second, err := readFrame(bytes.NewReader(large(1, 200<<10)), &home)
		if err != nil || second == first || &other[0] == &held[0] || held[0] != 0 || !bytes.Equal(other, large(1, 200<<10)[4:]) {
			t.Fatal("a frame was read into one that is held", err)
		}
		first.release()
		third, buffer, err := readFrame(bytes.NewReader(large(2, 250<<10)), &home)
		if err != nil || !bytes.Equal(third, large(2, 250<<10)[4:]) || buffer == second {
			t.Fatal("a frame was read wrong", err)
		}
		reused = reused || &third[0] == &held[0]
	}
	if !reused {
		t.Error("no frame was read into memory that was let go of")
	}
}

// Small frames, those of an unusual size, and those that nobody keeps have memory of
// their own.
func TestFramesThatAreNotKept(t *testing.T) {
	var home sync.Pool
	if _, b, err := readFrame(bytes.NewReader(large(0, smallFrame)), &home); b != nil || err != nil {
		t.Error("a small frame lies in a buffer", err)
	}
	if _, b, err := readFrame(bytes.NewReader(large(0, smallFrame+1)), nil); b != nil || err != nil {
		t.Error("a frame lies in a buffer that nobody keeps", err)
	}
	frame, b, err := readFrame(bytes.NewReader(large(0, keptFrame+1)), &home)
	if err != nil || len(frame) != keptFrame+1 {
		t.Fatal(err)
	}
	b.release()
	if kept := home.Get(); kept != nil {
		t.Error("a buffer larger than any answer should be is kept")
	}
	if _, b, err := readFrame(bytes.NewReader(large(0, 1<<20)[:1000]), &home); b != nil || err == nil {
		t.Error("a frame that was cut off is one")
	}
}
