package story

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// events are what can be there, and what can happen to it, before a command or
// in the middle of one. None of it is done by the program under test, but for
// "another operator".
func events() []phrase[*world] {
	return []phrase[*world]{
		on(`topic with (\d+) partitions? of (\d+) records(?: and (.+))?`, (*world).makeTopic),
		on(`the topic is made anew with (\d+) records each`, (*world).remakeTopic),
		on(`the topic is deleted`, func(w *world, _ []string) error { return w.Cluster.DeleteTopic(w.Context(), w.data) }),
		on(`the topic gets (\d+) partitions`, func(w *world, m []string) error { return w.Cluster.AddPartitions(w.Context(), w.data, number(m[0])) }),
		on(`the topic has (\S+)=(\S+)`, func(w *world, m []string) error { return w.Cluster.Set(w.Context(), w.data, m[0], m[1]) }),
		on(`the topic is trimmed to ([\d ]+)`, (*world).trim),
		on(`(\d+) more records are written to the topic`, func(w *world, m []string) error { return w.fill(w.Context(), number(m[0])) }),

		on(`control topic(?: with (\d+) partitions)?(?: and (\S+=\S+))?`, (*world).makeControl),
		on(`the control topic is deleted`, func(w *world, _ []string) error { return w.Cluster.DeleteTopic(w.Context(), w.control) }),
		on(`control record (.+)`, (*world).writeRecord),
		on(`(aborted|open) transaction with (.+)`, func(w *world, m []string) error { return w.begin(m[0], m[1]) }),
		on(`the open transaction is aborted`, func(w *world, _ []string) error { return w.end((*kafkatest.Transaction).Abort) }),
		on(`the open transaction is committed`, func(w *world, _ []string) error { return w.end((*kafkatest.Transaction).Commit) }),

		on(`point (\S+) at ([\d ]+?)(?:, (pinned|legacy|of another topic))?`, func(w *world, m []string) error {
			return w.addPoint(w.Context(), m[0], m[1], m[2])
		}),
		on(`point (\S+) is deleted`, func(w *world, m []string) error {
			p, err := w.point(m[0])
			return errors.Join(err, os.RemoveAll(p.dir))
		}),
		on(`point (\S+) loses a file`, func(w *world, m []string) error {
			p, err := w.point(m[0])
			if err != nil {
				return err
			}
			return os.Remove(p.files[0])
		}),
		on(`point (\S+) is damaged`, func(w *world, m []string) error {
			p, err := w.point(m[0])
			if err != nil {
				return err
			}
			const half = 600 // bytes of the metadata
			return os.Truncate(p.dir+"/_metadata", half)
		}),
		on(`plan (\w+) at ([\d ]+?)(?:, (of another topic))?`, func(w *world, m []string) error {
			return w.addPlan(w.Context(), m[0], m[1], m[2])
		}),

		on(`Flink says that the job is (\w+)`, func(w *world, m []string) error {
			address, id := w.Flink(w.TB, m[0])
			w.job.flink = map[string]any{"rest": address, "job": id}
			return nil
		}),
		on(`the job keeps (\d+) other points?`, func(w *world, m []string) error { w.job.keep = number(m[0]); return nil }),
		on(`the job has tombstones on`, func(w *world, _ []string) error { w.job.tombstones = true; return nil }),
		on(`the job has no control topic`, func(w *world, _ []string) error { w.job.controls = "-"; return nil }),
		on(`the job has its data topic as control topic`, func(w *world, _ []string) error { w.job.controls = w.data; return nil }),
		on(`the profile is (read-only|operate)`, func(w *world, m []string) error { w.job.access = m[0]; return nil }),
		on(`accepted by every apply: (.+)`, func(w *world, m []string) error { w.accepts = strings.Fields(m[0]); return nil }),

		on(`the journal can't be written`, (*world).breakJournal),
		on(`the process is killed`, (*world).killProgram),
		on(`another operator applies (\w+), exit (\d+)`, (*world).otherApplies),
	}
}

// safe are the settings of a data topic whose prefix may be deleted.
func safe() map[string]string {
	return map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"}
}

// number reads digits that the form of a line has found.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		panic("story: " + err.Error()) // more digits than any story has
	}
	return n
}

func (w *world) makeTopic(m []string) error {
	settings := safe()
	given, err := settingsOf(m[2])
	if err != nil {
		return err
	}
	maps.Copy(settings, given)
	if err := w.Cluster.CreateTopic(w.Context(), w.data, int32(number(m[0])), settings); err != nil {
		return err
	}
	w.fillers = make([]int, number(m[0]))
	return w.fill(w.Context(), number(m[1]))
}

func (w *world) remakeTopic(m []string) error {
	if err := w.Cluster.RecreateTopic(w.Context(), w.data, int32(len(w.fillers)), safe()); err != nil {
		return err
	}
	return w.fill(w.Context(), number(m[0]))
}

func (w *world) trim(m []string) error {
	offsets, err := offsetsOf(m[0])
	if err != nil {
		return err
	}
	to := map[int32]int64{}
	for p, at := range offsets {
		to[int32(p)] = at
	}
	return w.Cluster.Trim(w.Context(), w.data, to)
}

func (w *world) makeControl(m []string) error {
	settings, partitions := map[string]string{"cleanup.policy": "compact"}, 1
	if m[0] != "" {
		partitions = number(m[0])
	}
	given, err := settingsOf(m[1])
	if err != nil {
		return err
	}
	maps.Copy(settings, given)
	return w.Cluster.CreateTopic(w.Context(), w.control, int32(partitions), settings)
}

func (w *world) writeRecord(m []string) error {
	r, err := w.record(m[0])
	if err != nil {
		return err
	}
	_, err = w.others.Write(w.Context(), w.control, 0, r)
	return err
}

// begin writes a record in a transaction, which stays open or is aborted.
func (w *world) begin(how, text string) error {
	r, err := w.record(text)
	if err != nil {
		return err
	}
	if w.open != nil {
		return errors.New("a story has one open transaction at a time")
	}
	if w.open, err = w.others.Begin(w.Context(), w.control, 0, r); err != nil || how == "open" {
		return err
	}
	return w.end((*kafkatest.Transaction).Abort)
}

func (w *world) end(how func(*kafkatest.Transaction, context.Context) error) error {
	if w.open == nil {
		return errors.New("no transaction is open")
	}
	txn := w.open
	w.open = nil
	return how(txn, w.Context())
}

// breakJournal puts a file where the journal's folder is to be made.
func (w *world) breakJournal([]string) error {
	dir := filepath.Join(w.dir, bastion, "recoverctl")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "journal"), nil, 0o600)
}

// killProgram ends the command that runs, and returns when it is gone.
func (w *world) killProgram([]string) error {
	if w.kill == nil {
		return errors.New("no command runs in a process of its own")
	}
	w.kill()
	return nil
}

// otherApplies is a whole apply by somebody else, from another machine, who
// accepts whatever there is to accept.
func (w *world) otherApplies(m []string) error {
	p, err := w.plan(m[0])
	if err != nil {
		return err
	}
	args := w.applyArgs(p, append([]string{"points-unknown", "points-lost", "job-state-unknown", "pinned-point-lost"}, w.accepts...))
	out := w.Program(w.Context(), w.environ("another-machine"), append(args, "--create-control-topic", "1", "-o", "json")...)
	if out.Exit != number(m[1]) {
		return fmt.Errorf("exit %d\n%s%s", out.Exit, out.Out, out.Err)
	}
	return nil
}
