package kafkaproxy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Action is what a Rule does.
type Action interface {
	check(Rule) error
	act(context.Context, *Fault, *exchange) verdict
}

// verdict is how a connection goes on after an action.
type verdict int

const (
	proceed verdict = iota
	end             // it is closed
	silence         // it stays open and carries nothing any more
)

// Cut closes the connection. What was answered before still arrives.
func Cut() Action { return cut{} }

// Drop swallows the request, or its answer, and all that would follow on this
// connection: nothing arrives and nobody says so, until the client gives up.
// Other connections, and new ones, work.
func Drop() Action { return drop{} }

// Delay lets the request, or its answer, wait; what follows on the connection
// waits behind it.
func Delay(d time.Duration) Action { return delay(d) }

// Hold is Delay until the Fault is released. A request that is held
// BeforeForward reaches the broker when it is released even if its client has
// long gone, as a packet may that was late.
func Hold() Action { return hold{} }

// Error tells the client that the request, with everything in it, failed.
// BeforeForward the broker never sees it; AfterForward it has been done and
// the client is told otherwise. It can say so for Produce, ListOffsets,
// FindCoordinator, CreateTopics, DeleteTopics, CreatePartitions,
// DeleteRecords, DescribeConfigs and InitProducerID; for others use Edit.
func Error(err *kerr.Error) Action { return refuse{err} }

// Edit changes the broker's answer before the client sees it, and goes with
// AfterForward alone. Brokers in the answer are already the proxy's own.
func Edit(change func(Request, kmsg.Response)) Action { return edit(change) }

// Call runs a function while the request, or its answer, waits, and then goes
// on; where the function fails, the connection ends and the proxy's Err tells.
// The function may use the cluster, through the proxy too. Its context ends
// when the proxy closes, which waits for it.
func Call(hook func(context.Context, Request) error) Action { return call(hook) }

// Then does one action after the other, until one ends the connection.
func Then(actions ...Action) Action { return sequence(actions) }

type (
	cut      struct{}
	drop     struct{}
	delay    time.Duration
	hold     struct{}
	refuse   struct{ err *kerr.Error }
	edit     func(Request, kmsg.Response)
	call     func(context.Context, Request) error
	sequence []Action
)

func (cut) check(Rule) error   { return nil }
func (drop) check(Rule) error  { return nil }
func (delay) check(Rule) error { return nil }
func (hold) check(Rule) error  { return nil }
func (call) check(Rule) error  { return nil }

func (a refuse) check(r Rule) error {
	switch {
	case r.When == AfterAnswer:
		return errors.New("kafkaproxy: after the answer it is too late for an error")
	case a.err == nil:
		return errors.New("kafkaproxy: no error to answer")
	case r.Key == AnyKey:
		return errors.New("kafkaproxy: an error is the answer to one kind of request")
	}
	if _, err := refusal(r.Key.Request(), a.err.Code); err != nil {
		return err
	}
	return nil
}

func (edit) check(r Rule) error {
	if r.When != AfterForward {
		return errors.New("kafkaproxy: only between broker and client there is an answer to edit")
	}
	return nil
}

func (a sequence) check(r Rule) error {
	var errs []error
	for _, action := range a {
		if action == nil {
			return errors.New("kafkaproxy: a sequence without an action")
		}
		errs = append(errs, action.check(r))
	}
	return errors.Join(errs...)
}

func (cut) act(context.Context, *Fault, *exchange) verdict { return end }

func (drop) act(context.Context, *Fault, *exchange) verdict { return silence }

func (a delay) act(ctx context.Context, _ *Fault, _ *exchange) verdict {
	timer := time.NewTimer(time.Duration(a))
	defer timer.Stop()
	return until(ctx, timer.C)
}

func (hold) act(ctx context.Context, f *Fault, _ *exchange) verdict { return until(ctx, f.released) }

func (a refuse) act(_ context.Context, f *Fault, x *exchange) verdict {
	if x.oneWay {
		return end // so does a broker that can't answer
	}
	resp, err := refusal(x.req, a.err.Code)
	if err != nil {
		f.proxy.report(fmt.Errorf("%s: %w", x.trace, err))
		return end
	}
	x.answer = appendAnswer(x.trace.Correlation, resp)
	return proceed
}

func (a edit) act(_ context.Context, f *Fault, x *exchange) verdict {
	if x.oneWay {
		return proceed // nothing to edit
	}
	if x.req == nil {
		f.proxy.report(fmt.Errorf("%s v%d can't be read, so its answer can't be edited", x.trace, x.trace.Version))
		return end
	}
	resp, _, err := parseAnswer(x.req, x.answer)
	if err != nil {
		f.proxy.report(fmt.Errorf("%s: %w", x.trace, err))
		return end
	}
	a(f.proxy.snapshot(x), resp)
	x.answer = appendAnswer(x.trace.Correlation, resp)
	return proceed
}

func (a call) act(ctx context.Context, f *Fault, x *exchange) verdict {
	if err := a(ctx, f.proxy.snapshot(x)); err != nil {
		f.proxy.report(fmt.Errorf("what was to happen at %s: %w", x.trace, err))
		return end
	}
	if ctx.Err() != nil {
		return end
	}
	return proceed
}

func (a sequence) act(ctx context.Context, f *Fault, x *exchange) verdict {
	for _, action := range a {
		if v := action.act(ctx, f, x); v != proceed {
			return v
		}
	}
	return proceed
}

// until waits for a signal, or for the end of the proxy.
func until[T any](ctx context.Context, signal <-chan T) verdict {
	select {
	case <-signal:
		return proceed
	case <-ctx.Done():
		return end
	}
}
