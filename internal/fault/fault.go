package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Fault is an error as an operator should read it.
type Fault struct {
	Kind    Kind
	Op      string   // what was being done, as in "list offsets"; may be empty
	Message string   // one sentence: what failed, with its numbers
	Hint    string   // what to do next; may be empty
	Refs    []string // what it is about: "topic action-state partition 3", a file, a broker
	Err     error    // the cause; may be nil
}

// New makes a fault without a cause. The format and its arguments make the
// message.
func New(kind Kind, op, format string, args ...any) *Fault {
	return &Fault{Kind: kind, Op: op, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes a fault around cause. Errors.Is and errors.As see the cause; the
// text of the cause is appended to the message by Error.
func Wrap(kind Kind, op string, cause error, format string, args ...any) *Fault {
	return &Fault{Kind: kind, Op: op, Message: fmt.Sprintf(format, args...), Err: cause}
}

// WithHint sets what the operator should do next and returns the fault.
func (f *Fault) WithHint(format string, args ...any) *Fault {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}

// WithRef adds what the fault is about and returns the fault.
func (f *Fault) WithRef(refs ...string) *Fault {
	f.Refs = append(f.Refs, refs...)
	return f
}

// Error is the message, and the cause where there is one. The hint is not part
// of it: it is printed on its own line.
func (f *Fault) Error() string {
	if f.Err == nil {
		return f.Message
	}
	if f.Message == "" {
		return f.Err.Error()
	}
	cause := f.Err.Error()
	if strings.HasPrefix(cause, "\n") { // a list, which begins on its own line
		return f.Message + ":" + cause
	}
	return f.Message + ": " + cause
}

// Unwrap is the cause.
func (f *Fault) Unwrap() error { return f.Err }

// KindOf classifies any error. A fault has its own kind; a cancelled context is
// Cancelled and an expired one Unreachable; anything else is Bug. KindOf(nil)
// is Bug as well: callers ask only about errors.
func KindOf(err error) Kind {
	var f *Fault
	switch {
	case errors.As(err, &f):
		return f.Kind
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		return Unreachable
	default:
		return Bug
	}
}

// Of returns err as a fault: itself where it is one, else a fault of its
// KindOf around it. Of(nil) is nil.
func Of(err error) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Kind: KindOf(err), Message: "", Err: err}
}

// All takes joined errors apart, in their order: what errors.Join put together
// is told as the faults that it is made of, and what would read the same is told
// once. All(nil) is empty.
func All(err error) []error {
	var out []error
	seen := map[string]bool{}
	var walk func(error)
	walk = func(err error) {
		// The join itself is meant, not what an error wraps.
		if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // see above
			for _, e := range joined.Unwrap() {
				walk(e)
			}
			return
		}
		if err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			out = append(out, err)
		}
	}
	walk(err)
	return out
}
