package main

import (
	"context"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// checkArkFlow tries a job's hub, what its name stands for there with its checkpoint
// store, and its write-ahead log. A hub that was asked already is not told of again.
func (a *app) checkArkFlow(ctx context.Context, j config.Job, to connections, asked map[string]bool) []probe {
	var probes []probe
	name := safe(j.Name)
	if address := j.ArkFlow.Hub; address != "" {
		alone := j
		alone.ArkFlow.WAL = "" // it is tried by itself
		hub := consoleHub{app: a, job: alone, to: to, prompt: terminalPrompt{}}
		l, err := hub.Jobs(ctx)
		if !asked[address] || err != nil {
			asked[address] = true
			probes = append(probes, probeOf(name+": hub "+safe(address), hubDetail(l), err))
		}
		if l.Hub.Address != "" {
			probes = append(probes, a.checkAtHub(ctx, hub, l, j.Name))
		}
	}
	if place := j.ArkFlow.WAL; place != "" {
		l, err := a.logs(to.stores).Read(ctx, place, arkflow.Question{})
		detail := ""
		if err == nil {
			detail = l.Headline()
			if n := len(l.Problems); n > 0 {
				detail += "; " + figures.Count(n, "problem", "problems") + ", which recoverctl inspect arkflow wal tells"
			}
		}
		probes = append(probes, probeOf(name+": write-ahead log "+safe(place), detail, err))
	}
	return probes
}

func hubDetail(l arkflow.JobList) string {
	if l.Hub.Address == "" {
		return ""
	}
	detail := l.Hub.Generation.String()
	if l.Hub.Ready != nil && !*l.Hub.Ready {
		detail += ", not ready"
	}
	if l.Hub.Leader {
		detail += ", led by " + safe(l.Hub.Address)
	}
	return detail + "; " + figures.Count(len(l.Jobs), "job", "jobs") + ", " + figures.Count(len(l.Streams), "stream", "streams")
}

// checkAtHub tries the job of a name with its checkpoint store, or finds the stream.
func (a *app) checkAtHub(ctx context.Context, hub consoleHub, l arkflow.JobList, name string) probe {
	d, err := hub.Job(ctx, name)
	switch kind := fault.KindOf(err); {
	case d.Hub.Address != "":
		return probeOf(safe(name)+": job and its store", figures.Count(len(d.Points.Points), "recovery point", "recovery points")+" in "+safe(d.Points.Place), err)
	case kind != fault.NotFound && kind != fault.Unsupported:
		return probeOf(safe(name)+": job", "", err)
	}
	nodes := ""
	for _, s := range l.Streams {
		if s.ID == name {
			nodes += " " + safe(s.Node)
		}
	}
	if nodes != "" {
		return probeOf(safe(name)+": stream", "on"+nodes, nil)
	}
	return probe{What: safe(name), Result: probeNone, Detail: "the hub has no job and no stream of this name: commands and the console name theirs"}
}
