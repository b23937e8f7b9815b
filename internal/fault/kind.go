package fault

// Kind says what sort of failure this is. Every kind has one stable exit code
// and one stable word, the code in JSON output.
type Kind uint8

// The kinds, in the order of their exit codes. The zero Kind is Bug: an error
// that nobody classified is our own mistake until shown otherwise.
const (
	Bug         Kind = iota // 70: a defect in this program
	Problem                 // 1: it worked and found problems
	Usage                   // 2: the command line is wrong
	Config                  // 3: the configuration is wrong
	Unreachable             // 4: unreachable or timed out; nothing could be said
	Denied                  // 5: refused by a server's ACL or by our own policy
	NotFound                // 6: the thing asked for does not exist
	Drift                   // 7: the world changed since the plan, or contradicts it
	Partial                 // 8: some of it was done
	Corrupt                 // 9: input or data is damaged
	Unsupported             // 10: a version or format this program does not know
	Busy                    // 11: a lock is held
	Unknown                 // 12: the outcome of a write is not known
	Cancelled               // 130: the operator said stop
)

type kindFacts struct {
	word string
	exit int
}

func (k Kind) facts() kindFacts {
	switch k {
	case Problem:
		return kindFacts{"problem", 1}
	case Usage:
		return kindFacts{"usage", 2}
	case Config:
		return kindFacts{"config", 3}
	case Unreachable:
		return kindFacts{"unreachable", 4}
	case Denied:
		return kindFacts{"denied", 5}
	case NotFound:
		return kindFacts{"not-found", 6}
	case Drift:
		return kindFacts{"drift", 7}
	case Partial:
		return kindFacts{"partial", 8}
	case Corrupt:
		return kindFacts{"corrupt", 9}
	case Unsupported:
		return kindFacts{"unsupported", 10}
	case Busy:
		return kindFacts{"busy", 11}
	case Unknown:
		return kindFacts{"unknown-outcome", 12}
	case Cancelled:
		return kindFacts{"cancelled", 130}
	default:
		return kindFacts{"bug", 70}
	}
}

// String is the kind's word, as in "unreachable".
func (k Kind) String() string { return k.facts().word }

// Exit is the process exit code of the kind.
func (k Kind) Exit() int { return k.facts().exit }
