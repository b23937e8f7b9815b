package zkread_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/zkread"
)

// secured is a TLS port before a server, and the authority of its certificate.
func secured(t *testing.T, server string) (address string, authority *x509.CertPool) {
	t.Helper()
	web := httptest.NewTLSServer(nil)
	certificates := web.TLS.Certificates
	authority = x509.NewCertPool()
	authority.AddCert(web.Certificate())
	web.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certificates})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer in.Close()
				out, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer out.Close()
				wg.Go(func() { _, _ = io.Copy(in, out); in.Close() }) // until one of them ends
				_, _ = io.Copy(out, in)
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l.Addr().String(), authority
}

func TestTLS(t *testing.T) {
	s := started(t)
	s.Set("/a", "1")
	address, authority := secured(t, s.Address())
	ask := func(config *tls.Config) error {
		c, err := zkread.NewClient(zkread.Config{Servers: []string{address}, Timeout: time.Minute, TLS: config})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _, err = c.Get(t.Context(), "/a")
		return err
	}
	if err := ask(&tls.Config{RootCAs: authority}); err != nil {
		t.Error(err)
	}
	if err := ask(&tls.Config{RootCAs: authority, ServerName: "other.example"}); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "other.example") {
		t.Error(err)
	}
	if err := ask(&tls.Config{RootCAs: x509.NewCertPool()}); fault.KindOf(err) != fault.Unreachable || !strings.Contains(fault.Of(err).Hint, "fluss.zookeeper.tls") {
		t.Error(err)
	}
	if err := ask(nil); err == nil || !strings.Contains(fault.Of(err).Hint, "fluss.zookeeper.tls") {
		t.Errorf("%v: %s", err, fault.Of(err).Hint)
	}
}
