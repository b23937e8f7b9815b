package clock

import (
	"strconv"
	"time"
)

// Age writes a duration for a table, in steps so coarse that a line which holds
// one changes at most every ten seconds: "<10s", "10s" … "50s", "1m" … "59m",
// "1h" … "23h", then days, "1d". A whole step has passed before it is shown; below
// the first one nothing is claimed but that.
//
// The text of a negative age is "?": two clocks disagree, and an age that
// nobody knows must not look like a fresh one.
func Age(d time.Duration) string {
	n, unit := step(d)
	switch {
	case unit == "":
		return "?"
	case n == 0:
		return "<10s"
	}
	return strconv.FormatInt(n, 10) + unit
}

// Old writes the age of data for a header: "fresh" below ten seconds, then
// "10 s old", "2 m old". The text of a negative age is "age unknown".
func Old(d time.Duration) string {
	n, unit := step(d)
	switch {
	case unit == "":
		return "age unknown"
	case n == 0:
		return "fresh"
	default:
		return strconv.FormatInt(n, 10) + " " + unit + " old"
	}
}

const day = 24 * time.Hour

func step(d time.Duration) (n int64, unit string) {
	switch {
	case d < 0:
		return 0, ""
	case d < time.Minute:
		return int64(d / (10 * time.Second) * 10), "s"
	case d < time.Hour:
		return int64(d / time.Minute), "m"
	case d < day:
		return int64(d / time.Hour), "h"
	default:
		return int64(d / day), "d"
	}
}
