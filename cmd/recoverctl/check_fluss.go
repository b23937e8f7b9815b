package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
)

// probeOf is one line of config check.
func probeOf(what, detail string, err error) probe {
	p := probe{What: what, Result: probeOK, Detail: detail}
	if err != nil {
		p.Result, p.Detail, p.Hint = probeFailed, safe(err.Error()), fault.Of(err).Hint
	}
	return p
}

// checkFluss tries a job's Fluss cluster, its table, and the ZooKeeper that keeps
// the cluster's nodes.
func (a *app) checkFluss(ctx context.Context, p config.Profile, j config.Job, stores *objectStores) []probe {
	if len(j.Fluss.Servers) == 0 {
		return nil
	}
	name := safe(j.Name)
	at, err := a.openFluss(p, j.Fluss, stores, terminalPrompt{})
	if err != nil {
		return []probe{probeOf(name+": fluss", "", err)}
	}
	defer at.close()
	cluster, err := at.client.Cluster(ctx)
	probes := []probe{probeOf(name+": fluss", fmt.Sprintf("told by %s %s; %s", cluster.Told.Kind, safe(cluster.Told.Address), figures.Count(int64(len(cluster.Tablets)), "tablet server", "tablet servers")), err)}
	if err == nil && j.Fluss.Table != "" {
		buckets, err := tableBuckets(ctx, at, j.Fluss.Table)
		probes = append(probes, probeOf(name+": table "+safe(j.Fluss.Table), figures.Count(int64(buckets), "bucket", "buckets"), err))
	}
	if at.nodes != nil {
		tablets, err := at.store.Registered(ctx)
		probes = append(probes, probeOf(name+": zookeeper", figures.Count(int64(tablets), "tablet server is", "tablet servers are")+" registered below "+safe(j.Fluss.ZooKeeper.Path), err))
	}
	return probes
}

// tableBuckets describes a table, and says how many buckets it has.
func tableBuckets(ctx context.Context, at *flussCluster, name string) (int, error) {
	path, err := flussrpc.ParseTablePath(name)
	if err != nil {
		return 0, err
	}
	info, faults, err := at.store.Table(ctx, path)
	return info.Buckets, errors.Join(append(faults, err)...)
}
