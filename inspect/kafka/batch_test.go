package kafka

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// walked is what a walk showed of an answer.
type walked struct {
	offsets    []int64
	keys       [][]byte
	timestamps []int64
}

func walk(raw []byte, position int64) (w walked, stats batchWalk, err error) {
	stats = batchWalk{decompress: kgo.DefaultDecompressor()}
	stats.visit = func(offset, timestamp int64, key, value []byte) {
		w.offsets = append(w.offsets, offset)
		w.keys = append(w.keys, append(bytes.Clone(key), value...))
		w.timestamps = append(w.timestamps, timestamp)
	}
	err = stats.walk(raw, position, math.MaxInt64)
	return w, stats, err
}

func TestBatchesAreWalked(t *testing.T) {
	for _, b := range known() {
		if b.aborted < 1<<40 && len(b.offsets) == 0 {
			continue // as a read_committed reader would see it
		}
		got, stats, err := walk(b.raw, b.position)
		if err != nil || !slices.Equal(got.offsets, b.offsets) || nextOffset(b.raw, b.position) != b.next {
			t.Errorf("%s: %v, %v, next %d; want %v, %d", b.name, err, got.offsets, nextOffset(b.raw, b.position), b.offsets, b.next)
		}
		if b.name == "an abort of a later transaction" && (stats.control != 1 || stats.aborted != 2 || stats.undecided() != 0) {
			t.Errorf("%d control records, %d aborted, %d undecided", stats.control, stats.aborted, stats.undecided())
		}
	}
}

func TestDamagedBatches(t *testing.T) {
	good := known()[0].raw
	flipped := bytes.Clone(good)
	flipped[len(flipped)-1] ^= 1
	short := sealed(kmsg.RecordBatch{FirstOffset: 5, Magic: 2, NumRecords: 3, Records: encoded(kmsg.Record{Key: []byte("k")})})
	none := sealed(kmsg.RecordBatch{FirstOffset: 5, Magic: 2, NumRecords: 1})
	squeezed := sealed(kmsg.RecordBatch{FirstOffset: 5, Magic: 2, Attributes: 3, NumRecords: 1, Records: []byte("no lz4")})
	for name, raw := range map[string][]byte{"a flipped bit": flipped, "too few records": short, "no records": none, "no lz4": squeezed} {
		if got, _, err := walk(raw, 5); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The walk shows what the client library shows a read_uncommitted reader, record
// by record, and refuses no more than that.
func FuzzBatchWalk(f *testing.F) {
	for _, b := range known() {
		f.Add(b.raw, b.position)
	}
	for _, codec := range []kgo.CompressionCodec{kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()} {
		compressor, err := kgo.DefaultCompressor(codec)
		if err != nil {
			f.Fatal(err)
		}
		records := append(encoded(kmsg.Record{Key: []byte("k"), Value: bytes.Repeat([]byte("v"), 1000)}), encoded(kmsg.Record{OffsetDelta: 1, TimestampDelta64: 7})...)
		packed, kind := compressor.Compress(new(bytes.Buffer), records)
		f.Add(sealed(kmsg.RecordBatch{FirstOffset: 5, LastOffsetDelta: 1, Magic: 2, Attributes: int16(kind), NumRecords: 2, Records: packed}), int64(5))
	}
	f.Fuzz(func(t *testing.T, raw []byte, position int64) {
		if position < 0 {
			return
		}
		resealed(raw)
		rp := kmsg.NewFetchResponseTopicPartition()
		rp.RecordBatches = raw
		want, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Offset: position, IsolationLevel: kgo.ReadUncommitted()}, &rp, kgo.DefaultDecompressor(), nil)
		got, _, err := walk(raw, position)
		if err != nil || want.Err != nil {
			return
		}
		if len(got.offsets) != len(want.Records) {
			if next >= nextOffset(raw, position) {
				t.Fatalf("%d records, the library has %d", len(got.offsets), len(want.Records))
			}
			return // it stopped in front of a batch that is not whole
		}
		const sane = 1 << 42 // ms; the library counts nanoseconds
		for i, r := range want.Records {
			if r.Offset != got.offsets[i] || !bytes.Equal(append(bytes.Clone(r.Key), r.Value...), got.keys[i]) ||
				got.timestamps[i] > -sane && got.timestamps[i] < sane && r.Timestamp.UnixMilli() != got.timestamps[i] {
				t.Fatalf("record %d: %d %q at %d, the library has %d %q %q at %d", i, got.offsets[i], got.keys[i], got.timestamps[i], r.Offset, r.Key, r.Value, r.Timestamp.UnixMilli())
			}
		}
	})
}
