package termguard

import "os"

// variable is the one that termenv reads before it queries a terminal: where it
// is not empty, the terminal counts as none.
const variable = "CI"

// before is what the variable was when this package was initialised.
var before, wasSet = os.LookupEnv(variable)

func init() {
	// The error would be a name that the system refuses; this one is fixed. A
	// program whose terminal is queried is slow, not wrong.
	_ = os.Setenv(variable, "1")
}

// Release gives the environment back as it was. It is the first statement of
// main: what main starts, and what it reads from the environment, must not see
// the guard. A second call changes nothing.
func Release() error {
	if wasSet {
		return os.Setenv(variable, before)
	}
	return os.Unsetenv(variable)
}
