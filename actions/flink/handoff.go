package flink

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

// HandoffOf is the hand-off of a plan as things are. Its commands are those of the
// plan, word by word: the ids that it chose are in those by REST, so that they
// can't do anything twice either.
func HandoffOf(d actions.Document, e actions.FlinkEvidence) actions.Handoff {
	p := actions.FlinkPlanOf(d)
	h := actions.Handoff{Checks: handoffChecks(d, p, e), Steps: []inspect.NextStep{}}
	for _, c := range h.Checks {
		if !c.OK {
			return h
		}
	}
	w := handing{plan: p, rest: e.Address, nonce: nonceOf(d.PlanID)}
	w.cli()
	w.byREST()
	w.kubernetes()
	h.Steps = w.list
	return h
}

func handoffChecks(d actions.Document, p actions.FlinkPlan, e actions.FlinkEvidence) []actions.HandoffCheck {
	if e.Err != nil {
		return []actions.HandoffCheck{{What: "Flink answers", Result: safetext.Error(e.Err).String()}}
	}
	checks := []actions.HandoffCheck{{What: "Flink answers", OK: true, Result: e.Address}}
	add := func(what string, refused *actions.Refusal, result string) {
		c := actions.HandoffCheck{What: what, OK: refused == nil, Result: result}
		if refused != nil {
			c.Result = refused.Problem.Message
		}
		checks = append(checks, c)
	}
	switch {
	case e.New != nil:
		return append(checks, actions.HandoffCheck{What: "not begun", Result: fmt.Sprintf("the plan's job %s was started: it is %s", p.NewJobID, safetext.Of(e.New.State))})
	case e.Savepoint.Known:
		return append(checks, actions.HandoffCheck{What: "not begun", Result: "Flink knows the plan's trigger: apply the plan to go on with it"})
	}
	state := "Flink knows none of its name"
	if e.Old != nil {
		state = fmt.Sprintf("%s is %s, no other has its name", p.JobID, safetext.Of(e.Old.State))
	}
	add("the job", actions.CheckFlinkJob(d, e), state)
	if p.Kind == actions.KindRollback {
		add("restore from "+safetext.Of(p.Point).String(), actions.CheckFlinkRestore(d, e), "accepted, and it outlives the job's end")
		add("the jar", actions.CheckFlinkJar(d, e), safetext.Of(p.Jar).String()+" is uploaded")
	}
	return checks
}

// nonceOf is a number for the Kubernetes operator, which acts when it is another
// one than the last.
func nonceOf(planID string) int64 {
	const digits = 8
	n, err := strconv.ParseInt(planID[:min(digits, len(planID))], 16, 64)
	if err != nil {
		return 1 // no id of a plan
	}
	return n
}

// handing collects the steps of each way.
type handing struct {
	plan  actions.FlinkPlan
	rest  string
	nonce int64
	list  []inspect.NextStep
}

func (w *handing) add(by inspect.StepBy, what, command string) {
	w.list = append(w.list, inspect.NextStep{By: by, What: what, Command: command})
}

// cli are the commands of Flink's own program, which waits for what it asks for.
func (w *handing) cli() {
	p := w.plan
	flink := func(verb string, words ...string) string {
		out := []string{"flink", verb}
		if at := hostPort(w.rest); at != "" {
			out = append(out, "-m", at)
		}
		for _, word := range words {
			if word != "" {
				out = append(out, shellword.Quote(word))
			}
		}
		return strings.Join(out, " ")
	}
	savepoint := flink("savepoint", p.JobID, p.Directory)
	stop := flink("stop", p.JobID)
	if p.Directory != "" {
		stop = flink("stop", "--savepointPath", p.Directory, p.JobID)
	}
	cancelled := flink("cancel", p.JobID)
	switch p.Kind {
	case actions.KindSavepoint:
		w.add(inspect.ByCLI, "Take the savepoint", savepoint)
		return
	case actions.KindStop:
		w.add(inspect.ByCLI, "Stop the job with a savepoint", stop)
		return
	case actions.KindCancel:
		w.add(inspect.ByCLI, "Cancel the job", cancelled)
		return
	}
	if p.End == actions.EndByStop {
		w.add(inspect.ByCLI, "Stop the job with its safety savepoint", stop)
	}
	if p.End == actions.EndByCancel {
		if p.Savepoints() {
			w.add(inspect.ByCLI, "Take the safety savepoint, and keep its path: it is the way back", savepoint)
		}
		w.add(inspect.ByCLI, "Cancel the job, never stop it: a job that finishes deletes its checkpoints", cancelled)
	}
	words := []string{"-d", "-s", p.Point}
	if p.Parallelism > 0 {
		words = append(words, "-p", strconv.Itoa(p.Parallelism))
	}
	if p.AllowLeft {
		words = append(words, "-n")
	}
	if p.EntryClass != "" {
		words = append(words, "-c", p.EntryClass)
	}
	run := flink("run", append(words, p.JarName)...)
	for _, a := range p.Arguments { // an empty one is one, too
		run += " " + shellword.Quote(a)
	}
	w.add(inspect.ByCLI, "Start the job from the point; "+safetext.Of(p.JarName).String()+" is the jar's file on your machine", run)
}

