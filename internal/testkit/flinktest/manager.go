package flinktest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Manager is a JobManager in memory that jobs can be stopped, cancelled and
// started on, with the answers that real ones give: for a trigger that it knows
// nothing is done again, and a job whose id it knows is refused. States move on
// when they are read, so that a test never waits.
type Manager struct {
	URL string

	mu       sync.Mutex
	jobs     map[string]*Job
	order    []string // ids of jobs, oldest first
	triggers map[string]*trigger
	jars     []string
	n        int // savepoints made so far

	// What goes wrong. Set before it is asked.
	SavepointFails string // root cause of every savepoint's failure; empty: none fails
	StartFails     string // root cause of every job's failure at its start
	Loops          string // root cause with which every started job fails again and again
	Ignores        bool   // a started job says that it was restored from nothing

	fails  func(n int, r *http.Request) Fault
	faults sync.Mutex // held while fails is called or changed
	asked  int        // likewise
	log    []string   // of writes that were done
}

// Fault is what goes wrong with one request.
type Fault uint8

// The faults.
const (
	NoFault     Fault = iota
	LostBefore        // the connection is closed, and nothing was done
	LostAfter         // what was asked for is done, and the connection closed
	Page              // an HTML page answers, and nothing was done
	PageAfter         // what was asked for is done, and an HTML page answers with 502
	Unavailable       // 503, and nothing was done
)

// Job is a job of a Manager.
type Job struct {
	ID, Name, State string
	Started         time.Time
	Restored        string // path that it was restored from; empty: none
	Checkpoints     int    // completed
	Savepoint       string // the last one
	Retain          bool   // its checkpoints stay when it is cancelled
	Interval        int64  // ms; 0: none are taken by time
	Parallelism     int
	Arguments       []string
	Jar             string
	AllowLeft       bool
	Cause           string // of its failure
	Restarts        int
	reads           int
}

type trigger struct {
	job, location, failure string
	stops                  bool
	reads                  int
}

// NewManager serves a cluster until the test ends.
func NewManager(tb testing.TB) *Manager {
	tb.Helper()
	m := &Manager{jobs: map[string]*Job{}, triggers: map[string]*trigger{}}
	server := httptest.NewServer(m)
	m.URL = server.URL
	tb.Cleanup(server.Close)
	return m
}

// Add adds a job that runs, and returns it.
func (m *Manager) Add(j Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j.State == "" {
		j.State = "RUNNING"
	}
	if j.Parallelism == 0 {
		j.Parallelism = 2
	}
	m.jobs[j.ID] = &j
	m.order = append(m.order, j.ID)
}

// Upload adds a jar, by the id that it gets.
func (m *Manager) Upload(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jars = append(m.jars, id)
}

// Delete takes a jar away.
func (m *Manager) Delete(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jars = slices.DeleteFunc(m.jars, func(j string) bool { return j == id })
}

// Forget forgets what became of triggers, as Flink does after a while.
func (m *Manager) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.triggers)
}

// Change changes a job.
func (m *Manager) Change(id string, how func(*Job)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	how(m.jobs[id])
}

// Remove makes the cluster forget a job.
func (m *Manager) Remove(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.jobs, id)
	m.order = slices.DeleteFunc(m.order, func(j string) bool { return j == id })
}

// Job is a job as it is now; false where there is none.
func (m *Manager) Job(id string) (Job, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, ok := m.jobs[id]
	if !ok {
		return Job{}, false
	}
	return *j, true
}

// Active are the ids of the jobs of a name that have not ended.
func (m *Manager) Active(name string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, id := range m.order {
		if j := m.jobs[id]; j.Name == name && !ended(j.State) {
			out = append(out, id)
		}
	}
	return out
}

// Savepoints is how many savepoints were made.
func (m *Manager) Savepoints() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.n
}

// Writes are the changes that were made, in order, as in "stop ID".
func (m *Manager) Writes() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.log)
}

// Asked is how many requests came.
func (m *Manager) Asked() int {
	m.faults.Lock()
	defer m.faults.Unlock()
	return m.asked
}

func ended(state string) bool { return state == "FINISHED" || state == "CANCELED" || state == "FAILED" }

