package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

// StepBy is what a step is done with: this program, to look first; Flink's own
// program, its REST API, or the Kubernetes operator, which are ways to the same
// end. What no program does is for the operator's own hand.
type StepBy string

// What steps are done with.
const (
	ByHand       StepBy = "hand"
	ByLooking    StepBy = "recoverctl"
	ByCLI        StepBy = "cli"
	ByREST       StepBy = "rest"
	ByKubernetes StepBy = "kubernetes"
)

// NextStep is one thing to do after a restore check. Words of Command in capitals
// are for the operator to replace; Command is empty where the step is none of a
// shell's, and where its words could not be shown as they are.
type NextStep struct {
	By      StepBy `json:"by"`
	What    string `json:"what"`
	Command string `json:"command"`
}

// NextSteps are what to do after a point of this kind got this answer: from the
// point where it is accepted, else from the nearest accepted one, and beginning
// with what must be stopped. Live is nil where no running job is known. Nothing
// is suggested that leaves state out, or that deletes the point it leads to.
func NextSteps(job Job, kind PointKind, v RestoreValidation, live *LiveState) []NextStep {
	s := steps{job: job, live: live}
	target := Nearby{URI: v.Point, Kind: kind}
	switch {
	case v.Verdict == Accepted:
		s.release(v)
	case v.Newer != nil:
		s.remedy(v)
		target = *v.Newer
		s.instead(target, "newer")
	case v.Older != nil:
		s.remedy(v)
		target = *v.Older
		s.instead(target, "older")
	default:
		s.remedy(v)
		s.add(ByHand, "No accepted point is known: look for recovery points in other places, and do not start the job without state before you know which calls run again",
			s.own("inspect points", "PLACE"))
		return s.list
	}
	if safetext.Of(target.URI).String() != target.URI {
		s.add(ByHand, "Its URI holds characters that can't be shown as they are, so no command is offered: recoverctl inspect points -o json prints it exactly", "")
		return s.list
	}
	if !strings.Contains(target.URI, ":") && !strings.HasPrefix(target.URI, "/") {
		s.add(ByHand, "Flink does not know "+target.URI+": ask again with the whole address that Flink has for it, to get the commands", "")
		return s.list
	}
	s.stop(target)
	s.start(target)
	return s.list
}

type steps struct {
	job  Job
	live *LiveState
	list []NextStep
}

func (s *steps) add(by StepBy, what, command string) {
	s.list = append(s.list, NextStep{By: by, What: what, Command: command})
}

// own is a command of this program about the job.
func (s *steps) own(command, uri string) string {
	words := []string{"recoverctl", command}
	if flags := s.job.flags(); flags != "" {
		words = append(words, flags)
	}
	return strings.Join(append(words, uri), " ")
}

// about is a command of this program about a point; empty where its URI can't be
// shown.
func (s *steps) about(command, uri string) string {
	if safetext.Of(uri).String() != uri {
		return ""
	}
	return s.own(command, shellword.Quote(uri))
}

// release warns where the job's own release would not do what the rules say.
func (s *steps) release(v RestoreValidation) {
	if len(v.Runtime) == 1 && v.Runtime[0].Outcome != ReleaseAccepts {
		s.add(ByLooking, fmt.Sprintf("Before it: release %s does otherwise: %s", safetext.Of(string(v.Runtime[0].Release)), v.Runtime[0].Message), "")
	}
}

// remedy is what can be done about the point itself.
func (s *steps) remedy(v RestoreValidation) {
	if v.Verdict == Unknown {
		s.add(ByLooking, "Make readable what could not be read, then ask again", s.about("validate restore", v.Point))
		return
	}
	if len(v.Reasons) == 0 {
		return
	}
	switch v.Reasons[0].Code {
	case "metadata-unreadable", "state-file-missing":
		s.add(ByLooking, "See what is damaged or absent: a copy of the same files elsewhere may be whole", s.about("inspect point", v.Point))
	case versionCode, kryoCode:
		s.add(ByLooking, "This point needs a Flink that reads it: restore it there, or use another point", s.about("inspect point", v.Point))
	case operatorCode:
		s.add(ByLooking, "Restore this point only into the job graph that wrote it, or give the agent operator the uid that it has there; its operators", s.about("inspect point", v.Point))
	case parallelismCode:
		s.add(ByLooking, fmt.Sprintf("To restore this point, set the job's max parallelism (pipeline.max-parallelism) to %v, or leave it unset", v.Reasons[0].Named["point"]), "")
	case "tombstones-on":
		s.add(ByLooking, "Turn tombstones off in the job's options, then ask again", s.about("validate restore", v.Point))
	case "control-topic-blank", "control-topic-same-as-data", "control-topic-missing", "control-topic-partitions", "control-topic-policy":
		s.add(ByLooking, "No point is accepted with this control topic: see what is wrong with it", strings.TrimSuffix(s.own("inspect control", ""), " "))
	}
}

func (s *steps) instead(n Nearby, side string) {
	calls := "calls not scanned"
	if n.RunsAgain != nil {
		calls = figures.Group(*n.RunsAgain) + " calls run again"
	}
	s.add(ByLooking, fmt.Sprintf("Instead: %s, the nearest accepted and %s one, replays a span of %s offsets, %s", safetext.Of(lastPart(n.URI)), side, figures.Group(n.Span), calls),
		s.about("validate restore", n.URI))
}

// Words that stand for what is not known here.
const (
	jobPlaceholder        = "JOB_ID"
	jarPlaceholder        = "JAR"
	jarIDPlaceholder      = "JAR_ID"
	deploymentPlaceholder = "DEPLOYMENT"
	restPlaceholder       = "http://JOBMANAGER:8081"
)

