package inspect

import (
	"context"
	"errors"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// comparedRule is a rule of a restore that is a check of a recovery point, too,
// once something beside the point is known.
type comparedRule struct {
	rule, check string
	severity    Severity
	hint        string
}

func comparedRules() []comparedRule {
	const whole = "run recoverctl validate restore on it: it asks every rule and ends with the next commands"
	const otherTopic = "look whether this is the job's topic and cluster; " + whole
	return []comparedRule{
		{versionCode, "V7", SeverityError, "restore with the Flink that wrote it, or a newer one"},
		{kryoCode, "V8", SeverityError, "restore with a Flink 1.x; state that Kryo wrote does not cross to Flink 2"},
		{operatorCode, "P3", SeverityError, "restore into the job that wrote it, or give its operator the uid back"},
		{parallelismCode, "P4", SeverityError, "set the job's max parallelism to that of the recovery point"},
		{"marker-of-other-topic", "U11", SeverityError, otherTopic},
		{"marker-topic-id-mismatch", "U11", SeverityError, otherTopic},
		{"marker-partition-set-mismatch", "U11", SeverityWarning, "find out whether partitions were added or the topic was made anew; " + whole},
		{rangeCode, "U12", SeverityError, whole},
	}
}

// Compare returns the checks of a recovery point that need more than the point:
// whether the Flink that would restore it reads it (V7, V8), whether its agent
// operator and max parallelism are the job's (P3, P4), and whether its markers
// are of the job's topic and lie in its log (U11, U12). They say what the rules
// of a restore say. What is not known makes no check: live is the zero value
// where no job runs, and without data the topic was not read.
func Compare(job Job, live LiveState, point RecoveryPoint, data *DataTopic) []Check {
	ev := reading{dataErr: errNotRead, live: live}
	if data != nil {
		ev.data, ev.dataErr = *data, nil
	}
	q := ev.questionOf(job, point)
	r := restore{q: q, lists: byOperator(q.Markers)}
	r.topic = r.dataTopic()
	r.pointRules()
	r.markerRules()
	r.rangeRule()
	checks := []Check{}
	for _, c := range comparedRules() {
		for _, a := range r.book.rules {
			if a.rule.Code != c.rule || a.answer != fails {
				continue
			}
			for _, reason := range a.reasons {
				checks = append(checks, Check{ID: c.check, Severity: c.severity, Message: safetext.Of(reason.Message).String(), Hint: c.hint})
			}
		}
	}
	return checks
}

// errNotRead stands for a topic that nobody asked for.
var errNotRead = errors.New("the topic was not asked for")

// Compared is a recovery point with the checks of Compare, for which the job's
// topic and its running Flink are read. The error says what could not be read.
func (i *Inspector) Compared(ctx context.Context, job Job, point RecoveryPoint) (RecoveryPoint, error) {
	data, dataErr := i.Topic(ctx, job)
	live, liveErr := i.liveState(ctx, job)
	read := &data
	if dataErr != nil && !data.Exists { // else some partitions could not be read
		read = nil
	}
	point.Checks = append(point.Checks, Compare(job, live, point, read)...)
	return point, errors.Join(dataErr, liveErr)
}
