package scan

import "github.com/recoverctl/recoverctl/inspect"

// keys are the texts of keys by their digests.
type keys map[string]string

// KeyText implements inspect.KeyDictionary.
func (k keys) KeyText(digest string) (string, bool) {
	text, ok := k[digest]
	return text, ok
}

// mostKeys bounds how many keys are taken from a scan.
const mostKeys = 100_000

// Keys are the keys of open actions whose text the scan found out, for records
// that name them by a digest; nil where it found none.
func (s State) Keys() inspect.KeyDictionary {
	known := keys{}
	if s.Calls != nil {
		for i := range s.Calls.Actions[:min(len(s.Calls.Actions), mostKeys)] {
			if k := s.Calls.Actions[i].Key; k.Text != nil && k.Digest != "" {
				known[k.Digest] = *k.Text
			}
		}
	}
	if len(known) == 0 {
		return nil
	}
	return known
}
