package kafkaconn

import (
	"crypto/tls"
	"crypto/x509"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// load reads the files and makes the client's side of TLS. The returned
// configuration has no server name: the dialer sets it for each broker. Now
// judges the client's certificate.
func (t *TLS) load(now time.Time) (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CAFile != "" {
		content, err := readFile("kafka.tls.ca-file", t.CAFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(content) {
			return nil, fault.New(fault.Config, opConnect, "kafka.tls.ca-file: the file %s holds no PEM certificate", safetext.Of(t.CAFile)).
				WithHint("export the authority as PEM; a Java trust store (JKS, PKCS12) can't be read")
		}
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		return nil, fault.New(fault.Config, opConnect, "kafka.tls: cert-file and key-file must be given together")
	}
	if t.CertFile == "" {
		return config, nil
	}
	cert, err := t.certificate(now)
	if err != nil {
		return nil, err
	}
	config.Certificates = []tls.Certificate{cert}
	return config, nil
}

func (t *TLS) certificate(now time.Time) (tls.Certificate, error) {
	certPEM, err := readFile("kafka.tls.cert-file", t.CertFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	keyPEM, err := readFile("kafka.tls.key-file", t.KeyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return tls.Certificate{}, fault.Wrap(fault.Config, opConnect, plainCause(err), "kafka.tls: %s and %s are not a certificate and its key",
			safetext.Of(t.CertFile), safetext.Of(t.KeyFile))
	}
	switch leaf := cert.Leaf; {
	case now.After(leaf.NotAfter):
		return tls.Certificate{}, fault.New(fault.Config, opConnect, "kafka.tls.cert-file: the client certificate %s expired on %s",
			safetext.Of(t.CertFile), leaf.NotAfter.UTC().Format(time.RFC3339)).WithHint("put a renewed certificate in its place")
	case now.Before(leaf.NotBefore):
		return tls.Certificate{}, fault.New(fault.Config, opConnect, "kafka.tls.cert-file: the client certificate %s is not valid before %s",
			safetext.Of(t.CertFile), leaf.NotBefore.UTC().Format(time.RFC3339)).WithHint("check the clock of this machine")
	}
	return cert, nil
}
