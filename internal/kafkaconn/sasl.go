package kafkaconn

import (
	"context"
	"errors"
	"strings"

	"github.com/twmb/franz-go/pkg/sasl/aws"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// The mechanisms, as SASL.name writes them. Kafka writes the last one with
// underscores.
const (
	mechanismPlain  = "PLAIN"
	mechanismSHA256 = "SCRAM-SHA-256"
	mechanismSHA512 = "SCRAM-SHA-512"
	mechanismOAuth  = "OAUTHBEARER"
	mechanismAWS    = "AWS-MSK-IAM"
)

const useMechanism = "use plain, scram-sha-256, scram-sha-512, oauthbearer or aws-msk-iam"

// SASL is a profile's kafka.sasl section.
type SASL struct {
	Mechanism string       // plain, scram-sha-256, scram-sha-512, oauthbearer or aws-msk-iam, in any case
	Username  string       // for aws-msk-iam the id of the access key; empty for oauthbearer
	Password  secret.Value // where Secrets is nil, as Secrets.Password

	// Secrets, where it is not nil, is asked when the connection is opened,
	// and with oauthbearer and aws-msk-iam again for every login after the
	// first: tokens and temporary keys expire. It may be called from several
	// goroutines at once and must end with its context. Its error should be a
	// fault, and must not hold a secret: an operator reads it.
	Secrets SecretsFunc
}

// SecretsFunc fetches what a login needs.
type SecretsFunc func(ctx context.Context) (Secrets, error)

// Secrets is what one login needs besides a name.
type Secrets struct {
	// Password is the password, for oauthbearer the token itself, for
	// aws-msk-iam the secret key. Without a Username, aws-msk-iam takes what an
	// AWS credential process prints: JSON with the whole key.
	Password     secret.Value
	SessionToken secret.Value // of a temporary key with aws-msk-iam; empty: none
}

func (s Secrets) isEmpty() bool { return s.Password.IsEmpty() && s.SessionToken.IsEmpty() }

// name is the mechanism in capital letters, with dashes.
func (s *SASL) name() string {
	return strings.ReplaceAll(strings.ToUpper(strings.TrimSpace(s.Mechanism)), "_", "-")
}

// fetch is the secrets as they are now. An error is a fault.
func (s *SASL) fetch(ctx context.Context) (Secrets, error) {
	if s.Secrets == nil {
		return Secrets{Password: s.Password}, nil
	}
	secrets, err := s.Secrets(ctx)
	switch {
	case err == nil:
		return secrets, nil
	case errors.As(err, new(*fault.Fault)):
		return Secrets{}, err
	case ctx.Err() != nil:
		return Secrets{}, fault.Wrap(fault.KindOf(ctx.Err()), opConnect, plainCause(err), "stopped before the secrets of kafka.sasl were there")
	default:
		return Secrets{}, fault.Wrap(fault.Config, opConnect, plainCause(err), "the secrets of kafka.sasl could not be fetched")
	}
}

// login makes the login, or nil where none is configured, and fetches the
// secrets for the first time: what is wrong with them is found before a broker
// is asked. Encrypted says that connections use TLS.
func (s *SASL) login(ctx context.Context, encrypted bool) (*login, error) {
	if s == nil {
		return nil, nil
	}
	if err := s.check(encrypted); err != nil {
		return nil, err
	}
	first, err := s.fetch(ctx)
	if err != nil {
		return nil, err
	}
	l := &login{sasl: s}
	switch s.name() {
	case mechanismOAuth:
		if _, err := bearerToken(first); err != nil {
			return nil, err
		}
		l.ready, l.Mechanism = &first, oauth.Oauth(l.oauth)
		return l, nil
	case mechanismAWS:
		if _, err := s.accessKey(first); err != nil {
			return nil, err
		}
		l.ready, l.Mechanism = &first, aws.ManagedStreamingIAM(l.aws)
		return l, nil
	}
	password := first.Password.Reveal()
	if password == "" {
		return nil, fault.New(fault.Config, opConnect, "kafka.sasl.password is empty")
	}
	switch s.name() {
	case mechanismPlain:
		l.Mechanism = plain.Auth{User: s.Username, Pass: password}.AsMechanism()
	case mechanismSHA256:
		l.Mechanism = scram.Auth{User: s.Username, Pass: password}.AsSha256Mechanism()
	default:
		l.Mechanism = scram.Auth{User: s.Username, Pass: password}.AsSha512Mechanism()
	}
	return l, nil
}

// check finds what is wrong with the section without its secrets.
func (s *SASL) check(encrypted bool) error {
	switch s.name() {
	case mechanismPlain, mechanismSHA256, mechanismSHA512:
		if s.Username == "" {
			return fault.New(fault.Config, opConnect, "kafka.sasl.username is empty")
		}
	case mechanismOAuth:
		if s.Username != "" {
			return fault.New(fault.Config, opConnect, "kafka.sasl.username has no meaning for oauthbearer, because the token names the user").
				WithHint("remove kafka.sasl.username")
		}
	case mechanismAWS:
		if !encrypted {
			return fault.New(fault.Config, opConnect, "kafka.sasl.mechanism aws-msk-iam needs TLS, and the profile has no kafka.tls").
				WithHint("add kafka.tls to the profile (tls: {} trusts the system's authorities), and give kafka.brokers the port for IAM, 9098 or 9198")
		}
	case "":
		return fault.New(fault.Config, opConnect, "kafka.sasl has no mechanism").WithHint(useMechanism)
	default:
		return fault.New(fault.Config, opConnect, "kafka.sasl.mechanism \"%s\" is not known", safetext.Of(s.Mechanism)).WithHint(useMechanism)
	}
	return nil
}
