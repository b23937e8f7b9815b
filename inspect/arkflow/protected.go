package arkflow

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Cover says whether something covers a failure.
type Cover string

// The covers. Unknown is never a milder word for yes.
const (
	CoverYes     Cover = "yes"
	CoverNo      Cover = "no"
	CoverUnknown Cover = "unknown"
)

// Protection is what brings the data of a stream or job back after a crash: a
// write-ahead log, checkpoints, or nothing. Which of the two covers a failure is
// half of what to do about it.
type Protection struct {
	Log         Cover           `json:"log"`
	Sync        arkhub.SyncMode `json:"sync"`  // of the log; empty: none, or not known
	Place       string          `json:"place"` // of the log, as its node names it; empty: none, or not known
	Checkpoints Cover           `json:"checkpoints"`
	AgeMs       *int64          `json:"ageMs"` // of the newest completed checkpoint
	Sentence    string          `json:"sentence"`
}

// ProtectionOfStream is what covers a stream. A nil config is not exposed.
func ProtectionOfStream(c *arkhub.StreamConfig, g arkhub.Generation) Protection {
	p := Protection{Log: CoverUnknown, Checkpoints: CoverNo}
	if c == nil {
		p.Sentence = "not exposed by this hub: whether a write-ahead log covers it is not known; streams have no checkpoints"
		return p
	}
	on, mode := durable(*c)
	if !on {
		p.Log = CoverNo
		p.Sentence = "nothing: data between read and output is lost on a crash, unless the source sends it again"
		return p
	}
	d := c.Durability.Or(arkhub.Durability{})
	p.Log, p.Sync, p.Place = CoverYes, mode, logPlace(d)
	if b, is := d.Backend.Get(); is && b.Type.Or("") == "object_store" {
		if g != arkhub.GenerationUpgrades {
			p.Log = CoverNo
			p.Sentence = fmt.Sprintf("nothing: an object-store log at %s is configured, and engines of this generation panic on it at start", safetext.Of(p.Place))
			return p
		}
		p.Sentence = fmt.Sprintf("write-ahead log in an object store (%s) at %s: what was not sealed yet is lost on a crash", mode, safetext.Of(p.Place))
		return p
	}
	what := "each record is on disk before it is processed"
	switch {
	case mode != arkhub.SyncPerEntry && g == arkhub.GenerationUpgrades:
		what = "records are on disk, by groups, before they are processed"
	case mode != arkhub.SyncPerEntry:
		what = "records that were not flushed yet are lost on a crash, without a trace"
	}
	where := p.Place
	if where == "" {
		where = "the working folder of its engine"
	}
	p.Sentence = fmt.Sprintf("write-ahead log (%s) at %s: %s", mode, safetext.Of(where), what)
	return p
}

// logPlace is where a stream's log is, as its node names it.
func logPlace(d arkhub.Durability) string {
	b, is := d.Backend.Get()
	if !is {
		return d.Path.Or("")
	}
	if b.Type.Or("") != "object_store" {
		return b.Path.Or("")
	}
	return fmt.Sprintf("s3://%s/%s/%s/%s", b.S3.Or(arkhub.S3Bucket{}).Bucket.Or("?"), b.Prefix.Or("arkflow/wal"), b.NodeID.Or("?"), b.StreamID.Or("?"))
}

// ProtectionOfJob is what covers a job: jobs have no write-ahead log of
// their own: one that is read beside a job is that of a stream.
func ProtectionOfJob(j arkhub.Job, h Health) Protection {
	p := Protection{Log: CoverNo, Checkpoints: CoverUnknown, AgeMs: h.AgeMs}
	interval, known := j.Spec.Checkpoint.IntervalMs.Get()
	every := "checkpoints are taken by hand alone"
	switch {
	case !j.Spec.Readable():
		every = "how often checkpoints are taken is not exposed by this hub"
	case !known:
		every = fmt.Sprintf("checkpoints every %s (the default)", inBrief(time.Duration(arkhub.DefaultIntervalMs)*time.Millisecond))
	case interval > 0:
		every = fmt.Sprintf("checkpoints every %s", inBrief(time.Duration(interval)*time.Millisecond))
	}
	switch {
	case h.Completed != "":
		p.Checkpoints = CoverYes
		age := "of unknown age"
		if h.AgeMs != nil {
			age = clock.Age(time.Duration(*h.AgeMs)*time.Millisecond) + " old"
		}
		what := "completed"
		if h.Source == healthFromStore {
			what = "whole"
		}
		p.Sentence = fmt.Sprintf("%s, the newest %s one %s; no write-ahead log of its own", every, what, age)
	case h.State == HealthNone:
		p.Checkpoints = CoverNo
		p.Sentence = fmt.Sprintf("nothing: %s, and none was ever completed: state and data between read and output are lost on a crash", every)
	default:
		p.Sentence = every + "; whether one was completed is not known; no write-ahead log of its own"
	}
	return p
}

// inBrief is a duration without the smaller units that it has none of: 6h, not 6h0m0s.
func inBrief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
