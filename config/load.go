package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// Options are what Load reads.
type Options struct {
	// File is a configuration file that must exist. Empty: what --config or
	// RECOVERCTL_CONFIG names, else the file at DefaultPath, which may be absent.
	File string
	// Environ is the environment as os.Environ gives it.
	Environ []string
	// Flags is a parsed set that Flags registered its flags in. May be nil, and
	// may lack some of them.
	Flags *pflag.FlagSet
}

// Loaded is everything the operator said, checked, before a profile and a job
// are chosen from it.
type Loaded struct {
	Path     string   // of the file that was read; empty where there was none
	Config   Config   // of the file
	Warnings []string // printable sentences, for standard error
	Output   string   // text or json
	Timeout  time.Duration
	NoColor  bool

	dir       string
	origins   map[string]Origin // of the file's values
	flags     *pflag.FlagSet
	flagged   map[string]given // settings given as flags
	variables map[string]given // settings given as variables
}

// Load reads the configuration file, the variables and the flags. What is
// wrong in the file or a variable is a fault of kind Config, with Problems as
// its cause for the file; what is wrong in a flag is one of kind Usage.
func Load(o Options) (*Loaded, error) {
	variables := variablesOf(o.Environ)
	l := &Loaded{flags: o.Flags, flagged: map[string]given{}, variables: map[string]given{}, origins: map[string]Origin{}}
	for _, s := range settings {
		if err := s.judge(o.Flags, variables); err != nil {
			return nil, err
		}
		if g, ok := s.fromFlag(o.Flags); ok {
			l.flagged[s.flag] = g
		}
		if g, ok := s.fromVariable(variables); ok {
			l.variables[s.flag] = g
		}
	}
	l.Warnings = misspelled(variables)
	if err := l.readFile(o.File, variables); err != nil {
		return nil, err
	}
	merged, err := l.merge(nil)
	if err != nil {
		return nil, err
	}
	l.Output, l.Timeout = merged.GetString("output"), merged.GetDuration("timeout")
	l.NoColor = merged.GetBool("no-color") || variables["NO_COLOR"] != ""
	return l, nil
}

// judge is what is wrong with what the flag and the variable of a setting say.
func (s setting) judge(flags *pflag.FlagSet, variables map[string]string) error {
	if g, ok := s.fromFlag(flags); ok {
		if why := s.wrong(g); why != "" {
			return fault.New(fault.Usage, "read flags", "--%s: %s", s.flag, why).WithRef("--" + s.flag)
		}
	}
	if g, ok := s.fromVariable(variables); ok {
		if why, name := s.wrong(g), variableName(s.flag); why != "" {
			return fault.New(fault.Config, "read variables", "%s: %s", name, why).WithRef(name)
		}
	}
	return nil
}

// CheckOutput is Load's judgement of the form of the answer alone, for commands
// that need no configuration. The error is as Load's.
func CheckOutput(o Options) error {
	for _, s := range settings {
		if s.flag == "output" {
			return s.judge(o.Flags, variablesOf(o.Environ))
		}
	}
	return nil
}

// OutputOf is text or json, as flags and variables ask for it, whatever else in
// the options is wrong: a failure of Load is told in that form too.
func OutputOf(o Options) string {
	variables := variablesOf(o.Environ)
	for _, s := range settings {
		if s.flag != "output" {
			continue
		}
		if g, ok := s.fromFlag(o.Flags); ok && s.wrong(g) == "" {
			return g.text
		}
		if g, ok := s.fromVariable(variables); ok && s.wrong(g) == "" {
			return g.text
		}
	}
	return outputs[0]
}

// said is what a setting's flag says, else its variable, and where.
func (l *Loaded) said(flag string) (given, Origin, bool) {
	if g, ok := l.flagged[flag]; ok {
		return g, flagOrigin(flag), true
	}
	if g, ok := l.variables[flag]; ok {
		return g, variableOrigin(flag), true
	}
	return given{}, Origin{}, false
}

// readFile finds, reads, checks and decodes the configuration file.
func (l *Loaded) readFile(path string, variables map[string]string) error {
	explicit := path != ""
	if !explicit {
		if g, _, ok := l.said("config"); ok {
			path, explicit = g.text, true
		} else if path = defaultPath(variables); path == "" {
			return nil
		}
	}
	text, mode, err := readBounded(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !explicit:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Config, "read configuration", "no such file: %s", printable(path)).
			WithRef(printable(path)).WithHint("check the path, or make one with recoverctl config init")
	case err != nil:
		return fault.Wrap(fault.Config, "read configuration", plain(err), "%s can't be read", printable(path)).WithRef(printable(path))
	}
	l.Path = path
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return fault.Wrap(fault.Config, "read configuration", err, "the folder of %s can't be named", printable(path))
	}
	l.dir = dir
	if readable := mode.Perm() & 0o044; mode.IsRegular() && readable != 0 {
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s is readable by others (mode %04o); make it yours alone with chmod 600", printable(path), mode.Perm()))
	}
	root, problems := parseTree(printable(path), text)
	if len(problems) == 0 {
		d := &decoder{file: path, dir: dir, origins: l.origins, asked: map[string]struct{}{}}
		l.Config = d.decode(root)
		problems = d.problems
	}
	if len(problems) > 0 {
		problems.sort()
		return problems.fault()
	}
	l.Warnings = append(l.Warnings, l.unencrypted()...)
	return nil
}

// unencrypted warns about passwords that would cross the network as text.
func (l *Loaded) unencrypted() []string {
	var warnings []string
	for i, p := range l.Config.Profiles {
		if s := p.Kafka.SASL; s != nil && p.Kafka.TLS == nil && (s.Mechanism == "plain" || s.Mechanism == "oauthbearer") {
			at := l.origins[fmt.Sprintf("profiles[%d].kafka.sasl", i)]
			warnings = append(warnings, fmt.Sprintf("%s:%d: %s without tls sends the password readable over the network", printable(at.Name), at.Line, s.Mechanism))
		}
	}
	return warnings
}

// readBounded reads a whole file of at most maxFileBytes.
func readBounded(path string) (_ []byte, _ fs.FileMode, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if info.IsDir() {
		return nil, 0, errors.New("it is a folder")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, 0, err
	}
	if len(text) > maxFileBytes {
		return nil, 0, fmt.Errorf("it is larger than %d bytes", maxFileBytes)
	}
	return text, info.Mode(), nil
}

// plain is an error of the file system without the path, which the message has
// already.
func plain(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// DefaultPath is where the configuration file is when nobody names one:
// recoverctl/config.yaml under XDG_CONFIG_HOME, else under .config in HOME. It
// is empty where neither is an absolute path.
func DefaultPath(environ []string) string { return defaultPath(variablesOf(environ)) }

func defaultPath(variables map[string]string) string {
	if base := variables["XDG_CONFIG_HOME"]; filepath.IsAbs(base) {
		return filepath.Join(base, "recoverctl", "config.yaml")
	}
	if home := variables["HOME"]; filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "recoverctl", "config.yaml")
	}
	return ""
}
