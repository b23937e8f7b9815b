package kafka

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"
)

// The in-process Kafka that is closed while a request is under its control
// functions leaves that one goroutine of its own behind, waiting for a lock.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/twmb/franz-go/pkg/kfake.(*Cluster).runControl.func1"))
}

// sealed is a record batch with its length and checksum filled in.
func sealed(b kmsg.RecordBatch) []byte {
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// batches is what one answer of a broker holds, and what must come of it.
type batches struct {
	name     string
	raw      []byte
	position int64
	aborted  int64 // first offset of an aborted transaction of producer 7
	offsets  []int64
	next     int64
}

func known() []batches {
	first := kmsg.Record{Key: []byte("a1"), Value: []byte("v")}
	second := kmsg.Record{OffsetDelta: 1, Key: []byte("a1")}
	abort := kmsg.Record{Key: []byte{0, 0, 0, 0}, Value: []byte{0, 0, 0, 0, 0, 0}}
	plain := kmsg.RecordBatch{
		FirstOffset: 5, LastOffsetDelta: 1, Magic: 2, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		NumRecords: 2, Records: append(encoded(first), encoded(second)...),
	}
	transactional := plain
	transactional.Attributes, transactional.ProducerID = 0x10, 7
	marker := kmsg.RecordBatch{FirstOffset: 7, Magic: 2, Attributes: 0x30, ProducerID: 7, NumRecords: 1, Records: encoded(abort)}
	emptied := kmsg.RecordBatch{FirstOffset: 5, LastOffsetDelta: 9, Magic: 2}
	const never = 1 << 40
	return []batches{
		{"a batch of two", sealed(plain), 5, never, []int64{5, 6}, 7},
		{"from the middle of a batch", sealed(plain), 6, never, []int64{6}, 7},
		{"a batch that begins after a gap", sealed(plain), 2, never, []int64{5, 6}, 7},
		{"a transaction that was aborted", append(sealed(transactional), sealed(marker)...), 5, 5, nil, 8},
		{"an abort of a later transaction", append(sealed(transactional), sealed(marker)...), 5, 7, []int64{5, 6}, 8},
		{"what compaction leaves of a batch", sealed(emptied), 5, never, nil, 15},
		{"a batch that is cut off after a whole one", append(sealed(plain), sealed(marker)[:50]...), 5, never, []int64{5, 6}, 7},
		{"nothing", []byte{}, 5, never, nil, 5},
	}
}

// encoded is a record with its length in front.
func encoded(r kmsg.Record) []byte {
	r.Length = 0
	body := r.AppendTo(nil)[1:]
	return append(kbin.AppendVarint(nil, int32(len(body))), body...)
}

func decoded(raw []byte, position, aborted int64) (answer, error) {
	rp := kmsg.NewFetchResponseTopicPartition()
	rp.RecordBatches, rp.LastStableOffset = raw, 100
	rp.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{{ProducerID: 7, FirstOffset: aborted}}
	r := &reader{topic: topic{name: "t"}, end: 100, decompress: kgo.DefaultDecompressor()}
	return r.decode(&rp, position)
}

func TestDecode(t *testing.T) {
	for _, b := range known() {
		t.Run(b.name, func(t *testing.T) {
			got, err := decoded(b.raw, b.position, b.aborted)
			if err != nil {
				t.Fatal(err)
			}
			var offsets []int64
			for _, r := range got.records {
				offsets = append(offsets, r.Offset)
			}
			if !slices.Equal(offsets, b.offsets) || got.next != b.next || got.bytes != len(b.raw) || got.stable != 100 {
				t.Errorf("records at %v, next %d, %d bytes, stable %d; want %v, %d, %d, 100", offsets, got.next, got.bytes, got.stable, b.offsets, b.next, len(b.raw))
			}
		})
	}
}

// resealed corrects the checksums of batches, which keep a fuzzer out of
// everything behind them.
func resealed(raw []byte) {
	for at := 0; at+61 <= len(raw); {
		length := int(binary.BigEndian.Uint32(raw[at+8:])) + 12
		if length < 61 || at+length > len(raw) {
			break
		}
		binary.BigEndian.PutUint32(raw[at+17:], crc32.Checksum(raw[at+21:at+length], crc32.MakeTable(crc32.Castagnoli)))
		at += length
	}
}

// Whatever a broker sends, reading goes on only past what was decoded, and a
// record lies where the answer says that it was read.
func FuzzDecode(f *testing.F) {
	for _, b := range known() {
		f.Add(b.raw, b.position, b.aborted)
	}
	f.Fuzz(func(t *testing.T, raw []byte, position, aborted int64) {
		if position < 0 {
			return
		}
		resealed(raw)
		got, err := decoded(raw, position, aborted)
		if err != nil {
			return
		}
		if got.next < position {
			t.Fatalf("reading went back from %d to %d", position, got.next)
		}
		last := position - 1
		for _, record := range got.records {
			if record.Offset <= last || record.Offset >= got.next {
				t.Fatalf("a record at %d after one at %d, read from %d to %d", record.Offset, last, position, got.next)
			}
			last = record.Offset
		}
	})
}
