package journal

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// started is when a process began, as Linux counts it: clock ticks since the
// machine was started, behind the machine's own boot id. It is empty where it
// can't be read, as on systems without /proc.
func started(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	ticks := startTicks(string(stat))
	if ticks == "" {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + ticks
}

// ended reports whether a process has ended and nobody has asked what became of it:
// its pid answers signals as a live one does. In a container whose first process asks
// after nobody's children, a process that was killed stays so for good.
func ended(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false // not known
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return len(fields) > 0 && (fields[0] == "Z" || fields[0] == "X")
}

// startTicks is field 22 of a stat line. The second field is the program's name
// in brackets, and may hold anything, brackets and spaces among it.
func startTicks(stat string) string {
	const after = 22 - 3 // fields behind the name, counted from the third
	_, rest, found := strings.Cut(stat[strings.LastIndexByte(stat, ')')+1:], " ")
	fields := strings.Fields(rest)
	if !found || len(fields) <= after {
		return ""
	}
	return fields[after]
}
