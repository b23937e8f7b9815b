package zktest_test

import (
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/testkit/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A connection that is made while the server ends does not keep it.
func TestAServerThatEndsWhileSomebodyComes(t *testing.T) {
	for range 500 {
		s, err := zktest.Start()
		if err != nil {
			t.Fatal(err)
		}
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Address())
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.Close()
		}()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Error("the server waits for a client that has nothing to say")
		}
		conn.Close()
		<-ended
		if t.Failed() {
			return
		}
	}
}
