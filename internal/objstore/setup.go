package objstore

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const op = "read object store"

// service sets the client up when it is first needed, and again after a failure:
// a variable or file that was wrong may be right the next time.
func (c *Client) service(ctx context.Context) (*s3.Client, error) {
	select {
	case c.setUp <- struct{}{}:
		defer func() { <-c.setUp }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r := c.ready.Load(); r != nil {
		return r.api, nil
	}
	options := []func(*awsconfig.LoadOptions) error{
		awsconfig.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(c.bound)),
		awsconfig.WithLogger(logging.Nop{}), // its lines would fall into the console's frame
	}
	if c.config.Region != "" {
		options = append(options, awsconfig.WithRegion(c.config.Region))
	}
	if c.config.Keys != nil {
		options = append(options, awsconfig.WithCredentialsProvider(given{c.config.Keys}))
		if c.config.Region != "" { // then nothing of the tools' own files is asked for
			options = append(options, awsconfig.WithSharedConfigFiles([]string{}), awsconfig.WithSharedCredentialsFiles([]string{}))
		}
	}
	cfg, err := awsconfig.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fault.New(fault.Config, op, "what AWS's tools are configured with can't be used: %s", safetext.Error(err).Truncate(300)).
			WithHint("check the variables AWS_… and the files ~/.aws/config and ~/.aws/credentials")
	}
	if cfg.Region == "" {
		cfg.Region = defaultRegion
	}
	if c.config.Keys == nil {
		cfg.Credentials = aws.NewCredentialsCache(found{cfg.Credentials})
	}
	built, ok := cfg.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		return nil, fault.New(fault.Bug, op, "the HTTP client became a %T", cfg.HTTPClient)
	}
	now := &ready{transport: built.GetTransport(), region: cfg.Region} // with the authorities of AWS_CA_BUNDLE
	now.api = s3.NewFromConfig(cfg, func(o *s3.Options) {
		if c.config.Endpoint != "" {
			o.BaseEndpoint = aws.String(c.config.Endpoint)
		}
		now.endpoint = aws.ToString(o.BaseEndpoint)
		// An endpoint of the tools' own configuration can't say how it wants the
		// bucket. Stores that are not AWS's all take it in the path.
		o.UsePathStyle = c.config.PathStyle || c.config.Endpoint == "" && now.endpoint != "" && !strings.Contains(now.endpoint, ".amazonaws.")
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		o.DisableLogOutputChecksumValidationSkipped = true
		o.HTTPClient = &http.Client{
			Transport: &meter{base: now.transport, client: c},
			// A redirect would take the key to another host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff = c.config.Attempts, 2*time.Second
		})
	})
	c.ready.Store(now)
	return now.api, nil
}

// bound limits what a server may make us wait for and hold.
func (c *Client) bound(t *http.Transport) {
	t.MaxIdleConnsPerHost = parallel
	t.MaxResponseHeaderBytes = 64 << 10
	t.ResponseHeaderTimeout = max(c.config.Timeout/2, time.Millisecond)
	if t.TLSClientConfig == nil {
		t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
}

// given are the keys of a profile.
type given struct {
	keys func(context.Context) (Keys, error)
}

// Retrieve implements aws.CredentialsProvider.
func (g given) Retrieve(ctx context.Context) (aws.Credentials, error) {
	keys, err := g.keys(ctx)
	if err != nil {
		return aws.Credentials{}, noKey{err}
	}
	return aws.Credentials{AccessKeyID: keys.ID, SecretAccessKey: keys.Secret.Reveal(), SessionToken: keys.Session.Reveal(), Source: "profile"}, nil
}

// found are the keys that AWS's tools would use.
type found struct{ chain aws.CredentialsProvider }

// Retrieve implements aws.CredentialsProvider.
func (f found) Retrieve(ctx context.Context) (aws.Credentials, error) {
	creds, err := f.chain.Retrieve(ctx)
	if err != nil {
		return aws.Credentials{}, noKey{err}
	}
	return creds, nil
}

// noKey is why there is no access key.
type noKey struct{ cause error }

func (e noKey) Error() string { return fmt.Sprintf("no access key: %v", e.cause) }
func (e noKey) Unwrap() error { return e.cause }

// lastSentence is the innermost cause in the text of an SDK's error, which
// repeats every layer's.
func lastSentence(err error) string {
	text := err.Error()
	const disabled = "AWS_EC2_METADATA_DISABLED"
	if strings.Contains(text, disabled) {
		return "neither the environment nor ~/.aws gives one, and the role of this machine is not asked for (" + disabled + ")"
	}
	if at := strings.LastIndex(text, "exceeded maximum number of attempts"); at >= 0 {
		text = text[at:]
	}
	parts := strings.Split(text, ", ")
	return safetext.Of(parts[len(parts)-1]).Truncate(200).String()
}
