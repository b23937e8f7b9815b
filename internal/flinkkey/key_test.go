package flinkkey_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/flinkkey"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

// Every value that Flink's serializers, Java's hash codes and both partitioners
// gave for a key is computed from what an operator types.
func TestKeysAreWhatFlinkMakesOfThem(t *testing.T) {
	for _, c := range cases.TypedKeys(t) {
		t.Run(c.Name, func(t *testing.T) {
			k, err := flinkkey.Parse(c.Type + ":" + c.ValueText())
			if err != nil {
				t.Fatal(err)
			}
			if c.Serialized != nil && hex.EncodeToString(k.Serialized) != *c.Serialized {
				t.Errorf("serialized %x, want %s", k.Serialized, *c.Serialized)
			}
			if len(k.Serialized) != c.SerializedLength || k.Digest() != c.Digest {
				t.Errorf("%d bytes with digest %s, want %d with %s", len(k.Serialized), k.Digest(), c.SerializedLength, c.Digest)
			}
			if k.Hashed != (c.JavaHash != nil) {
				t.Fatalf("hashed %t", k.Hashed)
			}
			if !k.Hashed {
				return
			}
			if k.Hash != *c.JavaHash {
				t.Errorf("hash %d, want %d", k.Hash, *c.JavaHash)
			}
			if c.Serialized != nil && k.Text != c.KeyText { // long ones are left out
				t.Errorf("text %q, want %q", k.Text, c.KeyText)
			}
			for most, want := range c.KeyGroup {
				if got := flinkkey.Group(k.Hash, atoi(t, most)); got != want {
					t.Errorf("key group %d of %s, want %d", got, most, want)
				}
			}
			for of, want := range c.Subtask {
				most, parallelism, _ := strings.Cut(of, "/")
				if got := flinkkey.Subtask(c.KeyGroup[most], atoi(t, most), atoi(t, parallelism)); got != want {
					t.Errorf("subtask %d of %s, want %d", got, of, want)
				}
			}
			for partitions, want := range c.Partition {
				if got := flinkkey.Partition(k.Digest(), atoi(t, partitions)); got != want {
					t.Errorf("partition %d of %s, want %d", got, partitions, want)
				}
			}
			for _, partitions := range []string{"1", "2", "3", "4", "16", "64", "100"} {
				want, written := c.PartitionReleased[partitions]
				got, ok := flinkkey.PartitionReleased(k.Text+"_0_event_action", atoi(t, partitions))
				if ok != written || got != want {
					t.Errorf("released partition %d (%t) of %s, want %d (%t)", got, ok, partitions, want, written)
				}
			}
		})
	}
}

// A record's key alone says where it belongs, whatever its fields are worth.
func TestRecordKeysAreWhereTheirWritersPutThem(t *testing.T) {
	for _, c := range cases.RecordKeys(t) {
		key := c.KeyBytes()
		for partitions := range maps.Keys(cases.TypedKeys(t)[0].Partition) {
			n := atoi(t, partitions)
			if want, written := c.PartitionReleased[partitions]; key != nil {
				if got, ok := flinkkey.PartitionReleased(key, n); ok != written || got != want {
					t.Errorf("%s: released partition %d (%t) of %d, want %d (%t)", c.Name, got, ok, n, want, written)
				}
			}
			if want, written := c.Partition[partitions]; written {
				digest := strings.SplitN(string(key), "_", 5)[4]
				if got := flinkkey.Partition(digest, n); got != want {
					t.Errorf("%s: partition %d of %d, want %d", c.Name, got, n, want)
				}
				if got := flinkkey.Partition([]byte(digest), n); got != want {
					t.Errorf("%s: partition %d of %d from bytes, want %d", c.Name, got, n, want)
				}
			}
		}
	}
}

