package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// flinkLogins are how the JobManagers of a profile are logged in to, by address.
type flinkLogins struct {
	jobs   []config.Job
	prompt secret.Prompter
}

// options are how a JobManager is reached: with the login of the first job of
// that address that has one. A secret is read when it is first needed.
func (l flinkLogins) options(ctx context.Context, rest string) (flinkrest.Options, error) {
	o := flinkrest.Options{Address: rest}
	for _, j := range l.jobs {
		f := j.Flink
		if f.REST != rest || f.Token.IsZero() && f.Username == "" && f.TLS == nil {
			continue
		}
		var err error
		if f.TLS != nil {
			if o.TLS, err = tlsOf("flink.tls", *f.TLS); err != nil {
				return o, err
			}
		}
		if !f.Token.IsZero() {
			o.Token, err = f.Token.Resolve(ctx, l.prompt)
			return o, err
		}
		if o.Username = f.Username; o.Username != "" {
			o.Password, err = f.Password.Resolve(ctx, l.prompt)
		}
		return o, err
	}
	return o, nil
}

// tlsOf reads the files of a section of that name.
func tlsOf(section string, t config.TLS) (*tls.Config, error) {
	const op = "read certificates"
	out := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fault.Wrap(fault.Config, op, err, "%s.ca-file can't be read", section)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fault.New(fault.Config, op, "%s.ca-file: the file %s holds no PEM certificate", section, safe(t.CAFile)).
				WithHint("export the authority as PEM; a Java trust store (JKS, PKCS12) can't be read")
		}
	}
	if t.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fault.Wrap(fault.Config, op, err, "%s: %s and %s are not a certificate and its key", section, safe(t.CertFile), safe(t.KeyFile))
		}
		out.Certificates = []tls.Certificate{cert}
	}
	return out, nil
}
