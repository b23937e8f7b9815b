package incident

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/recoverctl/recoverctl/internal/flinkkey"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

// Typed keys of text with what Flink and Flink Agents derive from them, as
// their own Java code computed it.
//
//go:embed testdata/typed.json
var typedKeys []byte

func TestKeysAreWhatFlinkMakesOfThem(t *testing.T) {
	var file struct {
		Cases []struct {
			Name, Value, Serialized, Digest string
			JavaHash                        int32
			KeyGroup, Partition             map[string]int32
			Seq                             int64
			EventBytes, EventUUID           string
			Action, ActionUUID              string
			RecordKey                       string
		}
	}
	if err := json.Unmarshal(typedKeys, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 20 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			k := orders.NewKey(c.Value)

			if want, err := hex.DecodeString(c.Serialized); err != nil || !bytes.Equal(orders.StringBytes(c.Value), want) {
				t.Errorf("serialized %x, want %s (%v)", orders.StringBytes(c.Value), c.Serialized, err)
			}
			if got := flinkkey.JavaHash(c.Value); got != c.JavaHash {
				t.Errorf("hash code %d, want %d", got, c.JavaHash)
			}
			if k.Digest != c.Digest || k.Group != c.KeyGroup["128"] || partitionOf(k) != c.Partition["64"] {
				t.Errorf("digest %s, key group %d, partition %d; want %s, %d, %d",
					k.Digest, k.Group, partitionOf(k), c.Digest, c.KeyGroup["128"], c.Partition["64"])
			}
			event, action := orders.NameUUID([]byte(c.EventBytes)), orders.NameUUID([]byte(c.Action))
			if event != c.EventUUID || action != c.ActionUUID {
				t.Errorf("event %s, action %s; want %s, %s", event, action, c.EventUUID, c.ActionUUID)
			}
			if got := k.RecordKey(c.Seq, event, action); string(got) != c.RecordKey {
				t.Errorf("record key %s, want %s", got, c.RecordKey)
			}
		})
	}
}
