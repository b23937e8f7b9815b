package actions

// The procedures, in their words. docs/procedures.md is written from them.

const restartHint = "Flink does not say which options a job was started with: look at the job's own configuration."

func firstCleanup() guide {
	return guide{
		name: GuideFirstCleanup, title: "The first cleanup of an existing job",
		when: "The job runs without a control topic, and its action-state topic has grown too large. " +
			"It can't simply be started with a control topic: before the first boundary is committed, every restore with a control topic is rejected. " +
			"So it is stopped, the boundary is committed at the point that it stopped with, and it is started again from exactly that point, with the control topic set.",
		steps: []guideStep{
			tombstonesOff("Turn the job's tombstones off first: tombstones and a control topic exclude each other. That is a procedure of its own, leave-tombstones."),
			{"control-topic", "a name for the control topic", "Choose a name, and set it as action-state.control-topic of the job in the profile: not yet in the job itself. The topic belongs to this job alone. It need not exist: apply makes it when you consent.",
				[]string{"recoverctl inspect control --control-topic {control}"}, guideFacts.controlReady, false},
			topicFit(),
			stopJob("Stop the job with a savepoint, in canonical or native format. A job that runs on would be restored by Flink itself from a point that the cleanup takes away, without the control topic that would refuse it."),
			choosePoint("Take the savepoint that the job stopped with. Every subtask of the action operator must have written a versioned marker to it: older markers authorise no cleanup."),
			acceptedPlain(GuideFirstCleanup, "Look at what this checklist says: would a restore from there be accepted as the job is now, without a control topic? If not, find out why before anything is deleted. (Once the profile names the control topic, validate restore asks with it, and rejects every point until the boundary is committed.)"),
			commitPlan("Make the plan from that point, read its report, and apply it. From COMMITTED on older points are rejected for good.",
				"recoverctl plan cleanup --point {point} --control-topic {control} --out {file}", "recoverctl plan show {file} --control-topic {control}",
				`recoverctl apply {file} --control-topic {control} --create-control-topic 3 --reason "…" --access operate`),
			logTrimmed(),
			acceptedBound("Ask again, now with the control topic: this is what the job will be asked when it starts."),
			startJob("Start the job from exactly that point, with kafkaActionStateCleanupControlTopic set to the control topic's name and kafkaActionStateTombstoneEnabled not set."),
		},
	}
}

func leaveTombstones() guide {
	return guide{
		name: GuideLeaveTombstones, title: "Leaving tombstones",
		when: "The job writes a tombstone for each action that it no longer needs (kafkaActionStateTombstoneEnabled=true), and cleanups are wanted instead. " +
			"The two exclude each other: with tombstones on and a control topic set, every restore is rejected before the cluster is asked. " +
			"So the job is stopped, restarted from the same point without tombstones and still without a control topic, and takes a new point; then the first cleanup can follow.",
		steps: []guideStep{
			{"no-control-topic", "no control topic in the job yet", "Leave kafkaActionStateCleanupControlTopic out of the job's options until this procedure is over.",
				nil, guideFacts.controlLeftOut, false},
			stopJob("Stop the job with a savepoint."),
			{"point", "the point that it stopped with", "Take the savepoint that the job stopped with. Whatever its markers are, a restore without a control topic must be able to read them.",
				[]string{"recoverctl inspect point {point}"}, guideFacts.anyPoint, false},
			acceptedPlain(GuideLeaveTombstones, "Look at what this checklist says: would a restore from there be accepted without a control topic? Tombstones that are on the topic already do no harm: a restore removes the keys that they name."),
			tombstonesOff("Take kafkaActionStateTombstoneEnabled out of the job's options, and set action-state.job-tombstones: false in the profile. From then on nothing but cleanups keeps the topic small."),
			startJob("Start the job from exactly that point, without tombstones and without a control topic."),
			{"new-point", "a newer point with versioned markers", "Let the job take a checkpoint or a savepoint. The first cleanup is made from such a point, or from a newer one.",
				[]string{"recoverctl inspect points"}, guideFacts.newerPoint, false},
			{"first-cleanup", "the first cleanup", "Go on with the procedure first-cleanup.",
				[]string{"recoverctl guide first-cleanup"}, guideFacts.cleanupFollows, false},
		},
	}
}

