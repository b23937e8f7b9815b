package orders

import "math/rand/v2"

// Names of the job's actions and of the calls that they make. Only charges have
// a reconciler, so only they leave a record when they begin.
const (
	auditOrder   = "auditOrder"
	processOrder = "processOrder"
	notifyBuyer  = "notifyBuyer"

	charge  = "payments.charge"
	reserve = "inventory.reserve"
	mail    = "mail.send"
)

// Shape is what happens in a turn: one input of a key, with all its actions.
type Shape int

// The shapes. Those that end come first.
const (
	Audited      Shape = iota // no call
	Notified                  // one call without a reconciler
	Charged                   // one call with a reconciler
	Fulfilled                 // two actions, two calls
	ChargeOpen                // the charge began; nothing more is on record
	ChargeSaved               // the charge was made; the action did not end
	MailSaved                 // the mail was sent; the action did not end
	MailUnderWay              // the action began; a mail leaves no record before it is sent
	Forgotten                 // of release 0.3: the charge began, and a later record has lost it
	ChargedTwice              // of release 0.3: another JVM did all that an ended one had begun
)

// Len is how many states a turn leaves.
func (s Shape) Len() int {
	return [...]int{
		Audited: 2, Notified: 3, Charged: 4, Fulfilled: 7, ChargeOpen: 2, ChargeSaved: 3, MailSaved: 2, MailUnderWay: 1, Forgotten: 4, ChargedTwice: 6,
	}[s]
}

// Ends reports whether every action of the turn ends.
func (s Shape) Ends() bool { return s <= Fulfilled }

// Released reports whether the turn was release 0.3's, whose keys have another
// layout.
func (s Shape) Released() bool { return s == Forgotten || s == ChargedTwice }

// Pick draws a turn that ends, so that the states left can be filled to the last
// one: two or three of them can, one can't.
func Pick(r *rand.Rand, left int) Shape {
	shape := [...]Shape{Audited, Notified, Notified, Charged, Charged, Charged, Fulfilled, Audited}[r.IntN(8)]
	switch rest := left - shape.Len(); {
	case left == Notified.Len():
		return Notified
	case rest < 0 || rest == 1:
		return Audited
	default:
		return shape
	}
}

// When is when a state was written.
type When int

// The moments.
const (
	Begins        When = iota // the turn begins with it
	SoonAfter                 // right after the one before
	AfterARestart             // the job was down since the one before
)

// Turn is one input of a key.
type Turn struct {
	Key    Key
	Seq    int64
	Number int // of the order
	Shape  Shape
}

// Write gives the states of a turn in their order: record keys and values, which are
// the caller's.
func (t Turn) Write(r *rand.Rand, add func(recordKey, value []byte, at When)) error {
	e := NewEvent(r, t.Key, t.Number)
	w := turnWriter{Turn: t, r: r, event: e, uuid: NameUUID(e.Attributes), give: add}
	if t.Shape.Released() {
		return w.released()
	}
	begun, ended, outcome := w.charge()
	sent := Call{mail, Succeeded, `{"messageId":"` + e.ID[:13] + `"}`}
	reserved := Call{reserve, Succeeded, `{"reservation":"r-` + e.Order[4:] + `"}`}
	switch t.Shape {
	case Audited:
		return w.action(auditOrder, "")
	case Notified:
		return w.action(notifyBuyer, "notified", []Call{sent})
	case Charged:
		return w.action(processOrder, outcome, []Call{begun}, []Call{ended})
	case Fulfilled:
		if err := w.action(auditOrder, ""); err != nil {
			return err
		}
		return w.action(processOrder, outcome, []Call{reserved}, []Call{reserved, begun}, []Call{reserved, ended})
	case ChargeOpen:
		return w.action(processOrder, "", []Call{begun})
	case ChargeSaved:
		return w.action(processOrder, "", []Call{begun}, []Call{w.charged()})
	case MailSaved:
		return w.action(notifyBuyer, "", []Call{sent})
	default:
		return w.action(notifyBuyer, "")
	}
}

// turnWriter gives the states of one turn.
type turnWriter struct {
	Turn
	r     *rand.Rand
	event Event
	uuid  string
	give  func(recordKey, value []byte, at When)
	begun bool
}

func (w *turnWriter) add(recordKey, value []byte) {
	at := SoonAfter
	if !w.begun {
		at = Begins
	}
	w.begun = true
	w.give(recordKey, value, at)
}

// action gives the states of one action: as it begins, after each change of its
// calls, and as it ends if the turn does.
func (w *turnWriter) action(name, outcome string, states ...[]Call) error {
	recordKey := w.Key.RecordKey(w.Seq, w.uuid, NameUUID([]byte(name)))
	for _, calls := range append([][]Call{nil}, states...) {
		w.add(recordKey, w.event.Open(calls))
	}
	if !w.Shape.Ends() {
		return nil
	}
	value, err := w.event.Done(w.r, outcome)
	if err != nil {
		return err
	}
	w.add(recordKey, value)
	return nil
}

// charged is a call of the payment provider that went well.
func (w *turnWriter) charged() Call {
	return Call{charge, Succeeded, `{"receipt":"ch_` + w.event.ID[:8] + `","orderId":"` + w.event.Order + `"}`}
}

// charge is a call of the payment provider before and after its answer. About
// one in thirty fails.
func (w *turnWriter) charge() (begun, ended Call, outcome string) {
	begun = Call{Function: charge, Status: Pending}
	if w.r.IntN(30) == 0 {
		return begun, Call{charge, Failed, `{"exceptionClass":"java.net.SocketTimeoutException","message":"Read timed out"}`}, "declined"
	}
	return begun, w.charged(), "charged"
}

// hashCodes are those that two JVMs had for processOrder: releases up to 0.3 name
// an action by the decimal text of it.
var hashCodes = [...]string{"1804379080", "693632176"}

// released gives what release 0.3 left of one input: states with keys of its
// layout.
func (w *turnWriter) released() error {
	key := func(jvm int) []byte {
		return w.Key.ReleasedRecordKey(w.Seq, w.uuid, NameUUID([]byte(hashCodes[jvm])))
	}
	begun := []Call{{Function: charge, Status: Pending}}
	if w.Shape == Forgotten {
		for _, calls := range [][]Call{nil, begun, nil, nil} {
			w.add(key(1), w.event.Open(calls))
		}
		return nil
	}
	w.add(key(0), w.event.Open(nil))
	w.add(key(0), w.event.Open(begun))
	w.give(key(1), w.event.Open(nil), AfterARestart)
	w.add(key(1), w.event.Open(begun))
	w.add(key(1), w.event.Open([]Call{w.charged()}))
	value, err := w.event.Done(w.r, "charged")
	if err != nil {
		return err
	}
	w.add(key(1), value)
	return nil
}
