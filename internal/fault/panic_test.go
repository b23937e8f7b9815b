package fault_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/fault"
)

func recovered(do func()) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fault.Panicked(value)
		}
	}()
	do()
	return nil
}

// A panic says what and where, and nothing of it reaches a terminal as it is.
func TestPanicked(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		do   func()
		says string
	}{
		"text":            {func() { panic("no such\x1b[2J step") }, `no such\x1b[2J step (panic_test.go:`},
		"an error":        {func() { panic(broken) }, "broken (panic_test.go:"},
		"a runtime error": {func() { var list []int; _ = list[len(t.Name())] }, "index out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			err := recovered(c.do)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "(panic_test.go:") {
				t.Fatalf("%v, want %q", err, c.says)
			}
		})
	}
	if err := recovered(func() { panic(broken) }); !errors.Is(err, broken) {
		t.Error("the error is not within")
	}
	if err := recovered(func() { var list []int; _ = list[len(t.Name())] }); !errors.As(err, new(runtime.Error)) {
		t.Errorf("%v is no runtime error", err)
	}
}
