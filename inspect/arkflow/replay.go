package arkflow

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// ReplayCost is what a start sends again, side by side: by the log alone, and with
// what a restored source position covers taken away. Entries below such a position
// are marked done by engines that reconcile, as one unbroken run from the cursor on.
type ReplayCost struct {
	Raw        *Window `json:"raw"`        // the log's window; nil: nothing is sent again, or it is not known
	Reconciled *Window `json:"reconciled"` // what is left of it; nil: nothing is, or it is not exposed
	Covered    *uint64 `json:"covered"`    // entries that the positions cover; nil: not exposed
	Point      string  `json:"point"`      // whose source positions these are; empty: none are known
	// Reconciles: engines of the hub's generation do so; false: they replay the raw
	// window whatever is restored. Nil: not known.
	Reconciles *bool  `json:"reconciles"`
	Sentence   string `json:"sentence"`
}

// Columns in which an input says where a row came from.
const (
	columnPartition = "__meta_partition"
	columnOffset    = "__meta_offset"
	columnExtra     = "__meta_ext" // its key topic is the topic
	keyTopic        = "topic"
)

// Bounds of what is compared with source positions.
const (
	maxCovered   = 100_000 // entries
	atATime      = 1000
	notReplayed  = "nothing is sent again: the cursor is at the tail"
	notExposedBy = "not exposed: "
)

// ReplayCost compares the window of a log that was read with the source positions of
// the point that a start would restore.
func (r *Logs) ReplayCost(ctx context.Context, l WriteAheadLog, point *Point, g arkhub.Generation) ReplayCost {
	c := ReplayCost{Raw: l.Window}
	if g != arkhub.GenerationUnknown {
		does := g.ContiguousCursor() // the same generation brought both
		c.Reconciles = &does
	}
	switch {
	case l.Cursor == nil || l.Tail == nil:
		c.Sentence = notExposedBy + "the log's cursor and tail are not known"
		return c
	case l.Partial:
		c.Sentence = notExposedBy + "a part of the log could not be read, and more may be sent again than what was"
		return c
	case l.Window == nil:
		c.Sentence = notReplayed
		return c
	case point == nil:
		c.Sentence = notExposedBy + "no recovery point is restored, so that no source position is"
		return c
	}
	c.Point = point.ID
	if len(point.Positions) == 0 {
		c.Sentence = fmt.Sprintf("%s%s holds no source positions", notExposedBy, safetext.Of(point.ID))
		return c
	}
	covered, bytes, why := r.covered(ctx, l, positionsOf(point.Positions))
	if why != "" && covered == 0 {
		c.Sentence = notExposedBy + why
		return c
	}
	c.Covered = &covered
	c.Reconciled = l.Window.without(covered, bytes)
	c.Sentence = fmt.Sprintf("%s raw, %s beyond the source positions of %s", entriesText(c.Raw), entriesText(c.Reconciled), safetext.Of(point.ID))
	if why != "" {
		c.Sentence += "; behind them " + why
	}
	if c.Reconciles != nil && !*c.Reconciles {
		c.Sentence += ". Engines of this generation don't compare them: the raw window is sent again"
	}
	return c
}

// replay is the cost of a start with the point that it would restore.
func (r *reading) replay(ctx context.Context, list PointList) *ReplayCost {
	c := replayOf(ctx, r.hub.logs, r.log, list, list.Selection.ID, r.state.Generation)
	return &c
}

// ReplayOf is what a start would send again if it restored the point of an id of a job
// that was read. Logs reads the log that was read beside the job; nil: none was.
func ReplayOf(ctx context.Context, logs *Logs, d JobDetail, id string) ReplayCost {
	return replayOf(ctx, logs, d.Log, d.Points, id, d.Hub.Generation)
}

func replayOf(ctx context.Context, logs *Logs, log *WriteAheadLog, list PointList, id string, g arkhub.Generation) ReplayCost {
	switch {
	case logs == nil:
		return ReplayCost{Sentence: notExposedBy + "no write-ahead log was named (arkflow.wal of the job in the profile, or --wal)"}
	case log == nil:
		return ReplayCost{Sentence: notExposedBy + "the write-ahead log can't be read"}
	}
	var restored *Point
	if at := slices.IndexFunc(list.Points, func(p Point) bool { return p.ID == id }); at >= 0 {
		restored = &list.Points[at]
	}
	return logs.ReplayCost(ctx, *log, restored, g)
}

