package kafka_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

// leader answers fetches in a broker's place, one answer after the other; the
// last one stays.
type leader struct {
	answers []func(*kmsg.FetchResponse, *kmsg.FetchResponseTopicPartition)
	asked   []int64 // offsets; written by the fake cluster, read when it is done
}

func (k *control) ledBy(answers ...func(*kmsg.FetchResponse, *kmsg.FetchResponseTopicPartition)) *leader {
	l := &leader{answers: answers}
	k.cluster.on(kmsg.Fetch, func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		req := kreq.(*kmsg.FetchRequest)
		l.asked = append(l.asked, req.Topics[0].Partitions[0].FetchOffset)
		answer := l.answers[min(len(l.asked), len(l.answers))-1]
		if answer == nil {
			return nil, nil, false // the fake cluster's own
		}
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		part := kmsg.NewFetchResponseTopicPartition()
		part.HighWatermark, part.LastStableOffset, part.RecordBatches = 3, 3, []byte{}
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID = req.Topics[0].Topic, req.Topics[0].TopicID
		answer(resp, &part)
		topic.Partitions = append(topic.Partitions, part)
		if part.Partition >= 0 {
			resp.Topics = append(resp.Topics, topic)
		}
		return resp, nil, true
	})
	return l
}

// The answers of a leader whose log ends at 3.
var (
	itself  func(*kmsg.FetchResponse, *kmsg.FetchResponseTopicPartition)
	nothing = func(*kmsg.FetchResponse, *kmsg.FetchResponseTopicPartition) {}
	behind  = func(_ *kmsg.FetchResponse, p *kmsg.FetchResponseTopicPartition) {
		p.HighWatermark, p.LastStableOffset = 1, 1
	}
	putOff = func(_ *kmsg.FetchResponse, p *kmsg.FetchResponseTopicPartition) { p.Partition = -1 } // left out
)

func code(e *kerr.Error) func(*kmsg.FetchResponse, *kmsg.FetchResponseTopicPartition) {
	return func(_ *kmsg.FetchResponse, p *kmsg.FetchResponseTopicPartition) { p.ErrorCode = e.Code }
}

func batches(raw []byte) func(*kmsg.FetchResponse, *kmsg.FetchResponseTopicPartition) {
	return func(_ *kmsg.FetchResponse, p *kmsg.FetchResponseTopicPartition) { p.RecordBatches = raw }
}

