package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// Selection is one profile, and one job of it where one is chosen, as they are
// with everything that variables and flags say.
type Selection struct {
	// Profile has the name adhoc where no profile of the file is used. Its
	// Access and Environment are those of this run: the strictest said.
	Profile Profile
	// Job is the one in use, one of Profile.Jobs; nil where none is chosen.
	Job *Job
	// AdHoc says that no profile of the file is used.
	AdHoc bool
	// OperateFlag says that --access operate stands on this very command line,
	// which commands that write in production ask for.
	OperateFlag bool

	origins map[string]Origin // by path below the profile
	run     []Setting         // of this run
}

// Select chooses a profile and a job. An empty name means what --profile or
// --job or their variables say; where they say nothing the profile is the
// default-profile, else the only one of the file, else adhoc, and the job is
// the only one of the profile, else none.
//
// Settings of jobs that flags or variables give change the chosen job; where
// none is chosen they make one, named adhoc. An unknown name, and no name among
// several profiles, is a fault of kind Config.
func (l *Loaded) Select(profile, job string) (Selection, error) {
	sel, index, err := l.chooseProfile(profile)
	if err != nil {
		return Selection{}, err
	}
	prefix := fmt.Sprintf("profiles[%d].", index)
	for path, origin := range l.origins {
		if rest, ok := strings.CutPrefix(path, prefix); ok && !sel.AdHoc {
			sel.origins[rest] = origin
		}
	}
	at, err := l.chooseJob(&sel, job)
	if err != nil {
		return Selection{}, err
	}
	if err := l.override(&sel, at); err != nil {
		return Selection{}, err
	}
	l.guard(&sel)
	if at >= 0 {
		sel.Job = &sel.Profile.Jobs[at]
	}
	sel.run = l.runSettings(sel)
	return sel, nil
}

// RequireJob is the chosen job, or a fault of kind Config that names the jobs
// that could be chosen.
func (s Selection) RequireJob() (Job, error) {
	if s.Job != nil {
		return *s.Job, nil
	}
	f := fault.New(fault.Config, "choose a job", "profile %s has several jobs: %s", printable(s.Profile.Name), names(jobNames(s.Profile.Jobs))).
		WithHint("name one with --job")
	if len(s.Profile.Jobs) == 0 {
		f = fault.New(fault.Config, "choose a job", "profile %s has no job", printable(s.Profile.Name)).
			WithHint("name a topic with --topic, a table with --table or a hub with --hub, or add a job to the configuration")
	}
	return Job{}, f
}

// names lists names for people.
func names(list []string) string { return printable(strings.Join(list, ", ")) }

// chooseProfile makes a selection of a profile, copied so that changing it
// changes nothing else.
func (l *Loaded) chooseProfile(name string) (Selection, int, error) {
	adhoc := Selection{
		AdHoc: true, origins: map[string]Origin{},
		Profile: Profile{Name: AdHoc, Kafka: Kafka{Timeouts: Timeouts{Dial: DefaultDialTimeout, Request: DefaultTimeout}}},
	}
	origin := Origin{Kind: Default}
	if name == "" {
		if g, from, ok := l.said("profile"); ok {
			name, origin = g.text, from
		}
	}
	switch {
	case name != "":
	case l.Config.DefaultProfile != "":
		name, origin = l.Config.DefaultProfile, l.origins["default-profile"]
	case len(l.Config.Profiles) == 1:
		name = l.Config.Profiles[0].Name
	case len(l.Config.Profiles) == 0, l.saysConnections():
		name = AdHoc
	default:
		return Selection{}, 0, fault.New(fault.Config, "choose a profile", "%s has several profiles and no default-profile: %s",
			printable(l.Path), names(profileNames(l.Config.Profiles))).WithHint("name one with --profile")
	}
	if name == AdHoc {
		adhoc.origins["profile"] = origin
		return adhoc, 0, nil
	}
	index := slices.IndexFunc(l.Config.Profiles, func(p Profile) bool { return p.Name == name })
	if index < 0 {
		f := fault.New(fault.Config, "choose a profile", "%s", unknownName("profile", name, profileNames(l.Config.Profiles)))
		if l.Path == "" {
			return Selection{}, 0, f.WithHint("there is no configuration file; make one with recoverctl config init")
		}
		return Selection{}, 0, f.WithRef(printable(l.Path))
	}
	return Selection{Profile: clone(l.Config.Profiles[index]), origins: map[string]Origin{"profile": origin}}, index, nil
}

