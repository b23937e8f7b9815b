package kafka

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// Who looks at a page may say which partition it is of, while the reader, one page
// ahead, learns that another broker leads it.
func TestAPageIsNamedWhileItsLeaderMoves(t *testing.T) {
	fake := kafkatest.StartFake(t)
	name := fake.Topic(t, 2, nil)
	const records = 3
	for range records {
		fake.Put(t, name, 1, kafkatest.KV("k", "v")) // a batch each
	}
	conn, err := kafkaconn.Open(t.Context(), fake.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	store := New(conn, clock.System{})
	described, err := store.topic(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}

	fetches := 0 // the fake cluster's
	asked := make(chan struct{})
	once := sync.OnceFunc(func() { close(asked) })
	fake.Kfake().ControlKey(int16(kmsg.Fetch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		fake.Kfake().KeepControl()
		if fetches++; fetches != 2 {
			return nil, nil, false
		}
		req := kreq.(*kmsg.FetchRequest)
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID = req.Topics[0].Topic, req.Topics[0].TopicID
		part := kmsg.NewFetchResponseTopicPartition()
		part.Partition, part.ErrorCode = 1, kerr.NotLeaderForPartition.Code
		topic.Partitions = append(topic.Partitions, part)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	fake.Kfake().ControlKey(int16(kmsg.Metadata), func(kmsg.Request) (kmsg.Response, error, bool) {
		fake.Kfake().KeepControl()
		once()
		return nil, nil, false
	})

	r := newReader(store, described, records)
	r.partition, r.uncommitted, r.limit = 1, true, 1
	seen := 0
	for p, err := range r.pages(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if seen == 0 {
			<-asked
			time.Sleep(200 * time.Millisecond) // by then the answer has come
		}
		if got, want := r.what(), "partition 1 of topic "+name; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		seen += len(p.records)
	}
	if seen != records {
		t.Errorf("%d records of %d", seen, records)
	}
}