// batch is a record batch of the offsets [first, last] that announces records
// and holds none: with 0 announced it is what compaction leaves of a batch.
func batch(first, last int64, announced int32, records []byte) []byte {
	b := kmsg.RecordBatch{
		FirstOffset: first, LastOffsetDelta: int32(last - first), PartitionLeaderEpoch: 0, Magic: 2,
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: announced, Records: records,
	}
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// squeezed is a batch that says that it is snappy and becomes size bytes.
func squeezed(size uint64) []byte {
	raw := batch(0, 2, 3, binary.AppendUvarint(nil, size))
	raw[22] |= 2
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

func TestOneEmptyAnswerIsNoEnd(t *testing.T) {
	t.Parallel()
	three := []inspect.ControlRecord{at(0, "a", "of a"), at(1, "b", "of b"), at(2, "c", "of c")}
	type answer = func(*kmsg.FetchResponse, *kmsg.FetchResponseTopicPartition)
	tests := []struct {
		name    string
		answers []answer
		want    []inspect.ControlRecord
		asked   int
	}{
		{"the leader answers at once", []answer{itself}, three, 1},
		{"one empty answer", []answer{nothing, itself}, three, 2},
		{"two empty answers", []answer{nothing, nothing, itself}, three, 3},
		{"empty answers that are not in a row", []answer{nothing, nothing, putOff, nothing, nothing, itself}, three, 6},
		{"a client over its quota", []answer{putOff, putOff, itself}, three, 3},
		{"a leader that has moved", []answer{code(kerr.NotLeaderForPartition), code(kerr.FencedLeaderEpoch), itself}, three, 3},
		{"a new leader that has not caught up", []answer{behind, behind, behind, behind, itself}, three, 5},
		{"compaction has emptied the batches", []answer{batches(batch(0, 2, 0, nil))}, nil, 1},
		{"compaction has taken all batches up to the end", []answer{nothing}, nil, 3},
		{"an emptied batch, then none", []answer{batches(batch(0, 1, 0, nil)), nothing}, nil, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := newFake(t).control(t, map[string]string{"cleanup.policy": "compact"})
			for _, r := range three {
				k.putBytes(r.Key, r.Value)
			}
			store := k.cluster.store(t)
			leader := k.ledBy(tt.answers...)
			got, err := store.ControlTopic(context.Background(), k.topic)
			if err != nil {
				t.Fatal(err)
			}
			wantRecords(t, got.Records, tt.want)
			if len(leader.asked) != tt.asked {
				t.Errorf("asked %d times (%v), want %d", len(leader.asked), leader.asked, tt.asked)
			}
		})
	}
}

// What can't be read to its end is an error, and never a shorter history.
func TestHistoriesThatCanNotBeReadToTheirEnd(t *testing.T) {
	t.Parallel()
	damaged := batch(0, 2, 0, nil)
	damaged[len(damaged)-1] ^= 1
	tests := []struct {
		name   string
		answer func(*kmsg.FetchResponse, *kmsg.FetchResponseTopicPartition)
		kind   fault.Kind
		says   string
	}{
		{"Read is not allowed", code(kerr.TopicAuthorizationFailed), fault.Denied, "Read"},
		{"the log start has moved past it", code(kerr.OffsetOutOfRange), fault.Drift, "offset 0"},
		{"the broker finds its log damaged", code(kerr.CorruptMessage), fault.Corrupt, "offset 0"},
		{"a batch fails its checksum", batches(damaged), fault.Corrupt, "offset 0"},
		{"a batch holds fewer records than it announces", batches(batch(0, 2, 3, []byte{0x7f})), fault.Corrupt, "offset 0"},
		{"a batch announces records and is empty", batches(batch(0, 2, 3, nil)), fault.Corrupt, "offset 0"},
		{"a batch is cut off", batches(batch(0, 2, 0, nil)[:40]), fault.Corrupt, "offset 0"},
		{"a batch that would become half a gigabyte", batches(squeezed(1 << 29)), fault.Corrupt, "larger than any batch"},
		{"a batch of a format that nobody knows", batches(append(make([]byte, 16), 9, 0, 0)), fault.Corrupt, "magic 9"},
		{"a new leader never catches up", behind, fault.Drift, "went back from 3 to 1"},
		{"the partition is never led", code(kerr.NotLeaderForPartition), fault.Unreachable, "no broker leads"},
		{"the client stays over its quota", putOff, fault.Unreachable, "quota"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := newFake(t).control(t, map[string]string{"cleanup.policy": "compact"})
			for n := range 3 {
				k.put(fmt.Sprint("k", n), "v")
			}
			store := k.cluster.store(t, func(c *kafkaconn.Config) { c.RequestTimeout = 3 * time.Second })
			k.ledBy(tt.answer)
			got, err := store.ControlTopic(context.Background(), k.topic)
			if err == nil || fault.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want a fault of kind %s that says %q", err, tt.kind, tt.says)
			}
			if got.Records != nil {
				t.Errorf("records are returned beside the error: %s", list(got.Records))
			}
		})
	}
}

