package cases

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ApplyCase is a situation in which plans are applied, and what the Java tool
// did against a real broker. Note marks an outcome that a careful tool should
// not copy blindly.
type ApplyCase struct {
	Name    string
	Data    Topic
	Control Topic // its records are in the order in which they were written
	Plans   map[string]Plan
	Steps   []ApplyStep
	Note    string
}

// ApplyStep is one apply, or something that happened to the topics; one of the
// fields of Happening or Apply is set.
type ApplyStep struct {
	Happening
	Apply   string       `json:"apply"` // a plan's name
	Options ApplyOptions `json:"options"`
	Inject  []Injection  `json:"inject"`
	Expect  ApplyExpect  `json:"expect"`
}

// Happening is something that others do to the topics. Fail stops an apply at
// its place as a crash would.
type Happening struct {
	Recreate           *Topic            `json:"recreate"`
	AddPartitions      int               `json:"addPartitions"` // to that many
	SetConfig          map[string]string `json:"setConfig"`     // of the data topic
	DeleteTo           map[string]int64  `json:"deleteTo"`
	Produce            []int             `json:"produce"` // records per partition
	ControlAppend      []Record          `json:"controlAppend"`
	DeleteDataTopic    bool              `json:"deleteDataTopic"`
	DeleteControlTopic bool              `json:"deleteControlTopic"`
	Fail               bool              `json:"fail"`
}

// ApplyOptions are the options of one apply that are not the usual ones.
type ApplyOptions struct {
	ReplicationFactor *int    `json:"replicationFactor"`
	Tombstones        bool    `json:"tombstones"`
	ControlTopic      *string `json:"controlTopic"`
	DataTopic         *string `json:"dataTopic"`
}

// Injection is what happens before or after a stage of an apply.
type Injection struct {
	When  string      `json:"when"` // before, after
	Stage string      `json:"stage"`
	Do    []Happening `json:"do"`
}

// ApplyExpect is what the Java tool said, and what is on the broker afterwards.
// Control is what a read_committed reader finds; nil: no such topic.
type ApplyExpect struct {
	Success        bool                       `json:"success"`
	Status         string                     `json:"status"`
	Stage          string                     `json:"stage"`
	Reason         string                     `json:"reason"`
	Named          map[string]json.RawMessage `json:"named"`
	Control        []SeenRecord               `json:"control"`
	ControlCreated bool                       `json:"controlCreated"`
	LogStart       map[string]int64           `json:"logStart"`
	LogEnd         map[string]int64           `json:"logEnd"`
	Note           string                     `json:"note"`
}

// SeenRecord is an operation found in the control topic, by its plan's name.
// Unreadable is a record that is none.
type SeenRecord struct {
	Plan       string `json:"plan"`
	Status     string `json:"status"`
	Unreadable bool   `json:"unreadable"`
}

// Applies reads every case of an apply, by name.
func Applies(tb testing.TB) []ApplyCase {
	tb.Helper()
	return loadAll[ApplyCase](tb, "apply")
}

// UnmarshalJSON reads a case. The control topic's records are its own kind.
func (c *ApplyCase) UnmarshalJSON(data []byte) error {
	var in struct {
		Name    string `json:"name"`
		Data    Topic  `json:"data"`
		Control struct {
			Exists     bool              `json:"exists"`
			Partitions int               `json:"partitions"`
			Config     map[string]string `json:"config"`
			Records    []Record          `json:"records"`
		} `json:"control"`
		Plans map[string]Plan `json:"plans"`
		Steps []ApplyStep     `json:"steps"`
		Note  string          `json:"note"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*c = ApplyCase{Name: in.Name, Data: in.Data, Plans: in.Plans, Steps: in.Steps, Note: in.Note}
	c.Control = Topic{Exists: in.Control.Exists, Partitions: in.Control.Partitions, Config: in.Control.Config, Extra: in.Control.Records}
	return nil
}

// With returns the case with its placeholders filled in. Plan ids follow from
// the topic ids.
func (c ApplyCase) With(n Names) (ApplyCase, error) {
	fill := strings.NewReplacer("$DATA_ID2", n.DataID2, "$DATA_ID", n.DataID, "$OTHER_ID", n.OtherID, "$DATA", n.Data, "$CONTROL", n.Control)
	out := c
	out.Plans = make(map[string]Plan, len(c.Plans))
	for name, p := range c.Plans {
		out.Plans[name] = Plan{fill.Replace(p.Source), fill.Replace(p.Topic), fill.Replace(p.TopicID), p.Offsets}
	}
	text := func(in *string) *string {
		if in == nil {
			return nil
		}
		filled := fill.Replace(*in)
		return &filled
	}
	records := func(in []Record) ([]Record, error) { return RestoreCase{Name: c.Name, Plans: out.Plans}.records(in) }
	var err error
	if out.Control.Extra, err = records(c.Control.Extra); err != nil {
		return out, err
	}
	out.Steps = slices.Clone(c.Steps)
	for i := range out.Steps {
		s := &out.Steps[i]
		if _, ok := out.Plans[s.Apply]; !ok && s.Apply != "" {
			return out, fmt.Errorf("case %s: no plan %s", c.Name, s.Apply)
		}
		s.Options.ControlTopic, s.Options.DataTopic = text(s.Options.ControlTopic), text(s.Options.DataTopic)
		if s.ControlAppend, err = records(s.ControlAppend); err != nil {
			return out, err
		}
		s.Inject = slices.Clone(s.Inject)
		for j := range s.Inject {
			s.Inject[j].Do = slices.Clone(s.Inject[j].Do)
			for k := range s.Inject[j].Do {
				if s.Inject[j].Do[k].ControlAppend, err = records(s.Inject[j].Do[k].ControlAppend); err != nil {
					return out, err
				}
			}
		}
	}
	return out, nil
}
