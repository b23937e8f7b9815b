package access_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
)

func ptr[T any](v T) *T { return &v }

func TestParse(t *testing.T) {
	for _, l := range []access.Level{access.ReadOnly, access.Operate} {
		got, err := access.ParseLevel(l.String())
		if err != nil || got != l {
			t.Errorf("level %s is read as %s, error %v", l, got, err)
		}
	}
	for _, e := range []access.Environment{access.Production, access.Staging, access.Development} {
		got, err := access.ParseEnvironment(e.String())
		if err != nil || got != e {
			t.Errorf("environment %s is read as %s, error %v", e, got, err)
		}
	}
	bad := map[string]error{}
	_, bad[`access "Operate" is not known`] = access.ParseLevel("Operate")
	_, bad[`access is empty`] = access.ParseLevel("")
	_, bad[`environment "prod\\x1b" is not known`] = access.ParseEnvironment("prod\x1b")
	for message, err := range bad {
		if err == nil || err.Error() != message || fault.KindOf(err) != fault.Config {
			t.Errorf("error %v (%s), want %s", err, fault.KindOf(err), message)
		}
		if hint := fault.Of(err).Hint; !strings.Contains(hint, "one of: read-only, operate") &&
			!strings.Contains(hint, "one of: production, staging, development") {
			t.Errorf("%s: hint %q does not list the words", message, hint)
		}
	}
}

func TestWordsInJSON(t *testing.T) {
	type both struct {
		Access      access.Level
		Environment access.Environment
	}
	var read both
	const text = `{"Access":"operate","Environment":"staging"}`
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		t.Fatal(err)
	}
	if want := (both{access.Operate, access.Staging}); read != want {
		t.Errorf("read %v, want %v", read, want)
	}
	if written, err := json.Marshal(read); err != nil || string(written) != text {
		t.Errorf("written %s, error %v", written, err)
	}
}

func TestTheStricterLevelWins(t *testing.T) {
	ro, op := ptr(access.ReadOnly), ptr(access.Operate)
	tests := map[string]struct {
		grants access.Grants
		want   access.Level
	}{
		"nobody says anything":                     {access.Grants{}, access.ReadOnly},
		"a silent profile":                         {access.Grants{Kind: access.Profile}, access.ReadOnly},
		"a silent profile is not raised by a flag": {access.Grants{Kind: access.Profile, FlagLevel: op}, access.ReadOnly},
		"a read-only profile is not raised":        {access.Grants{Kind: access.Profile, ProfileLevel: ro, VariableLevel: op, FlagLevel: op}, access.ReadOnly},
		"the profile grants it":                    {access.Grants{Kind: access.Profile, ProfileLevel: op}, access.Operate},
		"the flag takes it away":                   {access.Grants{Kind: access.Profile, ProfileLevel: op, FlagLevel: ro}, access.ReadOnly},
		"the variable takes it away":               {access.Grants{Kind: access.Profile, ProfileLevel: op, VariableLevel: ro, FlagLevel: op}, access.ReadOnly},
		"all three agree":                          {access.Grants{Kind: access.Profile, ProfileLevel: op, VariableLevel: op, FlagLevel: op}, access.Operate},
		"ad hoc, the flag grants it":               {access.Grants{FlagLevel: op}, access.Operate},
		"ad hoc, the variable grants it":           {access.Grants{VariableLevel: op}, access.Operate},
		"ad hoc, flag and variable disagree":       {access.Grants{VariableLevel: ro, FlagLevel: op}, access.ReadOnly},
		"the demonstration":                        {access.Grants{Kind: access.Demo}, access.Operate},
		"the demonstration, narrowed":              {access.Grants{Kind: access.Demo, FlagLevel: ro}, access.ReadOnly},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.grants.Level(); got != tt.want {
				t.Errorf("level %s, want %s", got, tt.want)
			}
		})
	}
	if access.Stricter() != access.ReadOnly {
		t.Error("no level at all is not read-only")
	}
}

