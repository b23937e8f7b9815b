package inspect_test

import (
	"strconv"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

// Records lie where Java's two partitioners put them.
func TestTheComputedPartitionIsJavas(t *testing.T) {
	check := func(name, key string, want map[string]int32, generation inspect.KeyGeneration) {
		k := inspect.ParseActionKey([]byte(key))
		if k.Generation != generation {
			return // the key text looks like the fields of another generation
		}
		for text, partition := range want {
			count, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := k.ComputedPartition(count); !ok || got != partition {
				t.Errorf("%s: partition %d %t of %d, want %d", name, got, ok, count, partition)
			}
		}
	}
	checked := 0
	for _, c := range cases.TypedKeys(t) {
		check(c.Name, c.RecordKey, c.Partition, inspect.KeyGeneration3)
		check(c.Name, c.RecordKeyReleased, c.PartitionReleased, inspect.KeyGeneration1)
		checked++
	}
	for _, c := range cases.RecordKeys(t) {
		if c.Key == nil {
			continue
		}
		check(c.Name, *c.Key, c.Partition, inspect.KeyGeneration3)
		checked++
	}
	if checked < 50 {
		t.Errorf("only %d keys", checked)
	}
	for _, key := range []string{
		"_0_99914b93-2bd3-3a50-b983-c5e7c90ae93b_827ccb0e-ea8a-306c-8c34-a16891f84e7b",       // refused by that writer
		"116_0_99914b93-2bd3-3a50-b983-c5e7c90ae93b_827ccb0e-ea8a-306c-8c34-a16891f84e7b_al", // generation 2
		"\xff_0_99914b93-2bd3-3a50-b983-c5e7c90ae93b_827ccb0e-ea8a-306c-8c34-a16891f84e7b",
		"hello",
	} {
		if p, ok := inspect.ParseActionKey([]byte(key)).ComputedPartition(4); ok {
			t.Errorf("%q lies on partition %d", key, p)
		}
	}
}
