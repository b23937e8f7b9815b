package cases

import (
	"bytes"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// RecordKeyCase is the key of a record and what a restore says of it.
type RecordKeyCase struct {
	Name           string                     `json:"name"`
	Key            *string                    `json:"key"` // nil: a null key
	MaxParallelism int                        `json:"maxParallelism"`
	Accepted       bool                       `json:"accepted"`
	Reason         string                     `json:"reason"`
	Named          map[string]json.RawMessage `json:"named"`

	// By the number of partitions; nil where that writer has none for such a key.
	Partition         map[string]int32 `json:"partition"`         // of generation 3
	PartitionReleased map[string]int32 `json:"partitionReleased"` // of generation 1
}

// KeyBytes is the key as it is written; nil is a null key.
func (c RecordKeyCase) KeyBytes() []byte { return pick(c.Key, nil) }

// TypedKeyCase is a typed business key with the keys of its records in all
// generations. Some long ones have no record keys, and some texts no released
// one: that writer refuses them.
type TypedKeyCase struct {
	Name               string           `json:"name"`
	Type               string           `json:"type"`
	Value              any              `json:"value"` // a string, a boolean or a json.Number; nil with ValueRepeat
	ValueRepeat        Repeated         `json:"valueRepeat"`
	Serialized         *string          `json:"serialized"` // in hexadecimal; nil where it is long
	SerializedLength   int              `json:"serializedLength"`
	Digest             string           `json:"digest"`
	JavaHash           *int32           `json:"javaHash"` // nil: it has none that is stable, nor what follows from one
	KeyText            string           `json:"keyText"`
	KeyGroup           map[string]int32 `json:"keyGroup"`          // by max parallelism
	Subtask            map[string]int   `json:"subtask"`           // by "max/parallelism"
	Partition          map[string]int32 `json:"partition"`         // of generation 3, by the number of partitions
	PartitionReleased  map[string]int32 `json:"partitionReleased"` // of generation 1; nil: that writer refuses the key
	Seq                int64            `json:"seq"`
	EventBytes         string           `json:"eventBytes"` // what the event's UUID is made of
	EventUUID          string           `json:"eventUuid"`
	Action             string           `json:"action"`             // the name that the action's UUID is made of
	ActionUUID         string           `json:"actionUuid"`         // generation 3
	ActionUUIDReleased string           `json:"actionUuidReleased"` // generations 1 and 2
	RecordKey          string           `json:"recordKey"`          // generation 3
	RecordKeyG2        string           `json:"recordKeyG2"`
	RecordKeyReleased  string           `json:"recordKeyReleased"` // generation 1
}

// Repeated is a text many times over.
type Repeated struct {
	Text  string `json:"text"`
	Times int    `json:"times"`
}

// ValueText is the value as an operator would type it.
func (c TypedKeyCase) ValueText() string {
	if c.Value == nil {
		return strings.Repeat(c.ValueRepeat.Text, c.ValueRepeat.Times)
	}
	return fmt.Sprint(c.Value)
}

// UnmarshalJSON keeps the digits of numbers.
func (c *TypedKeyCase) UnmarshalJSON(data []byte) error {
	type plain TypedKeyCase
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode((*plain)(c))
}

// ValueCase is the value of a record and what the job's own decoder makes of it:
// "accept" an action state, "null" nothing, "reject" an exception. The verdicts
// are those of Flink Agents' classes as they were before the cleanup work was
// merged, with no class of a job beside them.
type ValueCase struct {
	Value   []byte
	Verdict string
}

// UnmarshalJSON reads the three forms in which a value is kept.
func (c *ValueCase) UnmarshalJSON(data []byte) error {
	var raw struct {
		Value   *string    `json:"value"`
		Base64  []byte     `json:"valueB64"`
		Verdict string     `json:"verdict"`
		Parts   []Repeated `json:"parts"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	c.Verdict = raw.Verdict
	c.Value = pick(raw.Value, raw.Base64)
	for _, part := range raw.Parts {
		c.Value = append(c.Value, strings.Repeat(part.Text, part.Times)...)
	}
	return nil
}

// String is a name for the case: its value where that is short.
func (c ValueCase) String() string {
	if len(c.Value) > 200 {
		return string(c.Value[:120]) + "…" + string(c.Value[len(c.Value)-20:])
	}
	return string(c.Value)
}

// RecordKeys reads the verdicts for record keys.
func RecordKeys(tb testing.TB) []RecordKeyCase {
	tb.Helper()
	return loadList[RecordKeyCase](tb, "keys/recordkeys.json")
}

// TypedKeys reads the typed business keys.
func TypedKeys(tb testing.TB) []TypedKeyCase {
	tb.Helper()
	return loadList[TypedKeyCase](tb, "keys/typed.json")
}

// Values reads the verdicts for values of records.
func Values(tb testing.TB) []ValueCase {
	tb.Helper()
	return loadList[ValueCase](tb, "values/verdicts.json")
}

// Filler is record i of a partition of a data topic, as the cases' data topics
// are filled: a completed action of generation 3.
func Filler(partition, i int) Record {
	key := fillerKey(partition, i)
	value := `{"taskEvent":null,"sensoryMemoryUpdates":[],"shortTermMemoryUpdates":[],"outputEvents":[],"callResults":[],"completed":true}`
	return Record{Partition: int32(partition), Key: &key, Value: &value}
}

// fillerKey is 7_<i>_<uuid of "e<i>">_<uuid of "a<partition>">_<digest>, with
// name-based UUIDs of those texts and the digest of no bytes.
func fillerKey(partition, i int) string {
	return fmt.Sprintf("7_%d_%s_%s_47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", i, nameUUID(fmt.Sprint("e", i)), nameUUID(fmt.Sprint("a", partition)))
}

// nameUUID is Java's name-based UUID, of version 3.
func nameUUID(name string) string {
	sum := md5.Sum([]byte(name))
	sum[6] = sum[6]&0x0f | 0x30
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:])
}
