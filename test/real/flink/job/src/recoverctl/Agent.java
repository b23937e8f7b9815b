package recoverctl;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.agents.runtime.actionstate.KafkaActionStateRecoveryMarker;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartition;

/**
 * The agent operator: passes its input on, counts the inputs of each key, of which two of three open a task and the third closes both,
 * writes one recovery marker a checkpoint and subtask, and fails as it was told. Its states are named as those of Flink Agents. A
 * marker says what the options say, or with a broker what that says at the time: the topic's id and the end offset of each partition.
 */
final class Agent<K> extends KeyedProcessFunction<K, Long, Long> implements CheckpointedFunction, CheckpointListener {

    /** What the job's options say about the agent. */
    static final class Plan implements Serializable {
        final String bootstrap;
        final String topic;
        final String topicId;
        final String[] offsets;
        final boolean checkpoints;
        final long failAfterMillis;
        final int failTimes;
        final String message;
        final long stallMillis;
        final long stallUntil;

        Plan(Map<String, String> options) {
            bootstrap = options.get("bootstrap");
            topic = options.getOrDefault("topic", "action-state");
            topicId = options.getOrDefault("topic-id", "5Zv3uphiRLavoGZthy7JNg");
            offsets = options.getOrDefault("offsets", "0:0").split(";");
            checkpoints = options.containsKey("checkpoints");
            failAfterMillis = Long.parseLong(options.getOrDefault("fail-after", "-1")) * 1000;
            failTimes = Integer.parseInt(options.getOrDefault("fail-times", "2147483647"));
            message = options.getOrDefault("message", "the call of pay() was answered 503");
            stallMillis = Long.parseLong(options.getOrDefault("stall", "0"));
            stallUntil = Long.parseLong(options.getOrDefault("stall-until", Long.toString(Long.MAX_VALUE)));
        }

        HashMap<Integer, Long> offsetsOf(int subtask) {
            HashMap<Integer, Long> map = new HashMap<>();
            for (String entry : offsets[Math.min(subtask, offsets.length - 1)].split(",")) {
                String[] pair = entry.split(":");
                map.put(Integer.valueOf(pair[0]), Long.valueOf(pair[1]));
            }
            return map;
        }
    }

    private final Plan plan;
    private transient ListState<Object> markers;
    private transient ListState<Object> processing;
    private transient ValueState<Long> started;
    private transient ValueState<Long> completed;
    private transient ListState<ActionTask> tasks;
    private transient Set<Object> open;
    private transient Admin kafka; // null: the markers are those of the plan
    private transient long since; // ms; 0: the failure's clock does not run yet

    Agent(Plan plan) {
        this.plan = plan;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        markers = context.getOperatorStateStore()
                .getUnionListState(new ListStateDescriptor<>("recoveryMarker", TypeInformation.of(Object.class)));
        processing = context.getOperatorStateStore()
                .getUnionListState(new ListStateDescriptor<>("currentProcessingKeys", TypeInformation.of(Object.class)));
        started = context.getKeyedStateStore().getState(new ValueStateDescriptor<>("messageSequenceNumber", Types.LONG));
        completed = context.getKeyedStateStore().getState(new ValueStateDescriptor<>("lastCompletedSequenceNumber", Types.LONG));
        tasks = context.getKeyedStateStore().getListState(new ListStateDescriptor<>("actionTasks", TypeInformation.of(ActionTask.class)));
        open = new HashSet<>();
        kafka = plan.bootstrap == null ? null : Admin.create(Map.of("bootstrap.servers", plan.bootstrap));
        since = plan.checkpoints ? 0 : System.currentTimeMillis();
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        if (context.getCheckpointId() <= plan.stallUntil) {
            Thread.sleep(plan.stallMillis);
        }
        processing.update(new ArrayList<>(open));
        markers.update(List.of(marker()));
    }

    private KafkaActionStateRecoveryMarker marker() throws Exception {
        if (kafka == null) {
            int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
            return new KafkaActionStateRecoveryMarker(1, plan.topic, plan.topicId, plan.offsetsOf(subtask));
        }
        TopicDescription topic = kafka.describeTopics(List.of(plan.topic)).allTopicNames().get().get(plan.topic);
        Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
        topic.partitions().forEach(p -> ends.put(new TopicPartition(plan.topic, p.partition()), OffsetSpec.latest()));
        HashMap<Integer, Long> offsets = new HashMap<>();
        kafka.listOffsets(ends).all().get().forEach((partition, end) -> offsets.put(partition.partition(), end.offset()));
        return new KafkaActionStateRecoveryMarker(1, plan.topic, topic.topicId().toString(), offsets);
    }

    @Override
    public void close() {
        if (kafka != null) {
            kafka.close();
        }
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        if (since == 0) {
            since = System.currentTimeMillis();
        }
    }

    @Override
    public void processElement(Long number, Context context, Collector<Long> out) throws Exception {
        if (plan.failAfterMillis >= 0
                && since != 0
                && System.currentTimeMillis() - since >= plan.failAfterMillis
                && getRuntimeContext().getTaskInfo().getAttemptNumber() < plan.failTimes) {
            throw new IllegalStateException("action pay failed", new java.io.IOException(plan.message));
        }
        long sequence = started.value() == null ? 0 : started.value() + 1;
        started.update(sequence);
        if (sequence % 3 < 2) {
            tasks.add(new ActionTask("pay", sequence));
            open.add(context.getCurrentKey());
        } else {
            tasks.clear();
            completed.update(sequence);
            open.remove(context.getCurrentKey());
        }
        out.collect(number);
    }
}
