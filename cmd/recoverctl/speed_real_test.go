//go:build real

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
)

// reader is a program that reads the recovery markers of a snapshot, or what
// comes before that.
type reader struct {
	name string
	goal string
	cmd  func(folder string) *exec.Cmd
	read func(out []byte) int // markers, or subtasks
}

// cost is what one run took.
type cost struct {
	wall, processor time.Duration
	peak            int64 // KiB
}

func readersOf(b *testing.B) []reader {
	path := binary(b)
	return []reader{
		{name: "recoverctl inspect point", cmd: func(folder string) *exec.Cmd { return exec.Command(path, "inspect", "point", folder) }, read: func(out []byte) int {
			return bytes.Count(out, []byte("versioned, 400 partitions")) * 256
		}},
		{name: "recoverctl inspect point -o json", cmd: func(folder string) *exec.Cmd { return exec.Command(path, "inspect", "point", folder, "-o", "json") }, read: func(out []byte) int {
			var a answer[struct{ Markers []json.RawMessage }]
			if json.Unmarshal(out, &a) != nil {
				return 0
			}
			return len(a.Data.Markers)
		}},
		{name: "bare Java loader of the metadata, no markers", goal: "15", cmd: func(folder string) *exec.Cmd { return flinktest.Java(b, "LoadMetadata", "file:"+folder) }, read: func(out []byte) int {
			n, err := strconv.Atoi(strings.TrimSpace(string(out)))
			if err != nil {
				return 0
			}
			return n
		}},
		{name: "State Processor API program", goal: "50", cmd: func(folder string) *exec.Cmd {
			return flinktest.Java(b, "ReadBack", "hashmap", "long", "markers", "file:"+folder)
		}, read: func(out []byte) int {
			var a struct{ Markers []json.RawMessage }
			if json.Unmarshal(out, &a) != nil {
				return 0
			}
			return len(a.Markers)
		}},
	}
}

// BenchmarkPointAgainstJava prints the table of docs/performance.md: how long a
// whole process takes for the markers of one metadata file, here, by a program of
// Flink's State Processor API, and by one that only loads the metadata; in turns,
// each as the median.
func BenchmarkPointAgainstJava(b *testing.B) {
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv("RECOVERCTL_BENCH_ROUNDS"), "5"))
	if err != nil {
		b.Fatal(err)
	}
	readers := readersOf(b)
	fmt.Printf("\nmedian of %d\n\n| _metadata | who | wall, s | of the first | processor, s | of the first | peak memory, MiB | goal |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n", rounds)
	for b.Loop() {
		for _, megabytes := range []int{1, 100} {
			folder := largeMetadata(b, megabytes)
			costs := make([][]cost, len(readers))
			for range rounds {
				for i, r := range readers {
					costs[i] = append(costs[i], costOf(b, r, folder))
				}
			}
			ours := medianCost(costs[0])
			for i, r := range readers {
				c := medianCost(costs[i])
				goal := r.goal
				if goal != "" {
					goal = "≥ " + goal
				}
				fmt.Printf("| %d MB | %s | %.3f | %.1f | %.3f | %.1f | %d | %s |\n", megabytes, r.name, c.wall.Seconds(), c.wall.Seconds()/ours.wall.Seconds(),
					c.processor.Seconds(), c.processor.Seconds()/ours.processor.Seconds(), c.peak/1024, goal)
			}
		}
	}
}

func costOf(b *testing.B, r reader, folder string) cost {
	b.Helper()
	cmd := r.cmd(folder)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	began := time.Now()
	out, err := cmd.Output()
	c := cost{wall: time.Since(began)}
	if err != nil {
		b.Fatalf("%s: %v\n%s", r.name, err, problems.Bytes())
	}
	if n := r.read(out); n < 256 { // the markers of that many subtasks are in the file
		b.Fatalf("%s has read %d of 256:\n%.2000s", r.name, n, out)
	}
	c.processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.peak = usage.Maxrss
	}
	return c
}

// medianCost is of each figure by itself.
func medianCost(all []cost) cost {
	walls, processors, peaks := make([]time.Duration, 0, len(all)), make([]time.Duration, 0, len(all)), make([]int64, 0, len(all))
	for _, c := range all {
		walls, processors, peaks = append(walls, c.wall), append(processors, c.processor), append(peaks, c.peak)
	}
	slices.Sort(walls)
	slices.Sort(processors)
	slices.Sort(peaks)
	return cost{walls[len(walls)/2], processors[len(processors)/2], peaks[len(peaks)/2]}
}