// saysConnections reports whether a flag or variable says something that a
// profile would.
func (l *Loaded) saysConnections() bool {
	return slices.ContainsFunc(settings, func(s setting) bool {
		_, _, ok := l.said(s.flag)
		return ok && s.of != ofRun
	})
}

// chooseJob is the index of the job in use, or -1. It adds the job that flags
// and variables make.
func (l *Loaded) chooseJob(sel *Selection, name string) (int, error) {
	jobs := sel.Profile.Jobs
	if name == "" {
		if g, from, ok := l.said("job"); ok {
			name = g.text
			sel.origins["job"] = from
		}
	}
	says := slices.ContainsFunc(settings, func(s setting) bool {
		_, _, ok := l.said(s.flag)
		return ok && s.of == ofJob
	})
	switch {
	case name == AdHoc, name == "" && says && len(jobs) != 1:
		j := Job{Name: AdHoc, Partitions: DefaultPartitions, KeepRecoveryPoints: DefaultKeepRecoveryPoints}
		sel.Profile.Jobs = append(jobs, j)
		return len(jobs), nil
	case name == "" && len(jobs) == 1:
		return 0, nil
	case name == "":
		return -1, nil
	}
	at := slices.IndexFunc(jobs, func(j Job) bool { return j.Name == name })
	if at < 0 {
		return 0, fault.New(fault.Config, "choose a job", "in profile %s %s", printable(sel.Profile.Name), unknownName("job", name, jobNames(jobs)))
	}
	return at, nil
}

// override puts what variables and flags say over the profile and its job at
// an index.
func (l *Loaded) override(sel *Selection, at int) error {
	p, job := &sel.Profile, &Job{}
	prefix := ""
	if at >= 0 {
		job, prefix = &p.Jobs[at], fmt.Sprintf("jobs[%d].", at)
	}
	file := map[string]string{}
	collect := func(links []link, prefix string) {
		for _, k := range links {
			if _, there := sel.origins[prefix+k.path]; there {
				file[k.flag] = k.read(p, job)
			}
		}
	}
	collect(profileLinks, "")
	if at >= 0 {
		collect(jobLinks, prefix)
	}
	merged, err := l.merge(file)
	if err != nil {
		return err
	}
	l.apply(sel, profileLinks, "", p, job, merged)
	if _, origin, ok := l.said("timeout"); ok {
		limit := merged.GetDuration("timeout")
		p.Kafka.Timeouts.Request = limit
		sel.origins["kafka.timeouts.request"] = origin
		if p.Kafka.Timeouts.Dial > limit {
			p.Kafka.Timeouts.Dial = limit
			sel.origins["kafka.timeouts.dial"] = origin
		}
	}
	l.addMappings(sel)
	if at >= 0 {
		l.apply(sel, jobLinks, prefix, p, job, merged)
		l.addPoints(sel, job, prefix)
		job.settle(at + 1)
	}
	return nil
}

// apply writes the merged values that a variable or flag has a part in.
func (l *Loaded) apply(sel *Selection, links []link, prefix string, p *Profile, j *Job, merged *viper.Viper) {
	for _, k := range links {
		if _, origin, ok := l.said(k.flag); ok {
			k.write(p, j, merged)
			sel.origins[prefix+k.path] = origin
		}
	}
}

// each calls take with every value of a repeatable setting, flags first.
func (l *Loaded) each(flag string, take func(text string, origin Origin)) {
	for _, text := range l.flagged[flag].many {
		take(text, flagOrigin(flag))
	}
	for _, text := range l.variables[flag].many {
		take(text, variableOrigin(flag))
	}
}

