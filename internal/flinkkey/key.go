package flinkkey

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Types are the names of the key types that are known, in the order in which
// they are offered.
func Types() []string {
	return []string{"string", "long", "int", "short", "byte", "boolean", "double", "float", "char", "bytesHex", "bigint", "instant"}
}

// Key is a typed key of a job.
type Key struct {
	Type  string // one of Types
	Value string // as it was given

	// Serialized is what Flink's serializer writes. Others are further forms of the
	// same key: a BigInteger of 0, 1 or 10 is written in another form where the job
	// has the very object that Java's constants are.
	Serialized []byte
	Others     [][]byte

	// Hash is Java's hash code. An array has none that is stable, so that Flink
	// refuses it as a key: then Hashed is false and only the digest is known.
	Hash   int32
	Hashed bool

	// Text is what Java prints of the key, which generations 1 and 2 have in their
	// record keys; empty where Hashed is false. NotExact says that Java versions
	// print this key differently: before version 19 some numbers have more digits.
	Text     string
	NotExact bool
}

// Parse reads TYPE:VALUE. The value is everything after the first colon.
func Parse(text string) (Key, error) {
	kind, value, found := strings.Cut(text, ":")
	if !found {
		return Key{}, fmt.Errorf("a key is TYPE:VALUE, such as string:alice or long:42; the types are %s", strings.Join(Types(), ", "))
	}
	return New(kind, value)
}

// New makes the key of a type from its value as text.
func New(kind, value string) (Key, error) {
	if !slices.Contains(Types(), kind) {
		return Key{}, fmt.Errorf("%s is no type of a key: one of %s", short(kind), strings.Join(Types(), ", "))
	}
	k := Key{Type: kind, Value: value, Hashed: true, Text: value}
	if err := k.read(); err != nil {
		return Key{}, fmt.Errorf("%s is no %s: %w", short(value), kind, err)
	}
	return k, nil
}

// short quotes a text as far as an error needs it.
func short(text string) string {
	const most = 100
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}

func (k *Key) read() error {
	switch k.Type {
	case "string":
		return k.text()
	case "char":
		return k.char()
	case "boolean":
		return k.boolean()
	case "long":
		return k.integer(64)
	case "int":
		return k.integer(32)
	case "short":
		return k.integer(16)
	case "byte":
		return k.integer(8)
	case "double", "float":
		return k.float()
	case "bytesHex":
		return k.array()
	case "bigint":
		return k.bigint()
	default:
		return k.instant()
	}
}

var (
	errUTF8    = errors.New("it is not UTF-8")
	errDecimal = errors.New("write it as a decimal number")
	errRange   = errors.New("it is outside the type's range")
)

// text is StringValue.writeString: the length and each UTF-16 unit in seven bits
// a byte, lowest first. A length of 0 is a null.
func (k *Key) text() error {
	if !utf8.ValidString(k.Value) {
		return errUTF8
	}
	units := utf16.Encode([]rune(k.Value))
	out := binary.AppendUvarint(make([]byte, 0, len(units)+4), uint64(len(units))+1)
	for _, unit := range units {
		out = binary.AppendUvarint(out, uint64(unit))
	}
	k.Serialized, k.Hash = out, JavaHash(k.Value)
	return nil
}

func (k *Key) char() error {
	units := utf16.Encode([]rune(k.Value))
	switch {
	case !utf8.ValidString(k.Value):
		return errUTF8
	case len(units) != 1:
		return errors.New("a char is one UTF-16 unit")
	}
	k.Serialized, k.Hash = binary.BigEndian.AppendUint16(nil, units[0]), int32(units[0])
	return nil
}

func (k *Key) boolean() error {
	switch k.Value {
	case "true":
		k.Serialized, k.Hash = []byte{1}, 1231
	case "false":
		k.Serialized, k.Hash = []byte{0}, 1237
	default:
		return errors.New("it is true or false")
	}
	return nil
}

func (k *Key) integer(size int) error {
	n, err := strconv.ParseInt(k.Value, 10, size)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return errRange
	case err != nil:
		return errDecimal
	}
	k.Text, k.Hash = strconv.FormatInt(n, 10), int32(n)
	switch size {
	case 64:
		k.Serialized = binary.BigEndian.AppendUint64(nil, uint64(n))
		k.Hash = int32(n ^ int64(uint64(n)>>32))
	case 32:
		k.Serialized = binary.BigEndian.AppendUint32(nil, uint32(n))
	case 16:
		k.Serialized = binary.BigEndian.AppendUint16(nil, uint16(n))
	default:
		k.Serialized = []byte{byte(n)}
	}
	return nil
}

// decimalFloat is what Double.valueOf takes, without its hexadecimal forms and
// type suffixes.
var decimalFloat = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

