package arkhub

import "encoding/json"

// Configuration is a node's configuration as far as recovery depends on it.
type Configuration struct {
	Streams []StreamConfig
	Known   bool // the node exposes its streams
}

// UnmarshalJSON never fails for an object: streams that can't be read are not
// exposed.
func (c *Configuration) UnmarshalJSON(data []byte) error {
	var whole struct {
		Streams json.RawMessage `json:"streams"`
	}
	if err := json.Unmarshal(data, &whole); err != nil {
		return err
	}
	streams := part[StreamConfig](whole.Streams)
	*c = Configuration{Streams: streams, Known: streams != nil}
	return nil
}

// StreamConfig is one configured stream.
type StreamConfig struct {
	ID         Text             `json:"id"`
	Input      Fact[Component]  `json:"input"`
	Output     Fact[Component]  `json:"output"`
	Pipeline   Fact[Pipeline]   `json:"pipeline"`
	Durability Fact[Durability] `json:"durability"` // unset: not durable
}

// Component is a part of a stream, by its type.
type Component struct {
	Type Text `json:"type"`
}

// Pipeline is what a stream does between input and output.
type Pipeline struct {
	Processors Fact[[]Component] `json:"processors"`
}

// Durability is a stream's write-ahead log. Path and Sync count without a
// Backend only.
type Durability struct {
	Enabled Flag              `json:"enabled"`
	Path    Text              `json:"path"`
	Sync    SyncMode          `json:"sync"`
	Backend Fact[BackendSpec] `json:"backend"`
}

// BackendSpec is the store of a write-ahead log.
type BackendSpec struct {
	Type     Text           `json:"type"` // local or object_store
	Path     Text           `json:"path"`
	Sync     SyncMode       `json:"sync"`
	NodeID   Text           `json:"node_id"`
	StreamID Text           `json:"stream_id"`
	Prefix   Text           `json:"prefix"`
	S3       Fact[S3Bucket] `json:"s3"`
}

// S3Bucket is where an object-store log is.
type S3Bucket struct {
	Bucket   Text `json:"bucket"`
	Endpoint Text `json:"endpoint"`
}

// The sync modes.
const (
	SyncPerEntry    = "per_entry"
	SyncGroupCommit = "group_commit" // the default
	SyncPeriodic    = "periodic"
)

// SyncMode is how soon an entry is on disk: a word, or an object whose one key is
// periodic. Empty: not said.
type SyncMode string

// UnmarshalJSON never fails: another form is not said.
func (s *SyncMode) UnmarshalJSON(data []byte) error {
	*s = ""
	var word string
	var object map[string]json.RawMessage
	switch {
	case json.Unmarshal(data, &word) == nil:
		*s = SyncMode(word)
	case json.Unmarshal(data, &object) == nil && object[SyncPeriodic] != nil:
		*s = SyncPeriodic
	}
	return nil
}