// addMappings puts mappings of flags and variables before those of the file.
// What is mapped already is not mapped again: the first one counts.
func (l *Loaded) addMappings(sel *Selection) {
	var all []PathMapping
	var origins []Origin
	add := func(m PathMapping, origin Origin) {
		if !slices.ContainsFunc(all, func(have PathMapping) bool { return have.From == m.From }) {
			all, origins = append(all, m), append(origins, origin)
		}
	}
	l.each("map", func(text string, origin Origin) {
		if m, why := parseMapping(text); why == "" {
			add(m, origin)
		}
	})
	for i, m := range sel.Profile.PathMappings {
		add(m, sel.origins[fmt.Sprintf("path-mappings[%d]", i)])
	}
	sel.Profile.PathMappings = all
	for i, origin := range origins {
		sel.origins[fmt.Sprintf("path-mappings[%d]", i)] = origin
	}
}

// addPoints puts places of flags and variables after those of the file.
func (l *Loaded) addPoints(sel *Selection, j *Job, prefix string) {
	l.each("points", func(text string, origin Origin) {
		if slices.Contains(j.RecoveryPoints, text) {
			return
		}
		sel.origins[fmt.Sprintf("%srecovery-points[%d]", prefix, len(j.RecoveryPoints))] = origin
		j.RecoveryPoints = append(j.RecoveryPoints, text)
	})
}

// guard settles access and environment by the rules of package access.
func (l *Loaded) guard(sel *Selection) {
	g := access.Grants{Kind: access.AdHoc}
	if !sel.AdHoc {
		g.Kind = access.Profile
		if _, there := sel.origins["access"]; there {
			g.ProfileLevel = &sel.Profile.Access
		}
		if _, there := sel.origins["environment"]; there {
			g.ProfileEnvironment = &sel.Profile.Environment
		}
	}
	g.FlagLevel = parsed(l.flagged, "access", access.ParseLevel)
	g.VariableLevel = parsed(l.variables, "access", access.ParseLevel)
	g.Environment = parsed(l.flagged, "environment", access.ParseEnvironment)
	if g.Environment == nil {
		g.Environment = parsed(l.variables, "environment", access.ParseEnvironment)
	}
	sel.OperateFlag = g.FlagLevel != nil && *g.FlagLevel == access.Operate

	level, environment := g.Level(), g.Effective()
	l.creditWinner(sel, "access", level.String(), g.ProfileLevel)
	l.creditWinner(sel, "environment", environment.String(), g.ProfileEnvironment)
	sel.Profile.Access, sel.Profile.Environment = level, environment
}

// parsed is the value of a setting that one place gives, or nil. Its check has
// passed, so it parses.
func parsed[T any](place map[string]given, flag string, parse func(string) (T, error)) *T {
	g, ok := place[flag]
	if !ok {
		return nil
	}
	value, err := parse(g.text)
	if err != nil {
		return nil
	}
	return &value
}

// creditWinner sets the origin of a guard to the first place, from the file to
// the flag, that says what won; where none does, it is the default.
func (l *Loaded) creditWinner(sel *Selection, flag, won string, file fmt.Stringer) {
	switch {
	case sel.origins[flag].Kind == File && file.String() == won:
	case l.flagged[flag].text == won:
		sel.origins[flag] = flagOrigin(flag)
	case l.variables[flag].text == won:
		sel.origins[flag] = variableOrigin(flag)
	default:
		sel.origins[flag] = Origin{Kind: Default}
	}
}

// clone copies what a selection may change or give away.
func clone(p Profile) Profile {
	p.Kafka.Brokers = slices.Clone(p.Kafka.Brokers)
	p.ObjectStores = slices.Clone(p.ObjectStores)
	p.PathMappings = slices.Clone(p.PathMappings)
	p.Jobs = slices.Clone(p.Jobs)
	for i := range p.Jobs {
		j := &p.Jobs[i]
		j.RecoveryPoints = slices.Clone(j.RecoveryPoints)
		j.Pinned = slices.Clone(j.Pinned)
		j.Fluss.Servers = slices.Clone(j.Fluss.Servers)
		j.Fluss.ZooKeeper.Servers = slices.Clone(j.Fluss.ZooKeeper.Servers)
		if j.ActionState.ControlTopic != nil {
			text := *j.ActionState.ControlTopic
			j.ActionState.ControlTopic = &text
		}
	}
	return p
}
