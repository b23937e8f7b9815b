package records

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// line is what the list knows of a record, or of a stretch without one.
type line struct {
	offset int64
	gap    int64 // offsets without a record from this one on; 0: it is a record
	at     time.Time
	key    string
	seq    string
	what   string
	tone   theme.Tone
	size   int64
}

// maxKey bounds the text of a key in the list, in bytes.
const maxKey = 300

// linesOf are the lines of a page, with those for what holds no record.
func linesOf(page inspect.RecordPage, c inspect.RecordContext) []line {
	lines := make([]line, 0, len(page.Records))
	next := page.From
	gap := func(until int64) {
		if until > next {
			lines = append(lines, line{offset: next, gap: until - next, what: nothingHere(c.Store, until-next), tone: theme.Muted})
		}
	}
	for _, r := range page.Records {
		gap(r.Offset)
		lines = append(lines, lineOf(r, c))
		next = r.Offset + 1
	}
	gap(page.Next)
	return lines
}

func nothingHere(store inspect.Store, n int64) string {
	why := "compacted, or never one"
	if store == inspect.StoreFluss {
		why = "a batch without rows"
	}
	if n == 1 {
		return "no record: " + why
	}
	return figures.Group(n) + " offsets without a record: " + why
}

func lineOf(r inspect.LogRecord, c inspect.RecordContext) line {
	d := inspect.DecodeRecord(r, c)
	l := line{offset: r.Offset, at: r.Timestamp, size: int64(len(r.Value))}
	switch {
	case d.BusinessKey != nil:
		l.key, l.seq = phrase.Key(*d.BusinessKey), figures.Group(*d.Sequence)
	case r.Key == nil:
		l.key = "null"
	default:
		l.key = phrase.Safe(string(r.Key[:min(len(r.Key), maxKey)]))
	}
	l.what, l.tone = what(d)
	return l
}

// what says what a record is.
func what(d inspect.DecodedRecord) (string, theme.Tone) {
	switch {
	case d.Control == inspect.TransactionCommitted:
		return "end of a transaction: commit", theme.Muted
	case d.Control == inspect.TransactionAborted:
		return "end of a transaction: abort", theme.Muted
	case d.Control != inspect.NotControl:
		return "control record", theme.Muted
	case d.Removes:
		return "tombstone", theme.Warning
	case d.State == nil:
		return "no action state: " + phrase.Safe(d.Problem), theme.Error
	case d.State.Completed:
		return "completed", theme.Plain
	case len(d.State.Calls) == 0:
		return "open, no call", theme.Plain
	}
	var calls []string
	tone := theme.Plain
	for _, c := range d.State.Calls {
		status := "no status"
		if c.Status != nil {
			status = phrase.Safe(*c.Status)
		}
		if status == "PENDING" {
			tone = theme.Warning
		}
		calls = append(calls, fmt.Sprintf("%s#%d %s", phrase.Safe(c.FunctionID), c.Index, status))
	}
	return "open: " + strings.Join(calls, ", "), tone
}
