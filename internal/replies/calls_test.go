package replies_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/replies"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errEnded = errors.New("the server has gone")

func begin(t *testing.T, c *replies.Calls[string]) (int32, <-chan string) {
	t.Helper()
	id, answer, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return id, answer
}

// Answers reach the calls that they are for, in whatever order they come.
func TestAnswersReachTheirCalls(t *testing.T) {
	c := replies.New[string](1)
	first, one := begin(t, c)
	second, two := begin(t, c)
	if first != 1 || second != 2 {
		t.Errorf("ids %d and %d", first, second)
	}
	if !c.Deliver(second, "two") || !c.Deliver(first, "one") {
		t.Error("a call that was made is not known")
	}
	for want, answer := range map[string]<-chan string{"one": one, "two": two} {
		if got, ok, err := c.Wait(t.Context(), answer); got != want || !ok || err != nil {
			t.Errorf("%q, %v, error %v; want %q", got, ok, err, want)
		}
	}
}

// An answer that nobody waits for is dropped; one to no call is told.
func TestAnswersToNobody(t *testing.T) {
	c := replies.New[string](1)
	id, answer := begin(t, c)
	c.Forget(id)
	if !c.Deliver(id, "late") || !c.Deliver(id, "again") {
		t.Error("a call that was given up is not known")
	}
	select {
	case got := <-answer:
		t.Errorf("%q reached a call that was given up", got)
	default:
	}
	for _, strange := range []int32{0, -1, 2, 1 << 30} {
		if c.Deliver(strange, "strange") {
			t.Errorf("call %d was never made", strange)
		}
	}
}

// The end of a connection ends all calls with the first reason, but for one whose
// answer had come.
func TestTheEndOfAConnection(t *testing.T) {
	c := replies.New[string](0)
	id, answered := begin(t, c)
	_, waits := begin(t, c)
	c.Deliver(id, "in time")
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, ok, err := c.Wait(t.Context(), waits); ok || !errors.Is(err, errEnded) {
			t.Errorf("a call that waits: %v", err)
		}
	})
	if !c.End(errEnded) || c.End(errors.New("another reason")) {
		t.Error("not the first end alone is told to be it")
	}
	wg.Wait()
	if got, ok, err := c.Wait(t.Context(), answered); got != "in time" || !ok || err != nil {
		t.Errorf("%q, %v, error %v", got, ok, err)
	}
	if _, _, err := c.Begin(); !errors.Is(err, errEnded) || !errors.Is(c.Err(), errEnded) {
		t.Errorf("a call after the end: %v", err)
	}
}

func TestACallIsGivenUp(t *testing.T) {
	c := replies.New[string](0)
	_, answer := begin(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, ok, err := c.Wait(ctx, answer); ok || err != nil || c.Err() != nil {
		t.Errorf("%v, error %v, reason %v", ok, err, c.Err())
	}
}
