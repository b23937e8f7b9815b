package arkflow

import (
	"fmt"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// quickly is within what time after its start a failure counts as one of replay.
const quickly = time.Minute

// withStream asks a row of a stream that the hub knows.
func withStream(ask func(Facts, arkhub.Stream) answer) func(Facts) answer {
	return func(f Facts) answer {
		if f.Stream == nil {
			return unasked("no hub was asked about the stream")
		}
		return ask(f, *f.Stream)
	}
}

func streamRows() []row {
	rows := []row{
		{row: "4", rule: "stream-healthy", severity: inspect.SeverityInfo, condition: "running, and the cursor rises", action: "None.",
			ask: moving(2, func(f Facts, cursor, _ bool) answer {
				if cursor {
					return holds(spanOf(f), "the stream runs and its cursor rises")
				}
				return isClear("the cursor did not move between the readings")
			})},
		{row: "5", rule: "stream-ack-stalled", severity: inspect.SeverityError, condition: "running, the tail rises and the cursor stands over three readings", action: "Look at output_errors and last_error; with a contiguous cursor find the lowest pending sequence (recoverctl inspect arkflow wal PATH --entries).",
			ask: moving(3, func(f Facts, cursor, tail bool) answer {
				if tail && !cursor {
					return holds(append(spanOf(f), streamMetric("output_errors", f.Stream.Metrics.OutputErrors)), "records come in and none is acknowledged: the output fails, or an earlier sequence holds the cursor")
				}
				return isClear("the cursor moves, or nothing comes in")
			})},
		{row: "6", rule: "stream-ordering-stall", severity: inspect.SeverityError, condition: "input rises, output stands, no errors, and a processor that may keep records back", action: "A restart drains it; avoid filters and batches with this engine, or upgrade.", ask: orderingStall},
		{row: "21", rule: "stream-replay-refused", severity: inspect.SeverityError, condition: "failed at runtime directly after its start", action: "Mend the sink, then start it: the window stays as it is. Where an entry can't be decoded, read the log first (recoverctl inspect arkflow wal PATH).", ask: withStream(replayRefused)},
		{row: "22", rule: "stream-not-durable", severity: inspect.SeverityWarning, condition: "no write-ahead log is configured", action: "Configure durability, or make sure that the source sends again what was not delivered.",
			ask: withConfig(func(_ Facts, c arkhub.StreamConfig) answer {
				if on, _ := durable(c); on {
					return isClear("a write-ahead log is configured")
				}
				return holds(nil, "nothing protects it: data between read and output is lost on a crash unless the source sends it again")
			})},
		{row: "23", rule: "stream-sync-loses", severity: inspect.SeverityWarning, condition: "a log that is flushed by groups, on an engine that goes on before that", action: "Use sync: per_entry with a local log, or accept it.",
			ask: withConfig(func(f Facts, c arkhub.StreamConfig) answer {
				on, mode := durable(c)
				switch {
				case !on:
					return isClear("there is no log")
				case f.Generation == arkhub.GenerationUnknown:
					return unasked("the engine's generation is not known")
				case f.Generation == arkhub.GenerationUpgrades:
					return isClear("engines of this generation flush before they go on")
				case mode == arkhub.SyncPerEntry:
					return isClear("every record is flushed by itself")
				}
				return holds(evidence("sync %s", mode), "what was not flushed yet is lost on a crash, and the log shows no gap")
			})},
		{row: "34", rule: "attempt-ambiguous", severity: inspect.SeverityWarning, condition: "an attempt's outcome is not known", action: "Wait for a newer report of the node; don't send a restart again.", ask: ambiguous},
		{row: "T2", rule: "stream-object-store-log-panics", severity: inspect.SeverityError, condition: "an object-store log on an engine that can't run it", action: "Use a local log, or an engine of a later generation: this one's whole process panics at start, and --validate does not say so.",
			ask: withConfig(func(f Facts, c arkhub.StreamConfig) answer {
				d := c.Durability.Or(arkhub.Durability{})
				b := d.Backend.Or(arkhub.BackendSpec{})
				switch {
				case b.Type.Or("") != "object_store":
					return isClear("its log is not in an object store")
				case f.Generation == arkhub.GenerationUpgrades:
					return isClear("engines of this generation run it")
				case f.Generation == arkhub.GenerationUnknown:
					return unasked("the engine's generation is not known")
				}
				return holds(evidence("durability.backend.type object_store"), "the next start of this engine panics and takes every stream of the node with it")
			})},
		{row: "T3", rule: "stream-convergence-contradicted", severity: inspect.SeverityWarning, condition: "the hub says in_sync while what was asked for failed or is open", action: "Judge the stream by its state, and what was asked by its operation: recoverctl inspect arkflow events.", ask: withStream(contradicted)},
		{row: "T4", rule: "write-stuck-queued", severity: inspect.SeverityError, condition: "a write that was accepted stays queued", action: "Don't send it again. A hub that was restarted on its database can't dispatch it: restart the node's engine by hand, or repair the hub's database.", ask: stuckQueued},
	}
	for i := range rows {
		rows[i].scope = OfStream
	}
	return rows
}

// withConfig asks a row of a stream whose configuration is exposed.
func withConfig(ask func(Facts, arkhub.StreamConfig) answer) func(Facts) answer {
	return func(f Facts) answer {
		switch {
		case f.Config != nil:
			return ask(f, *f.Config)
		case f.Configs:
			return unasked("the stream is not in its node's configuration")
		}
		return unasked("the stream's configuration is not exposed by this hub")
	}
}

// durable says whether a stream has a log, and how it is flushed.
func durable(c arkhub.StreamConfig) (on bool, mode arkhub.SyncMode) {
	d, has := c.Durability.Get()
	if !has || !d.Enabled.Or(true) {
		return false, ""
	}
	mode = d.Sync
	if b, is := d.Backend.Get(); is {
		mode = b.Sync // the outer one is ignored then
	}
	if mode == "" {
		mode = arkhub.SyncGroupCommit
	}
	return true, mode
}

// orderingStall is about engines that acknowledge records that a processor keeps.
func orderingStall(f Facts) answer {
	switch {
	case f.Generation == arkhub.GenerationUpgrades:
		return isClear("engines of this generation are not known for it")
	case f.Stream == nil:
		return unasked("no hub was asked about the stream")
	case f.Config == nil:
		return unasked("the stream's configuration is not exposed by this hub: whether a processor may keep records back is not known")
	case len(f.Before) == 0:
		return unasked("the stream was looked at once: watch it")
	}
	processors := f.Config.Pipeline.Or(arkhub.Pipeline{}).Processors.Or(nil)
	if len(processors) == 0 {
		return isClear("there is no processor")
	}
	a, b := f.Before[0].Metrics, f.Stream.Metrics
	in, inKnown := rose(a.InputMessages, b.InputMessages)
	out, outKnown := rose(a.OutputMessages, b.OutputMessages)
	errs, errsKnown := rose(a.OutputErrors, b.OutputErrors)
	bad, badKnown := rose(a.ProcessingErrors, b.ProcessingErrors)
	if !inKnown || !outKnown || !errsKnown || !badKnown {
		return unasked("the hub does not expose these metrics")
	}
	if in == 0 || out > 0 || errs > 0 || bad > 0 {
		return isClear("input +%d, output +%d, errors +%d", in, out, errs+bad)
	}
	return holds(evidence("input +%d, output +0, errors +0, first processor %s", in, processors[0].Type.Or("not named")),
		"records come in, none goes out and none fails: a processor keeps them, and the log counts them as acknowledged")
}

// rose is by how much a counter rose; one that fell was reset.
func rose(before, now arkhub.Count) (uint64, bool) {
	a, aKnown := before.Get()
	b, bKnown := now.Get()
	if b < a {
		a = 0
	}
	return b - a, aKnown && bKnown
}

func replayRefused(_ Facts, s arkhub.Stream) answer {
	failure, has := s.LastError.Get()
	switch {
	case s.State.Or("") != arkhub.StateFailed || !has:
		return isClear("the stream is %s", s.State.Or("in no known state"))
	case failure.Stage.Or("") != "runtime":
		return isClear("it failed at the stage %s", safetext.Of(failure.Stage.Or("not known")))
	}
	at, atKnown := failure.Occurred.Get()
	started, startKnown := s.Started.Get()
	if !atKnown || !startKnown {
		return unasked("the hub exposes no times of the start and of the failure")
	}
	if d := at.Time().Sub(started.Time()); d > quickly {
		return isClear("it failed %s after its start", clock.Age(d))
	}
	message := safetext.Of(failure.Message.Or("")).Truncate(300).String()
	return holds([]string{message}, "it failed directly after its start: what the log replays could not be forwarded (%s)", message)
}

// ambiguous looks for commands whose result was lost.
func ambiguous(f Facts) answer {
	if f.Operations == nil {
		return unasked("no operations were read")
	}
	var found []string
	for _, o := range f.Operations {
		if o.FailureClass.Or("") == "ambiguous" || o.State.Or("") == "timed_out" {
			found = append(found, fmt.Sprintf("%s: %s on %s", safetext.Of(o.ID), safetext.Of(o.Operation.Or("?")), safetext.Of(o.NodeID.Or("?"))))
		}
	}
	if len(found) == 0 {
		return isClear("no operation is of the kind")
	}
	return holds(found, "%d commands were sent, and what became of them is not known: %s", len(found), few(found)).with("count", len(found))
}

// contradicted compares the hub's word on a stream with its newest intent.
func contradicted(f Facts, s arkhub.Stream) answer {
	if f.Operations == nil {
		return unasked("no operations were read")
	}
	if s.Convergence.Or("") != "in_sync" {
		return isClear("the hub says %s", safetext.Of(s.Convergence.Or("nothing")))
	}
	if d, has := s.Desired.Get(); has && d.State.IsKnown() && s.State.IsKnown() && d.State.Or("") != s.State.Or("") {
		return holds(evidence("desired %s, observed %s, convergence in_sync", d.State.Or(""), s.State.Or("")), "it was told to be %s and is %s, and the hub calls that in sync", safetext.Of(d.State.Or("")), safetext.Of(s.State.Or("")))
	}
	at := slices.IndexFunc(f.Operations, func(o arkhub.Operation) bool {
		return o.IntentID.IsKnown() && o.ResourceID.Or("") == s.ID && o.NodeID.Or("") == s.NodeID.Or("")
	})
	if at < 0 {
		return isClear("nothing was asked of it")
	}
	o := f.Operations[at]
	if state := o.State.Or(""); state == "failed" || o.IntentState.Or("") == "blocked" || o.ConvergenceState.Or("") == "blocked" {
		return holds(evidence("%s: state %s, %s, %s", o.ID, state, o.FailureClass.Or("no class"), o.Error.Or("")),
			"what was asked last failed for good (%s), and the hub calls the stream in sync", safetext.Of(o.FailureClass.Or("no class is given")))
	}
	return isClear("what was asked last is %s", safetext.Of(o.State.Or("in no known state")))
}

// stuckAge is from when on a write that nobody took counts as stuck.
const stuckAge = 10 * time.Second

func stuckQueued(f Facts) answer {
	if f.Operations == nil {
		return unasked("no operations were read")
	}
	var found []string
	for _, o := range f.Operations {
		at, known := o.Created.Get()
		if o.IntentID.IsKnown() && o.State.Or("") == "queued" && known && !o.Dispatched.IsKnown() && f.Now.Sub(at.Time()) > stuckAge {
			found = append(found, fmt.Sprintf("%s of %s/%s, for %s", safetext.Of(o.ID), safetext.Of(o.NodeID.Or("?")), safetext.Of(o.ResourceID.Or("?")), clock.Age(f.Now.Sub(at.Time()))))
		}
	}
	if len(found) == 0 {
		return isClear("nothing has been queued for longer than %s", stuckAge)
	}
	a := holds(found, "the hub accepted %d writes that no node was given: %s", len(found), few(found)).with("count", len(found))
	if s := f.Status; s != nil && s.Reconciliation.Failures.Or(0) > 0 {
		a.evidence = append(a.evidence, fmt.Sprintf("reconciliation failed %d times, outbox claimed %d", s.Reconciliation.Failures.Or(0), s.OutboxClaimed.Or(0)))
	}
	return a
}
