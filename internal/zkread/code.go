package zkread

import (
	"fmt"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Code is what a server says of a request: 0, or why it refused.
type Code int32

// The codes that a reader meets, by the names of KeeperException.
const (
	OK                       Code = 0
	SystemError              Code = -1
	ConnectionLoss           Code = -4
	OperationTimeout         Code = -7
	BadArguments             Code = -8
	NoNode                   Code = -101
	NoAuth                   Code = -102
	SessionExpired           Code = -112
	AuthFailed               Code = -115
	SessionMoved             Code = -118
	SessionClosedRequireSASL Code = -124
	ThrottledOp              Code = -127
)

// codeNames are the names by which ZooKeeper's own client tells them.
var codeNames = map[Code]string{
	OK: "Ok", SystemError: "SystemError", ConnectionLoss: "ConnectionLoss", OperationTimeout: "OperationTimeout", BadArguments: "BadArguments", NoNode: "NoNode", NoAuth: "NoAuth",
	SessionExpired: "SessionExpired", AuthFailed: "AuthFailed", SessionMoved: "SessionMoved", SessionClosedRequireSASL: "SessionClosedRequireSaslAuth", ThrottledOp: "ThrottledOp",
}

func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return fmt.Sprintf("code %d", int32(c))
}

// Error is a server's refusal.
type Error struct {
	Code Code
}

func (e *Error) Error() string { return "ZooKeeper answers " + e.Code.String() }

// ended reports whether the session ended with the answer, so that a new one may be
// told more.
func (e *Error) ended() bool { return e.Code == SessionExpired || e.Code == SessionMoved }

// refused is the fault of an answer with a code.
func (c *Conn) refused(path string, e *Error) error {
	kind, hint := e.Code.advice()
	return fault.Wrap(kind, "ask ZooKeeper", e, "%s does not give %s", safetext.Of(c.address), safetext.Of(path)).WithHint("%s", hint).WithRef(c.ref())
}

// shut is the fault of everything else that is asked, or was, when an answer ends
// the session.
func (c *Conn) shut(e *Error) error {
	kind, hint := e.Code.advice()
	return fault.Wrap(kind, "ask ZooKeeper", e, "%s ended the session", safetext.Of(c.address)).WithHint("%s", hint).WithRef(c.ref())
}

// ends reports whether a server closes the connection behind an answer with the code.
func (c Code) ends() bool {
	switch c {
	case AuthFailed, SessionClosedRequireSASL, SessionExpired, SessionMoved:
		return true
	}
	return false
}

// advice is what a code means to the operator, and what to do.
func (c Code) advice() (kind fault.Kind, hint string) {
	switch c {
	case NoNode:
		return fault.NotFound, "does fluss.zookeeper.path of the job say the cluster's zookeeper.path.root (/fluss by default)?"
	case NoAuth:
		return fault.Denied, "the node's ACL lets only others read it, and no login is sent from here: give world:anyone READ on it, or leave fluss.zookeeper out"
	case AuthFailed, SessionClosedRequireSASL:
		return fault.Denied, "this ensemble lets nobody in without a SASL login, which is not spoken here: leave fluss.zookeeper out, and what only ZooKeeper tells stays unknown"
	case SessionExpired, SessionMoved:
		return fault.Unreachable, "ask again: a new session is opened"
	case ThrottledOp, OperationTimeout:
		return fault.Unreachable, "the server is overloaded: ask again later"
	default:
		return fault.Unreachable, "look at the ZooKeeper server's log"
	}
}