// ServeHTTP answers one request.
func (m *Manager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := m.fault(r)
	m.mu.Lock()
	defer m.mu.Unlock()
	var status int
	var body any
	if fault == NoFault || fault == LostAfter || fault == PageAfter {
		status, body = m.answer(r)
	}
	switch fault {
	case LostBefore, LostAfter:
		panic(http.ErrAbortHandler)
	case Page, PageAfter:
		w.Header().Set("Content-Type", "text/html")
		if fault == PageAfter {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><body>proxy</body></html>") // the client may have left
		return
	case Unavailable:
		status, body = http.StatusServiceUnavailable, errorOf("Service temporarily unavailable due to an ongoing leader election. Please refresh.")
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // likewise
}

func (m *Manager) fault(r *http.Request) Fault {
	m.faults.Lock()
	defer m.faults.Unlock()
	n := m.asked
	m.asked++
	if m.fails == nil {
		return NoFault
	}
	return m.fails(n, r)
}

// Fails sets what is asked before each request is answered, one after another,
// from now on; nil: nothing goes wrong. It may call the Manager's methods.
func (m *Manager) Fails(fault func(n int, r *http.Request) Fault) {
	m.faults.Lock()
	defer m.faults.Unlock()
	m.fails = fault
}

func errorOf(message string) any { return map[string]any{"errors": []string{message}} }

// rest is the error of a handler as Flink answers with it.
func rest(cause string) any {
	return errorOf("org.apache.flink.runtime.rest.handler.RestHandlerException: " + cause + "\n\tat org.apache.flink.runtime.rest.handler.X.y(X.java:1)\n")
}

type object = map[string]any

func (m *Manager) answer(r *http.Request) (int, any) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	route := r.Method + " " + parts[0]
	switch {
	case r.URL.Path == "/config":
		return http.StatusOK, object{"flink-version": "2.3.0", "refresh-interval": 3000}
	case r.URL.Path == "/jobmanager/config":
		return http.StatusOK, []object{{"key": "execution.checkpointing.num-retained", "value": "5"}}
	case r.URL.Path == "/jobs/overview":
		list := []object{}
		for _, id := range m.order {
			j := m.jobs[id]
			list = append(list, object{"jid": j.ID, "name": j.Name, "state": j.State, "start-time": j.Started.UnixMilli(), "end-time": -1})
		}
		return http.StatusOK, object{"jobs": list}
	case route == "GET jars":
		files := []object{}
		for i, id := range slices.Backward(m.jars) {
			files = append(files, object{"id": id, "name": id[strings.Index(id, "_")+1:], "uploaded": 1000 + i, "entry": []object{{"name": "Job"}}})
		}
		return http.StatusOK, object{"files": files}
	case route == "POST jars" && len(parts) == 3 && parts[2] == "run":
		return m.run(parts[1], r)
	case parts[0] == "jobs" && len(parts) > 1:
		return m.job(parts[1], parts[2:], r)
	}
	return http.StatusNotFound, errorOf("Not found: " + r.URL.Path)
}

func (m *Manager) job(id string, rest1 []string, r *http.Request) (int, any) {
	what := r.Method + " " + strings.Join(rest1, "/")
	j, known := m.jobs[id]
	switch {
	case what == "POST savepoints", what == "POST stop":
		return m.trigger(id, what == "POST stop", r)
	case strings.HasPrefix(what, "GET savepoints/"):
		return m.savepoint(id, rest1[1])
	case !known:
		return http.StatusNotFound, rest("org.apache.flink.runtime.rest.NotFoundException: Job " + id + " not found")
	case r.Method == http.MethodPatch:
		if ended(j.State) {
			return http.StatusConflict, rest("Job cancellation failed because the job has already reached another terminal state (" + j.State + ").")
		}
		j.State, j.reads = "CANCELLING", 0
		m.log = append(m.log, "cancel "+id)
		return http.StatusAccepted, object{}
	}
	return m.read(j, strings.TrimPrefix(what, "GET "))
}

// read answers about a job, which moves on meanwhile.
func (m *Manager) read(j *Job, part string) (int, any) {
	switch {
	case part == "":
		m.move(j)
		return http.StatusOK, object{"jid": j.ID, "name": j.Name, "state": j.State, "start-time": j.Started.UnixMilli(), "end-time": -1,
			"timestamps": object{j.State: j.Started.UnixMilli()}, "vertices": []object{{"id": "v", "name": "numbers", "parallelism": j.Parallelism}}}
	case part == "exceptions":
		entries := []object{}
		if j.Cause != "" {
			entries = append(entries, object{"exceptionName": "java.lang.RuntimeException", "stacktrace": "java.lang.RuntimeException: failed\n\tat a.B.c(B.java:1)\nCaused by: " + j.Cause + "\n\tat a.B.c(B.java:1)\n", "timestamp": j.Started.UnixMilli()})
		}
		return http.StatusOK, object{"exceptionHistory": object{"entries": entries, "truncated": false}}
	case part == "checkpoints":
		return http.StatusOK, m.checkpoints(j)
	case part == "checkpoints/config":
		interval := j.Interval
		if interval == 0 {
			interval = 1<<63 - 1
		}
		return http.StatusOK, object{"mode": "exactly_once", "interval": interval, "timeout": 600000, "externalization": object{"enabled": true, "delete_on_cancellation": !j.Retain}}
	case part == "config":
		return http.StatusOK, object{"jid": j.ID, "execution-config": object{"restart-strategy": "none", "job-parallelism": j.Parallelism}}
	case part == "metrics":
		return http.StatusOK, []object{{"id": "numRestarts", "value": fmt.Sprint(j.Restarts)}}
	case strings.HasPrefix(part, "vertices/"):
		return http.StatusOK, object{"subtasks": []object{{"attempt": j.Restarts}}}
	}
	return http.StatusNotFound, errorOf("Not found: " + part)
}

// move is what has happened to a job since it was read last.
func (m *Manager) move(j *Job) {
	j.reads++
	if j.reads < 2 {
		return
	}
	switch j.State {
	case "CANCELLING":
		j.State = "CANCELED"
	case "INITIALIZING":
		j.State = "RUNNING"
	case "RUNNING":
		if m.Loops != "" && j.Jar != "" {
			j.State, j.Cause, j.Restarts = "RESTARTING", m.Loops, j.Restarts+1
		} else if j.Interval > 0 {
			j.Checkpoints++
		}
	case "RESTARTING":
		if m.Loops != "" {
			j.State = "RUNNING"
		}
	}
}

func (m *Manager) checkpoints(j *Job) any {
	latest, restored, history := object{}, 0, []object{}
	for n := range min(j.Checkpoints, 10) { // as many as Flink keeps by default
		history = append(history, object{"id": j.Checkpoints - n, "status": "COMPLETED", "external_path": fmt.Sprintf("file:/state/%s/chk-%d", j.ID, j.Checkpoints-n)})
	}
	if j.Restored != "" {
		restored = 1
		latest["restored"] = object{"id": 7, "restore_timestamp": j.Started.UnixMilli(), "is_savepoint": true, "external_path": j.Restored}
	}
	if j.Checkpoints > 0 {
		latest["completed"] = object{"id": j.Checkpoints, "status": "COMPLETED", "external_path": fmt.Sprintf("file:/state/%s/chk-%d", j.ID, j.Checkpoints)}
	}
	if j.Savepoint != "" {
		latest["savepoint"] = object{"id": j.Checkpoints, "status": "COMPLETED", "is_savepoint": true, "external_path": j.Savepoint}
	}
	return object{"counts": object{"restored": restored, "completed": j.Checkpoints, "total": j.Checkpoints}, "latest": latest, "history": history}
}

// trigger begins a savepoint. Flink takes one of an ended job as well, and says
// afterwards that it failed.
func (m *Manager) trigger(id string, stops bool, r *http.Request) (int, any) {
	var ask struct {
		Trigger string `json:"triggerId"`
		Target  string `json:"target-directory"`
		Stop    string `json:"targetDirectory"`
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || ask.Trigger == "" {
		return http.StatusBadRequest, rest("Request did not match expected format.")
	}
	answer := object{"request-id": ask.Trigger}
	if m.triggers[ask.Trigger] != nil {
		return http.StatusAccepted, answer // nothing is done again
	}
	t := &trigger{job: id, stops: stops}
	m.triggers[ask.Trigger] = t
	j := m.jobs[id]
	switch {
	case j == nil || ended(j.State):
		t.failure = "org.apache.flink.runtime.messages.FlinkJobNotFoundException: Could not find Flink job (" + id + ")"
		return http.StatusAccepted, answer
	case m.SavepointFails != "":
		t.failure = m.SavepointFails
		return http.StatusAccepted, answer
	}
	m.n++
	folder := ask.Target + ask.Stop
	if folder == "" {
		folder = "file:/state/savepoints"
	}
	t.location = fmt.Sprintf("%s/savepoint-%s-%012d", folder, id[:6], m.n)
	verb := "savepoint "
	if stops {
		verb = "stop "
	}
	m.log = append(m.log, verb+id)
	return http.StatusAccepted, answer
}

func (m *Manager) savepoint(job, id string) (int, any) {
	t := m.triggers[id]
	if t == nil || t.job != job {
		return http.StatusNotFound, rest("There is no savepoint operation with triggerId=" + id + " for job " + job + ".")
	}
	if t.reads++; t.reads < 2 {
		return http.StatusOK, object{"status": object{"id": "IN_PROGRESS"}, "operation": nil}
	}
	operation := object{}
	if t.failure != "" {
		operation["failure-cause"] = object{"class": "java.util.concurrent.CompletionException",
			"stack-trace": "java.util.concurrent.CompletionException: failed\n\tat a.B.c(B.java:1)\nCaused by: " + t.failure + "\n\tat a.B.c(B.java:1)\n"}
	} else {
		operation["location"] = t.location
		if j := m.jobs[job]; j != nil {
			j.Savepoint = t.location
			if t.stops && !ended(j.State) {
				j.State = "FINISHED"
			}
		}
	}
	return http.StatusOK, object{"status": object{"id": "COMPLETED"}, "operation": operation}
}

// run starts a job.
func (m *Manager) run(jar string, r *http.Request) (int, any) {
	var ask struct {
		JobID       string   `json:"jobId"`
		Point       string   `json:"savepointPath"`
		Parallelism int      `json:"parallelism"`
		Arguments   []string `json:"programArgsList"`
		AllowLeft   bool     `json:"allowNonRestoredState"`
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || ask.JobID == "" {
		return http.StatusBadRequest, rest("Request did not match expected format JarRunRequestBody.")
	}
	if !slices.Contains(m.jars, jar) {
		return http.StatusInternalServerError, object{"errors": []string{"Internal server error.", "<Exception on server side:\njava.util.concurrent.CompletionException: org.apache.flink.runtime.rest.handler.RestHandlerException: Jar file /upload/" + jar + " does not exist\n\tat a.B.c(B.java:1)\n>"}}
	}
	if m.jobs[ask.JobID] != nil {
		return http.StatusBadRequest, rest("Could not execute application.\nCaused by: org.apache.flink.runtime.client.DuplicateJobSubmissionException: Job has already been submitted.")
	}
	name := "job"
	if i := slices.Index(ask.Arguments, "--name"); i >= 0 && i+1 < len(ask.Arguments) {
		name = ask.Arguments[i+1]
	}
	j := &Job{ID: ask.JobID, Name: name, State: "INITIALIZING", Started: time.Now(), Restored: ask.Point, Interval: 1000, Retain: true,
		Parallelism: max(1, ask.Parallelism), Arguments: ask.Arguments, Jar: jar, AllowLeft: ask.AllowLeft}
	m.jobs[j.ID], m.order = j, append(m.order, j.ID)
	m.log = append(m.log, "run "+j.ID)
	if m.Ignores {
		j.Restored = ""
	}
	if m.StartFails != "" {
		j.State, j.Cause, j.Restored = "FAILED", m.StartFails, ""
		return http.StatusBadRequest, rest("Could not execute application.\nCaused by: " + m.StartFails)
	}
	return http.StatusOK, object{"jobid": j.ID}
}
