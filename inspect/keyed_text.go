package inspect

import (
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Facts are what is known of keyed state, one a line: its form, its keys, and
// what kept the rest from being read.
func (k *KeyedState) Facts() []string {
	form := map[KeyedBackend]string{
		BackendCanonical: "canonical savepoint", BackendHeap: "HashMap backend", BackendFiles: "files of RocksDB or ForSt", BackendChangelog: "changelog",
	}[k.Backend]
	line := fmt.Sprintf("%s, %s of %s", form, figures.Bytes(k.Bytes), figures.Count(int64(k.Subtasks), "subtask", "subtasks"))
	switch k.KeyType {
	case "":
	case "string", "long", "int":
		line += ", keys of type " + k.KeyType
	default:
		line += ", keys of a type that is not known (" + safetext.Of(k.KeyType).String() + ")"
	}
	facts := []string{line}
	if k.Keys != nil {
		line := figures.Count(*k.Keys, "key", "keys")
		switch {
		case k.Open != nil:
			line += fmt.Sprintf(", %s with a sequence that is not completed", group(*k.Open))
		case len(k.Sequences) > 0 && !k.KeepsCompleted():
			line += "; which of their sequences are completed is not kept (no state " + CompletedState + ": a release before 0.3, or no action state store)"
		}
		facts = append(facts, line)
	}
	if len(k.States) > 0 {
		states := make([]string, len(k.States))
		for i, s := range k.States {
			states[i] = s.String()
		}
		facts = append(facts, strings.Join(states, ", "))
	}
	if k.Why != "" {
		facts = append(facts, map[KeyedDecoded]string{
			DecodedPart: "decoded in part: ", DecodedHeader: "keys not decoded: ", DecodedNone: "not decoded: ",
		}[k.Decoded]+safetext.Of(k.Why).String())
	}
	return facts
}

// String is the state with what is known of it.
func (s KeyedStateEntry) String() string {
	what := safetext.Of(s.Kind).String()
	if s.Entries != nil {
		what += ", entries " + group(*s.Entries)
	}
	if s.Bytes != nil && *s.Bytes > 0 {
		what += ", " + figures.Bytes(*s.Bytes)
	}
	return safetext.Of(s.Name).String() + " (" + what + ")"
}

// Shown is the key for a table: its text, else its digest.
func (k KeySequence) Shown() string {
	if k.Key.Text != nil {
		return safetext.Of(*k.Key.Text).String()
	}
	return "digest " + k.Key.Digest
}

// CompletedText is the latest sequence of a key that was completed: "none" where
// none was, empty where that is not kept.
func (k *KeyedState) CompletedText(s KeySequence) string {
	switch n := s.LastCompletedSequenceNumber; {
	case n != nil:
		return group(*n)
	case k.KeepsCompleted():
		return "none"
	default:
		return ""
	}
}

// String is the list with what is known of it; empty for none.
func (l *KeyedList) String() string {
	switch {
	case l == nil:
		return ""
	case l.Elements != nil && l.Bytes != nil:
		return fmt.Sprintf("%s, %s", group(*l.Elements), figures.Bytes(*l.Bytes))
	case l.Bytes != nil:
		return figures.Bytes(*l.Bytes)
	case l.Elements != nil:
		return group(*l.Elements)
	default:
		return "some"
	}
}

// ProcessingText names the keys with an unfinished run, as many as people read.
func ProcessingText(keys []ProcessingKey, most int) string {
	shown := make([]string, 0, min(len(keys), most)+1)
	for _, k := range keys {
		if len(shown) == most {
			shown = append(shown, "…")
			break
		}
		switch {
		case k.Text != nil:
			shown = append(shown, safetext.Of(*k.Text).String())
		case k.Type != "":
			shown = append(shown, "a "+safetext.Of(k.Type).String())
		default:
			shown = append(shown, "one that can't be read")
		}
	}
	return strings.Join(shown, ", ")
}