func TestWhatNobodyClassifiedIsProduction(t *testing.T) {
	prod, dev := ptr(access.Production), ptr(access.Development)
	tests := map[string]struct {
		grants access.Grants
		want   access.Environment
	}{
		"ad hoc":                         {access.Grants{}, access.Production},
		"ad hoc, said to be development": {access.Grants{Environment: dev}, access.Development},
		"a silent profile":               {access.Grants{Kind: access.Profile}, access.Production},
		"a silent profile, said to be development":   {access.Grants{Kind: access.Profile, Environment: dev}, access.Development},
		"a production profile can't be talked down":  {access.Grants{Kind: access.Profile, ProfileEnvironment: prod, Environment: dev}, access.Production},
		"a development profile can be made stricter": {access.Grants{Kind: access.Profile, ProfileEnvironment: dev, Environment: prod}, access.Production},
		"a development profile":                      {access.Grants{Kind: access.Profile, ProfileEnvironment: dev}, access.Development},
		"the demonstration":                          {access.Grants{Kind: access.Demo, Environment: dev}, access.Production},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.grants.Effective(); got != tt.want {
				t.Errorf("environment %s, want %s", got, tt.want)
			}
		})
	}
}

func TestMayWrite(t *testing.T) {
	tests := map[string]struct {
		level access.Level
		env   access.Environment
		flag  bool
		want  string // the refusal; empty where it may write
	}{
		"read-only":                   {access.ReadOnly, access.Development, true, "access is read-only: nothing may be changed"},
		"production without the flag": {access.Operate, access.Production, false, "commands that write in production need --access operate"},
		"production with the flag":    {access.Operate, access.Production, true, ""},
		"staging without the flag":    {access.Operate, access.Staging, false, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := access.MayWrite(tt.level, tt.env, tt.flag)
			if tt.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil || err.Error() != tt.want || fault.KindOf(err) != fault.Denied || fault.Of(err).Hint == "" {
				t.Errorf("error %v, want %q, denied, with a hint", err, tt.want)
			}
		})
	}
}

func TestPhraseNamesWhatIsChangedInProduction(t *testing.T) {
	id := "3f9c21aa" + strings.Repeat("0", 56)
	for env, want := range map[access.Environment]string{
		access.Production:  "orders/action-state 3f9c21aa",
		access.Staging:     "3f9c21aa",
		access.Development: "3f9c21aa",
	} {
		got, err := access.Phrase(env, "orders", "action-state", id)
		if err != nil || got.String() != want {
			t.Errorf("%s: %q, error %v, want %q", env, got, err, want)
		}
	}
	if _, err := access.Phrase(access.Production, "orders", "t", "3f9c"); err == nil {
		t.Error("a phrase was made from a plan id of four digits")
	}
	if access.ApproveDigits(access.Production) != 64 || access.ApproveDigits(access.Staging) != 8 {
		t.Error("--approve asks for the wrong number of digits")
	}
}

func TestTheConsoleIsArmedForThirtyMinutes(t *testing.T) {
	now := time.Date(2026, 3, 1, 14, 3, 0, 0, time.UTC)
	var a access.Arming
	if a.Left(now) != 0 {
		t.Error("it starts armed")
	}
	if err := a.Arm(access.ReadOnly, now); fault.KindOf(err) != fault.Denied || a.Left(now) != 0 {
		t.Errorf("armed although access is read-only: %v", err)
	}
	if err := a.Arm(access.Operate, now); err != nil {
		t.Fatal(err)
	}
	if got := a.Left(now.Add(29 * time.Minute)); got != time.Minute {
		t.Errorf("after 29 minutes %s are left", got)
	}
	if got := a.Left(now.Add(31 * time.Minute)); got != 0 {
		t.Errorf("after 31 minutes %s are left", got)
	}
	a.Disarm()
	if a.Left(now) != 0 {
		t.Error("still armed after Disarm")
	}
}
