package flink

import (
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
)

// OperatorIDOf is the id, 32 lower-case hex digits, under which Flink keeps the
// state of an operator whose uid the job's code has set.
func OperatorIDOf(uid string) string { return flinkmeta.OperatorIDOfUID(uid).String() }

// ParseOperatorID reads an operator id as Flink writes it.
func ParseOperatorID(text string) (string, error) {
	id, err := flinkmeta.ParseOperatorID(text)
	if err != nil {
		return "", fault.Wrap(fault.Usage, "read operator id", err, "an operator id has 32 hex digits").
			WithHint("recoverctl inspect point URI lists those of a recovery point")
	}
	return id.String(), nil
}