// rest is the JobManager's address, without a login.
func (s *steps) rest() string {
	address := strings.TrimRight(s.job.Flink.REST, "/")
	switch {
	case address == "", strings.ContainsAny(address, "@,?#"), safetext.Of(address).String() != address:
		return restPlaceholder
	case !strings.Contains(address, "://"):
		return "http://" + address
	}
	return address
}

// stop is what must end before anything is started from the target. A job that
// finishes deletes its checkpoints, and one that is cancelled may: a way that
// deletes the target is not offered.
func (s *steps) stop(target Nearby) {
	name := safetext.Of(s.job.Name).String()
	if name == "" || name == adHoc {
		name = "the job"
	}
	if s.live == nil {
		s.canceled(fmt.Sprintf("First stop %s, if it runs: its id is not known here. Cancel it only if its checkpoints are retained on cancellation", name), jobPlaceholder)
		return
	}
	live := *s.live
	id := live.JobID
	if !isJobID(id) {
		id = jobPlaceholder
	}
	name = fmt.Sprintf("%s (job %s, %s)", name, safetext.Of(live.JobID), safetext.Of(live.State))
	own := ownCheckpoint(target, live)
	switch {
	case Ended(live.State):
		s.add(ByHand, "Nothing must be stopped: "+name+" has ended", "")
	case own && live.Settings == nil:
		s.canceled(fmt.Sprintf("First stop %s, once you know that its checkpoints are retained on cancellation: its settings could not be read. Never by flink stop: a job that finishes deletes its checkpoints", name), id)
	case own && live.Settings.Retention != RetainOnCancellation:
		s.add(ByHand, fmt.Sprintf("Do not stop or cancel %s yet: by its settings (%s) that deletes its checkpoints, %s with them. First keep a copy of the whole folder that they lie in",
			name, safetext.Of(string(live.Settings.Retention)), safetext.Of(lastPart(target.URI))), "")
	case own:
		s.canceled(fmt.Sprintf("First stop %s by cancelling it, which keeps its checkpoints. Never by flink stop: a job that finishes deletes them", name), id)
	case live.State == "RUNNING":
		s.add(ByCLI, fmt.Sprintf("First stop %s with a last savepoint. Its checkpoints go: a job that finishes deletes them", name), "flink stop "+id)
		s.add(ByREST, "To stop it by REST", Curl("POST", s.rest()+"/jobs/"+id+"/stop", `{"drain":false}`))
	case live.Settings != nil && live.Settings.Retention != RetainOnCancellation:
		s.canceled(fmt.Sprintf("First stop %s. By its settings (%s) its own checkpoints go with it", name, safetext.Of(string(live.Settings.Retention))), id)
	default:
		s.canceled("First stop "+name, id)
	}
}

func (s *steps) canceled(what, id string) {
	s.add(ByCLI, what, "flink cancel "+id)
	s.add(ByREST, "To stop it by REST", Curl("PATCH", s.rest()+"/jobs/"+id+"?mode=cancel", ""))
}

// ownCheckpoint reports whether a point may be a checkpoint that the running job
// deletes when it ends.
func ownCheckpoint(target Nearby, live LiveState) bool {
	if target.Kind == KindSavepoint {
		return false
	}
	folder := path.Base(path.Dir(samePlace(target.URI)))
	return !isJobID(folder) || folder == live.JobID
}

// start are the ways to start the job from the target.
func (s *steps) start(target Nearby) {
	name := safetext.Of(lastPart(target.URI)).String()
	s.add(ByCLI, "Then restore from "+name, "flink run -s "+shellword.Quote(target.URI)+" "+jarPlaceholder)
	s.add(ByREST, "To restore by REST, from a jar that was uploaded", Curl("POST", s.rest()+"/jars/"+jarIDPlaceholder+"/run", object("savepointPath", target.URI)))
	patch := fmt.Sprintf(`{"spec":{"job":{"initialSavepointPath":%s,"savepointRedeployNonce":NONCE,"upgradeMode":"savepoint"}}}`, jsonText(target.URI))
	what := "To restore by the Kubernetes operator, which cancels the job itself; NONCE is another number than the last one"
	if s.live != nil && !Ended(s.live.State) && ownCheckpoint(target, *s.live) && (s.live.Settings == nil || s.live.Settings.Retention != RetainOnCancellation) {
		what += ". Not before the copy is kept and named instead: cancelling may delete the checkpoint"
	}
	s.add(ByKubernetes, what, "kubectl patch flinkdeployment "+deploymentPlaceholder+" --type merge -p "+shellword.Quote(patch))
}

// Curl is a request as a shell command; an empty body is none.
func Curl(method, address, body string) string {
	words := []string{"curl", "-X", method, shellword.Quote(address)}
	if body != "" {
		words = append(words, "-H", "'Content-Type: application/json'", "-d", shellword.Quote(body))
	}
	return strings.Join(words, " ")
}

func object(name, value string) string { return "{" + jsonText(name) + ":" + jsonText(value) + "}" }

// jsonText is a string of JSON with nothing escaped that needs none.
func jsonText(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""` // a string is never refused
	}
	return strings.TrimSpace(b.String())
}

// known is the running job, nil where none is known.
func known(live LiveState) *LiveState {
	if live.JobID == "" {
		return nil
	}
	return &live
}

// StepsBy are the steps of a list that are done with one of these, in their
// order.
func StepsBy(list []NextStep, by ...StepBy) []NextStep {
	return slices.DeleteFunc(slices.Clone(list), func(s NextStep) bool { return !slices.Contains(by, s.By) })
}

// OwnCheckpoint reports whether the recovery point at uri may be a checkpoint that
// the running job itself deletes when it ends.
func OwnCheckpoint(uri string, kind PointKind, live LiveState) bool {
	return ownCheckpoint(Nearby{URI: uri, Kind: kind}, live)
}
