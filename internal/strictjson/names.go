package strictjson

import (
	"unicode"
	"unicode/utf8"
)

// fewNames is up to how many names of an object are compared one by one. Most
// objects are small, and a map for each would cost more than the comparisons.
const fewNames = 16

// names finds a repeated name in one object.
type names struct{ set map[string]struct{} }

// add reports whether name is among members already, and remembers it.
func (n *names) add(name string, members []Member) bool {
	if len(members) < fewNames {
		for _, m := range members {
			if m.Name == name {
				return true
			}
		}
		return false
	}
	if n.set == nil {
		n.set = make(map[string]struct{}, 2*fewNames)
		for _, m := range members {
			n.set[m.Name] = struct{}{}
		}
	}
	if _, ok := n.set[name]; ok {
		return true
	}
	n.set[name] = struct{}{}
	return false
}

// isWord reports whether data begins with a character that would continue a
// word: after a literal it makes the whole word an unknown one. The characters
// are those of a Java identifier, except that what sorts before the digits
// always ends a word.
func isWord(data []byte) bool {
	r, _ := utf8.DecodeRune(data)
	switch {
	case r < '0':
		return false
	case r >= 0x7f && r <= 0x9f:
		return true
	case r > 0xffff: // Java looks at one UTF-16 unit, and a surrogate is no identifier
		return false
	default:
		return unicode.In(r, unicode.L, unicode.Nd, unicode.Nl, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Sc, unicode.Cf)
	}
}
