package topics

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"iter"
	"strings"
)

// Traffic is what a busy job writes, made up: records of the size and the shape
// of those of a real one, the same on each call.
type Traffic struct {
	Records    int
	Keys       int // business keys
	Size       int // bytes of a value, about
	Partitions int
	Released   bool // keys of generation 1, else of generation 3
}

// steps are the records of one action: begun, one call made, a second one out
// and back, completed.
const steps = 5

// beside is how many actions are open at a time.
const beside = 64

// Stuck is how many of the actions in full rounds never end: one of each hundred
// keys, whose first action goes no further than a call that is out.
func (t Traffic) stuck(key, sequence int) bool { return key%100 == 0 && sequence == 0 }

// All yields the records one by one. Key and value are valid until the next one.
func (t Traffic) All() iter.Seq2[int32, Record] {
	return func(yield func(int32, Record) bool) {
		keys := t.keyTexts()
		padding := strings.Repeat("lorem ipsum dolor sit amet, consetetur ", 1+t.Size/30)
		offsets := make([]int64, t.Partitions)
		written := 0
		for sequence := 0; ; sequence++ {
			for block := 0; block < t.Keys; block += beside {
				for step := range steps {
					for key := block; key < min(block+beside, t.Keys); key++ {
						if t.stuck(key, sequence) && step > 2 {
							continue
						}
						if written == t.Records {
							return
						}
						partition := int32(key % t.Partitions)
						r := Record{
							Partition: partition, Offset: offsets[partition], Timestamp: 1_700_000_000_000 + int64(written),
							Key: t.recordKey(keys[key], key, sequence), Value: t.value(key, sequence, step, padding),
						}
						offsets[partition]++
						written++
						if !yield(partition, r) {
							return
						}
					}
				}
			}
		}
	}
}

func (t Traffic) keyTexts() []string {
	out := make([]string, t.Keys)
	for i := range out {
		out[i] = fmt.Sprintf("customer-%06d", i)
		if !t.Released {
			digest := sha256.Sum256([]byte(out[i]))
			out[i] = base64.StdEncoding.EncodeToString(digest[:])
		}
	}
	return out
}

func (t Traffic) recordKey(text string, key, sequence int) []byte {
	event := fmt.Sprintf("%08x-0000-3000-8000-%012x", key, sequence)
	const action = "aa8af3eb-e148-31a7-8d1b-6d1383a03755"
	if t.Released {
		return fmt.Appendf(nil, "%s_%d_%s_%s", text, sequence, event, action)
	}
	return fmt.Appendf(nil, "%d_%d_%s_%s_%s", key%128, sequence, event, action, text)
}

func (t Traffic) value(key, sequence, step int, padding string) []byte {
	const (
		lookup  = `{"functionId":"lookup","argsDigest":"","resultPayload":"ImN1c3RvbWVyIG9mIGIwIg==","exceptionPayload":null,"status":"SUCCEEDED"}`
		pending = `,{"functionId":"charge","argsDigest":"","resultPayload":null,"exceptionPayload":null,"status":"PENDING"}`
		charged = `,{"functionId":"charge","argsDigest":"","resultPayload":"eyJpZCI6ImIwIiwiY2VudHMiOjEyOTl9","exceptionPayload":null,"status":"SUCCEEDED"}`
	)
	calls := [steps]string{"", lookup, lookup + pending, lookup + charged, ""}[step]
	const frame = 470 // bytes of the rest, without calls
	pad := max(t.Size-frame-len(calls), 0) + frame - 420
	return fmt.Appendf(nil, `{"taskEvent":{"@class":"org.apache.flink.agents.api.InputEvent","id":"%08x-b2bd-43a5-8d1b-%012x","attributes":{"input":{"text":"%s","num":%d,"script":"plain"}},"type":"_input_event"},"sensoryMemoryUpdates":[],"shortTermMemoryUpdates":[],"outputEvents":[],"callResults":[%s],"completed":%t}`,
		key, sequence, padding[:min(pad, len(padding))], sequence, calls, step == steps-1)
}
