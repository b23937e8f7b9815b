package incident

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"github.com/recoverctl/recoverctl/internal/flinkkey"
)

// key is a business key of the job: a string, by which its input is
// partitioned.
type key struct {
	text   string
	digest string // generation 3's last field
	group  int32  // key group
}

// newKey computes what Flink and Flink Agents derive from a key text of ASCII
// characters.
func newKey(text string) key {
	sum := sha256.Sum256(stringBytes(text))
	return key{
		text:   text,
		digest: base64.StdEncoding.EncodeToString(sum[:]),
		group:  flinkkey.Group(flinkkey.JavaHash(text), maxParallelism),
	}
}

// partition is where the records of the key are.
func (k key) partition() int32 { return flinkkey.Partition(k.digest, Partitions) }

// subtask is the one that owns the key's group.
func (k key) subtask() int32 { return k.group * parallelism / maxParallelism }

// recordKey is the key of an action's records.
func (k key) recordKey(seq int64, event, action string) []byte {
	out := make([]byte, 0, 160)
	out = strconv.AppendInt(out, int64(k.group), 10)
	out = append(out, '_')
	out = strconv.AppendInt(out, seq, 10)
	for _, field := range []string{event, action, k.digest} {
		out = append(out, '_')
		out = append(out, field...)
	}
	return out
}

// newReleasedKey is a key whose records lie on a partition where releases 0.1 to
// 0.3 write them: that of the name, or the first with a number behind it.
func newReleasedKey(name string, partition int32) key {
	text := name
	for n := 2; ; n++ {
		if at, ok := flinkkey.PartitionReleased(text+"_", Partitions); ok && at == partition {
			return newKey(text)
		}
		text = name + "-" + strconv.Itoa(n)
	}
}

// releasedRecordKey is the key of an action's records in releases 0.1 to 0.3.
func (k key) releasedRecordKey(seq int64, event, action string) []byte {
	out := append([]byte(k.text), '_')
	out = strconv.AppendInt(out, seq, 10)
	return append(out, "_"+event+"_"+action...)
}

// stringBytes is a text of ASCII characters as Flink's StringSerializer writes
// it.
func stringBytes(text string) []byte {
	return append(appendVarint(nil, len(text)+1), text...)
}

func appendVarint(out []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

// nameUUID is Java's name-based UUID (version 3) of bytes.
func nameUUID(name []byte) string {
	sum := md5.Sum(name)
	return uuidText(sum, 3)
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
