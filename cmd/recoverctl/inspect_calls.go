package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// callsAsk is what inspect calls was asked for.
type callsAsk struct {
	status, from, prefix string
	plan                 string
	keys, digests        []string
	points               []string
	stream, why          bool
}

func newInspectCalls(a *app) *cobra.Command {
	var ask callsAsk
	cmd := &cobra.Command{
		Use: "calls", Short: "List durable calls of open actions, and what a restore from each recovery point does to them", Args: noArgs,
		Long: `Reads the whole action-state topic once, from each log start to the end that it
has when the scan begins, and keeps the history of every open action: a call that
was PENDING and that a later record lost is told as overwritten, and one whose
action id belongs to a JVM that has ended as unmatched.

For each recovery point it says what a restore from there does to each call:
reused (its saved result is replayed), reconciler (the job's reconciler is asked),
RUNS AGAIN, or unknown. With --plan it also says how many calls run again once
that plan is applied. Recovery points that a restore rejects are left out unless
--point names them.

A call made without a reconciler leaves no record until it ends: it can't appear
here. What can't be known is told in docs/calls.md.

Ctrl-c ends the scan and prints what was found until then, marked as partial.

With --stream an action is a line of JSON, which is printed when nothing that is
still to be read can change it: an open action with a key of generation 3 when its
partition was read to its end; a completed one then too, or at the end of the second
pass where the partition needs one; and those of generations 1 and 2, of which any
partition may show that their JVM has ended, at the end of the scan. So is what was
found of a partition that could not be read to its end. Lines are in the order of
their records within a partition only, and none is printed twice.

Exit codes: 0 the whole topic was read, 6 the topic or a named recovery point does
not exist, 8 not all could be read.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var q inspect.CallAsk
			read := func() (err error) {
				q, err = ask.question(a)
				return err
			}
			return a.withJob(read, func(in *inspect.Inspector, job inspect.Job) error {
				if ask.stream {
					return a.streamCalls(cmd.Context(), in, job, q, inspect.CallStatus(ask.status))
				}
				calls, faults, err := in.Calls(cmd.Context(), job, q, a.callProgress())
				if err != nil {
					return err
				}
				return a.showCalls(calls.Select(inspect.CallStatus(ask.status)), faults, job, ask.why)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&ask.status, "status", string(inspect.CallsAtRisk), "list these: `at-risk|pending|open|unmatched|all`")
	f.StringArrayVar(&ask.keys, "key", nil, "only actions of the key `TYPE:VALUE`, as in string:alice (repeatable)")
	f.StringArrayVar(&ask.digests, "digest", nil, "only actions of the key with this `DIGEST` of 44 characters (repeatable)")
	f.StringVar(&ask.prefix, "prefix", "", "only actions whose key's text is known and begins with `TEXT`")
	f.StringArrayVar(&ask.points, "point", nil, "say outcomes for the recovery point at this `URI` instead of all (repeatable)")
	f.StringVar(&ask.plan, "plan", "", "also say what runs again once the cleanup plan in this `FILE` is applied")
	f.StringVar(&ask.from, "from-marker", "", "begin at the marker of the recovery point at this `URI`: what lies before is not known then")
	f.BoolVar(&ask.stream, "stream", false, "print JSON, one action a line, each as soon as it is final")
	f.BoolVar(&ask.why, "why", false, "say below the list why each outcome is what it is")
	return cmd
}

// question reads the flags.
func (ask callsAsk) question(a *app) (inspect.CallAsk, error) {
	q := inspect.CallAsk{Points: ask.points, FromMarker: ask.from, Prefix: ask.prefix, All: ask.status == string(inspect.CallsAll)}
	if !slices.Contains(inspect.CallStatuses(), inspect.CallStatus(ask.status)) {
		return q, fault.New(fault.Usage, "read flags", "--status %s: one of at-risk, pending, open, unmatched, all", safe(ask.status))
	}
	for _, text := range ask.keys {
		key, err := keyOf("read flags", text)
		if err != nil {
			return q, err
		}
		q.Keys = append(q.Keys, inspect.KeyOf(key, inspect.KeyFigures{}).CallKeys()...)
	}
	for _, digest := range ask.digests {
		if !inspect.IsDigest(digest) {
			return q, fault.New(fault.Usage, "read flags", "--digest %s is not the base64 of 32 bytes", safe(digest)).
				WithHint("a digest has 44 characters; recoverctl inspect key TYPE:VALUE computes that of a key")
		}
		q.Keys = append(q.Keys, inspect.CallKey{Digest: digest})
	}
	if ask.plan != "" {
		plan, err := parsePlan(ask.plan)
		if err != nil {
			return q, err
		}
		q.Plan = plan.Offsets
	}
	return q, nil
}

// callProgress says on a terminal, once a second, how far a scan has come.
func (a *app) callProgress() func(inspect.CallUpdate) {
	if !a.errTTY {
		return nil
	}
	said := a.clock.Now()
	return func(u inspect.CallUpdate) {
		now := a.clock.Now()
		if now.Sub(said) < time.Second {
			return
		}
		said = now
		p := u.Progress
		fmt.Fprintf(a.err, "pass %d: read %s records, %s, %d %%; %s actions open so far (ctrl-c ends the scan and keeps what was found)\n",
			p.Pass, figures.Group(p.Records), figures.Bytes(p.Bytes), p.Span*100/max(1, p.Total), figures.Group(p.Open))
	}
}

// showCalls prints what was found, also what a scan had found when it was ended.
func (a *app) showCalls(calls inspect.DurableCalls, faults []error, job inspect.Job, why bool) error {
	err := a.printer().result("DurableCalls", calls, faults, func(t *table) { renderCalls(t, calls, job, why, a.clock.Now()) })
	return partly(err, calls)
}

// partly is the exit status of what was printed with err.
func partly(err error, calls inspect.DurableCalls) error {
	if err == nil && calls.Scanned.Partial {
		return exitStatus(fault.Partial.Exit())
	}
	return err
}

// writeLine writes a value as one line of JSON.
func writeLine(w interface{ Write([]byte) (int, error) }, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	if _, err := w.Write(escapeUnprintable(b.Bytes())); err != nil {
		return notWritten(err)
	}
	return nil
}

// outcomeColumns is how many recovery points a table of calls has room for.
const outcomeColumns = 3

func renderCalls(t *table, c inspect.DurableCalls, job inspect.Job, why bool, now time.Time) {
	n := c.Counts
	t.line(fmt.Sprintf("job %s, %s %s: %s", safe(job.Name), job.Store.Log(), safe(job.Topic), scannedText(c.Scanned)))
	t.line(fmt.Sprintf("calls without an outcome on record: %s pending, %s overwritten; %s unmatched",
		figures.Group(n.Pending), figures.Group(n.Overwritten), figures.Group(n.Unmatched)))
	renderFindings(t, c.Findings)
	t.line("")
	renderActionTable(t, job.Store, c.Actions, c.Points, now)
	if len(c.Removed) > 0 {
		t.line("")
		t.line("completed, and run again because a tombstone in the replay window removed them:")
		renderActionTable(t, job.Store, c.Removed, c.Points, now)
	}
	if len(c.Siblings) > 0 {
		t.line("")
		t.line("completed, in a sequence that is still open:")
		renderActionTable(t, job.Store, c.Siblings, nil, now)
	}
	if why {
		renderWhy(t, slices.Concat(c.Actions, c.Removed))
	}
	if len(c.Points) > 0 {
		t.line("")
		renderPointCalls(t, c.Points)
	}
	t.line("")
	t.line("A call made without a reconciler leaves no record until it ends: it can't appear here.")
}

// renderActions lists actions without outcomes.
func renderActions(t *table, actions []inspect.ActionCalls) {
	t.row(text("KEY"), num("SEQ"), text("EVENT TYPE"), text("ACTION"), num("PARTITION"), num("OFFSET"), text("STATE"), text("CALLS"))
	for _, a := range actions {
		var calls []string
		for _, c := range a.Calls {
			calls = append(calls, fmt.Sprintf("%s %s", callName(c), c.State))
		}
		t.row(text(keyText(a.Key)), num(fmt.Sprint(a.Sequence)), text(orNothing(a.EventType)), text(a.ActionUUID), num(fmt.Sprint(a.Partition)), num(figures.Group(a.Offset)),
			text(actionState(a)), text(orNothing(strings.Join(calls, ", "))))
	}
}

func actionState(a inspect.ActionCalls) string {
	switch {
	case a.Completed:
		return "completed"
	case a.Unmatched:
		return "unmatched"
	default:
		return "open"
	}
}

// renderActionTable lists calls with their outcomes, a row each; an action that
// has none on record has a row of its own.
func renderActionTable(t *table, store inspect.Store, actions []inspect.ActionCalls, points []inspect.PointCalls, now time.Time) {
	if len(actions) == 0 {
		t.line("none")
		return
	}
	shown := points[:min(len(points), outcomeColumns)]
	head := []cell{text("KEY"), num("SEQ"), text("CALL"), text("STATE"), num(strings.ToUpper(store.Part())), num("OFFSET"), num("AGE")}
	for _, p := range shown {
		head = append(head, text(pointName(p.Point)))
	}
	t.row(head...)
	for _, a := range actions {
		row := func(call, state string, seen inspect.RecordPosition, outcomes []inspect.PointOutcome) {
			cells := []cell{text(keyText(a.Key)), num(fmt.Sprint(a.Sequence)), text(call), text(state), num(fmt.Sprint(seen.Partition)), num(figures.Group(seen.Offset)), num(ageAt(a.Timestamp, now))}
			for _, p := range shown {
				cells = append(cells, text(outcomeText(outcomes, p.Point)))
			}
			t.row(cells...)
		}
		for _, c := range a.Calls {
			row(callName(c), string(c.State), c.Seen, c.Outcomes)
		}
		if len(a.Calls) == 0 {
			row("none on record", actionState(a), inspect.RecordPosition{Partition: a.Partition, Offset: a.Offset}, a.Outcomes)
		}
	}
	if rest := len(points) - len(shown); rest > 0 {
		t.line(fmt.Sprintf("outcomes from %d more recovery points: -o json, or --point URI", rest))
	}
}

// renderWhy says for each call why its outcomes are what they are.
func renderWhy(t *table, actions []inspect.ActionCalls) {
	for _, a := range actions {
		say := func(call string, outcomes []inspect.PointOutcome) {
			t.line("")
			t.line(fmt.Sprintf("%s %d %s", keyText(a.Key), a.Sequence, call))
			for _, o := range outcomes {
				t.line(fmt.Sprintf("  %s: %s. %s", pointName(o.Point), outcomeWord(o.Outcome), o.Why))
			}
		}
		for _, c := range a.Calls {
			say(callName(c), c.Outcomes)
		}
		if len(a.Calls) == 0 {
			say("without a call on record", a.Outcomes)
		}
	}
}

func renderPointCalls(t *table, points []inspect.PointCalls) {
	head := []cell{text("RECOVERY POINT"), num("RUN AGAIN"), num("RECONCILER"), num("REUSED"), num("UNKNOWN")}
	later := slices.ContainsFunc(points, func(p inspect.PointCalls) bool { return p.Later != nil })
	if later {
		head = append(head, num("RUN AGAIN AFTER THE PLAN"))
	}
	rewritten := slices.ContainsFunc(points, func(p inspect.PointCalls) bool { return p.Rewritten != nil && p.Rewritten.Records > 0 })
	if rewritten {
		head = append(head, num("WRITTEN ANEW"), num("BYTES"))
	}
	t.row(head...)
	for _, p := range points {
		c := p.Calls
		row := []cell{text(p.Point), num(runAgain(p)), num(figures.Group(c.Reconciler)), num(figures.Group(c.Reused)), num(figures.Group(c.Unknown))}
		if later {
			after := nothing
			if p.Later != nil {
				after = figures.Group(p.Later.RunsAgain)
			}
			row = append(row, num(after))
		}
		if r := p.Rewritten; rewritten && r != nil {
			row = append(row, num(figures.Group(r.Records)), num(figures.Group(r.Bytes)))
		}
		t.row(row...)
	}
}

// runAgain is how many calls run again; of completed actions that hide theirs it is
// the least.
func runAgain(p inspect.PointCalls) string {
	if p.Hidden > 0 {
		return figures.Group(p.Calls.RunsAgain) + " or more"
	}
	return figures.Group(p.Calls.RunsAgain)
}

func callName(c inspect.Call) string { return fmt.Sprintf("%s#%d", safe(c.FunctionID), c.Index) }

// keyText is the text of a key where it is known, else its digest.
func keyText(k inspect.CallKey) string {
	if k.Text != nil {
		return *k.Text
	}
	return "sha256 " + k.Digest
}

// pointName is the last part of an address: what people call the point.
func pointName(uri string) string {
	trimmed := strings.TrimRight(uri, "/")
	return trimmed[strings.LastIndexByte(trimmed, '/')+1:]
}

func outcomeText(outcomes []inspect.PointOutcome, point string) string {
	at := slices.IndexFunc(outcomes, func(o inspect.PointOutcome) bool { return o.Point == point })
	if at < 0 {
		return nothing
	}
	return outcomeWord(outcomes[at].Outcome)
}

// outcomeWord is upper case where the word has to be seen.
func outcomeWord(o inspect.CallOutcome) string {
	if o == inspect.CallRunsAgain {
		return "RUNS AGAIN"
	}
	return string(o)
}

func ageAt(at, now time.Time) string {
	if at.IsZero() {
		return "?"
	}
	return age(inspect.Taken{Time: &at}, now)
}
