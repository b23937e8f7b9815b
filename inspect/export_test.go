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
	view, ok := r.fast(value)
	return exported(view), ok
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
