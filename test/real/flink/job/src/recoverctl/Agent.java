package recoverctl;

import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.agents.runtime.actionstate.KafkaActionStateRecoveryMarker;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** The agent operator: passes its input on, writes one recovery marker a checkpoint and subtask, and fails as it was told. */
final class Agent extends KeyedProcessFunction<Long, Long, Long> implements CheckpointedFunction, CheckpointListener {

    /** What the job's options say about the agent. */
    static final class Plan implements Serializable {
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
    private transient long since; // ms; 0: the failure's clock does not run yet

    Agent(Plan plan) {
        this.plan = plan;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        markers = context.getOperatorStateStore()
                .getUnionListState(new ListStateDescriptor<>("recoveryMarker", TypeInformation.of(Object.class)));
        // An agent operator always registers this one, and a reader expects it. No key is being processed during a snapshot here.
        context.getOperatorStateStore()
                .getUnionListState(new ListStateDescriptor<>("currentProcessingKeys", TypeInformation.of(Object.class)));
        since = plan.checkpoints ? 0 : System.currentTimeMillis();
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        if (context.getCheckpointId() <= plan.stallUntil) {
            Thread.sleep(plan.stallMillis);
        }
        int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        markers.update(List.of(new KafkaActionStateRecoveryMarker(1, plan.topic, plan.topicId, plan.offsetsOf(subtask))));
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        if (since == 0) {
            since = System.currentTimeMillis();
        }
    }

    @Override
    public void processElement(Long number, Context context, Collector<Long> out) {
        if (plan.failAfterMillis >= 0
                && since != 0
                && System.currentTimeMillis() - since >= plan.failAfterMillis
                && getRuntimeContext().getTaskInfo().getAttemptNumber() < plan.failTimes) {
            throw new IllegalStateException("action pay failed", new java.io.IOException(plan.message));
        }
        out.collect(number);
    }
}
