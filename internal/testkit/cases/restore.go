package cases

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// RestoreCase is a restore and the verdict of the Java implementation.
type RestoreCase struct {
	Name       string           `json:"name"`
	Configured Configured       `json:"configured"`
	Data       Topic            `json:"data"`
	Control    Topic            `json:"-"`
	Plans      map[string]Plan  `json:"plans"`
	Steps      []Step           `json:"stepsBefore"`
	Markers    json.RawMessage  `json:"markers"` // elements as in a markers file
	LogStart   map[string]int64 `json:"logStart"`
	LogEnd     map[string]int64 `json:"logEnd"`
	Expect     Expect           `json:"expect"`

	controlRecords []Record
}

// Configured are the options of the job. A nil ControlTopic is not configured.
type Configured struct {
	ControlTopic   *string `json:"controlTopic"`
	Tombstones     bool    `json:"tombstones"`
	MaxParallelism int     `json:"maxParallelism"`
	NumPartitions  int     `json:"numPartitions"` // 0: the default of 64
}

// Step is something that happened before the restore; one field is set.
type Step struct {
	Recreate      *Topic           `json:"recreate"`
	AddPartitions int              `json:"addPartitions"` // to that many
	DeleteTo      map[string]int64 `json:"deleteTo"`
	ControlAppend []Record         `json:"controlAppend"`
}

// Expect is what the restore did. Replayed counts the records of the window.
type Expect struct {
	Verdict  string                     `json:"verdict"` // accept, reject
	Stage    string                     `json:"stage"`
	Reason   string                     `json:"reason"`
	Named    map[string]json.RawMessage `json:"named"`
	Replayed int                        `json:"replayed"`
	States   int                        `json:"states"`
}

// UnmarshalJSON reads a case. The control topic's records are kept apart from
// its description, because those of a data topic have another form.
func (c *RestoreCase) UnmarshalJSON(data []byte) error {
	type plain RestoreCase
	var control struct {
		Control struct {
			Exists     bool              `json:"exists"`
			Partitions int               `json:"partitions"`
			Config     map[string]string `json:"config"`
			Records    []Record          `json:"records"`
		} `json:"control"`
	}
	if err := json.Unmarshal(data, (*plain)(c)); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &control); err != nil {
		return err
	}
	c.Control = Topic{Exists: control.Control.Exists, Partitions: control.Control.Partitions, Config: control.Control.Config}
	c.controlRecords = control.Control.Records
	return nil
}

// Names are what the placeholders of a case stand for.
type Names struct {
	Data    string // $DATA: the data topic
	DataID  string // $DATA_ID: its id when first made
	DataID2 string // $DATA_ID2: its id after it was made again
	OtherID string // $OTHER_ID: the id of no topic
	Control string // $CONTROL: the control topic
}

// With returns the case with its placeholders filled in.
func (c RestoreCase) With(n Names) (RestoreCase, error) {
	// The longer placeholders first: $DATA begins the others.
	fill := strings.NewReplacer("$DATA_ID2", n.DataID2, "$DATA_ID", n.DataID, "$OTHER_ID", n.OtherID, "$DATA", n.Data, "$CONTROL", n.Control)
	out := c
	out.Plans = make(map[string]Plan, len(c.Plans))
	for name, p := range c.Plans {
		out.Plans[name] = Plan{fill.Replace(p.Source), fill.Replace(p.Topic), fill.Replace(p.TopicID), p.Offsets}
	}
	out.Markers = json.RawMessage(fill.Replace(string(c.Markers)))
	if c.Configured.ControlTopic != nil {
		topic := fill.Replace(*c.Configured.ControlTopic)
		out.Configured.ControlTopic = &topic
	}
	var err error
	if out.controlRecords, err = out.records(c.controlRecords); err != nil {
		return out, err
	}
	out.Steps = slices.Clone(c.Steps)
	for i := range out.Steps {
		if out.Steps[i].ControlAppend, err = out.records(out.Steps[i].ControlAppend); err != nil {
			return out, err
		}
	}
	return out, nil
}

var planID = regexp.MustCompile(`\$PLANID\(([^)]+)\)`)

// records turns {plan, status} into key and value, and fills in plan ids.
func (c RestoreCase) records(in []Record) ([]Record, error) {
	out := slices.Clone(in)
	for i, r := range out {
		if r.Plan != "" {
			p, ok := c.Plans[r.Plan]
			if !ok {
				return nil, fmt.Errorf("case %s: no plan %s", c.Name, r.Plan)
			}
			key, value := p.ID(), string(p.controlValue(r.Status))
			out[i] = Record{Key: &key, Value: &value, Txn: r.Txn}
			continue
		}
		for _, text := range []**string{&out[i].Key, &out[i].Value} {
			if *text == nil {
				continue
			}
			filled := planID.ReplaceAllStringFunc(**text, func(m string) string {
				return c.Plans[planID.FindStringSubmatch(m)[1]].ID()
			})
			*text = &filled
		}
	}
	return out, nil
}

// ControlRecords are the records of the control topic when it was made.
func (c RestoreCase) ControlRecords() []Record { return c.controlRecords }

// FinalControlRecords are those records and the ones that steps appended.
func (c RestoreCase) FinalControlRecords() []Record {
	out := slices.Clone(c.controlRecords)
	for _, s := range c.Steps {
		out = append(out, s.ControlAppend...)
	}
	return out
}

// Recreated reports whether a step deleted the data topic and made it again.
func (c RestoreCase) Recreated() bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Recreate != nil })
}

// Partitions are the data topic's partitions right before the restore, as text;
// empty when it does not exist.
func (c RestoreCase) Partitions() []string { return slices.Collect(maps.Keys(c.LogEnd)) }

// Placed is a record of a data topic with the offset that it has there.
type Placed struct {
	Partition  int32
	Offset     int64
	Key, Value []byte
}

// DataRecords are the records of the data topic right before the restore, those
// of aborted and of open transactions among them, by partition and offset. A
// transaction that ended has a control record behind it, which takes an offset.
func (c RestoreCase) DataRecords() []Placed {
	topic, start := c.Data, map[string]int64{}
	maps.Copy(start, topic.DeletedTo)
	for _, s := range c.Steps {
		switch {
		case s.Recreate != nil:
			topic, start = *s.Recreate, map[string]int64{}
		case s.DeleteTo != nil:
			maps.Copy(start, s.DeleteTo)
		}
	}
	var out []Placed
	for p, n := range topic.Records {
		end := int64(0)
		add := func(r Record) {
			if end >= start[fmt.Sprint(p)] {
				out = append(out, Placed{int32(p), end, r.KeyBytes(), r.ValueBytes()})
			}
			end++
		}
		for i := range n {
			add(Filler(p, i))
		}
		var extra []Record
		for _, r := range topic.Extra {
			if r.Partition == int32(p) {
				extra = append(extra, r)
			}
		}
		for i, r := range extra {
			add(r)
			last := i+1 == len(extra) || extra[i+1].Txn != r.Txn
			if last && r.Txn != "" && !strings.HasPrefix(r.Txn, "open") {
				end++
			}
		}
	}
	return out
}
