package actions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// The names of warnings. They are stable: an operator accepts a warning by its
// name. PointUnknown is followed by a colon and the point's address.
const (
	NotChecked          = "not-checked"
	PointsUnknown       = "points-unknown"
	PointsLost          = "points-lost"
	PointUnknown        = "point-unknown"
	PendingBeforeTarget = "pending-before-target"
	JobStateUnknown     = "job-state-unknown"
	JobRestarting       = "job-restarting"
	PinnedPointLost     = "pinned-point-lost"

	// Of a plan that changes a topic's settings.
	CompactionBegins = "compaction-begins"
	RetentionLifted  = "retention-lifted"

	// Of a plan about a Flink job.
	NoSafetySavepoint = "no-safety-savepoint"
	PointMayGo        = "point-may-go"
	StateLeftOut      = "state-left-out"
	NoArguments       = "no-arguments"

	// Of a plan about a Fluss producer, beside NotChecked, JobStateUnknown and
	// RequestUnsettled.
	SinkRunning            = "sink-running"
	UnfinishedRowsStay     = "unfinished-rows-stay"
	OffsetsUnreadable      = "offsets-unreadable"
	OffsetsHidden          = "offsets-hidden"
	RemoteDirWithoutScheme = "remote-dir-without-scheme"
	RowsUndone             = "rows-undone"
	BucketsMissing         = "buckets-missing"
	BucketUnreadable       = "bucket-unreadable"
	UndoTakesTooLong       = "undo-takes-too-long"

	// Of a plan about ArkFlow, beside NotChecked.
	OtherHub         = "other-hub"
	RequestUnsettled = "request-unsettled"
	BegunElsewhere   = "begun-elsewhere"
	JobMayStand      = "job-may-stand-still"
	UpgradeUnwatched = "upgrade-unwatched"
	StreamNotCovered = "stream-not-covered"
	WriteMayStick    = "write-may-stay-queued"
	LogDamaged       = "log-damaged"
)

// NeedsLooking reports whether a warning is accepted only when somebody has looked
// elsewhere first: at what lies between here and a system, at another machine, at which
// hub an address is of. No command that is shown accepts one.
func NeedsLooking(name string) bool {
	return name == OtherHub || name == RequestUnsettled || name == BegunElsewhere
}

// Warning is something that the planner can't decide: a person accepts it by
// name, or does not apply the plan.
type Warning struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

// warningNames are all names but PointUnknown, which is followed by an address.
func warningNames() []string {
	return []string{NotChecked, PointsUnknown, PointsLost, PendingBeforeTarget, JobStateUnknown, JobRestarting, PinnedPointLost, CompactionBegins, RetentionLifted,
		NoSafetySavepoint, PointMayGo, StateLeftOut, NoArguments,
		SinkRunning, UnfinishedRowsStay, OffsetsUnreadable, OffsetsHidden, RemoteDirWithoutScheme, RowsUndone, BucketsMissing, BucketUnreadable, UndoTakesTooLong,
		OtherHub, RequestUnsettled, BegunElsewhere, JobMayStand, UpgradeUnwatched, StreamNotCovered, WriteMayStick, LogDamaged}
}

// IsWarningName reports whether a warning can have that name.
func IsWarningName(name string) bool {
	if slices.Contains(warningNames(), name) {
		return true
	}
	uri, found := strings.CutPrefix(name, PointUnknown+":")
	return found && uri != ""
}

