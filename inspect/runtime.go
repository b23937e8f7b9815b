package inspect

import (
	"fmt"
	"slices"
)

// runtimes says what releases really do with this restore: the job's own where
// it is known, else all.
//
// Releases 0.1 to 0.3 check neither the topic's identity nor the log's range nor
// a boundary. They ignore what is not a map, begin at the log start where an
// offset is out of range, and stop reading at the first poll that brings nothing
// for a second. A restore that the rules refuse runs there and loses state
// without a word.
func (r *restore) runtimes(v RestoreValidation) []Runtime {
	all := []Release{Release01, Release02, Release03, ReleaseNext}
	if slices.Contains(all, r.q.Job.Runtime) {
		all = []Release{r.q.Job.Runtime}
	}
	out := make([]Runtime, 0, len(all))
	for _, release := range all {
		rt := Runtime{Release: release}
		if release == ReleaseNext {
			rt.Outcome, rt.Message = nextOutcome(v)
		} else {
			rt.Outcome, rt.Message = r.releasedOutcome(release)
		}
		out = append(out, rt)
	}
	return out
}

func nextOutcome(v RestoreValidation) (RuntimeOutcome, string) {
	switch v.Verdict {
	case Accepted:
		return ReleaseAccepts, "it follows these rules and accepts"
	case Rejected:
		return ReleaseRejects, "it follows these rules: " + v.Reasons[0].Message
	default:
		return ReleaseOutcomeUnknown, "it follows these rules, and not all of them could be asked"
	}
}

// pollNote is true of every replay of a released job.
const pollNote = "the replay ends at the first poll that brings nothing for a second"

// releasedOutcome is what 0.1, 0.2 or 0.3 does. What Flink itself refuses comes
// first: it is the same for every release.
func (r *restore) releasedOutcome(release Release) (RuntimeOutcome, string) {
	for _, code := range []string{"metadata-unreadable", versionCode, operatorCode, parallelismCode, "state-file-missing", kryoCode, "marker-null"} {
		if r.book.failed(code) {
			return ReleaseRejects, "Flink itself fails to restore it: " + r.firstReason(code)
		}
	}
	switch {
	case !r.markersWhole:
		return ReleaseOutcomeUnknown, "the markers are not known"
	case len(r.q.Markers) == 0:
		return ReleaseAccepts, "there is no marker: it starts without action state and replays nothing"
	case release == Release01:
		return ReleaseSkipsSilently, "it starts and replays no marker: the store does not exist yet when the markers are read, so calls run again without a word"
	}
	if slices.ContainsFunc(r.q.Markers, isUnread) {
		return ReleaseOutcomeUnknown, "it is not known what a marker holds"
	}
	if at := slices.IndexFunc(r.q.Markers, unusableMap); at >= 0 {
		return ReleaseRejects, "it fails while it reads the markers: " + nameOf(r.q.Markers[at]) + " holds what no release can use"
	}
	if at := slices.IndexFunc(r.q.Markers, func(m Marker) bool { return !isMap(m) }); at >= 0 {
		return ReleaseSkipsSilently, fmt.Sprintf("it takes only maps for markers and ignores %s (%s): what that says is not replayed, without a word, unless the job fails for want of its class",
			nameOf(r.q.Markers[at]), kindWord(r.q.Markers[at]))
	}
	return r.replayOutcome()
}

// unusableMap reports a map that makes a release fail: other types than Integer
// and Long, or an offset that a consumer can't be set to.
func unusableMap(m Marker) bool {
	if m.Kind == MarkerLegacyTyped {
		return true
	}
	return m.Kind == MarkerLegacy && negativeMap(m) != nil
}

// replayOutcome is what 0.2 and 0.3 do with a list of maps.
func (r *restore) replayOutcome() (RuntimeOutcome, string) {
	if !r.topic.known {
		return ReleaseOutcomeUnknown, r.topic.why
	}
	var outside, unknown, absent, unread []int32
	for _, list := range r.lists {
		for _, p := range r.topic.partitions {
			if _, ok := list.lowest()[p]; !ok {
				unread = append(unread, p)
			}
		}
		for p, at := range list.lowest() {
			log, ok := r.topic.ranges[p]
			switch {
			case !r.topic.has(p):
				absent = append(absent, p)
			case !ok:
				unknown = append(unknown, p)
			case at < log.Start || at > log.End:
				outside = append(outside, p)
			}
		}
	}
	switch {
	case len(outside) > 0:
		return ReleaseSkipsSilently, fmt.Sprintf("it does not check the range: it reads %s from the log start instead, without a word, and %s", onPartitions(outside), pollNote)
	case len(unread) > 0:
		return ReleaseSkipsSilently, fmt.Sprintf("no marker names %s: nothing of that is read, without a word", onPartitions(unread))
	case len(absent) > 0:
		return ReleaseSkipsSilently, fmt.Sprintf("the markers name %s, which the topic does not have, and %s: what the others hold can be missed without a word", onPartitions(absent), pollNote)
	case len(unknown) > 0:
		return ReleaseOutcomeUnknown, fmt.Sprintf("the log range of %s is not known", onPartitions(unknown))
	default:
		return ReleaseAccepts, "it checks nothing and replays from the markers, which lie inside the log; " + pollNote
	}
}

func (r *restore) firstReason(code string) string {
	for _, a := range r.book.rules {
		if a.rule.Code == code && len(a.reasons) > 0 {
			return a.reasons[0].Message
		}
	}
	return ""
}
