package arkflow

import (
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
)

// DecideLog asks the rows of the decision table that are about a log, of a log that
// was read by itself. The fault is why it can't be read; nil: it can.
func DecideLog(place string, l *WriteAheadLog, fault error, now time.Time) []Decision {
	return Decide(Facts{Subject: "log " + place, Now: now, Log: l, LogFault: fault}, OfLog)
}

// logRows asks the rows that are about the log that was read beside the hub, and
// whose stream is known or nil.
func (r *reading) logRows(stream *arkhub.Stream) []Decision {
	if r.hub.logs == nil {
		return nil
	}
	f := r.facts("log " + r.hub.place)
	f.Stream, f.Log, f.LogFault, f.Earlier, f.Absorb = stream, r.log, r.logFault, r.earlier, r.hub.absorb
	return Decide(f, OfLog)
}

// Validation answers for one point of the job what [Hub.Validate] does; false where
// there is none of this id.
func (d JobDetail) Validation(id string) (inspect.RestoreValidation, bool) {
	at := slices.IndexFunc(d.Points.Points, func(p Point) bool { return p.ID == id })
	if at < 0 {
		return inspect.RestoreValidation{}, false
	}
	return validationOf(d, d.Points.Points[at]), true
}
