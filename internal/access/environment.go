package access

// Environment says how careful to be. The zero Environment is Production:
// whatever nobody classified counts as production.
type Environment uint8

// The environments, the strictest first.
const (
	Production Environment = iota
	Staging
	Development
)

var environmentWords = []string{Production: "production", Staging: "staging", Development: "development"}

// ParseEnvironment reads "production", "staging" or "development". The error is
// a fault of kind Config.
func ParseEnvironment(s string) (Environment, error) {
	i, err := parse("environment", s, environmentWords)
	return Environment(i), err
}

// String is the environment's word.
func (e Environment) String() string { return word(environmentWords, int(e)) }

// MarshalText is the environment's word.
func (e Environment) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText is ParseEnvironment.
func (e *Environment) UnmarshalText(text []byte) (err error) {
	*e, err = ParseEnvironment(string(text))
	return err
}
