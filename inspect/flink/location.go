package flink

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Mapping says where files are that are recorded under another name: From is a
// prefix of recorded URIs (file:/x, file:///x, a plain path, or another scheme),
// To a folder of this machine or a URI. The longest From that fits wins, and a
// place is mapped once.
type Mapping struct{ From, To string }

// location is a place as Flink's paths name it. Paths are not percent-encoded.
type location struct {
	scheme    string // lower case; "file" for plain paths
	authority string // empty for files
	path      string // absolute and clean
}

const schemeFile = "file"

// parseLocation reads a URI or a plain path. A relative path is one of the
// working folder.
func parseLocation(uri string) (location, error) {
	if strings.TrimSpace(uri) == "" {
		return location{}, fault.New(fault.Usage, "read recovery point", "the recovery point's URI is empty").
			WithHint("give a folder, as in /data/checkpoints/<job>/chk-42, or a URI, as in file:/data/checkpoints/<job>/chk-42")
	}
	scheme, rest, hasScheme := cutScheme(uri)
	if !hasScheme {
		absolute, err := filepath.Abs(uri)
		if err != nil {
			return location{}, fault.Wrap(fault.Usage, "read recovery point", err, "%s is no path", safetext.Of(uri))
		}
		return location{scheme: schemeFile, path: filepath.ToSlash(absolute)}, nil
	}
	l := location{scheme: scheme, path: rest}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		l.authority, l.path, _ = strings.Cut(after, "/")
		l.path = "/" + l.path
	}
	if l.scheme == schemeFile {
		if l.authority == "localhost" {
			l.authority = ""
		}
		if l.authority != "" {
			return location{}, fault.New(fault.Usage, "read recovery point", "%s names the host %s: files of other hosts can't be read",
				safetext.Of(uri), safetext.Of(l.authority)).
				WithHint("for a file of this machine write file:/%s%s", safetext.Of(l.authority), safetext.Of(l.path))
		}
		if !strings.HasPrefix(l.path, "/") {
			return location{}, fault.New(fault.Usage, "read recovery point", "%s is not an absolute path", safetext.Of(uri)).
				WithHint("write file:/…, or a plain path")
		}
	}
	l.path = path.Clean("/" + l.path)
	return l, nil
}

// recordedLocation reads a path that metadata holds. One that leads nowhere on
// this machine, such as a relative one, is Unsupported: nothing can be said about
// the file.
func recordedLocation(recorded string) (location, error) {
	_, _, hasScheme := cutScheme(recorded)
	if !hasScheme && !strings.HasPrefix(recorded, "/") {
		return location{}, fault.New(fault.Unsupported, "read recovery point", "the recorded path %s is relative: where it starts is not known", quote(recorded))
	}
	l, err := parseLocation(recorded)
	if err != nil {
		return location{}, fault.New(fault.Unsupported, "read recovery point", "the recorded path can't be followed from here: %s", safetext.Error(err))
	}
	return l, nil
}

// cutScheme splits "scheme:rest".
func cutScheme(uri string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(uri, ":")
	if !ok || scheme == "" {
		return "", uri, false
	}
	for i, r := range scheme {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		other := r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.'
		if !letter && (i == 0 || !other) {
			return "", uri, false
		}
	}
	return strings.ToLower(scheme), rest, true
}

// String is the place as Flink writes it: file:/x, s3://bucket/key.
func (l location) String() string {
	if l.scheme == schemeFile {
		return "file:" + l.path
	}
	return l.scheme + "://" + l.authority + l.path
}

// name is what a FileSystem of the location's scheme calls it.
func (l location) name() string {
	if l.scheme == schemeFile {
		return l.path
	}
	return l.String()
}

// show is the place in a message.
func (l location) show() string { return safetext.Of(l.name()).String() }

func (l location) join(name string) location {
	l.path = strings.TrimSuffix(l.path, "/") + "/" + name
	return l
}

func (l location) dir() location {
	l.path = path.Dir(l.path)
	return l
}

func (l location) base() string { return path.Base(l.path) }

// below returns the part of l below root, and whether l is root or below it.
func (l location) below(root location) (string, bool) {
	if sameScheme(l.scheme) != sameScheme(root.scheme) || l.authority != root.authority {
		return "", false
	}
	prefix := strings.TrimSuffix(root.path, "/")
	rest, ok := strings.CutPrefix(l.path, prefix)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}

// known is the place under the scheme that its system is known by.
func (l location) known() location {
	l.scheme = sameScheme(l.scheme)
	return l
}

// mapping is a parsed Mapping.
type mapping struct{ from, to location }

// place maps a recorded place and gives it the scheme that its system is known
// by. mapped says that some mapping applied.
func (s *Store) place(l location) (_ location, mapped bool) {
	best, rest := -1, ""
	for i, m := range s.mappings {
		below, ok := l.below(m.from)
		if ok && (best < 0 || len(m.from.path) > len(s.mappings[best].from.path)) {
			best, rest = i, below
		}
	}
	if best < 0 {
		return l.known(), false
	}
	to := s.mappings[best].to.known()
	if rest == "" {
		return to, true
	}
	return to.join(rest), true
}

// childURI is the URI of something below uri, in the form in which uri is
// written.
func childURI(uri, name string) string { return strings.TrimRight(uri, "/") + "/" + name }

// parentURI is the URI of the folder that holds a file, in the form in which
// the file's URI is written.
func parentURI(uri string) string {
	at := strings.LastIndexAny(uri, "/:")
	switch {
	case at < 0:
		return "."
	case uri[at] == ':' || at == 0 || uri[at-1] == ':' || uri[at-1] == '/':
		return uri[:at+1]
	default:
		return uri[:at]
	}
}
