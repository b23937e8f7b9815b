package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

func newConfig(a *app) *cobra.Command {
	return group("config", "Make, show and check the configuration", newConfigInit(a), newConfigShow(a), newConfigCheck(a))
}

type settingJSON struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

func newConfigShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show every setting in use and where it came from; secrets as ***", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := a.load(); err != nil {
				return err
			}
			settings := a.loaded.Explain(a.selection)
			rows := make([]settingJSON, 0, len(settings))
			for _, s := range settings {
				rows = append(rows, settingJSON{Key: s.Key, Value: s.Value, Origin: s.Origin.String()})
			}
			return a.printer().result("ConfigShow", map[string]any{"file": a.loaded.Path, "settings": rows}, nil, func(t *table) {
				if a.loaded.Path == "" {
					t.line("no configuration file")
				} else {
					t.line("configuration file " + safe(a.loaded.Path))
				}
				t.row(text("SETTING"), text("VALUE"), text("FROM"))
				for _, r := range rows {
					t.row(text(r.Key), text(r.Value), text(r.Origin))
				}
			})
		},
	}
}

// probe is one thing that config check tried.
type probe struct {
	What   string `json:"what"`
	Result string `json:"result"` // ok, failed or not-configured
	Detail string `json:"detail"`
	Hint   string `json:"hint"`
}

const (
	probeOK     = "ok"
	probeFailed = "failed"
	probeNone   = "not-configured"
)

func newConfigCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Try the connections and the reading rights of every job of the profile", Args: noArgs,
		Long: `Connects to the profile's brokers, JobManagers, Fluss clusters with their ZooKeeper,
ArkFlow hubs, and object stores, describes and reads what each job needs, and lists
its recovery points. Of an object store it lists a little and reads one byte, and says
which right is missing where it may not. Nothing is written anywhere.

Exit codes: 0 everything that is configured works, 1 something does not.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.load(); err != nil {
				return err
			}
			in, systems, err := a.inspector(a.selection.Profile, terminalPrompt{})
			if err != nil {
				return err
			}
			defer systems.close()
			probes := a.check(cmd.Context(), in, systems)
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			err = a.printer().result("ConfigCheck", map[string]any{"profile": a.selection.Profile.Name, "probes": probes}, nil, func(t *table) {
				for _, p := range probes {
					t.row(text(probeSign(p.Result)), text(p.What), text(p.Detail))
					if p.Hint != "" {
						t.row(text(""), text(""), text(p.Hint))
					}
				}
			})
			if err != nil {
				return err
			}
			for _, p := range probes {
				if p.Result == probeFailed {
					return exitStatus(fault.Problem.Exit())
				}
			}
			return nil
		},
	}
}

func probeSign(result string) string {
	switch result {
	case probeOK:
		return "✔"
	case probeFailed:
		return "✖"
	default:
		return nothing
	}
}

// check tries everything that the profile configures, one after the other, so
// that each line is about one thing.
func (a *app) check(ctx context.Context, in *inspect.Inspector, systems connections) []probe {
	profile := a.selection.Profile
	var probes []probe
	if len(profile.Kafka.Brokers) == 0 {
		probes = append(probes, probe{What: "kafka", Result: probeNone, Detail: "no brokers in profile " + safe(profile.Name)})
	}
	for _, s := range systems.stores.configured {
		probes = append(probes, s.check(ctx))
	}
	if len(profile.Jobs) == 0 {
		probes = append(probes, probe{What: "jobs", Result: probeNone, Detail: "no job in profile " + safe(profile.Name)})
	}
	hubs := map[string]bool{}
	for _, j := range profile.Jobs {
		probes = append(probes, a.checkJob(ctx, in, jobOf(profile.Name, j), len(profile.Kafka.Brokers) > 0)...)
		probes = append(probes, a.checkFluss(ctx, profile, j, systems.stores)...)
		probes = append(probes, a.checkArkFlow(ctx, j, systems, hubs)...)
	}
	return probes
}

func (a *app) checkJob(ctx context.Context, in *inspect.Inspector, job inspect.Job, brokers bool) []probe {
	var probes []probe
	add := func(what, detail string, err error) {
		probes = append(probes, probeOf(safe(job.Name)+": "+what, detail, err))
	}
	if brokers && job.Topic != "" && job.Store != inspect.StoreFluss { // whose table is asked for beside its servers
		topic, err := in.Topic(ctx, job)
		detail := fmt.Sprintf("%d partitions, topic id %s; offsets and settings readable", len(topic.Partitions), topic.TopicID)
		if err == nil && !topic.Exists {
			err = inspect.MissingLog(job)
		}
		add("topic "+safe(job.Topic), detail, err)
	}
	if brokers && job.ControlTopic != nil {
		b, err := in.Control(ctx, job, nil)
		detail := fmt.Sprintf("%d operations", len(b.Operations))
		if err == nil && b.Problem != nil {
			err = errors.New(b.Problem.Message)
		}
		add("control topic "+safe(*job.ControlTopic), detail, err)
	}
	if job.Flink.REST != "" {
		running, err := in.Running(ctx, job)
		detail := ""
		if running.Live != nil {
			detail = safe(fmt.Sprintf("%s is %s, Flink %s", running.Live.Name, running.Live.State, running.Live.FlinkVersion))
		}
		add("running job at "+safe(job.Flink.REST), detail, err)
	}
	for _, place := range job.RecoveryPoints {
		list, err := in.List(ctx, place)
		add("recovery points under "+safe(place), fmt.Sprintf("%d found", len(list)), err)
	}
	return probes
}
