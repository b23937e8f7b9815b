package access

// Kind says where the settings of this run come from.
type Kind uint8

// The zero Kind is AdHoc.
const (
	AdHoc   Kind = iota // no profile: flags and variables stand for one
	Profile             // a profile of the config file
	Demo                // the built-in demonstration
)

// Grants are the places that can speak about access and environment. A nil
// pointer is a place that says nothing.
type Grants struct {
	Kind               Kind
	ProfileLevel       *Level
	ProfileEnvironment *Environment
	VariableLevel      *Level // RECOVERCTL_ACCESS
	FlagLevel          *Level // --access
	// Environment is what --environment or its variable says.
	Environment *Environment
}

// Level is the access of this run. With a profile, a profile that is silent is
// read-only, and the variable and the flag can only take away. Without a
// profile the variable or the flag grants it; where both speak, the stricter
// one wins. The demonstration grants operate, and can be narrowed likewise.
func (g Grants) Level() Level {
	var said []Level
	switch g.Kind {
	case Profile:
		base := ReadOnly
		if g.ProfileLevel != nil {
			base = *g.ProfileLevel
		}
		said = append(said, base)
	case Demo:
		said = append(said, Operate)
	}
	for _, l := range []*Level{g.VariableLevel, g.FlagLevel} {
		if l != nil {
			said = append(said, *l)
		}
	}
	return Stricter(said...)
}

// Effective is the environment of this run. Ad-hoc use counts as production
// unless --environment says otherwise, and so does a profile that is silent. A
// profile that says what it is can be made stricter by --environment, never
// laxer. The demonstration always counts as production.
func (g Grants) Effective() Environment {
	var said []Environment
	if g.Kind == Demo {
		return Production
	}
	if g.Kind == Profile && g.ProfileEnvironment != nil {
		said = append(said, *g.ProfileEnvironment)
	}
	if g.Environment != nil {
		said = append(said, *g.Environment)
	}
	return strictest(said)
}
