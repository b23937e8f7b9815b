package kafkaconn

import (
	"errors"
	"io/fs"
	"net"
	"os"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// cause is an error from outside with a text that is safe to show. The error
// itself stays reachable.
type cause struct {
	text safetext.Text
	err  error
}

func (c *cause) Error() string { return c.text.String() }
func (c *cause) Unwrap() error { return c.err }

// plainCause is err without the addresses and file names that the fault around
// it already names.
func plainCause(err error) error {
	return &cause{safetext.Error(innermost(err)), err}
}

// innermost goes down to the error that says what happened, as in "connection
// refused".
func innermost(err error) error {
	var (
		op      *net.OpError
		path    *fs.PathError
		syscall *os.SyscallError
	)
	switch {
	case errors.As(err, &syscall):
		return syscall.Err
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &op) && op.Err != nil:
		return op.Err
	default:
		return err
	}
}
