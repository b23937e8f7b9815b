package cases

import (
	"encoding/json"
	"strings"
)

// ControlCase is the history of a control topic and what the two readers of the
// Java implementation say about it.
type ControlCase struct {
	Name        string                     `json:"name"`
	TopicConfig Topic                      `json:"topicConfig"`
	Job         JobKnows                   `json:"job"`
	Records     []Record                   `json:"records"`
	Verdict     string                     `json:"verdict"` // accept, reject
	Boundary    map[string]int64           `json:"boundary"`
	Reason      string                     `json:"reason"`
	Named       map[string]json.RawMessage `json:"named"`
	Operations  []Operation                `json:"operations"` // nil where the records were not readable
	ApplyReader ReaderVerdict              `json:"applyReader"`
}

// ReaderVerdict is what the administrative reader says.
type ReaderVerdict struct {
	Verdict  string           `json:"verdict"`
	Boundary map[string]int64 `json:"boundary"`
	Reason   string           `json:"reason"`
}

// JobKnows is what the restoring job knows of its data topic.
type JobKnows struct {
	Topic      string  `json:"topic"`
	TopicID    string  `json:"topicId"`
	Partitions []int32 `json:"partitions"`
}

// Operation is a plan and its last state.
type Operation struct {
	PlanID string `json:"planId"`
	Status string `json:"status"`
}

// Topic is how a topic was made.
type Topic struct {
	Exists     bool              `json:"exists"`
	Partitions int               `json:"partitions"`
	Config     map[string]string `json:"config"`
	Records    []int             `json:"records"`   // data topics: fillers per partition
	DeletedTo  map[string]int64  `json:"deletedTo"` // data topics
	Extra      []Record          `json:"extra"`     // data topics: after the fillers
}

// Policy is the effective cleanup.policy: a broker's default is delete.
func (t Topic) Policy() string {
	if policy, ok := t.Config["cleanup.policy"]; ok {
		return policy
	}
	return "delete"
}

// Record is a record to be written. A nil Key or Value is a null one.
type Record struct {
	Partition int32   `json:"partition"`
	Key       *string `json:"key"`
	Value     *string `json:"value"`
	KeyB64    []byte  `json:"keyB64"`
	ValueB64  []byte  `json:"valueB64"`
	Txn       string  `json:"txn"`    // records of one label are one transaction
	Plan      string  `json:"plan"`   // instead of key and value: the record of this plan …
	Status    string  `json:"status"` // … with this status
}

// KeyBytes is the key as it is written; nil is a null key.
func (r Record) KeyBytes() []byte { return pick(r.Key, r.KeyB64) }

// ValueBytes is the value as it is written; nil is a null value.
func (r Record) ValueBytes() []byte { return pick(r.Value, r.ValueB64) }

func pick(text *string, raw []byte) []byte {
	if text != nil {
		return []byte(*text)
	}
	return raw
}

// Visible is a record that a read_committed reader sees.
type Visible struct {
	Offset     int64
	Key, Value []byte
}

// ReadCommitted is what a read_committed reader sees of records in write order:
// records of aborted transactions are skipped, and an open one hides itself and
// all that follow. A control batch takes one offset at the end of a transaction.
// stable is where that reader ends, end the log end.
func ReadCommitted(records []Record) (seen []Visible, stable, end int64) {
	stable = -1
	for i, r := range records {
		open := strings.HasPrefix(r.Txn, "open")
		if open && stable < 0 {
			stable = end
		}
		if stable < 0 && !strings.HasPrefix(r.Txn, "aborted") {
			seen = append(seen, Visible{end, r.KeyBytes(), r.ValueBytes()})
		}
		end++
		if r.Txn != "" && !open && (i+1 == len(records) || records[i+1].Txn != r.Txn) {
			end++
		}
	}
	if stable < 0 {
		stable = end
	}
	return seen, stable, end
}
