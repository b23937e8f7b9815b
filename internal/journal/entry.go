package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Event is what a line tells.
type Event string

// The events of a run, in order: it begins, each write has an intent and an
// outcome, and it ends.
const (
	Begin   Event = "begin"
	Intent  Event = "intent"
	Outcome Event = "outcome"
	End     Event = "end"
)

// The results of an outcome. Unknown: the answer was lost, and reading has not
// settled it.
const (
	Done    = "done"
	Failed  = "failed"
	Unknown = "unknown"
)

// Entry is one line. Texts are one line each and are made safe when they are
// written and when they are read.
type Entry struct {
	Time    time.Time `json:"time"` // UTC
	Run     string    `json:"run"`  // the same in all lines of one run
	Event   Event     `json:"event"`
	User    string    `json:"user"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Profile string    `json:"profile"`
	Job     string    `json:"job"`
	PlanID  string    `json:"planId"`
	Kind    string    `json:"kind,omitempty"` // of the plan; lines without it are of a cleanup
	Topic   string    `json:"topic,omitempty"`
	TopicID string    `json:"topicId,omitempty"`

	// What is changed where it is no topic, as in "job order-agent".
	Object   string `json:"object,omitempty"`
	ObjectID string `json:"objectId,omitempty"`
	System   string `json:"system,omitempty"` // that it is of, as in the address of a hub; lines of before have none

	Step    string          `json:"step,omitempty"`
	Result  string          `json:"result,omitempty"`  // of an outcome: done, failed, unknown; of an end: the verdict
	Offsets map[int32]int64 `json:"offsets,omitempty"` // what is written, or was
	Reason  string          `json:"reason,omitempty"`  // of the operator
	Accept  []string        `json:"accept,omitempty"`  // warnings that were accepted
	Report  string          `json:"report,omitempty"`  // hash of the approved report
	Message string          `json:"message,omitempty"`
}

// safe is the entry with every text on one line that can be printed.
func (e Entry) safe() Entry {
	for _, text := range []*string{
		(*string)(&e.Event), &e.Run, &e.User, &e.Host, &e.Profile, &e.Job, &e.PlanID, &e.Kind, &e.Topic, &e.TopicID, &e.Object, &e.ObjectID, &e.System,
		&e.Step, &e.Result, &e.Reason, &e.Report, &e.Message,
	} {
		*text = safetext.Of(*text).String()
	}
	accept := make([]string, len(e.Accept))
	for i, name := range e.Accept {
		accept[i] = safetext.Of(name).String()
	}
	e.Accept = accept
	return e
}

// maxLine bounds a line. Ten thousand partitions fit.
const maxLine = 1 << 20

// parseLine reads one line without its newline.
func parseLine(line []byte) (Entry, error) {
	var e Entry
	if len(line) > maxLine {
		return e, errors.New("the line is too long")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	if err := d.Decode(&e); err != nil {
		return Entry{}, errors.New("the line is not an entry")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Entry{}, errors.New("something follows the entry")
	}
	if e.Event == "" || e.Time.IsZero() {
		return Entry{}, errors.New("the line has no event or no time")
	}
	return e.safe(), nil
}