// A fetch that is under way when time is up says what those before it were told.
func TestALeaderThatIsSilentInTheEnd(t *testing.T) {
	t.Parallel()
	k := newFake(t).control(t, map[string]string{"cleanup.policy": "compact"})
	k.put("a", "of a")
	store := k.cluster.store(t, func(c *kafkaconn.Config) { c.RequestTimeout = 3 * time.Second })
	asked := 0
	k.cluster.on(kmsg.Fetch, func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		if asked++; asked > 2 {
			return nil, nil, true // never
		}
		req := kreq.(*kmsg.FetchRequest)
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		part := kmsg.NewFetchResponseTopicPartition()
		part.ErrorCode = kerr.NotLeaderForPartition.Code
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID = req.Topics[0].Topic, req.Topics[0].TopicID
		topic.Partitions = append(topic.Partitions, part)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	_, err := store.ControlTopic(context.Background(), k.topic)
	if fault.KindOf(err) != fault.Unreachable || !strings.Contains(fmt.Sprint(err), "had no answer in time, and the one before it had this: topic "+k.topic+" partition 0: no broker leads the partition") {
		t.Errorf("%v", err)
	}
}

func TestAControlTopicThatIsRecreatedWhileItIsRead(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*kmsg.FetchResponse, *kmsg.FetchResponseTopicPartition){
		"the leader still answers for the old one": batches(batch(0, 2, 0, nil)),
		"the leader knows only the new one":        itself,
	} {
		t.Run(name, func(t *testing.T) {
			k := newFake(t).control(t, map[string]string{"cleanup.policy": "compact"})
			for n := range 3 {
				k.put(fmt.Sprint("k", n), "v")
			}
			store := k.cluster.store(t)
			first := true
			k.cluster.on(kmsg.ListOffsets, func(kreq kmsg.Request) (kmsg.Response, error, bool) {
				if first && kreq.(*kmsg.ListOffsetsRequest).Topics[0].Partitions[0].Timestamp == -2 {
					first = false
					// After the answer to this request, which is the last before the fetch.
					resp := kreq.ResponseKind().(*kmsg.ListOffsetsResponse)
					st := kmsg.NewListOffsetsResponseTopic()
					st.Topic = k.topic
					sp := kmsg.NewListOffsetsResponseTopicPartition()
					sp.Offset = 0
					st.Partitions = append(st.Partitions, sp)
					resp.Topics = append(resp.Topics, st)
					if err := k.cluster.fake.DeleteTopic(k.topic); err != nil {
						t.Error(err)
					}
					if err := k.cluster.fake.CreateTopic(k.topic, 1, map[string]string{"cleanup.policy": "compact"}); err != nil {
						t.Error(err)
					}
					return resp, nil, true
				}
				return nil, nil, false
			})
			k.ledBy(answer)
			got, err := store.ControlTopic(context.Background(), k.topic)
			if fault.KindOf(err) != fault.Drift || !strings.Contains(fmt.Sprint(err), "recreated") {
				t.Errorf("%v, want drift", err)
			}
			if got.Records != nil {
				t.Errorf("records are returned: %s", list(got.Records))
			}
		})
	}
}

// The end is captured first: what is written after that belongs to the next
// reading, also when the leader returns it already.
func TestWhatIsWrittenAfterTheEndWasCapturedIsLeftOut(t *testing.T) {
	t.Parallel()
	k := newFake(t).control(t, map[string]string{"cleanup.policy": "compact"})
	k.put("a", "of a")
	k.put("b", "of b")
	store := k.cluster.store(t)
	late := false
	k.cluster.on(kmsg.Fetch, func(kmsg.Request) (kmsg.Response, error, bool) {
		if !late {
			late = true
			k.cluster.fake.SleepControl(func() { k.put("c", "of c") })
		}
		return nil, nil, false
	})
	for _, want := range [][]inspect.ControlRecord{
		{at(0, "a", "of a"), at(1, "b", "of b")},
		{at(0, "a", "of a"), at(1, "b", "of b"), at(2, "c", "of c")},
	} {
		got, err := store.ControlTopic(context.Background(), k.topic)
		if err != nil {
			t.Fatal(err)
		}
		wantRecords(t, got.Records, want)
		if got.LastStable != int64(len(want)) || got.LogEnd != int64(len(want)) {
			t.Errorf("last stable %d, log end %d; want %d", got.LastStable, got.LogEnd, len(want))
		}
	}
	if !late {
		t.Error("nothing was written in between")
	}
}
