package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// The exit codes are a contract with scripts: they are listed here by number.
func TestExitCodesAreStable(t *testing.T) {
	want := map[fault.Kind]int{
		fault.Problem: 1, fault.Usage: 2, fault.Config: 3, fault.Unreachable: 4,
		fault.Denied: 5, fault.NotFound: 6, fault.Drift: 7, fault.Partial: 8,
		fault.Corrupt: 9, fault.Unsupported: 10, fault.Busy: 11, fault.Unknown: 12,
		fault.Bug: 70, fault.Cancelled: 130,
	}
	seen := map[string]fault.Kind{}
	for kind, exit := range want {
		if got := kind.Exit(); got != exit {
			t.Errorf("%s: exit %d, want %d", kind, got, exit)
		}
		if other, ok := seen[kind.String()]; ok {
			t.Errorf("kinds %d and %d share the word %q", kind, other, kind)
		}
		seen[kind.String()] = kind
	}
}

func TestKindOf(t *testing.T) {
	inner := fault.New(fault.Denied, "describe topic", "not allowed")
	tests := map[string]struct {
		err  error
		want fault.Kind
	}{
		"a fault":             {inner, fault.Denied},
		"a wrapped fault":     {fmt.Errorf("while looking: %w", inner), fault.Denied},
		"a cancelled context": {fmt.Errorf("x: %w", context.Canceled), fault.Cancelled},
		"an expired context":  {context.DeadlineExceeded, fault.Unreachable},
		"anything else":       {io.EOF, fault.Bug},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := fault.KindOf(tt.err); got != tt.want {
				t.Errorf("kind %s, want %s", got, tt.want)
			}
		})
	}
}

func TestErrorKeepsItsCause(t *testing.T) {
	err := fault.Wrap(fault.Unreachable, "connect", io.EOF, "broker %s closed the connection", "k1:9092").
		WithHint("check the protocol").WithRef("broker k1:9092")
	if got, want := err.Error(), "broker k1:9092 closed the connection: EOF"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if !errors.Is(err, io.EOF) {
		t.Error("the cause is lost")
	}
	if fault.Of(fmt.Errorf("outer: %w", err)) != err {
		t.Error("Of does not find the fault inside")
	}
	if fault.Of(nil) != nil {
		t.Error("Of(nil) is not nil")
	}
}

func TestAllTakesJoinsApart(t *testing.T) {
	a, b, c := errors.New("a"), fault.New(fault.Denied, "read", "b"), errors.New("c")
	got := fault.All(errors.Join(a, errors.Join(b, nil), a, c))
	if len(got) != 3 || !errors.Is(got[0], a) || !errors.Is(got[1], b) || !errors.Is(got[2], c) {
		t.Errorf("%v", got)
	}
	if one := fault.All(fmt.Errorf("outer: %w", a)); len(one) != 1 {
		t.Errorf("a wrapped error is one: %v", one)
	}
	if fault.All(nil) != nil {
		t.Error("All(nil) is not empty")
	}
}
