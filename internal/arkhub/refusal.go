package arkhub

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/httpread"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Refusal is what a hub says where it does not do what it is asked: the status,
// and its own code, as in job_not_found. It is the cause of the fault that a
// Client returns; errors.As finds it.
type Refusal struct {
	Status        int
	Code          string        // empty: the answer had none
	Said          safetext.Text // the hub's sentence, without the token
	CorrelationID safetext.Text // by which the hub's log knows the request
	Current       Count         // the generation that a conflict is about
	Leader        string        // where a standby says that its leader is; as it came

	Body safetext.Text // of an answer without a code: its beginning
}

// Error is what the hub says, on one line.
func (r *Refusal) Error() string {
	text := fmt.Sprintf("%d", r.Status)
	if word := http.StatusText(r.Status); word != "" {
		text += " " + word
	}
	switch {
	case r.Code != "":
		text += " " + safetext.Of(r.Code).String()
		if !r.Said.IsEmpty() {
			text += ": " + r.Said.String()
		}
	case !r.Body.IsEmpty():
		text += ": " + r.Body.String()
	default:
		text += " with an empty body"
	}
	if !r.CorrelationID.IsEmpty() {
		text += " (" + r.CorrelationID.String() + " in the hub's log)"
	}
	return text
}

// saidCells is how much of a hub's sentence is shown.
const saidCells = 300

// ReadRefusal reads an answer whose status is no success.
func ReadRefusal(a httpread.Answer, conceal func(string) string) *Refusal {
	r := &Refusal{Status: a.Status}
	var body struct {
		Code          string `json:"code"`
		Message       Text   `json:"message"`
		CorrelationID Text   `json:"correlation_id"`
		Details       Fact[struct {
			LeaderURL Text  `json:"leader_url"`
			Current   Count `json:"current"`
		}] `json:"details"`
	}
	switch err := json.Unmarshal(a.Body, &body); {
	case err == nil && body.Code != "":
		r.Code = body.Code
		r.Said = safetext.Of(conceal(body.Message.Or(""))).Truncate(saidCells)
		r.CorrelationID = safetext.Of(conceal(body.CorrelationID.Or(""))).Truncate(80)
		details := body.Details.Or(struct {
			LeaderURL Text  `json:"leader_url"`
			Current   Count `json:"current"`
		}{})
		r.Leader, r.Current = details.LeaderURL.Or(""), details.Current
	case httpread.IsHTML(a.ContentType, a.Body):
		r.Body = safetext.Of("an HTML page")
	default:
		r.Body = safetext.Of(conceal(string(a.Body[:min(len(a.Body), 4<<10)]))).Truncate(saidCells)
	}
	return r
}

// Fault is the refusal of one request as an operator should read it.
func (r *Refusal) Fault(what string, address safetext.Text) *fault.Fault {
	kind, hint := r.judge()
	return fault.Wrap(kind, op, r, "%s refuses %s", address, what).WithHint("%s", hint).WithRef(address.String())
}

// judge says what a refusal means, and what to do next.
func (r *Refusal) judge() (fault.Kind, string) {
	switch r.Code {
	case "hub_standby":
		hint := "this hub is a standby: ask its leader instead"
		if leader := shownURL(r.Leader); leader != "" {
			return fault.Unreachable, hint + ", " + leader
		}
		return fault.Unreachable, hint + "; it does not say who that is, so an election may be under way: try again, or give the leader's address as --hub"
	case "stale_leader":
		return fault.Unreachable, "the hub lost its leadership while it answered: try again, and it will name the new leader"
	case "generation_conflict":
		return fault.Drift, "somebody changed it since it was read: read it again and decide anew"
	case "idempotency_key_reused":
		return fault.Drift, "the key belongs to another request: look at operations before anything is sent again"
	case "state_format_incompatible":
		return fault.Drift, "choose a version with the state format that the artefact has: recoverctl inspect arkflow points ID"
	case "no_previous_job_version":
		return fault.NotFound, "there is nothing to roll back to: recoverctl inspect arkflow job ID lists the versions"
	case "job_must_be_stopped":
		return fault.Drift, "stop the job and wait until it is observed stopped"
	case "job_must_be_running":
		return fault.Drift, "start the job and wait until it is observed running"
	case "savepoint_not_ready":
		return fault.Drift, "take a completed savepoint of this job: recoverctl inspect arkflow points ID"
	case "orchestration_in_progress", "orchestration_conflict":
		return fault.Busy, "an upgrade holds the job: pause, cancel or roll it back first (recoverctl inspect arkflow job ID)"
	case "node_unavailable":
		return fault.Unreachable, "the node's lease has run out: look at the engine and its log, then recoverctl inspect arkflow streams"
	case "job_not_found":
		return fault.NotFound, "recoverctl inspect arkflow jobs lists the jobs of this hub"
	case "stream_not_found":
		return fault.NotFound, "recoverctl inspect arkflow streams lists the streams; one that never started is not among them"
	case "repository_unavailable", "storage_unavailable":
		return fault.Unreachable, "the hub's database does not answer: look at the hub's log"
	case "agent_request_rejected":
		if r.Status == http.StatusBadRequest {
			return fault.Unreachable, "older hubs say this where they have no storage (ARKFLOW_HUB_STORAGE) or it failed: look at the hub's log"
		}
	}
	switch {
	case r.Status == http.StatusUnauthorized:
		return fault.Denied, "it asks for an operator token, or does not accept the one given: set arkflow.token of the job in the profile, only the secret part of id|role|secret"
	case r.Status == http.StatusForbidden:
		return fault.Denied, "the token's role or scopes don't allow it: ask for one of role operator"
	case r.Status == http.StatusNotFound && r.Code == "":
		return fault.NotFound, "an empty 404 says that this hub has no such route: its engine is older, or the address is not a hub's"
	case r.Status == http.StatusNotFound:
		return fault.NotFound, "check the name"
	case r.Status == http.StatusConflict, r.Status == http.StatusPreconditionFailed:
		return fault.Drift, "the hub is not in the state that this needs: read it again"
	case r.Status == http.StatusUnprocessableEntity, r.Status == http.StatusBadRequest, r.Status == http.StatusUnsupportedMediaType:
		return fault.Unsupported, "this hub understands the request in another way: its version may be one that is not known here"
	case r.Status == http.StatusTooManyRequests, r.Status == http.StatusRequestTimeout:
		return fault.Unreachable, "try again later"
	case r.Status >= 500:
		return fault.Unreachable, "look at the hub's own log, then try again"
	}
	return fault.Unsupported, "is this " + service + "?"
}

// shownURL is an address that a hub named, as it may be shown: without user and
// query; empty where it is none.
func shownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return safetext.Of(bare.String()).String()
}