func (k *Key) float() error {
	size := 64
	if k.Type == "float" {
		size = 32
	}
	var f float64
	switch k.Value {
	case "NaN":
		f = math.NaN()
	case "Infinity":
		f = math.Inf(1)
	case "-Infinity":
		f = math.Inf(-1)
	default:
		if !decimalFloat.MatchString(k.Value) {
			return errDecimal
		}
		var err error
		if f, err = strconv.ParseFloat(k.Value, size); err != nil {
			return errRange
		}
	}
	if size == 32 {
		bits := math.Float32bits(float32(f))
		if math.IsNaN(f) {
			bits = 0x7fc00000 // the one that Java writes
		}
		k.Serialized, k.Hash = binary.BigEndian.AppendUint32(nil, bits), int32(bits)
	} else {
		bits := math.Float64bits(f)
		if math.IsNaN(f) {
			bits = 0x7ff8000000000000
		}
		k.Serialized, k.Hash = binary.BigEndian.AppendUint64(nil, bits), int32(bits^bits>>32)
	}
	k.Text = javaFloat(f, size)
	k.NotExact = !math.IsNaN(f) && !math.IsInf(f, 0) && f != math.Trunc(f)
	return nil
}

// javaFloat is Double.toString or Float.toString as of Java 19: the shortest
// digits that are this number, at least one behind the point.
func javaFloat(f float64, size int) string {
	switch abs := math.Abs(f); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case abs == 0, abs >= 1e-3 && abs < 1e7:
		text := strconv.FormatFloat(f, 'f', -1, size)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, size), "e")
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	n, _ := strings.CutPrefix(exponent, "+")
	sign, n := "", strings.TrimLeft(n, "0")
	if rest, negative := strings.CutPrefix(n, "-"); negative {
		sign, n = "-", strings.TrimLeft(rest, "0")
	}
	return digits + "E" + sign + n
}

func (k *Key) array() error {
	data, err := hex.DecodeString(k.Value)
	if err != nil {
		return errors.New("write each byte as two hexadecimal digits")
	}
	k.Serialized = append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
	k.Hashed, k.Text = false, ""
	return nil
}

// bigint is BigIntSerializer: the length of the two's complement plus 4 and its
// bytes, or 1, 2 or 3 alone for the objects ZERO, ONE and TEN.
func (k *Key) bigint() error {
	const most = 10_000 // digits: reading one takes time by the square of their number
	if len(k.Value) > most {
		return fmt.Errorf("it has more than %d digits", most)
	}
	n, ok := new(big.Int).SetString(k.Value, 10)
	if !ok || strings.Contains(k.Value, "_") {
		return errDecimal
	}
	data := twosComplement(n)
	k.Serialized = append(binary.BigEndian.AppendUint32(nil, uint32(len(data))+4), data...)
	if n.IsInt64() {
		if at := slices.Index([]int64{0, 1, 10}, n.Int64()); at >= 0 {
			k.Others = [][]byte{binary.BigEndian.AppendUint32(nil, uint32(at)+1)}
		}
	}
	magnitude := n.Bytes()
	magnitude = append(make([]byte, (4-len(magnitude)%4)%4), magnitude...)
	for i := 0; i < len(magnitude); i += 4 {
		k.Hash = 31*k.Hash + int32(binary.BigEndian.Uint32(magnitude[i:]))
	}
	k.Hash *= int32(n.Sign())
	k.Text = n.String()
	return nil
}

// twosComplement is BigInteger.toByteArray: the fewest bytes, big-endian.
func twosComplement(n *big.Int) []byte {
	of := n
	if n.Sign() < 0 {
		of = new(big.Int).Not(n)
	}
	out := make([]byte, of.BitLen()/8+1)
	of.FillBytes(out)
	if n.Sign() < 0 {
		for i := range out {
			out[i] = ^out[i]
		}
	}
	return out
}

// instant is InstantSerializer: seconds since 1970 and nanoseconds.
func (k *Key) instant() error {
	t, err := time.Parse(time.RFC3339Nano, k.Value)
	if err != nil {
		return errors.New("write it as 2026-11-29T12:34:56.789Z")
	}
	if _, fraction, found := strings.Cut(k.Value, "."); found && strings.IndexFunc(fraction, func(r rune) bool { return r < '0' || r > '9' }) > 9 {
		return errors.New("an instant has nine digits behind the point at most")
	}
	seconds, nanos := t.Unix(), t.Nanosecond()
	k.Serialized = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, uint64(seconds)), uint32(nanos))
	k.Hash = int32(seconds^int64(uint64(seconds)>>32)) + 51*int32(nanos)
	k.Text = t.UTC().Format("2006-01-02T15:04:05")
	switch { // Java prints the fraction in groups of three digits
	case nanos == 0:
	case nanos%1_000_000 == 0:
		k.Text += fmt.Sprintf(".%03d", nanos/1_000_000)
	case nanos%1000 == 0:
		k.Text += fmt.Sprintf(".%06d", nanos/1000)
	default:
		k.Text += fmt.Sprintf(".%09d", nanos)
	}
	k.Text += "Z"
	return nil
}

// Digest is the last field of a record key of generation 3: the standard base64
// of the SHA-256 of the serialized key, 44 characters.
func (k Key) Digest() string { return digest(k.Serialized) }

// OtherDigests are those of the key's other forms.
func (k Key) OtherDigests() []string {
	var out []string
	for _, form := range k.Others {
		out = append(out, digest(form))
	}
	return out
}

func digest(serialized []byte) string {
	sum := sha256.Sum256(serialized)
	return base64.StdEncoding.EncodeToString(sum[:])
}
