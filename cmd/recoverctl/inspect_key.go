package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flinkkey"
)

func newInspectKey(a *app) *cobra.Command {
	var parallelism int
	var offline bool
	cmd := &cobra.Command{
		Use: "key TYPE:VALUE", Short: "Say where the records of a key are: digest, key group, partitions, and its actions", Args: exactArgs("one key as TYPE:VALUE"),
		Long: `Computes what Flink and Flink Agents derive from a key: its serialized bytes, the
digest by which records name it, its hash, its key group and the partitions of
its records by both partitioners. That needs no connection. With brokers and a
topic configured it also looks for the key's actions, open and completed.

TYPE is string, long, int, short, byte, boolean, double, float, char, bytesHex,
bigint or instant; it must be the type of the job's key, for 42 as a long is
another key than 42 as an int or a string. VALUE is all behind the first colon.

The key group depends on --max-parallelism, the partition on the topic or, where
none is asked, on --partitions.

Exit codes: 0 done, 8 the topic could not be asked, or not all of it.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := keyOf("run", args[0])
			if err != nil {
				return err
			}
			if parallelism < 0 || parallelism > maxParallelism {
				return fault.New(fault.Usage, "read flags", "--parallelism %d: a number from 1 to %d", parallelism, maxParallelism)
			}
			if err := a.load(); err != nil {
				return err
			}
			job, err := a.jobOrNone()
			if err != nil {
				return err
			}
			f := inspect.KeyFigures{MaxParallelism: job.MaxParallelism, Parallelism: parallelism, Partitions: job.Partitions, BucketOf: job.BucketOf}
			if offline || job.Topic == "" || job.Store != inspect.StoreFluss && len(a.selection.Profile.Kafka.Brokers) == 0 {
				return a.showKey(inspect.KeyOf(key, f), nil)
			}
			in, systems, err := a.inspector(a.selection.Profile, terminalPrompt{})
			if err != nil {
				return err
			}
			defer systems.close()
			state, faults := in.Key(cmd.Context(), job, key, f, a.callProgress())
			return a.showKey(state, faults)
		},
	}
	cmd.Flags().IntVar(&parallelism, "parallelism", 0, "say which subtask of this `NUMBER` owns the key")
	cmd.Flags().BoolVar(&offline, "offline", false, "ask no cluster")
	return cmd
}

// maxParallelism is the largest that Flink allows.
const maxParallelism = 1 << 15

// keyOf reads a key as it stands on a command line.
func keyOf(op, text string) (flinkkey.Key, error) {
	key, err := flinkkey.Parse(text)
	if err != nil {
		return key, fault.New(fault.Usage, op, "%s", safe(err.Error())).WithHint("write it as string:alice or long:42")
	}
	return key, nil
}

func (a *app) showKey(s inspect.KeyState, faults []error) error {
	if err := a.printer().result("KeyState", s, faults, func(t *table) { renderKey(t, s, a.storeOfChosen()) }); err != nil {
		return err
	}
	if len(faults) > 0 || s.Scanned != nil && s.Scanned.Partial {
		return exitStatus(fault.Partial.Exit())
	}
	return nil
}

func renderKey(t *table, s inspect.KeyState, store inspect.Store) {
	t.line(s.Type + ":" + safe(s.Value))
	for _, note := range s.Notes {
		t.line("  " + note)
	}
	t.line("")
	t.row(text("digest"), text(s.Digest))
	for _, d := range s.OtherDigests {
		t.row(text("or digest"), text(d))
	}
	t.row(text("serialized"), text(s.Serialized))
	if s.JavaHash != nil {
		t.row(text("text"), text(s.Text))
		t.row(text("hash code"), text(fmt.Sprint(*s.JavaHash)))
	}
	if s.KeyGroup != nil {
		t.row(text("key group"), text(fmt.Sprintf("%d of %d", *s.KeyGroup, *s.MaxParallelism)))
	}
	if s.Subtask != nil {
		t.row(text("subtask"), text(fmt.Sprintf("%d of %d", *s.Subtask, *s.Parallelism)))
	}
	if s.Partition != nil {
		t.row(text("partition"), text(fmt.Sprintf("%d of %d, in the next release", *s.Partition, *s.Partitions)))
	}
	if s.Bucket != nil {
		t.row(text("bucket"), text(fmt.Sprintf("%d of %d", *s.Bucket, *s.Buckets)))
	}
	if s.PartitionReleased != nil {
		t.row(text("partition"), text(fmt.Sprintf("%d of %d, in releases 0.1 to 0.3", *s.PartitionReleased, *s.Partitions)))
	}
	for _, l := range s.RecordKeys {
		t.row(text(fmt.Sprintf("record keys G%d", l.Generation)), text(l.Prefix+"<sequence>_<event>_<action>"+l.Suffix))
	}
	t.line("")
	switch {
	case s.Scanned == nil:
		t.line("no " + store.Log() + " was asked for its actions")
		return
	case len(s.Actions) == 0:
		in := "on"
		if store == inspect.StoreFluss {
			in = "in"
		}
		t.line(fmt.Sprintf("no action of it is %s the %s (%s)", in, store.Log(), scannedText(*s.Scanned)))
		return
	}
	t.line(scannedText(*s.Scanned))
	renderActions(t, s.Actions)
}

// scannedText says how much was read, and when that was not all.
func scannedText(s inspect.ScanExtent) string {
	out := fmt.Sprintf("%s records read, %s", figures.Group(s.Records), figures.Bytes(s.Bytes))
	if s.Partial {
		return "PARTIAL: " + out + ", and not all that there is"
	}
	return out
}
