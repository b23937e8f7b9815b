package kafkaconn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// tooOld is how franz-go's own error for a broker without a request begins;
// the error is not exported.
const tooOld = "broker is too old"

// Explain is the fault for an error that franz-go or kadm returned to req. It
// is nil for nil, and a fault in err stays as it is. The lost answer of a
// request that writes is Unknown: it may have been done.
func Explain(err error, req Request, about ...Ref) *fault.Fault {
	if err == nil {
		return nil
	}
	var shards *kadm.ShardErrors
	if errors.As(err, &shards) && len(shards.Errs) > 0 {
		err = shards.Errs[0].Err
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	e := explanation{req: req, about: "the cluster", err: err}
	if len(about) > 0 {
		words := make([]string, len(about))
		for i, ref := range about {
			words[i] = string(ref)
		}
		e.about = strings.Join(words, ", ")
	}
	out := e.fault()
	for _, ref := range about {
		out = out.WithRef(string(ref))
	}
	return out
}

// Explain is Explain with what this connection knows besides: the login that a
// broker refused, and the brokers that can't be connected to, or the logins
// that can't be made, at present. Franz-go replaces the reason of a failed
// connection with a general one when it retries.
func (c *Conn) Explain(err error, req Request, about ...Ref) *fault.Fault {
	out := Explain(err, req, about...)
	switch {
	case out == nil:
		return nil
	case errors.As(err, new(*fault.Fault)):
		return out
	case c.login != nil && errors.Is(err, kerr.SaslAuthenticationFailed):
		clone := *out
		clone.Message += " (it refused " + c.login.offered() + ")"
		return clone.WithHint("%s", c.login.advice())
	case out.Kind != fault.Unreachable && out.Kind != fault.Unknown:
		return out
	}
	var known []string
	if c.login != nil {
		if trouble := c.login.trouble(); trouble != "" {
			known = append(known, trouble)
		}
	}
	if failed := c.dialer.failed(); len(failed) > 0 && !errors.As(err, new(*dialError)) {
		words := make([]string, 0, len(failed))
		for _, f := range failed {
			words = append(words, fmt.Sprintf("%s: %s", f.where(), safetext.Error(innermost(f.err))))
		}
		known = append(known, "no connection to "+strings.Join(words, "; "))
	}
	if len(known) == 0 {
		return out
	}
	clone := *out
	clone.Message += " (" + strings.Join(known, "; ") + ")"
	return &clone
}

// where is the broker that could not be connected to, and how its address is
// known.
func (e *dialError) where() string {
	where := "broker " + safetext.Of(e.addr).String()
	if e.advertised {
		where += ", an address that the cluster advertises"
	}
	return where
}

// explanation is one error on its way to a fault.
type explanation struct {
	req   Request
	about string
	err   error
}

func (e explanation) fault() *fault.Fault {
	if server, ok := errors.AsType[*kerr.Error](e.err); ok {
		return e.server(server)
	}
	return e.client()
}

// wrap makes the fault. Its cause is the error with a text that is safe.
func (e explanation) wrap(kind fault.Kind, format string, args ...any) *fault.Fault {
	return fault.Wrap(kind, e.req.String(), plainCause(e.err), "%s: %s", e.about, fmt.Sprintf(format, args...))
}

// server is the fault for a code that Kafka answered.
func (e explanation) server(code *kerr.Error) *fault.Fault {
	right := e.req.Right()
	switch code {
	case kerr.TopicAuthorizationFailed:
		return e.wrap(fault.Denied, "the cluster denies the right %s on the topic, which is needed to %s", right, e.req).
			WithHint("ask for an ACL that allows %s on the topic, or use another user (kafka.sasl)", right)
	case kerr.ClusterAuthorizationFailed:
		return e.wrap(fault.Denied, "the cluster denies the right %s on the cluster, which is needed to %s", right, e.req).
			WithHint("ask for an ACL that allows %s on the cluster, or use another user (kafka.sasl)", right)
	case kerr.GroupAuthorizationFailed, kerr.TransactionalIDAuthorizationFailed, kerr.SaslAuthenticationFailed:
		return e.wrap(fault.Denied, "the cluster denied the request to %s", e.req).
			WithHint("check kafka.sasl, and the user's ACLs")
	case kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState:
		return e.wrap(fault.Config, "the listener does not accept the login").
			WithHint("check kafka.sasl.mechanism, and the port in kafka.brokers")
	case kerr.UnknownTopicOrPartition, kerr.UnknownTopicID:
		return e.wrap(fault.NotFound, "it does not exist on this cluster, or this user may not see it").
			WithHint("check the name, and that the profile is for the right cluster; without the right Describe a topic looks absent")
	case kerr.InconsistentTopicID, kerr.TopicAlreadyExists:
		return e.wrap(fault.Drift, "the topic was created or deleted meanwhile").WithHint("look again, and plan again")
	case kerr.OffsetOutOfRange:
		return e.wrap(fault.Drift, "an offset is outside the log, which was trimmed or recreated meanwhile").
			WithHint("list the offsets again: the log start or the log end moved")
	case kerr.PolicyViolation:
		return e.policy()
	case kerr.UnsupportedVersion, kerr.UnsupportedForMessageFormat, kerr.UnsupportedCompressionType, kerr.SecurityDisabled:
		return e.wrap(fault.Unsupported, "this cluster does not support the request to %s", e.req).
			WithHint("the brokers are older than this request, or it is switched off there")
	case kerr.CorruptMessage, kerr.InvalidRecord:
		return e.wrap(fault.Corrupt, "a record is damaged or not allowed on the topic")
	case kerr.InvalidTopicException, kerr.InvalidConfig, kerr.InvalidPartitions, kerr.InvalidReplicationFactor:
		return e.wrap(fault.Config, "the cluster does not accept the topic's name or settings")
	case kerr.RequestTimedOut, kerr.NetworkException, kerr.NotEnoughReplicasAfterAppend, kerr.UnknownServerError:
		return e.lost("the broker could not finish the request to %s", e.req)
	case kerr.LeaderNotAvailable, kerr.NotLeaderForPartition, kerr.ReplicaNotAvailable, kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch:
		return e.wrap(fault.Unreachable, "no broker leads the partition at present").
			WithHint("try again; if it stays, the partition's brokers are down")
	default:
		return e.wrap(fault.Unreachable, "the cluster could not serve the request to %s", e.req).WithHint("try again, and see the brokers' logs if it stays")
	}
}

// policy is the fault for POLICY_VIOLATION. Brokers have one policy of their
// own: records of a topic that is only compacted are not deleted.
func (e explanation) policy() *fault.Fault {
	if e.req == DeleteRecords {
		return e.wrap(fault.Denied, "the cluster deletes no records of a topic whose cleanup.policy is compact alone").
			WithHint("cleanup.policy must contain delete")
	}
	return e.wrap(fault.Denied, "a policy of the cluster forbids the request to %s", e.req).WithHint("ask who runs the cluster")
}

// client is the fault for an error that no broker put into words.
func (e explanation) client() *fault.Fault {
	dial, _ := errors.AsType[*dialError](e.err)
	switch {
	case errors.Is(e.err, context.Canceled), errors.Is(e.err, kgo.ErrClientClosed):
		if e.req.Writes() {
			return e.wrap(fault.Unknown, "stopped before the answer came")
		}
		return e.wrap(fault.Cancelled, "stopped before the answer came")
	case strings.HasPrefix(innermost(e.err).Error(), tooOld):
		return e.wrap(fault.Unsupported, "this cluster is too old for the request to %s", e.req)
	case isDataLoss(e.err):
		return e.wrap(fault.Drift, "records that were there are gone").WithHint("list the offsets again, and read again from the new log start")
	case dial != nil:
		return e.lost("%s could not be connected to", dial.where())
	case isTimeout(e.err):
		return e.lost("no answer in time to the request to %s", e.req)
	case isClosed(e.err), kgo.IsRetryableBrokerErr(e.err):
		return e.lost("the connection was lost")
	default:
		return e.lost("the request to %s failed", e.req)
	}
}

// lost is the fault for a request without an answer: nothing could be read, or
// it is unknown whether something was written.
func (e explanation) lost(format string, args ...any) *fault.Fault {
	if e.req.Writes() {
		return e.wrap(fault.Unknown, "%s, so it is unknown whether it was done", fmt.Sprintf(format, args...)).
			WithHint("read the state again before anything else is done")
	}
	return e.wrap(fault.Unreachable, "%s", fmt.Sprintf(format, args...)).WithHint("check the brokers and the network, then try again")
}

func isDataLoss(err error) bool {
	_, ok := errors.AsType[*kgo.ErrDataLoss](err)
	return ok
}
