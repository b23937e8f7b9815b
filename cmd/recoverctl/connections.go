package main

import (
	"strings"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/figures"
	views "github.com/recoverctl/recoverctl/views/connections"
)

// connectionList is everything that answers are read from, as it is known now.
func connectionList(p config.Profile, to connections) []views.Connection {
	known := func(kind, address, about string, f linkFacts) views.Connection {
		word, tone := f.state.words()
		return views.Connection{Kind: kind, Address: address, For: about, State: word, Tone: tone, Asked: f.asked, Err: f.err, ErrAt: f.errAt}
	}
	var list []views.Connection
	switch {
	case to.log.configured():
		list = append(list, known("kafka", strings.Join(p.Kafka.Brokers, ", "), "", to.log.link.now()))
	case len(to.tables.tables) == 0 && !onArkFlowAlone(p):
		list = append(list, views.Connection{Kind: "kafka", State: "not configured"})
	}
	list = append(list, flussConnections(p.Jobs, to.tables, known)...)
	list = append(list, to.hubs.list(p.Jobs, known)...)
	for _, j := range p.Jobs {
		if j.Flink.REST != "" {
			list = append(list, known("flink", j.Flink.REST, "job "+j.Name, to.live.link(j.Flink.REST).now()))
		}
		for _, place := range j.RecoveryPoints {
			facts := to.points.link(place).now()
			c := known("recovery points", place, "job "+j.Name, facts)
			if facts.state == connTrying && facts.found > 0 {
				c.State = figures.Group(facts.found) + " found so far"
			}
			list = append(list, c)
		}
	}
	for _, s := range to.stores.used() {
		c := known("object store", s.address(), "", s.link.now())
		c.Used = s.usage()
		list = append(list, c)
	}
	for _, m := range p.PathMappings {
		list = append(list, views.Connection{Kind: "path mapping", Address: m.From + " = " + m.To, State: "configured"})
	}
	return list
}
