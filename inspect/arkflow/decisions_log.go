package arkflow

import (
	"fmt"
	"slices"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const noLog = "no write-ahead log was read: give it with --wal, or inspect it by itself"

// withLog asks a row of a log that could be read.
func withLog(ask func(Facts, *WriteAheadLog) answer) func(Facts) answer {
	return func(f Facts) answer {
		switch {
		case f.LogFault != nil:
			return unasked("the log can't be read: %s", safetext.Error(f.LogFault))
		case f.Log == nil:
			return unasked(noLog)
		case !f.Log.Stable:
			return unasked("the log changed under every try to read it")
		}
		return ask(f, f.Log)
	}
}

// ofCode is a row that holds where the log has a problem of one of the codes.
func ofCode(what string, codes ...string) func(Facts) answer {
	return withLog(func(_ Facts, l *WriteAheadLog) answer { return l.has(what, codes...) })
}

// objects limits a row to logs in an object store, files to those in a file.
func objects(ask func(Facts) answer) func(Facts) answer { return onBackend(ObjectStore, ask) }
func files(ask func(Facts) answer) func(Facts) answer   { return onBackend(LocalFile, ask) }

func onBackend(b Backend, ask func(Facts) answer) func(Facts) answer {
	return func(f Facts) answer {
		if f.Log != nil && f.Log.Backend != b {
			return isClear("the log is of another backend, %s", f.Log.Backend)
		}
		return ask(f)
	}
}

func (l *WriteAheadLog) has(what string, codes ...string) answer {
	var found []string
	for _, p := range l.Problems {
		if slices.Contains(codes, p.Code) {
			found = append(found, p.Message)
		}
	}
	if len(found) == 0 {
		return isClear("the log shows nothing of the kind")
	}
	return holds(found, "%s: %s", what, few(found)).with("count", len(found))
}

func (l *WriteAheadLog) any(codes ...string) bool {
	return slices.ContainsFunc(l.Problems, func(p Problem) bool { return slices.Contains(codes, p.Code) })
}

// damaged reports whether what lies in the replay window may not be what was
// written.
func (l *WriteAheadLog) damaged() bool {
	return l.any(ProblemGap, ProblemUndecodable, ProblemPage, ProblemSlot, ProblemRolledBack, ProblemManifestMissing,
		ProblemSegmentCorrupt, ProblemSealedPastTail, ProblemOverlap, ProblemOutOfOrder, ProblemNotRead, ProblemSegmentTorn) || l.Partial || l.MoreGaps || len(l.Corrupt) > 0 || l.any(stopping...)
}

func (l *WriteAheadLog) known() bool { return l.Cursor != nil && l.Tail != nil }

func (l *WriteAheadLog) entries() uint64 {
	if l.Window == nil {
		return 0
	}
	return l.Window.Entries
}

func cursorTail(l *WriteAheadLog) []string {
	return evidence("cursor %s, tail %s", sequence(*l.Cursor), sequence(*l.Tail))
}

func logRows() []row {
	rows := []row{
		{row: "1", rule: "wal-clean", severity: inspect.SeverityInfo, condition: "cursor = tail, read in one piece", action: "None.",
			ask: withLog(func(_ Facts, l *WriteAheadLog) answer {
				switch {
				case !l.known():
					return unasked("cursor and tail are not both known")
				case *l.Cursor == *l.Tail && !l.damaged():
					return holds(cursorTail(l), "the log is clean: nothing is replayed")
				}
				return isClear("cursor %s, tail %s, or damage", sequence(*l.Cursor), sequence(*l.Tail))
			})},
		{row: "2", rule: "wal-replay-pending", severity: inspect.SeverityInfo, condition: "cursor < tail, no gap, no damage", action: "Start the stream and expect duplicates: the sink must tell them apart.",
			ask: withLog(func(_ Facts, l *WriteAheadLog) answer {
				switch {
				case !l.known():
					return unasked("cursor and tail are not both known")
				case *l.Cursor < *l.Tail && !l.damaged():
					return holds(cursorTail(l), "%s replayed at the next start, and as many may be duplicates", entriesAre(l.entries())).with("entries", l.entries())
				case *l.Cursor < *l.Tail:
					return isClear("there is a replay window, and what lies in it is not whole")
				}
				return isClear("there is nothing to replay")
			})},
		{row: "3", rule: "wal-replay-heavy", severity: inspect.SeverityWarning, condition: "the replay window is larger than the sink can take twice", action: "Plan a key that tells duplicates apart, or a maintenance window, before the start.",
			ask: withLog(func(f Facts, l *WriteAheadLog) answer {
				switch {
				case f.Absorb == nil:
					return unasked("nothing says how many entries the sink can take twice: give --absorb")
				case l.entries() > *f.Absorb:
					return holds(cursorTail(l), "%s replayed, and the sink can take %s twice", entriesAre(l.entries()), sequence(*f.Absorb)).with("entries", l.entries()).with("absorb", *f.Absorb)
				case !l.known() || l.Partial:
					return unasked("not all of the window is known")
				}
				return isClear("%s in the window, and the sink can take %s twice", entriesAre(l.entries()), sequence(*f.Absorb))
			})},
		{row: "7", rule: "wal-gap", severity: inspect.SeverityError, condition: "a gap inside (cursor, tail]", action: nextGap, ask: ofCode("records are missing in the replay window, possibly lost", ProblemGap)},
		{row: "8", rule: "wal-gap-below-cursor", severity: inspect.SeverityInfo, condition: "a gap at or below the cursor", action: "Nothing: it can't be told whether they were deleted or never there.", ask: ofCode("sequences below the cursor are not in the log", ProblemGapBelowCursor)},
		{row: "9", rule: "wal-sealed-past-tail", severity: inspect.SeverityError, condition: "the manifest knows sequences behind the tail", action: "Restore the object's version; else accept the loss of what lies behind the tail.", ask: objects(ofCode("a sealed segment is missing or torn", ProblemSealedPastTail))},
		{row: "10", rule: "wal-torn-tail", severity: inspect.SeverityWarning, condition: "the newest segment's end is torn", action: "A start is safe: the engine drops the torn part without a word. Note which bytes.", ask: objects(ofCode("a write of the newest segment was interrupted", ProblemSegmentTorn))},
		{row: "11", rule: "wal-mid-log-corruption", severity: inspect.SeverityError, condition: "a damaged record in an older segment, or whole records behind it", action: "Stop, copy the prefix, restore the object from its versions: the engine ignores the rest of that object without a word.", ask: objects(ofCode("a segment is damaged in its middle", ProblemSegmentCorrupt))},
		{row: "12", rule: "wal-orphan-segment", severity: inspect.SeverityInfo, condition: "a segment that the manifest does not know", action: "None: the engine replays it.", ask: objects(ofCode("the engine stopped between writing a segment and the manifest", ProblemSegmentOrphan))},
		{row: "13", rule: "wal-manifest-missing", severity: inspect.SeverityError, condition: "no manifest, and segments", action: "Restore the manifest before the start, or accept that everything is replayed.", ask: objects(ofCode("the engine would take the cursor for 0 and replay everything", ProblemManifestMissing))},
		{row: "14", rule: "wal-manifest-invalid", severity: inspect.SeverityError, condition: "the manifest can't be read", action: "Restore its previous version: the start fails on it.", ask: objects(ofCode("a start of the stream fails", ProblemManifestInvalid))},
		{row: "15", rule: "wal-two-writers", severity: inspect.SeverityError, condition: "overlapping segments, a cursor that moved back, or one object with other bytes", action: "Stop one of the writers; never merge by hand.", ask: twoWriters},
		{row: "16", rule: "wal-placeholder", severity: inspect.SeverityWarning, condition: "the key holds a placeholder that was not filled in", action: "Mend the configuration (the engine expands no variables); what is pending still lies under the old prefix.", ask: objects(ofCode("the node's or stream's name was not filled in", ProblemPlaceholder))},
		{row: "17", rule: "wal-unclean-stop", severity: inspect.SeverityInfo, condition: "the file was not closed, and is whole", action: "None: the engine repairs it when it opens it.",
			ask: files(withLog(func(_ Facts, l *WriteAheadLog) answer {
				switch {
				case l.File == nil:
					return unasked("the file's header could not be read")
				case l.File.CleanClose:
					return isClear("the file was closed cleanly")
				case l.any(ProblemPage, ProblemSlot, ProblemRolledBack) || l.any(stopping...):
					return isClear("the file was not closed, and is not whole: see the other rows")
				}
				return holds(evidence("transaction %s", sequence(l.File.Transaction)), "the file was not closed: its writer was killed, or has it open now")
			}))},
		{row: "17a", rule: "wal-damage-unnoticed", severity: inspect.SeverityError, condition: "closed cleanly, nothing committed since, and a page is damaged", action: "Do not start: the engine checks nothing of a file that was closed cleanly and replays damaged data. Restore the file.",
			ask: files(withLog(func(_ Facts, l *WriteAheadLog) answer {
				if l.File == nil || !l.File.CleanClose && !l.File.Trusted {
					return isClear("the file was not closed cleanly: the engine checks it")
				}
				return l.has("the engine will not notice", ProblemPage, ProblemSlot)
			}))},
		{row: "17b", rule: "wal-rolled-back", severity: inspect.SeverityError, condition: "the primary commit is damaged, the one before is whole", action: "Note what is lost: the last record or the last move of the cursor. Expect duplicates or the loss of that record.",
			ask: files(withLog(func(_ Facts, l *WriteAheadLog) answer {
				if l.File != nil && l.File.CleanClose && !l.any(ProblemRolledBack) || l.any(ProblemRefused) {
					return isClear("no commit is left out")
				}
				return l.has("the engine goes back by one transaction without a word", ProblemRolledBack)
			}))},
		{row: "17c", rule: "wal-file-short", severity: inspect.SeverityError, condition: "the file is shorter than its header says, or longer in a way that no engine opens", action: "Copy the entries out, then restore the file: the engine panics at start although entries may be readable.",
			ask: files(ofCode("the engine panics on it", ProblemFileShort, ProblemFileUnopenable))},
		{row: "18", rule: "wal-unopenable", severity: inspect.SeverityError, condition: "no commit with a whole tree", action: "Restore a backup, or move the file away and accept the loss of the window.",
			ask: func(f Facts) answer {
				if fault.KindOf(f.LogFault) == fault.Corrupt {
					return holds([]string{safetext.Error(f.LogFault).String()}, "the engine's process ends on it, with every stream of the node: %s", safetext.Error(f.LogFault))
				}
				return files(withLog(func(_ Facts, l *WriteAheadLog) answer {
					if l.any(ProblemFileShort, ProblemFileUnopenable) {
						return isClear("a commit is whole, and the length of the file is what stops an engine: see there")
					}
					return l.has("the engine's process ends on it, with every stream of the node", ProblemRefused)
				}))(f)
			}},
		{row: "19", rule: "wal-unstable", severity: inspect.SeverityWarning, condition: "the file changes under every try to read it", action: "Try again, or stop the stream.",
			ask: func(f Facts) answer {
				switch {
				case f.LogFault != nil:
					return isClear("the log can't be read, for another reason")
				case f.Log == nil:
					return unasked(noLog)
				case f.Log.Stable:
					return isClear("it was read in one piece")
				}
				return holds(nil, "a writer is at work, and no view of the log is of one moment: nothing is said of its cursor")
			}},
		{row: "T1", rule: "wal-high-water-cursor", severity: inspect.SeverityWarning, condition: "the cursor is a high-water mark, and the output failed", action: "Compare the sink with the source: what failed below the cursor is sent by nobody any more.", ask: highWater},
	}
	for i := range rows {
		rows[i].scope = OfLog
	}
	return rows
}

// twoWriters looks at the log, and at what it was before.
func twoWriters(f Facts) answer {
	return withLog(func(f Facts, l *WriteAheadLog) answer {
		if a := l.has("two writers share the log, or sequences were used again", ProblemOverlap, ProblemOutOfOrder, ProblemTwoWriters); a.outcome == Holds {
			return a
		}
		for _, e := range f.Earlier {
			if e.Cursor != nil && l.Cursor != nil && *l.Cursor < *e.Cursor && !f.Generation.ContiguousCursor() && l.CursorRule.Rule != Contiguous {
				return holds(evidence("cursor %s before, %s now", sequence(*e.Cursor), sequence(*l.Cursor)), "the cursor moved back, which an engine of this generation never does by itself")
			}
		}
		return isClear("no overlap, and no cursor that moved back; two writers may leave neither")
	})(f)
}

// highWater is the trap of a cursor that jumped over what failed.
func highWater(f Facts) answer {
	switch {
	case f.Log == nil && f.Stream == nil:
		return unasked(noLog)
	case f.Generation.ContiguousCursor() || f.Log != nil && f.Log.CursorRule.Rule == Contiguous:
		return isClear("the cursor stands before the first that was not acknowledged")
	case f.Stream == nil:
		return unasked("the cursor is a high-water mark, and no hub was asked whether the stream's output failed")
	}
	failed, known := f.Stream.Metrics.OutputErrors.Get()
	if !known {
		return unasked("the hub exposes no output errors")
	}
	if failed == 0 {
		return isClear("the output has not failed since the stream's start")
	}
	return holds(evidence("output_errors %d since the stream's start", failed),
		"the output failed %d times, and the cursor is a high-water mark: a record that failed is skipped for good once a later one succeeds, and the log does not show it", failed).with("outputErrors", failed)
}

// entriesAre is a number of entries with its verb.
func entriesAre(n uint64) string {
	if n == 1 {
		return "1 entry is"
	}
	return sequence(n) + " entries are"
}

// rising reports how a log moved over its readings: both together, or one alone.
func rising(f Facts, most int) (cursor, tail bool, polls int) {
	all := append(slices.Clone(f.Earlier), *f.Log)
	all = slices.DeleteFunc(all, func(l WriteAheadLog) bool { return !l.Stable || !l.known() })
	if most > 0 && len(all) > most {
		all = all[len(all)-most:]
	}
	if len(all) < 2 {
		return false, false, len(all)
	}
	first, last := all[0], all[len(all)-1]
	return *last.Cursor > *first.Cursor, *last.Tail > *first.Tail, len(all)
}

// moving asks a row of a running stream whose log was read more than once.
func moving(polls int, ask func(f Facts, cursor, tail bool) answer) func(Facts) answer {
	return func(f Facts) answer {
		switch {
		case f.Stream == nil:
			return unasked("no hub was asked whether the stream runs")
		case f.Stream.State.Or("") != arkhub.StateRunning:
			return isClear("the stream is %s", f.Stream.State.Or("in no known state"))
		case f.Log == nil:
			return unasked(noLog)
		}
		cursor, tail, n := rising(f, 0)
		if n < polls {
			return unasked("the log was read %d times, and %d are needed: watch it", n, polls)
		}
		return ask(f, cursor, tail)
	}
}

func spanOf(f Facts) []string {
	first, last := f.Earlier[0], *f.Log
	if !first.known() || !last.known() {
		return nil
	}
	return evidence("cursor %s to %s, tail %s to %s in %d readings", sequence(*first.Cursor), sequence(*last.Cursor), sequence(*first.Tail), sequence(*last.Tail), len(f.Earlier)+1)
}

func streamMetric(name string, c arkhub.Count) string {
	if v, known := c.Get(); known {
		return fmt.Sprintf("%s %d", name, v)
	}
	return name + " not exposed by this hub"
}
