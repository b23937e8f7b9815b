package orders

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strconv"

	"github.com/recoverctl/recoverctl/internal/flinkkey"
)

// How the job runs.
const (
	Parallelism    = 2
	MaxParallelism = 128
)

// Key is a business key of the job: a string, by which its input is partitioned.
type Key struct {
	Text   string
	Digest string // generation 3's last field
	Group  int32  // key group
}

// NewKey computes what Flink and Flink Agents derive from a key text of ASCII
// characters.
func NewKey(text string) Key {
	sum := sha256.Sum256(StringBytes(text))
	return Key{
		Text:   text,
		Digest: base64.StdEncoding.EncodeToString(sum[:]),
		Group:  flinkkey.Group(flinkkey.JavaHash(text), MaxParallelism),
	}
}

// Subtask is the one that owns the key's group.
func (k Key) Subtask() int32 { return k.Group * Parallelism / MaxParallelism }

// RecordKey is the key of an action's records.
func (k Key) RecordKey(seq int64, event, action string) []byte {
	out := make([]byte, 0, 160)
	out = strconv.AppendInt(out, int64(k.Group), 10)
	out = append(out, '_')
	out = strconv.AppendInt(out, seq, 10)
	for _, field := range []string{event, action, k.Digest} {
		out = append(out, '_')
		out = append(out, field...)
	}
	return out
}

// ReleasedRecordKey is the key of an action's records in releases 0.1 to 0.3.
func (k Key) ReleasedRecordKey(seq int64, event, action string) []byte {
	out := append([]byte(k.Text), '_')
	out = strconv.AppendInt(out, seq, 10)
	return append(out, "_"+event+"_"+action...)
}

// StringBytes is a text of ASCII characters as Flink's StringSerializer writes
// it.
func StringBytes(text string) []byte {
	return append(appendVarint(nil, len(text)+1), text...)
}

func appendVarint(out []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

// NameUUID is Java's name-based UUID (version 3) of bytes.
func NameUUID(name []byte) string { return uuidText(md5.Sum(name), 3) }

// RandomUUID is a UUID of version 4.
func RandomUUID(r *rand.Rand) string {
	var b [16]byte
	for i := 0; i < len(b); i += 8 {
		v := r.Uint64()
		for j := range 8 {
			b[i+j] = byte(v >> (8 * j))
		}
	}
	return uuidText(b, 4)
}

// uuidText writes 16 bytes as a UUID of a version.
func uuidText(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	var out [36]byte
	hex.Encode(out[0:], b[0:4])
	hex.Encode(out[9:], b[4:6])
	hex.Encode(out[14:], b[6:8])
	hex.Encode(out[19:], b[8:10])
	hex.Encode(out[24:], b[10:16])
	out[8], out[13], out[18], out[23] = '-', '-', '-', '-'
	return string(out[:])
}