// The objects that Java keeps for 0, 1 and 10 are written in another form than
// equal ones (BigIntSerializer compares by reference).
func TestABigIntegerThatJavaKeepsHasTwoForms(t *testing.T) {
	for value, want := range map[string]string{"0": "00000001", "1": "00000002", "10": "00000003"} {
		k, err := flinkkey.New("bigint", value)
		if err != nil || len(k.Others) != 1 || hex.EncodeToString(k.Others[0]) != want || len(k.OtherDigests()) != 1 || k.OtherDigests()[0] == k.Digest() {
			t.Errorf("%s: %x, %v", value, k.Others, err)
		}
	}
	if k, err := flinkkey.New("bigint", "-1"); err != nil || k.Others != nil {
		t.Errorf("-1: %x, %v", k.Others, err)
	}
}

// Numbers in Java's notation (Double.toString: fixed from 10⁻³ below 10⁷, else
// with an exponent).
func TestNumbersAreWrittenAsJavaPrintsThem(t *testing.T) {
	for _, row := range []struct{ kind, value, text string }{
		{"double", "1e-7", "1.0E-7"}, {"double", "100", "100.0"}, {"double", "0.001", "0.001"}, {"double", "9.99e-4", "9.99E-4"},
		{"double", "9999999", "9999999.0"}, {"double", "1e7", "1.0E7"}, {"double", "12345678.9", "1.23456789E7"},
		{"double", "1.7976931348623157e308", "1.7976931348623157E308"}, {"double", "-1e-300", "-1.0E-300"}, {"double", ".5", "0.5"},
		{"float", "1e10", "1.0E10"}, {"float", "0.1", "0.1"}, {"long", "+7", "7"}, {"int", "007", "7"}, {"bigint", "-007", "-7"},
		{"instant", "2026-11-29T13:00:00.5+01:00", "2026-11-29T12:00:00.500Z"}, {"instant", "2026-11-29T12:00:00.000001Z", "2026-11-29T12:00:00.000001Z"},
	} {
		if k, err := flinkkey.New(row.kind, row.value); err != nil || k.Text != row.text {
			t.Errorf("%s:%s is %q, %v; want %q", row.kind, row.value, k.Text, err, row.text)
		}
	}
}

func TestWhatIsNoKey(t *testing.T) {
	for _, text := range []string{
		"", "alice", "String:alice", "uuid:x", "int:", "int:1_000", "int:2147483648", "short:40000", "byte:128", "long:9223372036854775808", "long:1.0",
		"boolean:TRUE", "boolean:1", "double:1e400", "double:0x1p3", "double:inf", "double:nan", "double:1d", "float:1e39", "double:.",
		"char:", "char:ab", "char:😀", "bytesHex:0", "bytesHex:zz", "bigint:", "bigint:1_0", "bigint:0x1", "bigint:1.5",
		"instant:yesterday", "instant:2026-11-29", "instant:2026-11-29T12:00:00.1234567890Z", "string:\xff", "char:\xff",
	} {
		if k, err := flinkkey.Parse(text); err == nil {
			t.Errorf("%q is %+v", text, k)
		}
	}
}

// Whatever is typed is a key with all that follows from it, or an error.
func FuzzKey(f *testing.F) {
	for _, c := range cases.TypedKeys(f) {
		f.Add(c.Type, c.ValueText())
	}
	f.Fuzz(func(t *testing.T, kind, value string) {
		k, err := flinkkey.New(kind, value)
		if err != nil {
			return
		}
		if len(k.Digest()) != 44 {
			t.Errorf("digest %s", k.Digest())
		}
		if !k.Hashed {
			return
		}
		if g := flinkkey.Group(k.Hash, 128); g < 0 || g > 127 {
			t.Errorf("key group %d", g)
		}
		again, err := flinkkey.New(kind, k.Text)
		if err != nil || again.Hash != k.Hash || again.Digest() != k.Digest() {
			t.Errorf("%s:%q prints %q, which is another key: %v", kind, value, k.Text, err)
		}
	})
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func ExampleParse() {
	k, err := flinkkey.Parse("string:alice")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(k.Digest(), flinkkey.Group(k.Hash, 128), flinkkey.Partition(k.Digest(), 64))
	// Output: x6QqxwoERRpN28ZE9T1PgLeBOy97pE5RalN2jWxBvxk= 116 28
}
