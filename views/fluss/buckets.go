package fluss

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// NewBuckets makes the screen of the buckets of the job's table.
func NewBuckets(o Options) tui.Screen {
	return newPage(&page[fluss.Buckets]{
		options: o, slot: slotBuckets, crumb: "buckets of " + phrase.Safe(o.Table),
		ask:   func(ctx context.Context) (fluss.Buckets, []error, error) { return o.Source.Buckets(ctx) },
		write: buckets,
		keys: func(s *page[fluss.Buckets]) []tui.Key {
			return []tui.Key{tui.CopyKey(func() (what, text string) { return "the table's name", phrase.Safe(s.value.Table) })}
		},
	})
}

// buckets is the page: what is wrong first, then each bucket.
func buckets(p *sheet.Page, x fluss.Buckets, at time.Time) {
	leaderless := 0
	for _, b := range x.Buckets {
		if b.Leader < 0 {
			leaderless++
		}
	}
	switch {
	case leaderless > 0:
		p.Sign(theme.Error, phrase.Count(leaderless, "bucket has", "buckets have")+" no leader: nobody can read or write there")
	default:
		p.Sign(theme.OK, "every bucket has a leader")
	}
	findings(p, x.Findings)
	stay := "rows stay " + phrase.Safe(x.TTL)
	if x.TTL == "" {
		stay = "how long rows stay is not known"
	}
	p.Hang(sheet.Indent, theme.Muted, fmt.Sprintf("table id %d, made %s, %s", x.ID, phrase.Clock(x.Created, at), stay))
	p.Blank()
	none := p.Theme.Signs.None
	var rows [][]sheet.Cell
	for _, b := range x.Buckets {
		leader, tone := fmt.Sprintf("server %d", b.Leader), theme.Plain
		if b.Leader < 0 {
			leader, tone = "NO LEADER", theme.Error
		}
		var span *int64
		if b.Earliest != nil && b.Latest != nil {
			n := *b.Latest - *b.Earliest
			span = &n
		}
		rows = append(rows, []sheet.Cell{
			{Text: figures.Group(int64(b.Bucket))}, {Text: leader, Tone: tone}, {Text: number(b.Earliest, none)}, {Text: number(b.Local, none)}, {Text: number(b.Latest, none)},
			{Text: number(span, none)}, {Text: note(b, at)},
		})
	}
	p.Table([]sheet.Column{{Title: "BUCKET", Right: true}, {Title: "LED BY"}, {Title: "BEGINS", Right: true}, {Title: "ON DISK FROM", Right: true}, {Title: "ENDS", Right: true},
		{Title: "SPAN", Right: true}, {Title: "ROWS"}}, rows)
}

// note is how old a bucket's rows are, and what could not be read of it.
func note(b fluss.Bucket, at time.Time) string {
	var out []string
	if b.Earliest != nil && b.Latest != nil && *b.Earliest == *b.Latest {
		out = append(out, "none")
	}
	if b.Oldest != nil {
		out = append(out, "oldest "+clock.Age(at.Sub(*b.Oldest)))
	}
	if b.Newest != nil {
		out = append(out, "newest "+clock.Age(at.Sub(*b.Newest)))
	}
	if b.InSync != nil {
		out = append(out, "in sync on "+figures.Ranges(b.InSync, 4))
	}
	if b.LakeEnd != nil {
		out = append(out, "in the lake up to "+figures.Group(*b.LakeEnd))
	}
	if b.Problem != "" {
		out = append(out, phrase.Safe(b.Problem))
	}
	return strings.Join(out, ", ")
}