// hostPort is the JobManager for option -m; empty where that can't name it.
func hostPort(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || strings.Trim(u.Path, "/") != "" {
		return ""
	}
	if u.Port() == "" {
		return u.Host + ":80"
	}
	return u.Host
}

// byREST are the requests that an apply would make.
func (w *handing) byREST() {
	p := w.plan
	jobs := w.rest + "/jobs/" + p.JobID
	body := func(pairs ...any) string {
		fields := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i+1] != "" {
				fields[pairs[i].(string)] = pairs[i+1]
			}
		}
		return jsonOf(fields)
	}
	wait := func(what, address, sign string) {
		w.add(inspect.ByREST, what, "until curl -fsS "+shellword.Quote(address)+" | grep -q "+shellword.Quote(sign)+"; do sleep 1; done; curl -fsS "+shellword.Quote(address))
	}
	savepoint := func(what string) {
		w.add(inspect.ByREST, what, inspect.Curl("POST", jobs+"/savepoints", body("triggerId", p.Trigger, "target-directory", p.Directory, "cancel-job", false)))
		wait("Wait until it is complete: location is its path, failure-cause says that there is none", jobs+"/savepoints/"+p.Trigger, `"COMPLETED"`)
	}
	stop := func(what string) {
		w.add(inspect.ByREST, what, inspect.Curl("POST", jobs+"/stop", body("triggerId", p.Trigger, "targetDirectory", p.Directory, "drain", false)))
		wait("Wait until it is complete: with a failure-cause the job runs on", jobs+"/savepoints/"+p.Trigger, `"COMPLETED"`)
		wait("Wait until the job has ended", jobs, `"state":"FINISHED"`)
	}
	cancelled := func(what string) {
		w.add(inspect.ByREST, what, inspect.Curl("PATCH", jobs+"?mode=cancel", ""))
		wait("Wait until the job has ended", jobs, `"state":"CANCELED"`)
	}
	switch {
	case p.Kind == actions.KindSavepoint:
		savepoint("Take the savepoint")
	case p.Kind == actions.KindStop:
		stop("Stop the job with a savepoint")
	case p.Kind == actions.KindCancel:
		cancelled("Cancel the job")
	case p.End == actions.EndByStop:
		stop("Stop the job with its safety savepoint")
	case p.End == actions.EndByCancel:
		if p.Savepoints() {
			savepoint("Take the safety savepoint, and keep its path: it is the way back")
		}
		cancelled("Cancel the job, never stop it: a job that finishes deletes its checkpoints")
	}
	if p.Kind != actions.KindRollback {
		return
	}
	fields := []any{"jobId", p.NewJobID, "savepointPath", p.Point, "allowNonRestoredState", p.AllowLeft, "entryClass", p.EntryClass}
	if p.Parallelism > 0 {
		fields = append(fields, "parallelism", p.Parallelism)
	}
	if len(p.Arguments) > 0 {
		fields = append(fields, "programArgsList", p.Arguments)
	}
	w.add(inspect.ByREST, "Start the job from the point", inspect.Curl("POST", w.rest+"/jars/"+url.PathEscape(p.Jar)+"/run", body(fields...)))
	w.add(inspect.ByREST, "See what it was restored from (latest.restored)", "curl -fsS "+shellword.Quote(w.rest+"/jobs/"+p.NewJobID+"/checkpoints"))
}

// kubernetes are the fields of the Flink Kubernetes operator.
func (w *handing) kubernetes() {
	p := w.plan
	patch := func(what string, job map[string]any) {
		w.add(inspect.ByKubernetes, what, "kubectl patch flinkdeployment DEPLOYMENT --type merge -p "+shellword.Quote(jsonOf(map[string]any{"spec": map[string]any{"job": job}})))
	}
	switch p.Kind {
	case actions.KindSavepoint:
		patch("Take the savepoint", map[string]any{"savepointTriggerNonce": w.nonce})
		return
	case actions.KindStop:
		patch("Stop the job with a savepoint", map[string]any{"state": "suspended", "upgradeMode": "savepoint"})
		return
	case actions.KindCancel:
		patch("Cancel the job without a savepoint", map[string]any{"state": "suspended", "upgradeMode": "stateless"})
		return
	}
	if p.Savepoints() {
		patch("Take the safety savepoint, and wait until the deployment's status names it: it is the way back", map[string]any{"savepointTriggerNonce": w.nonce})
	}
	job := map[string]any{"initialSavepointPath": p.Point, "savepointRedeployNonce": w.nonce, "upgradeMode": "savepoint", "allowNonRestoredState": p.AllowLeft}
	if p.Parallelism > 0 {
		job["parallelism"] = p.Parallelism
	}
	if len(p.Arguments) > 0 {
		job["args"] = p.Arguments
	}
	if p.EntryClass != "" {
		job["entryClass"] = p.EntryClass
	}
	patch("Start it from the point: the operator cancels the job itself, and acts when the nonce is another number than the last one", job)
}

// jsonOf is an object as JSON, its members in order of their names, with nothing
// escaped that needs none.
func jsonOf(fields map[string]any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(fields); err != nil {
		return "{}" // texts, numbers and lists of texts are never refused
	}
	return strings.TrimSpace(b.String())
}
