package kafka

import (
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// at is actions.At with the reason word of what a broker answered.
func at(stage actions.Stage, err error) error {
	if err == nil {
		return nil
	}
	return actions.At(stage, reasonWord(err), err)
}

// At is the fault of an error that kept an apply from beginning, with the stage
// that it belongs to and a reason word. What says so itself is left as it is.
func At(stage actions.Stage, err error) error { return at(stage, err) }

// refuse is a refusal of a rule; nil where the rule has no problem.
func refuse(stage actions.Stage, p *inspect.Problem) error {
	if p == nil {
		return nil
	}
	return actions.Refuse(stage, p)
}

// unknown is a refusal after which nobody knows what became of a write.
func unknown(stage actions.Stage, p *inspect.Problem) error {
	f := fault.Of(actions.Refuse(stage, p))
	return &fault.Fault{Kind: fault.Unknown, Op: f.Op, Hint: f.Hint, Refs: f.Refs, Err: f.Err}
}

func problem(code string, named inspect.Named, format string, args ...any) *inspect.Problem {
	if named == nil {
		named = inspect.Named{}
	}
	return &inspect.Problem{Code: code, Message: fmt.Sprintf(format, args...), Named: named}
}

// reasonWord is the reason word of an error: that of what a broker answered, else
// the word of its kind.
func reasonWord(err error) string {
	code, ok := errors.AsType[*kerr.Error](err)
	switch {
	case !ok:
		return fault.KindOf(err).String()
	case errors.Is(code, kerr.UnknownTopicOrPartition):
		return "broker-unknown-topic"
	case errors.Is(code, kerr.InvalidTopicException):
		return "broker-invalid-topic-name"
	default:
		return "broker-" + strings.ToLower(strings.ReplaceAll(code.Message, "_", "-"))
	}
}
