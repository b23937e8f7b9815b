package actions

import (
	"errors"
	"fmt"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// Stage is the part of an apply that speaks. The words are stable, and those of
// the Java tool where it has one.
type Stage string

// The stages, in order. A plan that is already COMMITTED goes from operations to
// operations-after-commit.
const (
	StageConfiguration         Stage = "configuration" // no network
	StageControlTopic          Stage = "control-topic"
	StageIdentity              Stage = "identity"
	StageSettings              Stage = "settings"
	StageOperations            Stage = "operations"
	StageBoundary              Stage = "boundary"
	StageAvailability          Stage = "availability"
	StageSettingsBeforeCommit  Stage = "settings-before-commit"
	StageSurvivors             Stage = "survivors" // ours: the recovery points are listed again
	StageApproval              Stage = "approval"  // ours
	StageCommit                Stage = "commit"
	StageOperationsAfterCommit Stage = "operations-after-commit"
	StageIdentityBeforeDelete  Stage = "identity-before-delete"
	StageSettingsBeforeDelete  Stage = "settings-before-delete"
	StageDelete                Stage = "delete"
	StageIdentityAfterDelete   Stage = "identity-after-delete"
	StageSettingsAfterDelete   Stage = "settings-after-delete"
	StageApplied               Stage = "applied"
	StageVerify                Stage = "verify" // ours: read again from fresh connections
)

// Refusal is why an apply does not go on, and where it stopped. It is the cause
// of the fault that Refuse makes, found with errors.As.
type Refusal struct {
	Stage   Stage
	Problem inspect.Problem
}

// Error is the problem's sentence.
func (r *Refusal) Error() string { return r.Problem.Message }

// Refuse makes the fault of a refusal: its kind, which decides the exit code,
// and what to do next follow from the stage and the reason word.
func Refuse(stage Stage, p *inspect.Problem) error {
	f := fault.Wrap(refusalKind(stage, p.Code), "apply", &Refusal{Stage: stage, Problem: *p}, "")
	if hint, ok := hints[p.Code]; ok {
		return f.WithHint("%s", hint)
	}
	return f
}

// Refusef is Refuse with a problem of a code and a message alone.
func Refusef(stage Stage, code, format string, args ...any) error {
	return Refuse(stage, &inspect.Problem{Code: code, Message: fmt.Sprintf(format, args...), Named: inspect.Named{}})
}

// Refused is Refuse of what a rule says; nil where the rule has nothing against it.
func Refused(r *Refusal) error {
	if r == nil {
		return nil
	}
	return Refuse(r.Stage, &r.Problem)
}

// stopped is an error with the stage at which it stopped an apply. The error
// itself stays reachable.
type stopped struct {
	at    Refusal
	cause error
}

func (s *stopped) Error() string   { return s.cause.Error() }
func (s *stopped) Unwrap() []error { return []error{&s.at, s.cause} }

// At says at which stage an error stopped an apply, with a reason word; empty: that
// of its kind. One that says so itself is left as it is; kind, hint and refs stay.
// At of nil is nil.
func At(stage Stage, code string, err error) error {
	if err == nil || StageOf(err) != "" {
		return err
	}
	f := fault.Of(err)
	if code == "" {
		code = f.Kind.String()
	}
	return AtProblem(stage, inspect.Problem{Code: code, Message: f.Error(), Named: inspect.Named{}}, err)
}

// AtProblem is At with more to say than a reason word.
func AtProblem(stage Stage, p inspect.Problem, err error) error {
	f := fault.Of(err)
	return &fault.Fault{Kind: f.Kind, Op: "apply", Hint: f.Hint, Refs: f.Refs, Err: &stopped{at: Refusal{Stage: stage, Problem: p}, cause: err}}
}

// StageOf is the stage at which an error stopped an apply; empty where the error
// does not say.
func StageOf(err error) Stage {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Stage
	}
	return ""
}

// refusalKind follows the exit codes: configuration 2, control history 9, policy
// and approval 5, identity, settings, boundary and availability 7.
func refusalKind(stage Stage, code string) fault.Kind {
	switch code {
	case "control-topic-missing", tooFewSurvivors: // nobody consented, or our own rule
		return fault.Denied
	case survivorLost, newWarning, ownPointLost, concurrentApply:
		return fault.Drift
	}
	switch stage {
	case StageConfiguration:
		return fault.Usage
	case StageControlTopic, StageOperations, StageOperationsAfterCommit:
		return fault.Corrupt
	case StageApproval:
		return fault.Denied
	default:
		return fault.Drift
	}
}