func entriesText(w *Window) string {
	if w == nil {
		return "none"
	}
	return plural(w.Entries, "entry", "entries")
}

// without is a window whose first entries are done; nil where none are left.
func (w Window) without(n uint64, bytes int64) *Window {
	if n >= w.Entries {
		return nil
	}
	left := Window{From: w.From + n, To: w.To, Entries: w.Entries - n}
	if w.Bytes != nil {
		rest := *w.Bytes - bytes
		left.Bytes = &rest
	}
	return &left
}

// positions are where sources go on, by topic and partition.
type positions struct {
	at     map[sourceKey]uint64
	topics map[uint64]int // how many topics have the partition
}

type sourceKey struct {
	topic     string // empty: it is not named
	partition uint64
}

func positionsOf(list []SourcePosition) positions {
	p := positions{at: map[sourceKey]uint64{}, topics: map[uint64]int{}}
	for _, s := range list {
		topic := ""
		if s.Topic != nil {
			topic = *s.Topic
		}
		p.at[sourceKey{topic, s.Partition}] = s.Offset
		p.topics[s.Partition]++
	}
	return p
}

// of is the position of a partition. One side may name no topic: then it is the only
// one of the partition's number, or not known.
func (p positions) of(topic string, partition uint64) (offset uint64, known bool) {
	if offset, known = p.at[sourceKey{topic, partition}]; known {
		return offset, true
	}
	if p.topics[partition] != 1 {
		return 0, false
	}
	for key, offset := range p.at {
		if key.partition == partition && (key.topic == "" || topic == "") {
			return offset, true
		}
	}
	return 0, false
}

// covered are how many entries of a window, from its first on and without a gap, lie
// below the positions, and their bytes. Why says what ended the run where it was not
// an entry beyond them.
func (r *Logs) covered(ctx context.Context, l WriteAheadLog, p positions) (n uint64, bytes int64, why string) {
	next := l.Window.From
	for n < maxCovered {
		list, err := r.Entries(ctx, l, next, atATime)
		if err != nil {
			return n, bytes, "the log can't be read again: " + safetext.Error(err).String()
		}
		for _, e := range list.Entries {
			if e.Sequence != next {
				return n, bytes, fmt.Sprintf("sequence %s is not there", sequence(next))
			}
			below, why := p.below(e.Payload)
			if !below {
				return n, bytes, why
			}
			n, bytes, next = n+1, bytes+int64(len(e.Payload)), next+1
		}
		if !list.More {
			if next <= l.Window.To {
				return n, bytes, fmt.Sprintf("sequence %s is not there", sequence(next))
			}
			return n, bytes, ""
		}
	}
	return n, bytes, fmt.Sprintf("more were not compared than the first %d", maxCovered)
}

// below reports whether every row of an entry lies below the positions. Why says what
// is not known of it.
func (p positions) below(payload []byte) (below bool, why string) {
	parsed, err := ParsePayload(payload)
	if err != nil {
		return false, "an entry can't be decoded: " + safetext.Error(err).String()
	}
	below = true
	err = parsed.batch(func(b arrow.RecordBatch) error {
		column := func(name string) arrow.Array {
			if at := b.Schema().FieldIndices(name); len(at) == 1 {
				return b.Column(at[0])
			}
			return nil
		}
		partitions, offsets, extra := column(columnPartition), column(columnOffset), column(columnExtra)
		if partitions == nil || offsets == nil || b.NumRows() == 0 {
			below, why = false, "the entries hold no source offsets"
			return nil
		}
		for row := range int(b.NumRows()) {
			partition, isPartition := value(partitions, row).(uint64)
			offset, isOffset := value(offsets, row).(uint64)
			if !isPartition || !isOffset {
				below, why = false, "an entry's row has no source offset"
				return nil
			}
			at, known := p.of(topicOf(extra, row), partition)
			switch {
			case !known:
				below, why = false, fmt.Sprintf("an entry is of partition %d, and the point has no position of it", partition)
				return nil
			case offset >= at:
				below = false
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return false, "an entry can't be decoded: " + safetext.Error(err).String()
	}
	return below, why
}

// topicOf is the topic of a row; empty where it has none.
func topicOf(extra arrow.Array, row int) string {
	if extra == nil {
		return ""
	}
	pairs, _ := value(extra, row).(map[string]any)
	topic, _ := pairs[keyTopic].(string)
	return topic
}
