package config

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// A check says what is wrong with a value and what is allowed, as a phrase
// that follows the value, or nothing where the value is right.
type check func(text string) string

// maxShown bounds how much of a wrong value an error repeats, in bytes.
const maxShown = 120

var userInfo = regexp.MustCompile(`//[^/]*@`)

// shown is a value as an error or a listing may repeat it: without what stands
// before the @ of an address, because people put passwords there.
func shown(text string) string { return userInfo.ReplaceAllString(text, "//***@") }

// quoted is a wrong value in an error: shown, printable, short, in quotes.
func quoted(text string) string {
	text = printable(shown(text))
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return `"` + text + `"`
}

// oneOf accepts the listed words.
func oneOf(words ...string) check {
	return func(text string) string {
		if slices.Contains(words, text) {
			return ""
		}
		phrase := "is not one of " + strings.Join(words, ", ")
		if near := nearest(text, words); near != "" {
			phrase += "; did you mean " + near + "?"
		}
		return phrase
	}
}

// notBlank accepts text in which something can be seen.
func notBlank(text string) string {
	if strings.TrimSpace(text) == "" {
		return "is blank"
	}
	return ""
}

// named accepts names of profiles and jobs: they stand in phrases that people
// type, in file names and on every screen.
func named(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "is blank; a name has 1 to 100 characters"
	case strings.TrimSpace(text) != text:
		return "begins or ends with a blank"
	case len([]rune(text)) > 100:
		return "is too long; a name has 1 to 100 characters"
	case strings.ContainsFunc(text, notPrintable):
		return "holds a character that can't be seen"
	case text == AdHoc:
		return "is the name of what flags and variables make; take another"
	}
	return ""
}

// serverAddress accepts host, host:port and [v6]:port.
func serverAddress(text string) string {
	const allowed = "; write host:port"
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || notPrintable(r) }) {
		return "is not an address" + allowed
	}
	if strings.ContainsAny(text, "/@,") {
		return "is not an address" + allowed + ", without a scheme, one address each"
	}
	if !strings.Contains(text, ":") {
		return ""
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" {
		return "is not an address" + allowed + ", IPv6 as [address]:port"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "has no port from 1 to 65535"
	}
	return ""
}

// httpURL accepts http and https addresses without a user or password.
func httpURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return "is not an address; write http://host:port or https://host:port"
	case u.User != nil:
		return "holds a user or password; an address may not"
	case u.RawQuery != "" || u.Fragment != "":
		return "holds a query or fragment; write the address alone"
	}
	return ""
}

var uriScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// place accepts a URI or a path.
func place(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "is blank; write a URI or a path"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "holds a control character"
	case strings.HasPrefix(text, "~"):
		return "begins with ~, which is not expanded; write the whole path"
	case userInfo.MatchString(text):
		return "holds a user or password; a place may not"
	}
	return ""
}

// storePrefix accepts the beginning of a URI.
func storePrefix(text string) string {
	if why := place(text); why != "" {
		return why
	}
	if !uriScheme.MatchString(text) {
		return "is not the beginning of a URI; write one such as s3://bucket/"
	}
	if !s3Scheme.MatchString(text) {
		return "is of a store that is not read; s3://, s3a:// and s3p:// are"
	}
	return ""
}

// s3Scheme is the beginning of what Flink's file systems for S3 answer to. The
// three name the same objects.
var s3Scheme = regexp.MustCompile(`^(?i:s3[ap]?)://`)

// region is what stands in a signature and in host names.
func region(text string) string {
	if !regionName.MatchString(text) {
		return "is not a region; write one such as eu-west-1"
	}
	return ""
}

var regionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

func notPrintable(r rune) bool { return !safetext.Printable(r) }

// printable is text as an error may hold it.
func printable(text string) string { return safetext.Of(text).String() }

// nodePath accepts the path of a node in ZooKeeper.
func nodePath(text string) string {
	const allowed = "; write one as /fluss"
	switch {
	case !strings.HasPrefix(text, "/"):
		return "is no path of a node" + allowed
	case text == "/":
		return ""
	case strings.ContainsFunc(text, notPrintable):
		return "holds a character that can't be seen"
	}
	for part := range strings.SplitSeq(text[1:], "/") {
		if part == "" || part == "." || part == ".." {
			return "is no path of a node" + allowed
		}
	}
	return ""
}

// servers accepts addresses with commas between them.
func servers(text string) string {
	list := splitList(text)
	if len(list) == 0 {
		return "names no server; write host:port, with commas between several"
	}
	for _, address := range list {
		if why := serverAddress(address); why != "" {
			return "holds " + quoted(address) + ", which " + why
		}
	}
	return ""
}

// splitList is the parts between commas or line ends, without blanks.
func splitList(text string) []string {
	var list []string
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// mapping accepts FROM=TO.
func mapping(text string) string {
	_, why := parseMapping(text)
	return why
}

// parseMapping reads FROM=TO at the first sign of equality.
func parseMapping(text string) (PathMapping, string) {
	from, to, found := strings.Cut(text, "=")
	if !found {
		return PathMapping{}, "is not a mapping; write FROM=TO"
	}
	m := PathMapping{From: from, To: to}
	return m, m.problem()
}

// problem is what is wrong with a mapping.
func (m PathMapping) problem() string {
	if why := place(m.From); why != "" {
		return "has a from that " + why
	}
	if why := place(m.To); why != "" {
		return "has a to that " + why
	}
	if m.From == m.To {
		return "maps a place to itself"
	}
	return ""
}

// between accepts whole numbers from low to high.
func between(low, high int) check {
	return func(text string) string {
		// Written plainly: 010 would be ten here and eight to others.
		if n, err := strconv.Atoi(text); err != nil || n < low || n > high || strconv.Itoa(n) != text {
			return fmt.Sprintf("is not a whole number from %d to %d", low, high)
		}
		return ""
	}
}

const maxStep = 24 * time.Hour

// duration accepts positive durations up to a day.
func duration(text string) string {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return "is not a duration; write one with its unit, such as 500ms, 10s or 2m"
	case d < time.Millisecond || d > maxStep:
		return "is not from 1ms to 24h"
	}
	return ""
}

// truth accepts what a flag without a value stands for, and its opposite.
func truth(text string) string {
	if _, err := strconv.ParseBool(text); err != nil {
		return "is neither true nor false"
	}
	return ""
}

// The ranges of numbers. Flink allows 32768 key groups; no Kafka topic has
// 100,000 partitions.
var (
	parallelismRange = between(1, 32768)
	partitionsRange  = between(1, 100_000)
	keepRange        = between(0, 1000)
)
