package inspect

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/recoverctl/recoverctl/internal/flinkkey"
)

// KeyState is what is derived from a typed key, and its actions where a topic
// was asked. A number is nil where what it depends on is not known.
type KeyState struct {
	Type       string `json:"type"`
	Value      string `json:"value"`
	Text       string `json:"text"`       // as generations 1 and 2 have it in record keys; empty: none that is stable
	Serialized string `json:"serialized"` // what Flink's serializer writes, in hexadecimal

	Digest       string   `json:"digest"`       // of generation 3: 44 characters of base64
	OtherDigests []string `json:"otherDigests"` // of other forms in which the same key can be written

	JavaHash          *int32 `json:"javaHash"`
	MaxParallelism    *int   `json:"maxParallelism"`
	KeyGroup          *int32 `json:"keyGroup"`
	Parallelism       *int   `json:"parallelism"`
	Subtask           *int   `json:"subtask"`
	Partitions        *int   `json:"partitions"` // of the topic
	Partition         *int32 `json:"partition"`  // of generation 3
	PartitionReleased *int32 `json:"partitionReleased"`
	Buckets           *int   `json:"buckets"` // of a Fluss table, instead of partitions
	Bucket            *int32 `json:"bucket"`

	RecordKeys []KeyLayout `json:"recordKeys"`
	Notes      []string    `json:"notes"`

	Scanned *ScanExtent   `json:"scanned"` // nil: no topic was asked for actions
	Actions []ActionCalls `json:"actions"`
}

// KeyLayout is how the record keys of a business key begin and end in one
// generation. Between them stand sequence, event and action.
type KeyLayout struct {
	Generation KeyGeneration `json:"generation"`
	Prefix     string        `json:"prefix"`
	Suffix     string        `json:"suffix"`
}

// KeyFigures are the numbers that a key's place depends on; 0: not known.
type KeyFigures struct {
	MaxParallelism int // at most 32,768
	Parallelism    int
	Partitions     int      // or buckets
	BucketOf       BucketOf // of a job whose action state lies in Fluss; nil: it lies on a topic
}

// KeyOf derives what follows from a typed key alone.
func KeyOf(k flinkkey.Key, f KeyFigures) KeyState {
	s := KeyState{
		Type: k.Type, Value: k.Value, Text: k.Text, Serialized: hex.EncodeToString(k.Serialized),
		Digest: k.Digest(), OtherDigests: append([]string{}, k.OtherDigests()...),
		RecordKeys: []KeyLayout{}, Notes: []string{}, Actions: []ActionCalls{},
	}
	switch {
	case f.Partitions <= 0:
	case f.BucketOf != nil:
		s.Buckets = &f.Partitions
		if k.Hashed {
			at := f.BucketOf(k.Text, int32(f.Partitions))
			s.Bucket = &at
		}
	default:
		at := flinkkey.Partition(s.Digest, f.Partitions)
		s.Partitions, s.Partition = &f.Partitions, &at
	}
	if len(s.OtherDigests) > 0 {
		s.Notes = append(s.Notes, "A job that has the object that Java keeps for this number writes another form of it, with another digest: both are looked for.")
	}
	if !k.Hashed {
		s.Notes = append(s.Notes, "Flink refuses an array as a key, for its hash is another one in each JVM: only the digest is known.")
		return s
	}
	hash := k.Hash
	s.JavaHash = &hash
	s.RecordKeys = append(s.RecordKeys, KeyLayout{Generation: KeyGeneration1, Prefix: k.Text + "_"})
	if f.MaxParallelism > 0 {
		group := flinkkey.Group(k.Hash, f.MaxParallelism)
		s.MaxParallelism, s.KeyGroup = &f.MaxParallelism, &group
		prefix := strconv.Itoa(int(group)) + "_"
		s.RecordKeys = append(s.RecordKeys, KeyLayout{KeyGeneration2, prefix, "_" + k.Text}, KeyLayout{KeyGeneration3, prefix, "_" + s.Digest})
		if f.Parallelism > 0 {
			subtask := flinkkey.Subtask(group, f.MaxParallelism, f.Parallelism)
			s.Parallelism, s.Subtask = &f.Parallelism, &subtask
		}
	} else {
		s.Notes = append(s.Notes, "The key group depends on the job's max parallelism, which is not known here: give --max-parallelism.")
	}
	if f.Partitions > 0 && f.BucketOf == nil {
		if at, ok := flinkkey.PartitionReleased(k.Text+"_", f.Partitions); ok {
			s.PartitionReleased = &at
		} else {
			s.Notes = append(s.Notes, "Releases 0.1 to 0.3 refuse to write records of this key: its text is empty or begins with an underscore.")
		}
	}
	if k.NotExact {
		s.Notes = append(s.Notes, "Java before version 19 may print this number with more digits: the texts and the "+f.store().Part()+" of generations 1 and 2 are then others. The digest is exact.")
	}
	return s
}

