package console

import (
	"strings"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/fluss"
)

// Fluss is the Fluss cluster of a job.
type Fluss struct {
	Job     string // its name
	Options fluss.Options
}

// flussCommands open the producers, one of them, and the buckets of a job's Fluss
// cluster; of the only one without a name. Without any there are no such commands.
func flussCommands(o Options) []tui.Command {
	if len(o.Fluss) == 0 {
		return nil
	}
	var names []string
	for _, f := range o.Fluss {
		names = append(names, f.Job)
	}
	jobs := "jobs with a Fluss cluster: " + strings.Join(names, ", ")
	find := func(name string, open func(fluss.Options) tui.Screen) tui.Cmd {
		for _, f := range o.Fluss {
			if f.Job == name || name == "" && len(o.Fluss) == 1 {
				return tui.Push(open(f.Options))
			}
		}
		return tui.Say(theme.Warning, jobs)
	}
	return []tui.Command{
		{Name: "producers", Args: "JOB", Choices: names, Help: "what a Fluss cluster keeps for producers, and who can be restarted: " + strings.Join(names, ", "),
			Run: func(name string) tui.Cmd {
				return find(name, func(f fluss.Options) tui.Screen { return fluss.NewProducers(f) })
			}},
		{Name: "producer", Args: "ID [JOB]", Help: "one producer of a Fluss cluster, by its id",
			Run: func(text string) tui.Cmd {
				id, name, _ := strings.Cut(strings.TrimSpace(text), " ")
				if id == "" {
					return tui.Say(theme.Warning, "which producer? its id is the sink's option sink.producer-id, or else the Flink job id")
				}
				return find(strings.TrimSpace(name), func(f fluss.Options) tui.Screen { return fluss.NewProducer(f, id) })
			}},
		{Name: "buckets", Args: "JOB", Choices: names, Help: "the buckets of a job's Fluss table: " + strings.Join(names, ", "),
			Run: func(name string) tui.Cmd {
				for _, f := range o.Fluss {
					if (f.Job == name || name == "" && len(o.Fluss) == 1) && f.Options.Table == "" {
						return tui.Say(theme.Warning, "no table is configured for the job")
					}
				}
				return find(name, func(f fluss.Options) tui.Screen { return fluss.NewBuckets(f) })
			}},
	}
}
