package kafka_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// faultKind is one thing that can happen at a request.
type faultKind struct {
	group string // row of the table
	name  string
	fits  func(place) bool // nil: every request

	// rule is what is injected; nil: this kind is done by strike.
	rule func(*ground, place) kafkaproxy.Rule

	late    time.Duration // how long after the last apply something may still arrive
	another bool          // somebody changed the world, so that a refusal is a proper end
	first   bool          // at whichever request: it is no kind of which a share will do
	awaited bool          // it tells on ground.happened when it is over
	held    bool          // the request arrives when nothing is applied any more
	over    func(*ground) // ends, after the first apply, what would not end by itself
	process bool          // the apply is the program in a process of its own, and is killed
	kill    func(*process) kafkaproxy.Action
	when    kafkaproxy.When
}

func network(group, name string, when kafkaproxy.When, times int, do func() kafkaproxy.Action) faultKind {
	return faultKind{group: group, name: name, rule: func(g *ground, p place) kafkaproxy.Rule { return g.rule(p, when, times, do()) }}
}

// answersErr are the error codes that a broker may answer for a kind of request.
var answersErr = map[kmsg.Key][]*kerr.Error{
	kmsg.Produce: {kerr.NotLeaderForPartition, kerr.RequestTimedOut, kerr.NotEnoughReplicas, kerr.NotEnoughReplicasAfterAppend,
		kerr.KafkaStorageError, kerr.OutOfOrderSequenceNumber, kerr.TopicAuthorizationFailed, kerr.UnknownServerError},
	kmsg.DeleteRecords: {kerr.NotLeaderForPartition, kerr.RequestTimedOut, kerr.OffsetOutOfRange, kerr.KafkaStorageError,
		kerr.PolicyViolation, kerr.TopicAuthorizationFailed, kerr.UnknownTopicOrPartition, kerr.UnknownServerError},
	kmsg.CreateTopics:    {kerr.NotController, kerr.RequestTimedOut, kerr.TopicAlreadyExists, kerr.PolicyViolation, kerr.ThrottlingQuotaExceeded},
	kmsg.ListOffsets:     {kerr.NotLeaderForPartition, kerr.RequestTimedOut, kerr.LeaderNotAvailable, kerr.UnknownServerError},
	kmsg.DescribeConfigs: {kerr.RequestTimedOut, kerr.TopicAuthorizationFailed},
}

// faultKinds are all that can happen.
func faultKinds() []faultKind {
	const once, always = 1, kafkaproxy.Always
	out := []faultKind{
		network("answer lost", "the answer is lost with its connection", kafkaproxy.AfterForward, once, kafkaproxy.Cut),
		network("answer lost", "the answer never comes", kafkaproxy.AfterForward, once, kafkaproxy.Drop),
		network("answer lost", "all answers from here on are lost", kafkaproxy.AfterForward, always, kafkaproxy.Cut),
		network("request lost", "the connection is reset before", kafkaproxy.BeforeForward, once, kafkaproxy.Cut),
		network("request lost", "the request never arrives", kafkaproxy.BeforeForward, once, kafkaproxy.Drop),
		network("request lost", "all from here on are reset", kafkaproxy.BeforeForward, always, kafkaproxy.Cut),
		network("slower than the limit", "the request is late", kafkaproxy.BeforeForward, once, func() kafkaproxy.Action { return kafkaproxy.Delay(3 * stepLimit) }),
		network("slower than the limit", "the answer is late", kafkaproxy.AfterForward, once, func() kafkaproxy.Action { return kafkaproxy.Delay(3 * stepLimit) }),
	}
	for i := range out {
		if out[i].group == "slower than the limit" {
			out[i].late = 3 * stepLimit
		}
	}
	last := network("slower than the limit", "the request arrives when all is over", kafkaproxy.BeforeForward, once, kafkaproxy.Hold)
	last.held, last.fits = true, place.writes
	out = append(out, last)
	for key, codes := range answersErr {
		for _, code := range codes {
			for _, how := range []struct {
				name  string
				when  kafkaproxy.When
				times int
			}{
				{"instead of doing it", kafkaproxy.BeforeForward, once}, {"from here on", kafkaproxy.BeforeForward, always},
				{"though it was done", kafkaproxy.AfterForward, once},
			} {
				k := network("error code", code.Message+" "+how.name, how.when, how.times, func() kafkaproxy.Action { return kafkaproxy.Error(code) })
				k.fits = func(p place) bool { return p.key == key }
				out = append(out, k)
			}
		}
	}
	metadata := network("error code", "the topic has no leader", kafkaproxy.AfterForward, once, func() kafkaproxy.Action {
		return kafkaproxy.Edit(func(_ kafkaproxy.Request, resp kmsg.Response) {
			topics := resp.(*kmsg.MetadataResponse).Topics
			for i := range topics {
				for p := range topics[i].Partitions {
					topics[i].Partitions[p].ErrorCode, topics[i].Partitions[p].Leader = kerr.LeaderNotAvailable.Code, -1
				}
			}
		})
	})
	metadata.fits = func(p place) bool { return p.key == kmsg.Metadata && p.topic != "none" }
	fetch := network("error code", "the leader has moved", kafkaproxy.AfterForward, once, func() kafkaproxy.Action {
		return kafkaproxy.Edit(func(_ kafkaproxy.Request, resp kmsg.Response) {
			topics := resp.(*kmsg.FetchResponse).Topics
			for i := range topics {
				for p := range topics[i].Partitions {
					topics[i].Partitions[p].ErrorCode, topics[i].Partitions[p].RecordBatches = kerr.NotLeaderForPartition.Code, nil
				}
			}
		})
	})
	fetch.fits = func(p place) bool { return p.key == kmsg.Fetch }
	out = append(out, metadata, fetch)
	return slices.Concat(out, happenings(), transactions(), kills())
}

