//go:build real

package zkread_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
	"github.com/recoverctl/recoverctl/internal/zkread"
)

func variable(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: run this through test/real/run.sh", name)
	}
	return value
}

// itsOwn is what ZooKeeper's own client prints for a command.
func itsOwn(t *testing.T, server string, words ...string) []string {
	t.Helper()
	args := append([]string{"-Xmx128m", "-Duser.timezone=UTC", "-cp", variable(t, "RECOVERCTL_TEST_FLUSS_SERVER"),
		"org.apache.fluss.shaded.zookeeper3.org.apache.zookeeper.ZooKeeperMain", "-server", server}, words...)
	out, err := exec.CommandContext(t.Context(), "java", args...).Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s", words, err, out)
	}
	return strings.Split(string(out), "\n")
}

// told finds the value of a line "name = value".
func told(t *testing.T, lines []string, name string) string {
	t.Helper()
	for _, line := range lines {
		if value, ok := strings.CutPrefix(line, name+" = "); ok {
			return value
		}
	}
	t.Fatalf("no %s in %q", name, lines)
	return ""
}

// Nodes of a real Fluss cluster are read as ZooKeeper's own client reads them.
func TestRealNodesAreReadAsItsOwnClientReadsThem(t *testing.T) {
	flusstest.Real(t)
	server := variable(t, "RECOVERCTL_TEST_FLUSS_ZOOKEEPER")
	c := client(t, server)
	for _, path := range []string{"/fluss/tabletservers/ids/0", "/fluss/coordinators/active"} {
		data, stat, err := c.Get(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		lines := itsOwn(t, server, "get", "-s", path)
		if !slices.Contains(lines, string(data)) {
			t.Errorf("%s: %s is not in %q", path, data, lines)
		}
		made, err := time.Parse("Mon Jan 02 15:04:05 MST 2006", told(t, lines, "ctime"))
		if err != nil || !stat.Created.Truncate(time.Second).Equal(made) {
			t.Errorf("%s: made %s, %s, %v", path, stat.Created, made, err)
		}
		for name, got := range map[string]string{
			"dataVersion": strconv.Itoa(int(stat.Version)), "ephemeralOwner": fmt.Sprintf("0x%x", stat.Ephemeral), "dataLength": strconv.Itoa(len(data)), "numChildren": strconv.Itoa(int(stat.Children)),
		} {
			if want := told(t, lines, name); got != want {
				t.Errorf("%s: %s is %s, and its own client says %s", path, name, got, want)
			}
		}
		if there, found, err := c.Exists(t.Context(), path); err != nil || !found || there != stat {
			t.Errorf("%+v, %t, %v", there, found, err)
		}
	}
	names, err := c.Children(t.Context(), "/fluss")
	if err != nil {
		t.Fatal(err)
	}
	lines := itsOwn(t, server, "ls", "/fluss")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") })
	if at < 0 {
		t.Fatal(lines)
	}
	want := strings.Split(strings.Trim(lines[at], "[]"), ", ")
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("%q, and its own client says %q", names, want)
	}
	if _, _, err := c.Get(t.Context(), "/fluss/nothing"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

// A Fluss server is told from ZooKeeper, and asked only as long as it may take.
func TestARealServerThatIsNotZooKeeper(t *testing.T) {
	real := flusstest.Real(t)
	c, err := zkread.NewClient(zkread.Config{Servers: real.Servers[:1], Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	began := time.Now()
	if _, err := c.Children(context.Background(), "/"); fault.KindOf(err) != fault.Unreachable && fault.KindOf(err) != fault.Unsupported && fault.KindOf(err) != fault.Corrupt || time.Since(began) > 10*time.Second {
		t.Error(err, time.Since(began))
	} else {
		t.Log(err)
	}
}
