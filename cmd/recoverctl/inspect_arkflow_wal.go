package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// arkflowLogCommands read write-ahead logs.
func arkflowLogCommands(a *app) []*cobra.Command {
	return []*cobra.Command{newArkFlowWAL(a), newArkFlowEntries(a)}
}

// walExits is what the exit codes of both have in common.
const walExits = `2 several logs lie below the path, 4 the store or disk does not answer, 5 it may not
be read, 6 there is no log, 9 there is one and nothing of it can be read`

// walJSON is a log with its entries, where they were asked for, and with the rows of
// the decision table that are about it.
type walJSON struct {
	arkflow.WriteAheadLog
	Entries   *[]arkflow.Entry   `json:"entries,omitempty"`
	Decisions []arkflow.Decision `json:"decisions"`
}

func newArkFlowWAL(a *app) *cobra.Command {
	var ask arkflow.Question
	var read string
	var all bool
	cmd := &cobra.Command{
		Use: "wal [PATH|URI]", Short: "Show a write-ahead log: cursor, tail, what a start replays, gaps and damage", Args: atMostOneLog,
		Long: `Reads the write-ahead log of one stream: the engine's file wal.redb, its copy
packed by gzip, the folder that either lies in, or the folder PREFIX/NODE/STREAM of
an object store's log, by its URI or as a copy on this machine. Without an argument
the job's arkflow.wal is read.

A file may be read while an engine has it open: it is never locked, repaired or
written. Where a writer changes it under every try, the answer says so and gives no
cursor.

Up to 256 MiB of a file and 64 MiB of segments are read whole, and every checksum
in them is compared. Of a larger log only what lies behind the cursor is, and the
answer says what was not; --read all reads everything.

What the log's state means for a start stands under it as rows of the decision table:
those that hold; with --all also those that were asked and do not, and those that
could not be asked.

Exit codes: 0 nothing is wrong, 1 something is,
` + walExits + ".",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch ask.Extent = arkflow.Extent(read); ask.Extent {
			case arkflow.ReadAsNeeded, arkflow.ReadWindow, arkflow.ReadAll:
			default:
				return fault.New(fault.Usage, "read flags", "--read %s: one of auto, window, all", safe(read))
			}
			ask.Progress = a.walProgress()
			return a.withLogs(args, func(logs *arkflow.Logs, place string) error {
				l, err := logs.Read(cmd.Context(), place, ask)
				if err != nil {
					return err
				}
				rows := arkflow.DecideLog(place, &l, nil, a.clock.Now())
				answer := walJSON{WriteAheadLog: l, Decisions: shown(rows, all, arkflow.OfLog)}
				if ask.Entries {
					listed := append([]arkflow.Entry{}, l.Listed...)
					answer.Entries = &listed
				}
				if err := a.printer().result("WriteAheadLog", answer, nil, func(t *table) { renderWAL(t, answer, a.clock.Now()) }); err != nil {
					return err
				}
				if l.Worst().AtLeast(inspect.SeverityWarning) {
					return exitStatus(fault.Problem.Exit())
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&ask.Entries, "entries", false, "list every entry with the size and SHA-256 of its payload; all of the log is read")
	cmd.Flags().StringVar(&read, "read", string(arkflow.ReadAsNeeded), "how much of a large log is read: `auto|window|all`")
	registerAll(cmd, &all)
	cmd.Flags().BoolVar(&ask.Salvage, "salvage", false, "read what is left of a file that no start of an engine gets over")
	return cmd
}

func atMostOneLog(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return exactArgs("at most one path or URI")(cmd, args)
	}
	return nil
}

// withLogs loads the configuration and runs do with the place that is meant.
func (a *app) withLogs(args []string, do func(*arkflow.Logs, string) error) error {
	if err := a.load(); err != nil {
		return err
	}
	place, err := a.walPlace(args)
	if err != nil {
		return err
	}
	stores := newObjectStores(a.selection.Profile, terminalPrompt{}, a.loaded.Timeout, a.clock)
	defer stores.close()
	return do(a.logs(stores), place)
}

// logs reads write-ahead logs of this machine and of object stores.
func (a *app) logs(stores *objectStores) *arkflow.Logs {
	return arkflow.NewLogs(arkflow.Options{Clock: a.clock, Bucket: stores.bucket})
}

// walPlace is the argument, or where the job's log is.
func (a *app) walPlace(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	if a.selection.Job == nil && len(a.selection.Profile.Jobs) == 0 {
		return "", fault.New(fault.Config, "read write-ahead log", "no write-ahead log is named, and no job is configured").
			WithHint("give its path or URI, or set arkflow.wal of a job in the profile")
	}
	j, err := a.selection.RequireJob()
	if err != nil {
		return "", err
	}
	if j.ArkFlow.WAL == "" {
		return "", fault.New(fault.Config, "read write-ahead log", "no write-ahead log is configured for job %s", safe(j.Name)).
			WithHint("give its path or URI, or set arkflow.wal of the job in the profile")
	}
	return j.ArkFlow.WAL, nil
}

// walProgress says on a terminal, once a second, how many segments were read.
func (a *app) walProgress() func(arkflow.Progress) {
	if !a.errTTY {
		return nil
	}
	said := a.clock.Now()
	return func(p arkflow.Progress) {
		now := a.clock.Now()
		if now.Sub(said) < time.Second {
			return
		}
		said = now
		fmt.Fprintf(a.err, "read %s of %s segments (ctrl-c ends it)\n", figures.Group(int64(p.Segments)), figures.Group(int64(p.Of)))
	}
}

// entriesAsk is what inspect arkflow entries was asked for.
type entriesAsk struct {
	sequence, from uint64
	limit          int
	pending        bool
	as             string
	one            bool // a sequence was given
}

// entriesShown is how many entries are shown as text where no limit is given.
const entriesShown = 100

func newArkFlowEntries(a *app) *cobra.Command {
	var ask entriesAsk
	cmd := &cobra.Command{
		Use: "entries [PATH|URI]", Short: "Show entries of a write-ahead log, and what their payloads hold", Args: atMostOneLog,
		Long: `Lists entries with their input, number of rows and size; values only where --as or
--sequence asks for them. An entry is one batch, as the stream's input has read it.
The path is that of inspect arkflow wal.

--as rows decodes the payload, hex shows its bytes, and raw writes them as they are,
for a file. With -o json it is one object a line, with the rows; a payload that is
no batch is given as base64.

Exit codes: 0 done, 1 the log has a problem or a payload is no batch,
` + walExits + `;
6 also says that the log has no such entry.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ask.one = cmd.Flags().Changed("sequence")
			if err := ask.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return a.withLogs(args, func(logs *arkflow.Logs, place string) error {
				return a.showEntries(cmd.Context(), logs, place, ask)
			})
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&ask.sequence, "sequence", 0, "only the entry with this `NUMBER`")
	f.Uint64Var(&ask.from, "from", 0, "begin at the sequence with this `NUMBER`")
	f.BoolVar(&ask.pending, "pending", false, "begin behind the cursor: what a start replays")
	f.IntVar(&ask.limit, "limit", 0, "at most this `NUMBER` of entries; as text 100 where it is not given")
	f.StringVar(&ask.as, "as", "", "show payloads as `rows|hex|raw`; rows where --sequence is given")
	return cmd
}

func (ask *entriesAsk) check(given func(string) bool) error {
	usage := func(format string, args ...any) error { return fault.New(fault.Usage, "read flags", format, args...) }
	switch {
	case ask.one && (given("from") || ask.pending || given("limit")):
		return usage("--sequence names one entry: --from, --pending and --limit can't be given with it")
	case given("from") && ask.pending:
		return usage("--from and --pending: only one of them can say where to begin")
	case given("limit") && ask.limit < 1:
		return usage("--limit takes a number from 1 on")
	}
	switch ask.as {
	case "", "rows", "hex":
	case "raw":
		if !ask.one {
			return usage("--as raw writes one payload: say with --sequence which")
		}
	default:
		return usage("--as %s: one of rows, hex, raw", safe(ask.as))
	}
	if ask.one && ask.as == "" {
		ask.as = "rows"
	}
	return nil
}

// entriesPage is how many entries are read at a time.
const entriesPage = 500

func (a *app) showEntries(ctx context.Context, logs *arkflow.Logs, place string, ask entriesAsk) error {
	l, err := logs.Read(ctx, place, arkflow.Question{Progress: a.walProgress()})
	if err != nil {
		return err
	}
	if !l.Stable {
		return fault.New(fault.Busy, "read write-ahead log", "%s", l.Problems[0].Message).WithHint("%s", l.Problems[0].Next)
	}
	out := entriesOutput{app: a, ask: ask, log: l, json: a.wantsJSON()}
	if ask.one {
		payload, err := logs.Payload(ctx, l, ask.sequence)
		if err != nil {
			return err
		}
		if ask.as == "raw" {
			return out.raw(payload)
		}
		err = out.page([]arkflow.EntryPayload{{Sequence: ask.sequence, Payload: payload}})
		if err != nil {
			return err
		}
		return out.status()
	}
	from, left := ask.from, ask.limit
	if ask.pending && l.Cursor != nil {
		from = *l.Cursor + 1
	}
	if left == 0 && !out.json {
		left = entriesShown
	}
	unbounded := left == 0
	for {
		n := entriesPage
		if !unbounded {
			n = min(n, left)
		}
		list, err := logs.Entries(ctx, l, from, n)
		if err != nil {
			return err
		}
		if err := out.page(list.Entries); err != nil {
			return err
		}
		left -= len(list.Entries)
		if !list.More || len(list.Entries) == 0 {
			return out.end(0)
		}
		from = list.Entries[len(list.Entries)-1].Sequence + 1
		if !unbounded && left == 0 {
			return out.end(from)
		}
	}
}
