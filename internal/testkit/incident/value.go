package incident

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/recoverctl/recoverctl/internal/kryo"
)

// callStatus is a call's state as its record says it.
type callStatus string

const (
	pending   callStatus = "PENDING"
	succeeded callStatus = "SUCCEEDED"
	failed    callStatus = "FAILED"
)

// call is one durable call of an action.
type call struct {
	function string
	status   callStatus
	payload  string // JSON of the result, or of the exception where it failed
}

// event is what an action works on.
type event struct {
	id         string // random
	attributes []byte // JSON, keys sorted: its hash is the event's uuid
	order      string
}

// newEvent makes an order of a key.
func newEvent(r *rand.Rand, k key, number int) event {
	order := fmt.Sprintf("ord-%07d", number)
	out := make([]byte, 0, 160)
	out = append(out, `{"input":{"amountCents":`...)
	out = strconv.AppendInt(out, int64(990+r.IntN(250)*100), 10)
	out = append(out, `,"currency":"EUR","customer":"`...)
	out = append(out, k.text...)
	out = append(out, `","items":`...)
	out = strconv.AppendInt(out, int64(1+r.IntN(6)), 10)
	out = append(out, `,"orderId":"`...)
	out = append(out, order...)
	out = append(out, `"}}`...)
	return event{id: randomUUID(r), attributes: out, order: order}
}

func randomUUID(r *rand.Rand) string {
	var b [16]byte
	for i := 0; i < len(b); i += 8 {
		v := r.Uint64()
		for j := range 8 {
			b[i+j] = byte(v >> (8 * j))
		}
	}
	return uuidText(b, 4)
}

// open is the value of an action that has not ended.
func (e event) open(calls []call) []byte {
	out := e.begin()
	out = append(out, `,"sensoryMemoryUpdates":[],"shortTermMemoryUpdates":[],"outputEvents":[],"callResults":[`...)
	for i, c := range calls {
		if i > 0 {
			out = append(out, ',')
		}
		out = c.append(out)
	}
	return append(out, `],"completed":false}`...)
}

// done is the value of an action that has ended. Its calls are gone; what it
// remembered and sent is kept.
func (e event) done(r *rand.Rand, outcome string) ([]byte, error) {
	out := e.begin()
	out = append(out, `,"sensoryMemoryUpdates":[],"shortTermMemoryUpdates":[`...)
	if outcome != "" {
		remembered, err := kryo.Encode(kryo.Gen5, kryo.Text(e.order), nil)
		if err != nil {
			return nil, fmt.Errorf("incident: memory update: %w", err)
		}
		out = append(out, `{"path":"lastOrder","value":{"serde":"kryo","version":1,"payload":"`...)
		out = base64.StdEncoding.AppendEncode(out, remembered)
		out = append(out, `"}}],"outputEvents":[{"@class":"org.apache.flink.agents.api.OutputEvent","id":"`...)
		out = append(out, randomUUID(r)...)
		out = append(out, `","attributes":{"output":{"orderId":"`...)
		out = append(out, e.order...)
		out = append(out, `","outcome":"`...)
		out = append(out, outcome...)
		out = append(out, `"}},"type":"_output_event"}],"callResults":[],"completed":true}`...)
		return out, nil
	}
	return append(out, `],"outputEvents":[],"callResults":[],"completed":true}`...), nil
}

func (e event) begin() []byte {
	out := make([]byte, 0, 900)
	out = append(out, `{"taskEvent":{"@class":"org.apache.flink.agents.api.InputEvent","id":"`...)
	out = append(out, e.id...)
	out = append(out, `","attributes":`...)
	out = append(out, e.attributes...)
	return append(out, `,"type":"_input_event"}`...)
}

// append writes the call as an element of callResults. The digest of the
// arguments of a Java call is always empty.
func (c call) append(out []byte) []byte {
	payload := func(name string, present bool) {
		out = append(out, `,"`...)
		out = append(out, name...)
		if !present {
			out = append(out, `":null`...)
			return
		}
		out = append(out, `":"`...)
		out = base64.StdEncoding.AppendEncode(out, []byte(c.payload))
		out = append(out, '"')
	}
	out = append(out, `{"functionId":"`...)
	out = append(out, c.function...)
	out = append(out, `","argsDigest":""`...)
	payload("resultPayload", c.status == succeeded)
	payload("exceptionPayload", c.status == failed)
	out = append(out, `,"status":"`...)
	out = append(out, c.status...)
	return append(out, `"}`...)
}