// warnings computes them from the evidence, in the order of the names above. For
// a plan that is APPLIED there are none: nothing is written.
func (r Report) warnings(e Evidence) []Warning {
	out := []Warning{}
	if r.Recorded == inspect.StatusApplied {
		return out
	}
	warn := func(name, format string, args ...any) {
		out = append(out, Warning{Name: name, Message: fmt.Sprintf(format, args...)})
	}
	if why := r.unchecked(e); why != "" {
		warn(NotChecked, "%s", why)
	}
	if why := r.pointsUnknown(e); why != "" {
		warn(PointsUnknown, "%s", why)
	}
	if n := len(r.Lost); n > 0 {
		warn(PointsLost, "%s can never be restored again: %s", figures.Count(n, "recovery point", "recovery points"), addresses(r.Lost))
	}
	for _, f := range r.Unknown {
		warn(PointUnknown+":"+f.URI, "%s counts as lost: %s", quote(f.URI), f.Message)
	}
	if e.Calls.total() > 0 {
		warn(PendingBeforeTarget, "%s", e.Calls.warning())
	}
	liveWarnings(e.Live, warn)
	if lost := r.pinnedLost(e.Job.Pinned); len(lost) > 0 {
		warn(PinnedPointLost, "something depends on %s", strings.Join(lost, ", "))
	}
	return out
}

// unchecked says what was not asked that a deletion hangs on.
func (r Report) unchecked(e Evidence) string {
	switch {
	case e.Offline:
		return "no cluster was asked: identity, settings, other operations and the log are not checked"
	case e.DataErr != nil:
		return "the data topic could not be read: " + safetext.Error(e.DataErr).String()
	case e.ControlErr != nil:
		return "the control topic could not be read: " + safetext.Error(e.ControlErr).String()
	case e.CallsErr != nil:
		return "not all of the topic could be scanned for durable calls: " + safetext.Error(e.CallsErr).String()
	}
	for _, f := range r.fates() {
		if f.Own && f.Fate == FateStays && !f.Whole {
			return "whether every file of the plan's own point is there could not be checked from here"
		}
	}
	return ""
}

// pointsUnknown says why it is not known which points are lost.
func (r Report) pointsUnknown(e Evidence) string {
	switch {
	case len(e.Searched) == 0:
		return "no place was searched for recovery points"
	case e.Own == nil && e.OwnErr == nil:
		return "the plan names no recovery point that can be read"
	case e.Own == nil && !isGone(e.OwnErr):
		return "the plan's own point could not be read: " + safetext.Error(e.OwnErr).String()
	}
	for _, s := range e.Searched {
		if s.Problem != "" {
			return fmt.Sprintf("%s could not be searched whole: %s", quote(s.Place), safetext.Of(s.Problem))
		}
	}
	return ""
}

func liveWarnings(live *inspect.LiveState, warn func(name, format string, args ...any)) {
	switch {
	case live == nil:
		warn(JobStateUnknown, "no Flink said what the job does now")
	case live.State == "RUNNING", inspect.Ended(live.State):
	case live.State == "RESTARTING", live.State == "FAILING", live.State == "INITIALIZING", live.State == "CREATED":
		warn(JobRestarting, "the job is %s: a restore may be reading the log now", live.State)
	default:
		warn(JobStateUnknown, "the job is %s, which does not say what it reads next", quote(live.State))
	}
}

// pinnedLost names the pinned points that are lost, unknown, or nowhere to be
// found. One that can't be restored now already is not lost by this plan.
func (r Report) pinnedLost(pinned []string) []string {
	var out []string
	for _, uri := range pinned {
		f, known := r.fate(uri)
		switch {
		case !known:
			out = append(out, quote(uri)+", which was not found")
		case f.Fate == FateLost:
			out = append(out, quote(uri)+", which is lost")
		case f.Fate == FateUnknown:
			out = append(out, quote(uri)+", of which nothing is known")
		}
	}
	return out
}

// addresses lists the first points.
func addresses(points []PointFate) string {
	const most = 3
	var names []string
	for i, f := range points {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(points)-most))
			break
		}
		names = append(names, quote(f.URI))
	}
	return strings.Join(names, ", ")
}

// isGone reports whether a point is known not to be there.
func isGone(err error) bool {
	var f *fault.Fault
	return errors.As(err, &f) && f.Kind == fault.NotFound
}
