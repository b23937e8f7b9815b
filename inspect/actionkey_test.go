package inspect_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

func TestRecordKeysAreJudgedAsByJava(t *testing.T) {
	all := cases.RecordKeys(t)
	if len(all) != 67 {
		t.Errorf("%d keys, want 67", len(all))
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			got := inspect.CheckReplayKey(c.KeyBytes(), c.MaxParallelism)
			if c.Accepted {
				if got != nil {
					t.Errorf("refused: %+v", got)
				}
				if g := inspect.ParseActionKey(c.KeyBytes()).Generation; g != inspect.KeyGeneration3 {
					t.Errorf("accepted, and of generation %d", g)
				}
				return
			}
			wantProblem(t, got, c.Reason, c.Named)
			if len(got.Message) > 2000 {
				t.Errorf("a sentence of %d bytes", len(got.Message))
			}
		})
	}
}

// Every key that Java's writers make is told apart and read back, unless its
// text looks like the fields of another generation: the reference says which.
func TestGenerationsOfWrittenKeys(t *testing.T) {
	seen := map[inspect.KeyGeneration]int{}
	for _, c := range cases.TypedKeys(t) {
		written := []struct {
			key  string
			want inspect.ActionKey
		}{
			{c.RecordKey, inspect.ActionKey{Generation: inspect.KeyGeneration3, KeyGroup: c.KeyGroup["128"], Sequence: c.Seq, Event: uuid(t, c.EventUUID), Action: uuid(t, c.ActionUUID), Text: []byte(c.Digest)}},
			{c.RecordKeyG2, inspect.ActionKey{Generation: inspect.KeyGeneration2, KeyGroup: c.KeyGroup["128"], Sequence: c.Seq, Event: uuid(t, c.EventUUID), Action: uuid(t, c.ActionUUIDReleased), Text: []byte(c.KeyText)}},
			{c.RecordKeyReleased, inspect.ActionKey{Generation: inspect.KeyGeneration1, KeyGroup: -1, Sequence: c.Seq, Event: uuid(t, c.EventUUID), Action: uuid(t, c.ActionUUIDReleased), Text: []byte(c.KeyText)}},
		}
		for _, w := range written {
			if w.key == "" {
				continue
			}
			got := inspect.ParseActionKey([]byte(w.key))
			seen[got.Generation]++
			if !sameKey(got, w.want) {
				t.Errorf("%s: %s is %+v, want %+v", c.Name, w.key, got, w.want)
			}
		}
	}
	for _, g := range []inspect.KeyGeneration{inspect.KeyGeneration1, inspect.KeyGeneration2, inspect.KeyGeneration3} {
		if seen[g] < 50 {
			t.Errorf("only %d keys of generation %d", seen[g], g)
		}
	}
}

func TestKeysThatLookLikeAnother(t *testing.T) {
	const (
		event, action = "e0aa021e-21dd-3db8-8d1d-2f5a5a5a5a5a", "5f4dcc3b-5aa7-365d-a1d8-327deb882cf9"
		digest        = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
		fields        = "_3_" + event + "_" + action
	)
	tests := []struct {
		name, key string
		want      inspect.KeyGeneration
		text      string
	}{
		{"a released key", "alice" + fields, inspect.KeyGeneration1, "alice"},
		{"a released key whose text has separators", "a_b_" + fields, inspect.KeyGeneration1, "a_b_"},
		{"a released key whose text is a number", "42" + fields, inspect.KeyGeneration1, "42"},
		{"a released key whose text is a number and more fields", "7_3_x_y" + fields, inspect.KeyGeneration1, "7_3_x_y"},
		{"a released key of no text, which no writer makes", fields, inspect.KeyGeneration1, ""},
		{"three fields", fields[1:], inspect.KeyUnattributable, fields[1:]},
		{"a key group and a text", "7" + fields + "_alice", inspect.KeyGeneration2, "alice"},
		{"a key group and a text with separators", "7" + fields + "_a_b_", inspect.KeyGeneration2, "a_b_"},
		{"a key group and no text", "7" + fields + "_", inspect.KeyGeneration2, ""},
		{"both readings fit", "7" + fields + "_x" + fields, inspect.KeyGeneration2, "x" + fields},
		{"a text that looks like a digest", "7" + fields + "_" + digest, inspect.KeyGeneration3, digest},
		{"a digest with a bit too many", "7" + fields + "_" + digest[:42] + "V=", inspect.KeyGeneration2, digest[:42] + "V="},
		{"a negative key group", "-1" + fields + "_" + digest, inspect.KeyUnattributable, ""},
		{"a key group with a zero in front", "07" + fields + "_" + digest, inspect.KeyUnattributable, ""},
		{"a key group past an int", "2147483648" + fields + "_" + digest, inspect.KeyUnattributable, ""},
		{"a negative sequence", "alice_-1_" + event + "_" + action, inspect.KeyUnattributable, ""},
		{"an upper-case uuid", "alice_3_" + strings.ToUpper(event) + "_" + action, inspect.KeyUnattributable, ""},
		{"a key group before the text, as in a draft", "7_alice" + fields, inspect.KeyGeneration1, "7_alice"},
		{"bytes", "\xff\x00\x01", inspect.KeyUnattributable, ""},
		{"nothing", "", inspect.KeyUnattributable, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := inspect.ParseActionKey([]byte(tt.key))
			if tt.text == "" && tt.want == inspect.KeyUnattributable {
				tt.text = tt.key
			}
			if got.Generation != tt.want || string(got.Text) != tt.text {
				t.Errorf("generation %d, text %q; want %d, %q", got.Generation, got.Text, tt.want, tt.text)
			}
		})
	}
}

