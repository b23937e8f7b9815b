package kafkaproxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// request is a request as a client sends it, without its length.
func request(req kmsg.Request, version int16) []byte {
	req.SetVersion(version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("recoverctl")).AppendRequest(nil, req, 7)[4:]
}

// headOnly is the one request that kmsg writes without its body, and brokers
// send among themselves alone.
func headOnly(key kmsg.Key, version int16) bool {
	return key == kmsg.ControlledShutdown && version == 0
}

func TestARequestIsReadInEveryVersion(t *testing.T) {
	for key := range int16(kmsg.MaxKey + 1) {
		newest := kmsg.RequestForKey(key)
		if newest == nil {
			continue
		}
		for version := range newest.MaxVersion() + 1 {
			if headOnly(kmsg.Key(key), version) {
				continue
			}
			want := header{kmsg.Key(key), version, 7, "recoverctl"}
			h, req, err := parseRequest(request(kmsg.RequestForKey(key), version))
			if err != nil || req == nil || h != want {
				t.Errorf("%s v%d: %+v %v", kmsg.NameForKey(key), version, h, err)
			}
		}
	}
}

func TestARequestThatIsNotKnownKeepsItsHead(t *testing.T) {
	for name, head := range map[string][2]int16{"a kind": {999, 3}, "a newer question what there is": {18, 99}} {
		frame := binary.BigEndian.AppendUint16(nil, uint16(head[0]))
		frame = binary.BigEndian.AppendUint16(frame, uint16(head[1]))
		frame = append(frame, 0, 0, 0, 9, 0, 1, 'x', 0xff, 0xff)
		h, req, err := parseRequest(frame)
		if err != nil || req != nil || h.correlation != 9 || h.clientID != "x" {
			t.Errorf("%s: %+v %v %v", name, h, req, err)
		}
	}
}

// A client is told of no version that the proxy can't read, and of all others.
func TestVersionsThatCanNotBeReadAreNotOffered(t *testing.T) {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{{ApiKey: 1, MinVersion: 4, MaxVersion: 120}, {ApiKey: 21, MaxVersion: 1}, {ApiKey: 999, MaxVersion: 7}}
	if !capVersions(resp) || resp.ApiKeys[0].MaxVersion != kmsg.NewPtrFetchRequest().MaxVersion() || resp.ApiKeys[0].MinVersion != 4 ||
		resp.ApiKeys[1].MaxVersion != 1 || resp.ApiKeys[2].MaxVersion != 7 {
		t.Errorf("%+v", resp.ApiKeys)
	}
	if capVersions(resp) {
		t.Error("nothing is left to take away")
	}
}

func TestALengthIsNotBelieved(t *testing.T) {
	long := binary.BigEndian.AppendUint32(nil, maxFrame)
	if _, err := readFrame(bytes.NewReader(append(long, "only this"...))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a frame that ends early: %v", err)
	}
	allocated := testing.AllocsPerRun(1, func() { _, _ = readFrame(bytes.NewReader(long)) })
	if allocated > 10 {
		t.Errorf("%v allocations for a promise", allocated)
	}
	for _, length := range []uint32{0, 3, maxFrame + 1, 1 << 31, 1<<32 - 1} {
		if _, err := readFrame(bytes.NewReader(binary.BigEndian.AppendUint32(nil, length))); !errors.Is(err, errFrame) {
			t.Errorf("a length of %d: %v", length, err)
		}
	}
}

// Whatever a client sends, reading it ends, and what is read is what is
// written again.
func FuzzRequest(f *testing.F) {
	trim := kmsg.NewPtrDeleteRecordsRequest()
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = "state"
	topic.Partitions = append(topic.Partitions, kmsg.DeleteRecordsRequestTopicPartition{Partition: 3, Offset: 12})
	trim.Topics = append(trim.Topics, topic)
	for version := range trim.MaxVersion() + 1 {
		f.Add(request(trim, version))
	}
	for key := range int16(kmsg.MaxKey + 1) {
		if req := kmsg.RequestForKey(key); req != nil {
			f.Add(request(req, req.MaxVersion()))
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		h, req, err := parseRequest(frame)
		if err != nil || req == nil || headOnly(h.key, h.version) {
			return
		}
		again, _, err := parseRequest(request(req, h.version))
		if err != nil || again.key != h.key || again.version != h.version {
			t.Errorf("%s is read, written and then %v", h.name(), err)
		}
		p := &Proxy{}
		p.parts(req)
	})
}

// Whatever a broker answers, reading it ends.
func FuzzAnswer(f *testing.F) {
	for _, key := range []kmsg.Key{kmsg.Metadata, kmsg.Produce, kmsg.Fetch, kmsg.DeleteRecords, kmsg.FindCoordinator, kmsg.ApiVersions} {
		req := key.Request()
		for version := range req.MaxVersion() + 1 {
			req.SetVersion(version)
			f.Add(int16(key), version, appendAnswer(7, req.ResponseKind()))
		}
	}
	f.Fuzz(func(t *testing.T, key, version int16, frame []byte) {
		req := kmsg.RequestForKey(key)
		if req == nil || version < 0 || version > req.MaxVersion() || len(frame) < 4 {
			return
		}
		req.SetVersion(version)
		resp, head, err := parseAnswer(req, frame)
		if err != nil {
			return
		}
		if _, _, err := parseAnswer(req, resp.AppendTo(head[:len(head):len(head)])); err != nil {
			t.Errorf("%s v%d is read, written and then %v", kmsg.NameForKey(key), version, err)
		}
	})
}