// store is the one whose words are used.
func (f KeyFigures) store() Store {
	if f.BucketOf != nil {
		return StoreFluss
	}
	return StoreKafka
}

// CallKeys are the keys under which its actions are looked for.
func (s KeyState) CallKeys() []CallKey {
	var text *string
	if s.JavaHash != nil {
		text = &s.Text
	}
	keys := []CallKey{{Text: text, Digest: s.Digest}}
	for _, d := range s.OtherDigests {
		keys = append(keys, CallKey{Digest: d})
	}
	return keys
}

// KeyText implements KeyDictionary for the one key.
func (s KeyState) KeyText(digest string) (text string, known bool) {
	if s.JavaHash == nil || digest != s.Digest && !slices.Contains(s.OtherDigests, digest) {
		return "", false
	}
	return s.Text, true
}

// Key derives what follows from a typed key with the partitions of the job's
// topic, and looks for all its actions there. What could not be read is in the
// faults: what follows from the key alone is there all the same.
func (i *Inspector) Key(ctx context.Context, job Job, k flinkkey.Key, f KeyFigures, watch func(CallUpdate)) (KeyState, []error) {
	s := KeyOf(k, f)
	calls, faults, err := i.Calls(ctx, job, CallAsk{Points: []string{}, Keys: s.CallKeys(), All: true, Dictionary: s}, watch)
	if err != nil {
		return s, []error{err}
	}
	if n := len(calls.Scanned.To); n > 0 {
		f.Partitions = n
	}
	s = KeyOf(k, f)
	s.Scanned, s.Actions = &calls.Scanned, append(s.Actions, calls.Actions...)
	if s.Bucket != nil && len(s.Actions) > 0 && !slices.ContainsFunc(s.Actions, func(a ActionCalls) bool { return a.Partition == *s.Bucket }) &&
		!slices.ContainsFunc(s.Actions, func(a ActionCalls) bool { return a.Elsewhere != nil }) {
		s.Bucket = nil
		s.Notes = append(s.Notes, "Its rows lie in other buckets than Fluss's own hash says: the table has the format of a lake, which hashes otherwise, or no bucket key.")
	}
	if at := slices.IndexFunc(s.Actions, func(a ActionCalls) bool { return a.Elsewhere != nil }); at >= 0 {
		in, why := "on", "the number of partitions was changed"
		if job.Store == StoreFluss {
			in, why = "in", "the table has another bucket key than the agent's"
		}
		s.Notes = append(s.Notes, fmt.Sprintf("Some of its records lie %s another %s than computed, the first %s %d: %s, or somebody else wrote them.", in, job.Store.Part(), in, s.Actions[at].Partition, why))
	}
	return s, faults
}

// IsDigest reports whether a text can be a key's digest in a record of generation
// 3: the base64 of 32 bytes as an encoder writes it.
func IsDigest(text string) bool { return isDigest([]byte(text)) }
