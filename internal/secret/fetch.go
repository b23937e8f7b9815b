package secret

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

func (s Source) fromFile() (string, error) {
	// Asked before opening: opening a named pipe that nobody writes to hangs.
	info, err := os.Stat(s.File)
	if err != nil {
		return "", s.fileFault(err)
	}
	if !info.Mode().IsRegular() {
		return "", s.fault("it is not a regular file").WithHint("give a file, or use command")
	}
	file, err := os.Open(s.File)
	if err != nil {
		return "", s.fileFault(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return "", s.fileFault(err)
	}
	if len(data) > maxBytes {
		return "", s.fault("the file is larger than %d bytes", maxBytes).WithHint("give the file that holds the secret alone")
	}
	return trimNewline(string(data)), nil
}

// fileFault keeps the system's reason and drops the path that os puts into it:
// it is in the message already, made safe.
func (s Source) fileFault(err error) *fault.Fault {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	f := fault.Wrap(fault.Config, "resolve secret", err, "%sthe file can't be read", s.prefix())
	return f.WithRef(s.String()).WithHint("check the path and who may read it")
}

// Warnings says what is unwise about the source, without using it: a file that
// its group or everybody may read. A file that is missing gives none; Resolve
// will say so.
func (s Source) Warnings() []safetext.Text {
	if s.File == "" {
		return nil
	}
	info, err := os.Stat(s.File)
	if err != nil || info.Mode().Perm()&0o044 == 0 {
		return nil
	}
	return []safetext.Text{safetext.Sprintf("%smode %04o lets others on this machine read it: chmod 600", s.prefix(), info.Mode().Perm())}
}

func (s Source) fromCommand(ctx context.Context) (string, error) {
	return s.runCommand(ctx, commandTimeout)
}

func (s Source) runCommand(ctx context.Context, limit time.Duration) (string, error) {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, diagnosis := &bounded{limit: maxBytes}, &bounded{limit: maxBytes}
	cmd := exec.CommandContext(timed, s.Command[0], s.Command[1:]...)
	cmd.Stdout, cmd.Stderr = out, diagnosis
	// A child of the command that keeps the pipe open must not keep us.
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", s.stopped(ctx.Err())
	case timed.Err() != nil:
		return "", s.fault("no answer within %s", limit).
			WithHint("run it by hand; it may be waiting for a password or a device")
	case err != nil:
		return "", s.commandFault(err, out.String(), diagnosis.String())
	case out.over:
		return "", s.fault("its output is larger than %d bytes", maxBytes).WithHint("the command must print the secret alone")
	}
	return trimNewline(out.String()), nil
}

// commandFault shows the last line that the command wrote to its standard
// error, made safe and short, unless that line repeats something of its
// standard output: that may be the secret.
func (s Source) commandFault(err error, out, diagnosis string) *fault.Fault {
	message := "the command failed"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		message = "the command failed: " + exit.String()
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		message = "the program is not there"
	case errors.Is(err, fs.ErrPermission):
		message = "the program may not be run"
	case errors.Is(err, exec.ErrWaitDelay):
		message = "the command ended and left a child that keeps its output open"
	}
	lines := strings.Split(strings.TrimSpace(diagnosis), "\n")
	last := lines[len(lines)-1]
	switch shown := safetext.Of(last).Truncate(160); {
	case shown.IsEmpty():
	case repeats(last, out):
		message += " (its message repeats its output and is not shown)"
	default:
		message += " (it says: " + shown.String() + ")"
	}
	return s.fault("%s", message).WithHint("run it by hand and check its exit status")
}

// repeats reports whether line holds a word of the output. Words of one or two
// letters are looked for only where they are all of the output.
func repeats(line, output string) bool {
	for word := range strings.FieldsSeq(output) {
		if (len(word) > 2 || word == strings.TrimSpace(output)) && strings.Contains(line, word) {
			return true
		}
	}
	return false
}

// bounded keeps the first limit bytes and notes whether there were more. The
// buffer is not embedded: its ReadFrom would take everything.
type bounded struct {
	buf   bytes.Buffer
	limit int
	over  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - b.buf.Len(); len(p) > room {
		b.over = true
		b.buf.Write(p[:room])
		return len(p), nil
	}
	return b.buf.Write(p)
}

func (b *bounded) String() string { return b.buf.String() }
