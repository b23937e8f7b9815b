package recoverctl;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * A job whose checkpoints hold recovery markers as a Flink Agents job's do, and that fails on demand.
 *
 * <pre>
 *   --name NAME                 the job's name
 *   --checkpoints URI           where checkpoints go; without it the job takes none
 *   --interval MS               between checkpoints, 500
 *   --checkpoint-timeout MS     600000
 *   --retain true|false         keep the last checkpoints when the job is cancelled, true
 *   --topic, --topic-id TEXT    of the markers
 *   --offsets 0:100,1:150;…     of the markers, one map for each subtask; the last one serves those that follow
 *   --bootstrap HOST:PORT       of a Kafka that is asked for the topic's id and end offsets at each snapshot; then neither is an option
 *   --fail-after SECONDS        fail so long after the attempt's first checkpoint (or its start, without checkpoints)
 *   --fail-times N              so many times, then never again; always by default
 *   --message TEXT              of the failure's root cause
 *   --attempts N, --delay MS    of the fixed-delay restart strategy: 0 attempts, 1000 ms
 *   --stall MS                  the time that a snapshot of a subtask takes at least, 0
 *   --stall-until ID            the last checkpoint that takes so long; all by default
 *   --backend hashmap|rocksdb   of keyed state, hashmap; RocksDB takes incremental checkpoints
 *   --keys long|string          the type of the keys, long
 *   --inline BYTES              the largest state that lies inside the metadata; Flink's own by default
 * </pre>
 */
public final class MarkerJob {
    public static void main(String[] args) throws Exception {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i < args.length; i += 2) {
            options.put(args[i].replaceFirst("^--", ""), args[i + 1]);
        }
        Configuration c = new Configuration();
        c.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        c.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, Integer.parseInt(options.getOrDefault("attempts", "0")));
        c.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(Long.parseLong(options.getOrDefault("delay", "1000"))));
        c.set(StateBackendOptions.STATE_BACKEND, options.getOrDefault("backend", "hashmap"));
        c.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        c.setString("state.backend.rocksdb.memory.managed", "false"); // the cluster's slots have too little
        if (options.containsKey("inline")) {
            c.set(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD, MemorySize.parse(options.get("inline")));
        }
        String checkpoints = options.get("checkpoints");
        if (checkpoints != null) {
            c.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints);
            c.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(Long.parseLong(options.getOrDefault("interval", "500"))));
            c.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, Duration.ofMillis(Long.parseLong(options.getOrDefault("checkpoint-timeout", "600000"))));
            c.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, 1000);
            c.set(CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION, Boolean.parseBoolean(options.getOrDefault("retain", "true"))
                    ? ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION
                    : ExternalizedCheckpointRetention.DELETE_ON_CANCELLATION);
        }
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(c);
        DataStream<Long> numbers = env.fromSource(
                        new DataGeneratorSource<>((Long n) -> n, Long.MAX_VALUE, RateLimiterStrategy.perSecond(50), Types.LONG),
                        WatermarkStrategy.noWatermarks(),
                        "numbers")
                .uid("numbers");
        Agent.Plan plan = new Agent.Plan(options);
        DataStream<Long> done = "string".equals(options.get("keys"))
                ? numbers.keyBy(n -> "größe-" + n % 7, Types.STRING).process(new Agent<String>(plan)).name("action-execute-operator")
                : numbers.keyBy(n -> n % 7, Types.LONG).process(new Agent<Long>(plan)).name("action-execute-operator");
        done.sinkTo(new DiscardingSink<>());
        env.execute(options.getOrDefault("name", "marker-job"));
    }
}