const topicMadeAnew = "data topic made anew"

// happening is done while the request of a place stands still, and perhaps for
// longer than the apply waits for it.
func happening(group, name string, do func(context.Context, *ground) error) faultKind {
	return faultKind{group: group, name: name, rule: func(g *ground, p place) kafkaproxy.Rule {
		return g.rule(p, kafkaproxy.BeforeForward, 1, kafkaproxy.Call(func(ctx context.Context, _ kafkaproxy.Request) error {
			defer close(g.happened)
			// Whoever does it does not give up because the apply hangs up meanwhile.
			const limit = 30 * time.Second
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
			defer cancel()
			return do(ctx, g)
		}))
	}, awaited: true}
}

// hasControl reports whether there is a control topic, on which something could
// appear.
func (g *ground) hasControl(ctx context.Context) bool {
	_, err := g.cluster.TopicID(ctx, g.control)
	return err == nil
}

// transactions are what others write in transactions. What is open after the
// first apply is aborted then, and changes nothing for anybody.
func transactions() []faultKind {
	const group = "transaction of others"
	control := func(ctx context.Context, g *ground) error {
		if !g.hasControl(ctx) {
			return nil
		}
		txn, err := g.others.Begin(ctx, g.control, 0, asRecorded(g.later(), inspect.StatusCommitted))
		g.leave(txn)
		return err
	}
	data := func(ctx context.Context, g *ground) error {
		txn, err := g.others.Begin(ctx, g.plan.Topic, 0, kafkatest.KV("key-open", "open"))
		g.leave(txn)
		return err
	}
	out := []faultKind{
		happening(group, "one is opened on the control topic", control),
		happening(group, "one is opened and aborted on the control topic", func(ctx context.Context, g *ground) error {
			err := control(ctx, g)
			return errors.Join(err, g.abortOpen(ctx))
		}),
		happening(group, "one is opened on the data topic", data),
		happening(group, "one is opened and aborted on the data topic", func(ctx context.Context, g *ground) error {
			err := data(ctx, g)
			return errors.Join(err, g.abortOpen(ctx))
		}),
	}
	for i := range out {
		out[i].over = func(g *ground) { g.must(g.abortOpen(g.Context())) }
	}
	return out
}

// leave keeps a transaction that is to be aborted later.
func (g *ground) leave(txn *kafkatest.Transaction) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = txn
}

func (g *ground) abortOpen(ctx context.Context) error {
	g.mu.Lock()
	txn := g.open
	g.open = nil
	g.mu.Unlock()
	if txn == nil {
		return nil
	}
	return txn.Abort(ctx)
}

// happenings are what other people do in the middle.
func happenings() (out []faultKind) {
	happens := func(group, name string, do func(context.Context, *ground) error) {
		k := happening(group, name, do)
		k.another, k.first = true, group == topicMadeAnew
		out = append(out, k)
	}
	happens(topicMadeAnew, "the data topic is deleted and made anew", func(ctx context.Context, g *ground) error { return g.remake(ctx) })
	record := func(name string, r func(*ground) kafkatest.Record) {
		happens("another record appears", name, func(ctx context.Context, g *ground) error {
			if !g.hasControl(ctx) {
				return nil
			}
			_, err := g.others.Write(ctx, g.control, 0, r(g))
			return err
		})
	}
	record("a later cleanup is committed", func(g *ground) kafkatest.Record {
		return asRecorded(g.later(), inspect.StatusCommitted)
	})
	record("the same cleanup is committed from elsewhere", func(g *ground) kafkatest.Record {
		return asRecorded(g.plan, inspect.StatusCommitted)
	})
	record("a record that nobody can read", func(*ground) kafkatest.Record { return kafkatest.KV("plan", "{") })
	return out
}

// kills are the ends that a process can't see coming.
func kills() (out []faultKind) {
	for _, k := range []struct {
		name string
		when kafkaproxy.When
		do   func(kill kafkaproxy.Action) kafkaproxy.Action
	}{
		{"killed when it had sent the request, which arrives", kafkaproxy.BeforeForward, func(kill kafkaproxy.Action) kafkaproxy.Action { return kill }},
		{"killed before the request was sent", kafkaproxy.BeforeForward, func(kill kafkaproxy.Action) kafkaproxy.Action {
			return kafkaproxy.Then(kill, kafkaproxy.Cut())
		}},
		{"killed before the answer came", kafkaproxy.AfterForward, func(kill kafkaproxy.Action) kafkaproxy.Action { return kill }},
	} {
		out = append(out, faultKind{group: "process killed at a request", name: k.name, process: true, when: k.when, kill: func(p *process) kafkaproxy.Action {
			return k.do(kafkaproxy.Call(func(context.Context, kafkaproxy.Request) error { p.kill(); return nil }))
		}})
	}
	return out
}
