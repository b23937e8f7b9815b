package arkflow

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/redbfile"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Question says what of a log is wanted.
type Question struct {
	Extent Extent // empty: ReadAsNeeded
	// Entries lists every entry with the digest of its payload: all is read.
	Entries bool
	// Salvage reads what is left of a file that no start of an engine gets over.
	Salvage bool

	// Progress, if not nil, is told how far the reading has come.
	Progress func(Progress)

	salvage bool // the whole file was refused, and Salvage was asked for
}

// tries is how often a file is read that changes while it is read, and pauses
// what is waited between.
const tries = 5

func pauseAfter(try int) time.Duration { return 50 * time.Millisecond << try }

// fingerprint tells whether anybody writes to a file.
type fingerprint struct {
	state
	head [320]byte // the header with both commit slots
}

func (s *source) fingerprint() fingerprint {
	f := fingerprint{state: s.now()}
	_, err := s.ReadAt(f.head[:min(s.size, int64(len(f.head)))], 0)
	if err != nil {
		f.replaced = true
	}
	return f
}

// readLocal reads the log of a redb file at a path.
func readLocal(ctx context.Context, place, path string, q Question, c clock.Clock) (WriteAheadLog, error) {
	var before fingerprint
	for try := range tries {
		s, err := openFile(ctx, path)
		if err != nil {
			return WriteAheadLog{}, err
		}
		begin := s.fingerprint()
		l, sound, err := readOnce(ctx, place, s, q, c.Now())
		end := s.fingerprint()
		copied := s.file == nil
		s.close()
		switch quiet := begin == end && !end.replaced; {
		case ctx.Err() != nil:
			return WriteAheadLog{}, ctx.Err()
		// Pages that fit their checksums are of one commit, whatever was written since.
		case err == nil && sound, copied:
			return l, err
		// What is wrong is not because of a writer if it was wrong twice, and nothing has
		// changed before, between and after.
		case quiet && try > 0 && before == end:
			return l, err
		}
		before = end
		if try < tries-1 {
			if err := pause(ctx, pauseAfter(try)); err != nil {
				return WriteAheadLog{}, err
			}
		}
	}
	l := newLog(place, LocalFile)
	l.problem(ProblemUnstable, inspect.SeverityError, nil,
		"Try again, or stop the stream first: what was read of a file that changes is evidence of nothing.",
		"the file changed under each of %d tries to read it: a writer is at work, and no cursor is given", tries)
	return l, nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// readOnce reads a file in one pass. Sound says that all of it fits together.
func readOnce(ctx context.Context, place string, s *source, q Question, now time.Time) (l WriteAheadLog, sound bool, err error) {
	l = newLog(place, LocalFile)
	l.Bytes.Stored = s.size
	if s.size == 0 {
		return emptyFile(l, s), false, nil
	}
	r, err := readFile(ctx, s, q)
	if refused := (*redbfile.Error)(nil); q.Salvage && errors.As(err, &refused) && (refused.Code == redbfile.NoTree || refused.Code == redbfile.NoSlot) {
		q.salvage = true
		if r, err = readFile(ctx, s, q); err == nil {
			l.problem(ProblemRefused, inspect.SeverityError, nil, nextRefused, "no start of the engine gets over this file, and it takes every stream of its node down with it: %s", refused.Message)
		}
	}
	if err != nil {
		return l, false, notRead(s.path, err)
	}
	l.Stable, l.Read = true, r.extent
	l.File = &FileFacts{Format: r.view.Version, Transaction: r.view.Transaction, CleanClose: !r.header.Recovery, Trusted: r.view.Blind, Compressed: s.compressed}
	if !s.compressed {
		at := s.modified.UTC()
		l.File.Modified = &at
	}
	l.Bytes.Payloads = r.payloads
	l.CursorRule = fileRule(&r)
	l.judgeFile(&r)
	l.place(&r.runs, r.known(), true, nil)
	l.windowFacts(&r.window, now)
	l.Listed = r.entries
	if r.extent == ReadWindow {
		l.Unchecked = append(l.Unchecked, "the pages of acknowledged entries were not read: damage there is not known")
		if r.window.cut {
			l.Unchecked = append(l.Unchecked, fmt.Sprintf("of the replay window, the payloads behind the first %s were not read", figures.Bytes(windowBytes)))
		}
	}
	l.finish()
	return l, r.view.Damaged == 0 && !r.loose && !r.view.RolledBack && r.view.Short == 0, nil
}

const nextRefused = "Copy the file away. Restore a backup, or move it away and accept the loss of the window."

func emptyFile(l WriteAheadLog, s *source) WriteAheadLog {
	var r runs
	zero := uint64(0)
	l.Stable, l.Read, l.File = true, ReadAll, &FileFacts{Compressed: s.compressed}
	if at := s.modified.UTC(); !s.compressed {
		l.File.Modified = &at
	}
	l.problem(ProblemFileEmpty, inspect.SeverityWarning, nil,
		"If this log ever held entries, they are gone: look for a copy before the stream starts.",
		"the file has no bytes: an engine starts with an empty log, and says nothing")
	l.place(&r, &zero, true, nil)
	l.finish()
	return l
}

// notRead is why nothing can be read of a file.
func notRead(path string, err error) error {
	shown := safetext.Of(path)
	var refused *redbfile.Error
	switch {
	case errors.Is(err, errNoLog):
		return fault.New(fault.Corrupt, opReadLog, "%s is a redb file, but no write-ahead log: %s", shown, safetext.Error(err)).
			WithHint("a stream's log is named %s; state.redb holds the state of a job", FileName).WithRef(path)
	case !errors.As(err, &refused):
		return err
	case refused.Code == redbfile.Unreadable:
		return fault.Wrap(fault.Unreachable, opReadLog, refused.Err, "%s: %s", shown, refused.Message).
			WithHint("look at the disk; nothing was said about the log").WithRef(path)
	}
	f := fault.New(fault.Corrupt, opReadLog, "%s can't be read: %s", shown, safetext.Of(refused.Message)).WithRef(path)
	switch refused.Code {
	case redbfile.NoTree, redbfile.NoSlot:
		return f.WithHint("copy the file away, then see with --salvage what is left of it; an engine exits on it, with every stream of its node")
	case redbfile.OldVersion, redbfile.UnknownVersion:
		return f.WithHint("an engine refuses it too: use the engine that wrote it to drain the log before an upgrade")
	case redbfile.NotInitialised:
		return f.WithHint("an engine refuses it; if it never held an entry it can be moved away, else look for a copy")
	default:
		return f.WithHint("is it the stream's %s? If so, look for a copy: an engine exits on it, with every stream of its node", FileName)
	}
}

// fileRule tells what the cursor means from what only one generation of the
// engine does.
func fileRule(r *fileReading) CursorRule {
	switch {
	case r.view.Version == 3 && r.header.RegionHeaderPages == 0:
		return CursorRule{Contiguous, "the file was made by redb 4, as later engines link it: their cursor is the end of an unbroken run of acknowledged sequences"}
	case r.view.Version == 3:
		return CursorRule{RuleUnknown, "the file has format 3 and was made by redb 2, which no released engine does: take the cursor for a high-water mark"}
	case len(r.runs.spans) > 0 && r.runs.first > 1:
		return CursorRule{Contiguous, fmt.Sprintf("entries below %s were deleted, as only later engines do: their cursor is the end of an unbroken run of acknowledged sequences", sequence(r.runs.first))}
	default:
		return CursorRule{HighWater, "engines that write this format keep the highest acknowledged sequence: a record below it whose output failed is never sent again, and the log does not show which"}
	}
}

// judgeFile tells what is wrong with a file, and what a start makes of it.
func (l *WriteAheadLog) judgeFile(r *fileReading) {
	v := r.view
	blind := "The engine does not look at checksums after a clean close, until it commits again, and replays what stands there. Don't start it; restore the file from a copy."
	next := blind
	if !v.Blind {
		next = "Don't start the engine before the entries are copied out; restore the file from a copy."
	}
	for _, d := range v.Damage {
		switch {
		case v.RolledBack && d.Table != "":
			continue // of the commit that was left: told below
		case d.Table == "":
			l.problem(ProblemSlot, inspect.SeverityError, nil, blind, "the checksum of the commit slot in force is wrong: transaction, cursor and entries are those of a damaged header, if of any")
			l.corrupt(Corrupt{Offset: d.Offset, Message: d.Message})
		case d.Table != tableEntries:
			l.Partial = l.Partial || d.Table == redbfile.ListOfTables // it may name others, or lie elsewhere
			l.problem(ProblemPage, inspect.SeverityError, nil, next, "%s (%s)", d.Message, safetext.Of(d.Table))
			l.corrupt(Corrupt{Offset: d.Offset, Message: d.Message})
		case len(d.First) == 8 && len(d.Last) == 8:
			s := Span{binary.LittleEndian.Uint64(d.First), binary.LittleEndian.Uint64(d.Last)}
			l.problem(ProblemPage, inspect.SeverityError, &s.From, next, "%s; in it lie %s, and at least one of them is not what was written", d.Message, spanText(s))
			l.corrupt(Corrupt{From: &s.From, To: &s.To, Offset: d.Offset, Message: d.Message})
		default:
			l.Partial = true
			l.problem(ProblemPage, inspect.SeverityError, nil, next, "%s; the entries in it can't be read", d.Message)
			l.corrupt(Corrupt{Offset: d.Offset, Message: d.Message})
		}
	}
	if more := v.Damaged - len(v.Damage); more > 0 {
		l.Partial = true // they may hide anything
		l.problem(ProblemPage, inspect.SeverityError, nil, next, "%s more pages are damaged", figures.Group(int64(more)))
	}
	if v.RolledBack {
		extra := ""
		if v.OtherUnchecked {
			extra = "; the slot of that older commit has a wrong checksum itself"
		}
		cursor := r.cursor
		l.problem(ProblemRolledBack, inspect.SeverityError, &cursor,
			"List what is lost: the last append, or the last move of the cursor. Expect one record less, or one sent twice.",
			"the newest commit is damaged: a start goes back to transaction %s without a word, with %s and the cursor %s%s",
			sequence(v.Transaction), plural(r.runs.count, "entry", "entries"), sequence(r.cursor), extra)
	}
	if p := r.header.Primary; r.header.Unflushed && v.Slot != p {
		cursor := r.cursor
		l.problem(ProblemRolledBack, inspect.SeverityWarning, &cursor,
			"Ask again when its writer has flushed or closed it. After a loss of power a start may go on from the older commit, which is what is told here.",
			"the newest commit, transaction %s, is marked as not flushed: what is told is transaction %s, with %s and the cursor %s",
			sequence(r.header.Slots[p].Transaction), sequence(v.Transaction), plural(r.runs.count, "entry", "entries"), sequence(r.cursor))
	}
	if other := r.header.Slots[1-v.Slot]; v.Blind && v.Slot == r.header.Primary && other.Valid && other.Transaction > v.Transaction {
		cursor := r.cursor
		l.problem(ProblemRolledBack, inspect.SeverityError, &cursor, "Don't start the engine before a copy is made: no clean close leaves this. Restore the file, or expect one record less, or one sent twice.",
			"the header says that the file was closed cleanly, and names transaction %s, while the other commit slot holds transaction %s with a right checksum: a start goes on from the older one without a word, with %s and the cursor %s",
			sequence(v.Transaction), sequence(other.Transaction), plural(r.runs.count, "entry", "entries"), sequence(r.cursor))
	}
	if !r.header.Recovery && !r.header.TwoPhase {
		l.problem(ProblemCloseDoubtful, inspect.SeverityWarning, nil, "Copy the file away before an engine starts on it: redb 2.6 panics over such a file if the mark is wrong.",
			"the header says that the file was closed cleanly, and its last commit is not the one that a clean close makes: the mark may be damaged")
	}
	l.judgeLength(r)
}

// judgeLength tells what a start makes of a file that is not as long as its header
// says.
func (l *WriteAheadLog) judgeLength(r *fileReading) {
	v := r.view
	switch {
	case v.Short > 0:
		start := "an engine panics at its start"
		if v.Version > 2 {
			start = "an engine with redb 2 panics at its start; one with redb 4 refuses it after a clean close, and else may go on with what is left"
		}
		l.problem(ProblemFileShort, inspect.SeverityError, nil, "Copy the entries out, then restore the file from a copy: every stream of the node goes down with this one.",
			"the file is %s shorter than its header says: %s", figures.Count(v.Short, "byte", "bytes"), start)
	case v.Cut > 0:
		l.problem(ProblemFileUnopenable, inspect.SeverityError, nil,
			fmt.Sprintf("Copy the file away. Restore it from a copy, or cut it to %s bytes: every stream of the node goes down with this one.", figures.Group(v.Cut)),
			"the file is %s longer than its header says, and no engine opens it so, although its entries can be read", figures.Count(v.Long, "byte", "bytes"))
	case v.Long > 0 && !r.header.Recovery:
		l.problem(ProblemFileLong, inspect.SeverityInfo, nil, "Nothing: an engine opens it.", "the file is %s longer than its header says", figures.Count(v.Long, "byte", "bytes"))
	}
}

func (l *WriteAheadLog) corrupt(c Corrupt) {
	if len(l.Corrupt) < maxCorrupt {
		l.Corrupt = append(l.Corrupt, c)
	}
}
