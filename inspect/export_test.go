package inspect

// StateView is what a value says of an action, for tests that compare the two
// ways in which it is read.
type StateView struct {
	Null, Completed bool
	EventType       string
	Calls           []CallView
}

// CallView is one element of the call results.
type CallView struct {
	Absent                   bool
	Function, Args, Status   string
	Named                    bool
	ResultSize, FailureBytes int64
}

// ReadStateFast reads a value the fast way; false: it is left to the other.
func ReadStateFast(value []byte) (StateView, bool) {
	var r stateReader
	var view stateView
	ok := r.fast(value, nil, &view)
	return exported(view), ok
}

// ReadStateAfter reads a value the fast way, as one that follows another with
// the same event. The event's type is then the other's.
func ReadStateAfter(before, value []byte) (view StateView, known, ok bool) {
	var r stateReader
	head := 0
	var kind []byte
	var first, v stateView
	if r.fast(before, nil, &first) {
		head, kind = first.head, first.eventType
	}
	ok = r.fast(value, before[:head], &v)
	if v.known {
		v.eventType = kind
	}
	return exported(v), v.known, ok
}

// ReadStateFull reads a value with the full walker.
func ReadStateFull(value []byte) (view StateView, failure string) {
	var r stateReader
	v, failure := r.full(value)
	return exported(v), failure
}

func exported(v stateView) StateView {
	out := StateView{Null: v.null, Completed: v.completed, EventType: string(v.eventType)}
	for _, c := range v.calls {
		out.Calls = append(out.Calls, CallView{
			Absent: c.absent, Function: string(c.function), Args: string(c.args), Status: string(c.status), Named: c.status != nil,
			ResultSize: c.result, FailureBytes: c.exception,
		})
	}
	return out
}
