package incident

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// operation is a cleanup as the control topic records it.
type operation struct {
	planID string
	plan   []byte // compact JSON
}

// newOperation makes the plan of a cleanup.
func newOperation(source, topicID string, offsets inspect.Offsets) (operation, error) {
	source = strings.ToValidUTF8(source, "\ufffd")
	o := operation{planID: inspect.PlanID(source, Topic, topicID, offsets)}
	var err error
	o.plan, err = compact(struct {
		SchemaVersion       int             `json:"schemaVersion"`
		PlanID              string          `json:"planId"`
		SourceRecoveryPoint string          `json:"sourceRecoveryPoint"`
		Topic               string          `json:"topic"`
		TopicID             string          `json:"topicId"`
		Offsets             inspect.Offsets `json:"offsets"`
	}{1, o.planID, source, Topic, topicID, offsets})
	return o, err
}

// record is the control record that gives the operation a status.
func (o operation) record(status inspect.OperationStatus, at time.Time) (kafkatest.Record, error) {
	value, err := compact(struct {
		SchemaVersion int                     `json:"schemaVersion"`
		Status        inspect.OperationStatus `json:"status"`
		Plan          json.RawMessage         `json:"plan"`
	}{1, status, o.plan})
	return kafkatest.Record{Key: []byte(o.planID), Value: value, Time: at}, err
}

// compact writes JSON without white space, and without escapes for HTML, which
// Java does not write.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("incident: control record: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// controlRecords are the records of the control topic: the first cleanup,
// applied eight days ago, and the second, which did not end.
func (s *script) controlRecords(p places, topicID string, now time.Time) ([]kafkatest.Record, error) {
	first, err := newOperation(p.firstSource(), topicID, s.at(toFirstCleanup))
	if err != nil {
		return nil, err
	}
	second, err := newOperation(p.secondSource(), topicID, s.at(toSecondCleanup))
	if err != nil {
		return nil, err
	}
	var out []kafkatest.Record
	for _, step := range []struct {
		of     operation
		status inspect.OperationStatus
		ago    time.Duration
	}{
		{first, inspect.StatusCommitted, ago[toOldCheckpoint]},
		{first, inspect.StatusApplied, ago[toOldCheckpoint] - 4*time.Second},
		{second, inspect.StatusCommitted, 21 * time.Minute},
	} {
		r, err := step.of.record(step.status, now.Add(-step.ago))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
