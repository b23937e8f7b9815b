package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect/explain"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
)

func newExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "explain [FILE|-]", Short: "Say which rule spoke in a pasted log or exception, and what to run next",
		Long: `Looks in a TaskManager's or JobManager's log, an exception, or an error of Kafka,
Fluss or ArkFlow for the messages by which those systems say why a recovery or a
cleanup was refused. Of each it repeats the numbers, says in plain words what
they mean, and names the next command, for the job of the profile that the
message's topic or recovery point belongs to.

Without FILE, or with -, the text is read from standard input; what gzip packed is
unpacked. It may come as a collector of logs gives it: with times, names of pods
or labels before each line, in JSON documents, coloured. Nothing is asked of any
system. Of a text over 64 MiB the end is looked at.

Exit codes: 0 a known message was found, 1 none was, 6 there is no such file.`,
		Example: `  kubectl logs taskmanager-0 | recoverctl explain
  recoverctl explain jobmanager.log -p orders -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exactArgs("one FILE")(cmd, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.load(); err != nil {
				return err
			}
			path := "-"
			if len(args) == 1 {
				path = args[0]
			}
			if path == "-" && a.inTTY {
				fmt.Fprintln(a.err, "Paste the text, then press ctrl-d on a line of its own.")
			}
			var text string
			err := a.waitFor(func() (err error) {
				text, err = readLog(a.in, path)
				return err
			})
			if err != nil {
				return err
			}
			e := explain.Text(text, explainedJobs(a.selection.Profile, a.selection.Job, a.given()))
			if err := a.printer().result("Explanation", e, nil, func(t *table) { renderExplanation(t, e) }); err != nil {
				return err
			}
			if len(e.Matches) == 0 {
				return exitStatus(fault.Problem.Exit())
			}
			return nil
		},
	}
}

// explainedJobs are the jobs of a profile as messages are linked to them. A job
// that was chosen is the only one. given are the flags that are given beside them.
func explainedJobs(p config.Profile, chosen *config.Job, given string) []explain.Job {
	jobs := p.Jobs
	if chosen != nil {
		jobs = []config.Job{*chosen}
	}
	out := make([]explain.Job, 0, len(jobs))
	for _, j := range jobs {
		flags := named(p, j, given)
		if flags == "" {
			continue // nothing names it
		}
		job := explain.Job{
			Flags:  flags,
			Topics: []string{j.ActionState.Topic}, Points: j.RecoveryPoints,
		}
		if j.Fluss.Table != "" {
			job.Topics = append(job.Topics, j.Fluss.Table)
		}
		if control := j.ActionState.ControlTopic; control != nil {
			job.Topics = append(job.Topics, *control)
		}
		out = append(out, job)
	}
	return out
}

// readLog reads the end of a text, unpacked where gzip packed it, as it does with
// logs that were put aside.
func readLog(in io.Reader, path string) (string, error) {
	if path == "-" {
		return readPacked(in)
	}
	f, err := os.Open(path)
	if err != nil {
		kind := fault.Denied
		if errors.Is(err, fs.ErrNotExist) {
			kind = fault.NotFound
		}
		return "", fault.Wrap(kind, "read a text", err, "%s can't be opened", safe(path))
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err == nil && info.IsDir():
		return "", fault.New(fault.Usage, "read a text", "%s is a folder", safe(path)).WithHint("name a file in it, or: cat FILES | recoverctl explain")
	case err == nil && info.Mode().IsRegular() && info.Size() > explain.MaxText && !packed(f):
		if _, err := f.Seek(info.Size()-explain.MaxText-1, io.SeekStart); err != nil { // one more, so that it is seen to be cut
			return "", fault.Wrap(fault.Corrupt, "read a text", err, "%s can't be read", safe(path))
		}
	}
	return readPacked(f)
}

// gzipMagic is what a file that gzip packed begins with.
const gzipMagic = "\x1f\x8b"

// packed reports whether gzip packed a file.
func packed(f io.ReaderAt) bool {
	var head [len(gzipMagic)]byte
	n, _ := f.ReadAt(head[:], 0) // of what can't be read the reader tells
	return string(head[:n]) == gzipMagic
}

// readPacked is readEnd, of what gzip packed too. A packed text that was cut is
// read as far as it goes.
func readPacked(r io.Reader) (string, error) {
	buffered := bufio.NewReader(r)
	if head, _ := buffered.Peek(len(gzipMagic)); string(head) != gzipMagic {
		return readEnd(buffered)
	}
	unpacked, err := gzip.NewReader(buffered)
	if err != nil {
		return "", fault.Wrap(fault.Corrupt, "read a text", err, "the text was packed by gzip and is damaged").
			WithHint("copy it again, or give what can be unpacked of it: zcat FILE | recoverctl explain")
	}
	text, err := readEnd(unpacked)
	if errors.Is(err, io.ErrUnexpectedEOF) && text != "" {
		return text, nil
	}
	return text, err
}

// readEnd reads to the end and keeps the last MaxText bytes, and one more where
// there are more.
func readEnd(r io.Reader) (string, error) {
	const keep = explain.MaxText + 1
	var data []byte
	chunk := make([]byte, 1<<20)
	for {
		n, err := r.Read(chunk)
		data = append(data, chunk[:n]...)
		if len(data) >= 2*keep {
			data = append(data[:0], data[len(data)-keep:]...)
		}
		switch {
		case errors.Is(err, io.EOF):
			return string(data[max(len(data)-keep, 0):]), nil
		case err != nil:
			return string(data), fault.Wrap(fault.Corrupt, "read a text", err, "the text can't be read after %s", figures.Bytes(int64(len(data))))
		}
	}
}

func renderExplanation(t *table, e explain.Explanation) {
	if len(e.Matches) == 0 {
		t.line(fmt.Sprintf("No known message is in the %s.", figures.Count(e.Lines, "line", "lines")))
		t.line("That says nothing about what went wrong: only what Flink and its Kubernetes Operator, Flink Agents, Kafka, Fluss and ArkFlow say about recovery and checkpoints is known.")
	}
	for i, m := range e.Matches {
		if i > 0 {
			t.line("")
		}
		head := fmt.Sprintf("%s: %s (line %s", m.Source, m.Rule, figures.Group(int64(m.Line)))
		if m.Count > 1 {
			head += fmt.Sprintf(", %s times", figures.Group(int64(m.Count)))
		}
		t.line(head + ")")
		t.line("  " + m.Cause)
		for _, next := range m.Next {
			t.line("  next: " + next)
		}
		t.line("  said: " + m.Text)
		if m.Others > 0 {
			t.line(fmt.Sprintf("  and %s of this rule with other numbers", figures.Count(m.Others, "message", "messages")))
		}
	}
	if e.More > 0 {
		t.line("")
		t.line(figures.Group(e.More) + " more messages are left out.")
	}
	if len(e.Unknown) > 0 {
		t.line("")
		t.line("Not known:")
		for _, line := range e.Unknown {
			t.line("  " + line)
		}
	}
	if e.Cut {
		t.line("")
		t.line("The text is longer: only its last 64 MiB were looked at, and lines are counted from there.")
	}
}
