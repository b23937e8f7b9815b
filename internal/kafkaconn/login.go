package kafkaconn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
	"github.com/twmb/franz-go/pkg/sasl/oauth"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// login is the SASL mechanism of every client here. Where secrets expire it
// fetches them for each login, and it remembers what an operator must hear
// about the last ones: franz-go retries what failed, and tells only that
// nothing came of it.
type login struct {
	sasl.Mechanism
	sasl *SASL

	mu       sync.Mutex
	ready    *Secrets // fetched when opening, for the first login
	fetching int      // logins that wait for their secrets now
	failure  error    // of the last fetch; nil: it succeeded
	expires  time.Time
	key      string // id of the access key that was used last
}

// answerError is a broker's answer in a login that does not fit the mechanism.
type answerError struct{ err error }

func (e *answerError) Error() string { return e.err.Error() }
func (e *answerError) Unwrap() error { return e.err }

// answers passes a broker's answers on and marks the errors about them.
type answers struct{ sasl.Session }

// Challenge implements sasl.Session.
func (a answers) Challenge(answer []byte) (done bool, next []byte, err error) {
	done, next, err = a.Session.Challenge(answer)
	if err != nil {
		err = &answerError{err}
	}
	return done, next, err
}

// Authenticate implements sasl.Mechanism. An error is a fault.
func (l *login) Authenticate(ctx context.Context, broker string) (sasl.Session, []byte, error) {
	session, first, err := l.Mechanism.Authenticate(ctx, broker)
	if err != nil {
		return nil, nil, l.unprepared(err, broker)
	}
	return answers{session}, first, nil
}

// unprepared is the fault for a login that failed before anything was sent. A
// fault is about the secrets; what else fails is the region that a login to
// AWS is signed for.
func (l *login) unprepared(err error, broker string) error {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	return fault.Wrap(fault.Config, opConnect, plainCause(err), "a login to broker %s with %s can't be prepared", safetext.Of(broker), l.Name()).
		WithHint("brokers in kafka.brokers must have the names that AWS gave them, or the variable AWS_REGION must name the cluster's region")
}

// next is the secrets for one login.
func (l *login) next(ctx context.Context) (Secrets, error) {
	l.mu.Lock()
	ready := l.ready
	l.ready = nil
	if ready != nil {
		l.mu.Unlock()
		return *ready, nil
	}
	l.fetching++
	l.mu.Unlock()

	secrets, err := l.sasl.fetch(ctx)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.fetching--
	if ctx.Err() == nil { // else its client was closed, which is nobody's failure
		l.failure = err
	}
	return secrets, err
}

// failed notes that the secrets of a login are of no use.
func (l *login) failed(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failure = err
	return err
}

// oauth is the token for one login.
func (l *login) oauth(ctx context.Context) (oauth.Auth, error) {
	secrets, err := l.next(ctx)
	if err != nil {
		return oauth.Auth{}, err
	}
	token, err := bearerToken(secrets)
	if err != nil {
		return oauth.Auth{}, l.failed(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expires = tokenExpiry(token)
	return oauth.Auth{Token: token}, nil
}

// aws is the access key for one login.
func (l *login) aws(ctx context.Context) (aws.Auth, error) {
	secrets, err := l.next(ctx)
	if err != nil {
		return aws.Auth{}, err
	}
	key, err := l.sasl.accessKey(secrets)
	if err != nil {
		return aws.Auth{}, l.failed(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.key, l.expires = key.id, key.expires
	return aws.Auth{
		AccessKey: key.id, SecretKey: key.secret.Reveal(), SessionToken: key.session.Reveal(), UserAgent: clientID,
	}, nil
}

// trouble is what keeps logins from being made at present, or empty.
func (l *login) trouble() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.failure != nil:
		return "no login: " + l.failure.Error()
	case l.fetching > 0:
		return "the login still waits for the secrets of kafka.sasl"
	default:
		return ""
	}
}

// offered is what a broker was offered last, as in "the login of user ops".
func (l *login) offered() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	what := "the login of user " + safetext.Of(l.sasl.Username).String()
	switch l.sasl.name() {
	case mechanismOAuth:
		what = "the login with the token"
	case mechanismAWS:
		what = "the login with access key " + safetext.Of(l.key).String()
	}
	if l.expired() {
		what += fmt.Sprintf(", which expired at %s", l.expires.UTC().Format(time.RFC3339))
	}
	return what
}

// advice is what to do when a broker does not like what it was offered.
func (l *login) advice() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch name := l.sasl.name(); {
	case l.expired():
		return "let kafka.sasl.password give a fresh one (it is asked for every login; what was typed at a prompt is kept), and check this machine's clock"
	case name == mechanismOAuth:
		return "check that kafka.sasl.password gives a token that is made for this cluster and has not expired"
	case name == mechanismAWS:
		return "check that the access key is active, that its secret and session token belong to it, that its policy allows kafka-cluster:Connect, and this machine's clock"
	default:
		return "check kafka.sasl.username and kafka.sasl.password, and that the user exists for " + l.Name()
	}
}

// expired reports whether the last secrets say of themselves that their time
// is over. The caller holds mu.
func (l *login) expired() bool { return !l.expires.IsZero() && time.Now().After(l.expires) }