func newControlTopic() guide {
	return guide{
		name: GuideNewControlTopic, title: "A new control topic after a history that no plan can advance",
		when: "The control topic's history is refused by every reader, and no plan can mend that: the action-state topic was made again or got more partitions, COMMITTED follows APPLIED, a tombstone stands where a boundary was, or two boundaries can't be compared. " +
			"The job can't start with that control topic. It gets a new one, with a first boundary at a point that is known to be good. The old one is kept as evidence: what it held explains what was deleted.",
		steps: []guideStep{
			{"cause", "what is wrong with the history", "Find out which record is refused, and why. If nothing is, stop here: a new control topic forgets the boundary in force, and points that it rejects would be accepted again although their records are gone.",
				[]string{"recoverctl inspect control --control-topic {old}"}, guideFacts.historyRefused, false},
			{"copy", "a copy of the old control topic", "Keep a copy before anything else: compaction can take away the very record that explains what happened.",
				[]string{"recoverctl inspect control --control-topic {old} -o json > control-topic.json"}, guideFacts.copyKept, true},
			{"nobody-else", "nobody else is applying", "Find out who wrote the record that is refused. Two tools, or two people, may be at work. An open transaction on the control topic has to end first.",
				[]string{"recoverctl journal list"}, guideFacts.nobodyElse, true},
			stopJob("Stop the job with a savepoint, if it runs at all: a job that was started before the history broke may still run."),
			tombstonesOff("Tombstones and a control topic exclude each other."),
			choosePoint("Choose a point whose records are all there: of the topic that exists now, and at or past every boundary that was ever committed for it. A savepoint that the job just stopped with is such a point."),
			acceptedPlain(GuideNewControlTopic, "Look at what this checklist says: would a restore from there be accepted without any control topic? It is of the topic that exists now, and every offset lies inside the log."),
			{"past-boundaries", "the point is past every boundary of the old history", "Compare the point with the boundaries of the old control topic for the topic that exists now. A new control topic knows nothing of them.",
				[]string{"recoverctl inspect control --control-topic {old}"}, guideFacts.pastOld, false},
			topicFit(),
			{"new-name", "a new control topic", "Choose a new name. Never empty the old topic, and never make it again under its old name.",
				[]string{"recoverctl guide new-control-topic --to {control} --point {point}"}, guideFacts.newNamed, false},
			commitPlan("Make the plan from that point for the new control topic, and apply it.",
				"recoverctl plan cleanup --point {point} --control-topic {control} --out {file}", "recoverctl plan show {file} --control-topic {control}",
				`recoverctl apply {file} --control-topic {control} --create-control-topic 3 --reason "…" --access operate`),
			logTrimmed(),
			acceptedBound("Ask with the new control topic: this is what the job will be asked when it starts."),
			{"profile", "the profile names the new control topic", "Set action-state.control-topic of the job to the new name, so that nobody looks at the old history any more.",
				[]string{"recoverctl config show"}, guideFacts.profileMoved, false},
			startJob("Start the job from exactly that point, with kafkaActionStateCleanupControlTopic set to the new name."),
		},
	}
}

// Steps that several procedures share.

func tombstonesOff(do string) guideStep {
	return guideStep{"tombstones", "tombstones are off", do, []string{"recoverctl config show"}, guideFacts.tombstonesAreOff, false}
}

func topicFit() guideStep {
	return guideStep{"settings", "the data topic lets a prefix be deleted", "cleanup.policy must hold compact and delete, and neither retention limit may be set, so that nothing but a reviewed cleanup moves the start of the log. A plan of its own sets exactly these.",
		[]string{"recoverctl plan settings --out {settings}", `recoverctl apply {settings} --reason "…" --access operate`}, guideFacts.settingsFit, false}
}

func stopJob(do string) guideStep {
	return guideStep{"stop", "the job is stopped", do, []string{"flink stop --savepointPath DIRECTORY JOB", "recoverctl inspect job"}, guideFacts.stopped, false}
}

func choosePoint(do string) guideStep {
	return guideStep{"point", "a recovery point with versioned markers", do, []string{"recoverctl inspect points", "recoverctl inspect point {point}"}, guideFacts.versionedPoint, false}
}

func acceptedPlain(guide, do string) guideStep {
	return guideStep{"accepted-before", "a restore from there is accepted without a control topic", do, []string{"recoverctl guide " + guide + " --point {point}"}, guideFacts.acceptedPlain, false}
}

func commitPlan(do string, commands ...string) guideStep {
	return guideStep{"committed", "the boundary is committed", do, commands, guideFacts.committed, false}
}

func logTrimmed() guideStep {
	return guideStep{"applied", "the log is trimmed, and APPLIED is on record", "Verify from what the cluster holds now. A cleanup that stopped half-way is finished with the same plan.",
		[]string{"recoverctl verify {file} --control-topic {control}"}, guideFacts.applied, false}
}

func acceptedBound(do string) guideStep {
	return guideStep{"accepted-after", "a restore from there is accepted with the control topic", do, []string{"recoverctl validate restore {point} --control-topic {control}"}, guideFacts.acceptedBound, false}
}

func startJob(do string) guideStep {
	return guideStep{"restart", "the job runs again, restored from the same point", do, []string{"flink run --fromSavepoint {point} …", "recoverctl inspect job"}, guideFacts.restarted, false}
}