// hints say what to do next, by reason word.
var hints = map[string]string{
	"control-topic-not-configured":    "give --control-topic NAME, or set action-state.control-topic of the job in the profile",
	"control-topic-blank":             "give the control topic a name",
	"control-topic-same-as-data":      "give a control topic of its own",
	"tombstones-on":                   "turn the job's tombstones off first: stop it, change the option, restart it from the same recovery point",
	"replication-factor-range":        "give --create-control-topic a number from 1 to 32767",
	"control-topic-missing":           "if it was never made, consent to making it with --create-control-topic N; if it was, find out who deleted it first: its boundary is lost",
	"control-topic-partitions":        "a control topic has exactly one partition: check that --control-topic names the right topic",
	"control-topic-policy":            "set cleanup.policy=compact on the control topic, and check that no record of it was lost",
	"broker-unknown-topic":            "check the topic's name, and whether this user may see it",
	"plan-topic-mismatch":             "choose the job that the plan is for",
	"plan-topic-id-mismatch":          "the topic was deleted and made again: this plan can never be applied; make a new one, with a control topic of its own",
	"plan-partition-set-mismatch":     "partitions were added: this plan can never be applied; make a new one from a newer recovery point, with a control topic of its own",
	"data-topic-config-unsafe":        "make a plan that sets exactly what is needed with recoverctl plan settings --out FILE, and apply that first",
	"plan-cluster-mismatch":           "choose the profile of the cluster that the plan is for",
	"job-unknown":                     "check the job's id or name and that this is its JobManager; then make a new plan",
	"job-changed":                     "look at the job, then make a new plan",
	"job-state":                       "look at the job (recoverctl inspect flink job, or recoverctl inspect arkflow job ID), and try again when its state allows it",
	"job-ended":                       "start it again from a recovery point with recoverctl plan rollback",
	"two-jobs":                        "find out who started the other one, and end one of them first",
	"point-goes-with-job":             "keep a copy of the checkpoint's whole folder and roll back to that, or to a savepoint",
	"point-unreadable":                "ask recoverctl validate restore what can't be read",
	"restore-not-accepted":            "ask recoverctl validate restore: the rules have to accept the point first",
	"jar-gone":                        "upload the jar again in Flink's web page or with POST /jars/upload, then make a new plan",
	"jar-ambiguous":                   "name one with --jar ID",
	"jars-unread":                     "see whether this JobManager takes uploads (web.submit.enable); where it does not, plan show prints the commands of Flink's own program",
	"savepoints-unread":               "try again when recoverctl inspect flink checkpoints lists them",
	"savepoint-unknown":               "look for a new savepoint in its folder, and make a new plan: the JobManager may have been started anew",
	"job-not-ended":                   "the same plan goes on waiting for its end",
	"restore-failed":                  "look at the reason; start the job from another recovery point, or from the safety savepoint",
	"restart-loop":                    "look at the reason; roll back to another recovery point, or to the safety savepoint",
	"restored-from-other":             "stop and look: somebody else started this job, or Flink was told otherwise",
	"markers-backwards":               "stop and look: a checkpoint of the restored job asks for older records than the point that it was restored from",
	"producer-entry-changed":          "look at it with recoverctl inspect fluss producer ID; a running sink registers and deletes by itself",
	"producer-entry-valid":            "look at it with recoverctl inspect fluss producer ID; to replace it, delete it first with recoverctl plan producer-delete",
	"producer-entry-unreadable":       "only its expiry frees the id, or a delete where the cluster has no authorizer: recoverctl plan producer-delete",
	"producer-entry-missing":          "is it the id that the sink uses: its option sink.producer-id, or else the Flink job id?",
	"log-end-moved":                   "find out who writes; when nobody does, make a new plan",
	"next-start-fails":                "give offsets that lie inside the logs: recoverctl inspect fluss buckets shows where they begin and end",
	"upgrade-changed":                 "look at the upgrade with recoverctl inspect arkflow job ID, then make a new plan",
	"upgrade-unread":                  "try again; the same plan goes on by itself",
	BegunElsewhere:                    "find out who; then the same plan goes on from there, and apply asks for begun-elsewhere by name",
	"approved-as-done":                "look at the plan again and apply it anew",
	"rounds-unread":                   "try again; the same plan goes on by itself",
	"versions-unread":                 "try again; the same plan goes on by itself",
	"upgrade-unknown":                 "look at the job with recoverctl inspect arkflow job ID: its upgrade may have ended and been dropped",
	"stream-changed":                  "look at the stream with recoverctl inspect arkflow streams, then make a new plan",
	"node-unavailable":                "look at the node's engine and its log, and make the plan when it is back",
	"hub-without-storage":             "give the hub storage (ARKFLOW_HUB_STORAGE), or restart the engine by hand",
	RequestUnsettled:                  "look at recoverctl journal show and at what it is about, then begin again",
	"savepoint-failed":                "look at the reason, then make a new plan: the trigger of this one is used up. The job was not stopped by it",
	"setting-changed":                 "find out who changed it, then make a new plan with recoverctl plan settings",
	"setting-unknown":                 "ask for an ACL that allows DescribeConfigs on the topic",
	"control-tombstone":               "keep a copy of the control topic now, and find out who wrote the tombstone",
	"control-status-regression":       "keep a copy of the control topic now: two tools applied one plan at the same time",
	"incomparable-boundaries":         "no plan can advance this history any more: a new control topic is needed, from a savepoint that all boundaries precede",
	recordsHidden:                     "end the open transaction on the control topic, or wait until the broker aborts it, and try again",
	"below-committed-boundary":        "make a plan from a newer recovery point",
	"offset-unavailable":              "compare the numbers: a recovery point whose offsets are outside the log can't be restored either",
	tooFewSurvivors:                   "make a plan from an older recovery point, take a savepoint first, or lower keep-recovery-points of the job",
	survivorLost:                      "look at the plan again: what stays restorable is no longer what was approved",
	newWarning:                        "look at the plan again, and accept the warning by name if it is accepted",
	concurrentApply:                   "stop and only watch: look at the control topic with recoverctl inspect control, and find out who else applies",
	ownRecordMissing:                  "ask what became of it with recoverctl verify, and look at the control topic for an open transaction",
	ownPointLost:                      "never delete up to a recovery point that can't be restored from: make a plan from another one",
	"boundary-of-other-topic":         "the control topic is that of another history: check --control-topic",
	"boundary-of-other-partition-set": "the control topic is that of another history, or partitions were added since: a new control topic is needed",
}
