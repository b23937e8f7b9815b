// Command certs makes the certificates that the secure test broker and its
// clients use, in the folder named by its one argument. They are made anew at
// every start and are good for nothing else.
//
//	ca.pem                    the authority that the broker and clients trust
//	broker.pem                the broker's key and chain, for localhost and 127.0.0.1
//	client.pem client.key     a client that the broker trusts
//	expired.pem expired.key   the same, but it ended an hour ago
//	stranger.pem stranger.key a client of an authority that the broker does not know
//	other-ca.pem              that authority
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: certs DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1], time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "certs:", err)
		os.Exit(1)
	}
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// identity is a certificate with its key, both PEM.
type identity struct{ cert, key []byte }

func write(dir string, now time.Time) error {
	ca, err := newAuthority("recoverctl test authority", now)
	if err != nil {
		return err
	}
	other, err := newAuthority("another authority", now)
	if err != nil {
		return err
	}
	broker, err := ca.issue("localhost", now.Add(-time.Hour), now.Add(24*time.Hour))
	if err != nil {
		return err
	}
	client, err := ca.issue("client", now.Add(-time.Hour), now.Add(24*time.Hour))
	if err != nil {
		return err
	}
	expired, err := ca.issue("client", now.Add(-48*time.Hour), now.Add(-time.Hour))
	if err != nil {
		return err
	}
	stranger, err := other.issue("stranger", now.Add(-time.Hour), now.Add(24*time.Hour))
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"ca.pem":       ca.pem,
		"other-ca.pem": other.pem,
		"broker.pem":   append(append([]byte{}, broker.key...), append(broker.cert, ca.pem...)...),
		"client.pem":   client.cert, "client.key": client.key,
		"expired.pem": expired.cert, "expired.key": expired.key,
		"stranger.pem": stranger.cert, "stranger.key": stranger.key,
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func newAuthority(name string, now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-72 * time.Hour),
		NotAfter:              now.Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// issue makes a certificate for name that works for both ends of a connection
// to this machine.
func (a *authority) issue(name string, from, to time.Time) (identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return identity{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    from,
		NotAfter:     to,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return identity{}, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return identity{}, err
	}
	return identity{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
	}, nil
}
