package orders

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/recoverctl/recoverctl/internal/kryo"
)

// CallStatus is a call's state as its record says it.
type CallStatus string

// The states.
const (
	Pending   CallStatus = "PENDING"
	Succeeded CallStatus = "SUCCEEDED"
	Failed    CallStatus = "FAILED"
)

// Call is one durable call of an action.
type Call struct {
	Function string
	Status   CallStatus
	Payload  string // JSON of the result, or of the exception where it failed
}

// Event is what an action works on.
type Event struct {
	ID         string // random
	Attributes []byte // JSON, keys sorted: its hash is the event's uuid
	Order      string
}

// NewEvent makes an order of a key.
func NewEvent(r *rand.Rand, k Key, number int) Event {
	order := fmt.Sprintf("ord-%07d", number)
	out := make([]byte, 0, 160)
	out = append(out, `{"input":{"amountCents":`...)
	out = strconv.AppendInt(out, int64(990+r.IntN(250)*100), 10)
	out = append(out, `,"currency":"EUR","customer":"`...)
	out = append(out, k.Text...)
	out = append(out, `","items":`...)
	out = strconv.AppendInt(out, int64(1+r.IntN(6)), 10)
	out = append(out, `,"orderId":"`...)
	out = append(out, order...)
	out = append(out, `"}}`...)
	return Event{ID: RandomUUID(r), Attributes: out, Order: order}
}

// Open is the value of an action that has not ended.
func (e Event) Open(calls []Call) []byte {
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

// Done is the value of an action that has ended. Its calls are gone; what it
// remembered and sent is kept.
func (e Event) Done(r *rand.Rand, outcome string) ([]byte, error) {
	out := e.begin()
	out = append(out, `,"sensoryMemoryUpdates":[],"shortTermMemoryUpdates":[`...)
	if outcome != "" {
		remembered, err := kryo.Encode(kryo.Gen5, kryo.Text(e.Order), nil)
		if err != nil {
			return nil, fmt.Errorf("orders: memory update: %w", err)
		}
		out = append(out, `{"path":"lastOrder","value":{"serde":"kryo","version":1,"payload":"`...)
		out = base64.StdEncoding.AppendEncode(out, remembered)
		out = append(out, `"}}],"outputEvents":[{"@class":"org.apache.flink.agents.api.OutputEvent","id":"`...)
		out = append(out, RandomUUID(r)...)
		out = append(out, `","attributes":{"output":{"orderId":"`...)
		out = append(out, e.Order...)
		out = append(out, `","outcome":"`...)
		out = append(out, outcome...)
		out = append(out, `"}},"type":"_output_event"}],"callResults":[],"completed":true}`...)
		return out, nil
	}
	return append(out, `],"outputEvents":[],"callResults":[],"completed":true}`...), nil
}

func (e Event) begin() []byte {
	out := make([]byte, 0, 900)
	out = append(out, `{"taskEvent":{"@class":"org.apache.flink.agents.api.InputEvent","id":"`...)
	out = append(out, e.ID...)
	out = append(out, `","attributes":`...)
	out = append(out, e.Attributes...)
	return append(out, `,"type":"_input_event"}`...)
}

// append writes the call as an element of callResults. The digest of the
// arguments of a Java call is always empty.
func (c Call) append(out []byte) []byte {
	payload := func(name string, present bool) {
		out = append(out, `,"`...)
		out = append(out, name...)
		if !present {
			out = append(out, `":null`...)
			return
		}
		out = append(out, `":"`...)
		out = base64.StdEncoding.AppendEncode(out, []byte(c.Payload))
		out = append(out, '"')
	}
	out = append(out, `{"functionId":"`...)
	out = append(out, c.Function...)
	out = append(out, `","argsDigest":""`...)
	payload("resultPayload", c.Status == Succeeded)
	payload("exceptionPayload", c.Status == Failed)
	out = append(out, `,"status":"`...)
	out = append(out, c.Status...)
	return append(out, `"}`...)
}
