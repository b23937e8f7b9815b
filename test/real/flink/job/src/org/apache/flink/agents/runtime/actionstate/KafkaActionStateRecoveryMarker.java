package org.apache.flink.agents.runtime.actionstate;

import java.util.Map;

/** Stands in for the marker of Flink Agents: what decides the bytes of a snapshot is this name and the declared fields. */
public final class KafkaActionStateRecoveryMarker {
    private final int schemaVersion;
    private final String topic;
    private final String topicId;
    private final Map<Integer, Long> offsets;

    public KafkaActionStateRecoveryMarker(int schemaVersion, String topic, String topicId, Map<Integer, Long> offsets) {
        this.schemaVersion = schemaVersion;
        this.topic = topic;
        this.topicId = topicId;
        this.offsets = offsets;
    }
}