// A max parallelism that is not known can't refuse what some job may have.
func TestKeyGroupsWithoutAMaxParallelism(t *testing.T) {
	key := func(group int) []byte {
		return fmt.Appendf(nil, "%d_3_e0aa021e-21dd-3db8-8d1d-2f5a5a5a5a5a_5f4dcc3b-5aa7-365d-a1d8-327deb882cf9_47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", group)
	}
	if p := inspect.CheckReplayKey(key(32767), 0); p != nil {
		t.Errorf("refused: %+v", p)
	}
	wantProblem(t, inspect.CheckReplayKey(key(32768), 0), "record-key-group-out-of-range", map[string]json.RawMessage{"keyGroup": json.RawMessage("32768"), "maxParallelism": json.RawMessage("32768")})
}

func TestLongKeysAreCutInSentences(t *testing.T) {
	for _, tt := range []struct{ name, unit string }{{"letters", "z"}, {"characters of two units", "😀"}, {"bytes", "\xff"}} {
		t.Run(tt.name, func(t *testing.T) {
			key := []byte(strings.Repeat(tt.unit, 300))
			message := inspect.CheckReplayKey(key, 128).Message
			wantWords(t, message, fmt.Sprintf("of %d characters", len(utf16.Encode([]rune(string(key))))))
			if strings.Contains(message, strings.Repeat(tt.unit, 257)) || len(message) > 1200 {
				t.Errorf("%d bytes: %s", len(message), message)
			}
		})
	}
	if message := inspect.CheckReplayKey([]byte(strings.Repeat("z", 256)), 128).Message; !strings.Contains(message, strings.Repeat("z", 256)+`"`) {
		t.Errorf("a key of 256 characters is cut: %s", message)
	}
}

// A UUID is read digit by digit as hexadecimal text is, in lower case alone, and
// whatever byte stands at whatever place of it.
func TestUUIDsAreReadByTheirDigits(t *testing.T) {
	const event, action = "00112233-4455-6677-8899-aabbccddeeff", "fedcba98-7654-3210-0123-456789abcdef"
	for at := range action {
		for c := range 256 {
			text := []byte(action)
			text[at] = byte(c)
			k := inspect.ParseActionKey(slices.Concat([]byte("key_7_"+event+"_"), text))
			want, err := hex.DecodeString(strings.ReplaceAll(string(text), "-", ""))
			if dash := action[at] == '-'; dash != (c == '-') || err != nil || bytes.ContainsAny(text, "ABCDEF") {
				if k.Generation != inspect.KeyUnattributable {
					t.Fatalf("%q is read as %s", text, k.Action)
				}
				continue
			}
			if k.Generation != inspect.KeyGeneration1 || !bytes.Equal(k.Action[:], want) || k.Event.String() != event {
				t.Fatalf("%q is read as %s, want %x", text, k.Action, want)
			}
		}
	}
}

// What the strict check accepts is of generation 3, and nothing is made up.
func FuzzParseActionKey(f *testing.F) {
	for _, c := range cases.RecordKeys(f) {
		f.Add(c.KeyBytes())
	}
	for _, c := range cases.TypedKeys(f) {
		f.Add([]byte(c.RecordKey))
		f.Add([]byte(c.RecordKeyG2))
		f.Add([]byte(c.RecordKeyReleased))
	}
	f.Fuzz(func(t *testing.T, key []byte) {
		k := inspect.ParseActionKey(key)
		var again string
		switch k.Generation {
		case inspect.KeyGeneration1:
			again = fmt.Sprintf("%s_%d_%s_%s", k.Text, k.Sequence, k.Event, k.Action)
		case inspect.KeyGeneration2, inspect.KeyGeneration3:
			again = fmt.Sprintf("%d_%d_%s_%s_%s", k.KeyGroup, k.Sequence, k.Event, k.Action, k.Text)
		default:
			again = string(k.Text)
		}
		if again != string(key) {
			t.Fatalf("%q was read as %q", key, again)
		}
		p := inspect.CheckReplayKey(key, 0)
		if strict := k.Generation == inspect.KeyGeneration3 && k.KeyGroup < 32768; strict != (p == nil) {
			t.Fatalf("%q is of generation %d, and the strict check says %+v", key, k.Generation, p)
		}
	})
}

func BenchmarkParseActionKey(b *testing.B) {
	var keys [][]byte
	for _, c := range cases.TypedKeys(b) {
		if len(c.RecordKey) > 0 {
			keys = append(keys, []byte(c.RecordKey))
		}
	}
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for n := range b.N {
			if inspect.ParseActionKey(keys[n%len(keys)]).Generation != inspect.KeyGeneration3 {
				b.Fatal("not of generation 3")
			}
		}
	})
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for n := range b.N {
			if p := inspect.CheckReplayKey(keys[n%len(keys)], 128); p != nil {
				b.Fatal(p)
			}
		}
	})
}

func sameKey(a, b inspect.ActionKey) bool {
	return a.Generation == b.Generation && a.KeyGroup == b.KeyGroup && a.Sequence == b.Sequence && a.Event == b.Event && a.Action == b.Action && slices.Equal(a.Text, b.Text)
}

func uuid(t *testing.T, text string) (u inspect.UUID) {
	t.Helper()
	raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(raw) != len(u) {
		t.Fatalf("uuid %q: %v", text, err)
	}
	copy(u[:], raw)
	return u
}
