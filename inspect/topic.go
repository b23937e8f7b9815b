package inspect

import "time"

// DataTopic is the action-state topic as the cluster describes it now.
type DataTopic struct {
	Name       string
	ClusterID  string
	Exists     bool
	TopicID    string // Kafka's text form: 22 characters, URL-safe base64; empty when the topic does not exist
	Partitions []Partition
	Settings   []Setting // effective settings that matter here, by name
	Created    time.Time // when a table was made; zero: not told
	At         time.Time // when it was read
}

// Partition is one partition of the data topic. Err is set, and Log meaningless,
// when its offsets could not be read.
type Partition struct {
	ID     int32
	Leader int32 // broker id; -1: no leader
	Log    LogRange
	Err    error
}

// Setting is an effective topic setting and where the broker takes it from.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"` // topic, broker or default
}

// IDs returns the partition numbers in ascending order; never nil.
func (t DataTopic) IDs() []int32 {
	ids := make([]int32, 0, len(t.Partitions))
	for _, p := range t.Partitions {
		ids = append(ids, p.ID)
	}
	return ids
}

// Ranges returns the log range of every partition that could be read.
func (t DataTopic) Ranges() map[int32]LogRange {
	ranges := make(map[int32]LogRange, len(t.Partitions))
	for _, p := range t.Partitions {
		if p.Err == nil {
			ranges[p.ID] = p.Log
		}
	}
	return ranges
}

// Setting returns the effective value of a setting, and whether it is known.
func (t DataTopic) Setting(name string) (string, bool) {
	for _, s := range t.Settings {
		if s.Name == name {
			return s.Value, true
		}
	}
	return "", false
}

// ControlTopic is the control topic with the records that a read_committed
// reader sees from the beginning to the end captured first.
type ControlTopic struct {
	Name          string
	Exists        bool
	Partitions    []int32
	CleanupPolicy string // effective
	Records       []ControlRecord
	LastStable    int64 // where a read_committed reader ends
	LogEnd        int64 // greater than LastStable while a transaction is open
	At            time.Time
}

// ControlRecord is one record of the control topic. A nil Key or Value is a null
// one, which is not the same as an empty one.
type ControlRecord struct {
	Offset int64
	Time   time.Time
	Key    []byte
	Value  []byte
}
