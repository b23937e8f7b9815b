package cases

import "testing"

// The UUIDs of fillers are made as Java makes those of events and actions.
func TestNameUUIDsAreJavas(t *testing.T) {
	keys := TypedKeys(t)
	if len(keys) < 50 {
		t.Fatalf("%d typed keys", len(keys))
	}
	for _, c := range keys {
		if got := nameUUID(c.EventBytes); got != c.EventUUID {
			t.Errorf("%s: event %s, Java's is %s", c.Name, got, c.EventUUID)
		}
		if got := nameUUID(c.Action); got != c.ActionUUID {
			t.Errorf("%s: action %s, Java's is %s", c.Name, got, c.ActionUUID)
		}
	}
	if got, want := *Filler(1, 12).Key, "7_12_"+nameUUID("e12")+"_"+nameUUID("a1")+"_47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="; got != want {
		t.Errorf("filler %s, want %s", got, want)
	}
}
