package recoverctl;

import java.io.DataInputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.agents.runtime.actionstate.KafkaActionStateRecoveryMarker;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.state.api.OperatorIdentifier;
import org.apache.flink.state.api.SavepointReader;
import org.apache.flink.state.api.functions.KeyedStateReaderFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;

/**
 * Reads snapshots of MarkerJob back by Flink's State Processor API, and prints one JSON object a line: the markers of all subtasks, the
 * keys that were being processed, and each key with its states, all in the order of their text.
 *
 * <pre>ReadBack hashmap|rocksdb long|string markers|all SNAPSHOT… : with all, also keys</pre>
 */
public final class ReadBack {
    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        for (String path : List.of(args).subList(3, args.length)) {
            Configuration c = new Configuration();
            c.set(StateBackendOptions.STATE_BACKEND, args[0]);
            StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(c);
            env.setParallelism(1);
            SavepointReader reader = SavepointReader.read(env, path);
            OperatorIdentifier agent = agent(path);
            List<String> markers = new ArrayList<>();
            for (Object marker : all(reader.readUnionState(agent, "recoveryMarker", TypeInformation.of(Object.class)))) {
                markers.add(json((KafkaActionStateRecoveryMarker) marker));
            }
            List<String> processing = new ArrayList<>();
            List<String> keys = new ArrayList<>();
            if (args[2].equals("all")) {
                for (Object key : all(reader.readUnionState(agent, "currentProcessingKeys", TypeInformation.of(Object.class)))) {
                    processing.add('"' + key.toString() + '"');
                }
                keys = args[1].equals("string")
                        ? all(reader.readKeyedState(agent, new Keys<String>(), Types.STRING, Types.STRING))
                        : all(reader.readKeyedState(agent, new Keys<Long>(), Types.LONG, Types.STRING));
            }
            out.printf("{\"path\":\"%s\",\"markers\":%s,\"processing\":%s,\"keys\":%s}%n", path, list(markers), list(processing), list(keys));
        }
    }

    private static String list(List<String> elements) {
        return elements.stream().sorted().toList().toString();
    }

    private static <T> List<T> all(org.apache.flink.streaming.api.datastream.DataStream<T> stream) throws Exception {
        List<T> found = new ArrayList<>();
        try (CloseableIterator<T> elements = stream.executeAndCollect()) {
            elements.forEachRemaining(found::add);
        }
        return found;
    }

    /** The operator that has recovery markers: it has no uid. */
    private static OperatorIdentifier agent(String path) throws Exception {
        for (OperatorState operator : load(path).getOperatorStates()) {
            for (OperatorSubtaskState subtask : operator.getStates()) {
                for (OperatorStateHandle handle : subtask.getManagedOperatorState()) {
                    if (handle.getStateNameToPartitionOffsets().containsKey("recoveryMarker")) {
                        return OperatorIdentifier.forUidHash(operator.getOperatorID().toHexString());
                    }
                }
            }
        }
        throw new IllegalStateException("no operator of " + path + " has recovery markers");
    }

    static CheckpointMetadata load(String path) throws Exception {
        Path file = Path.of(path.replaceFirst("^file:", ""), "_metadata");
        try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
            return Checkpoints.loadCheckpointMetadata(in, ReadBack.class.getClassLoader(), path);
        }
    }

    private static String json(KafkaActionStateRecoveryMarker marker) throws Exception {
        Map<Object, Object> offsets = new TreeMap<>((Map<?, ?>) get(marker, "offsets"));
        List<String> entries = new ArrayList<>();
        offsets.forEach((partition, offset) -> entries.add("\"" + partition + "\":" + offset));
        return String.format("{\"schemaVersion\":%s,\"topic\":\"%s\",\"topicId\":\"%s\",\"offsets\":{%s}}",
                get(marker, "schemaVersion"), get(marker, "topic"), get(marker, "topicId"), String.join(",", entries));
    }

    private static Object get(Object of, String field) throws Exception {
        Field f = of.getClass().getDeclaredField(field);
        f.setAccessible(true);
        return f.get(of);
    }

    /** One key with its states. */
    private static final class Keys<K> extends KeyedStateReaderFunction<K, String> {
        private transient ValueState<Long> started;
        private transient ValueState<Long> completed;
        private transient ListState<ActionTask> tasks;

        @Override
        public void open(OpenContext context) {
            started = getRuntimeContext().getState(new ValueStateDescriptor<>("messageSequenceNumber", Types.LONG));
            completed = getRuntimeContext().getState(new ValueStateDescriptor<>("lastCompletedSequenceNumber", Types.LONG));
            tasks = getRuntimeContext().getListState(new ListStateDescriptor<>("actionTasks", TypeInformation.of(ActionTask.class)));
        }

        @Override
        public void readKey(K key, Context context, Collector<String> out) throws Exception {
            int n = 0;
            for (ActionTask ignored : tasks.get()) {
                n++;
            }
            out.collect(String.format("{\"key\":\"%s\",\"started\":%d,\"completed\":%s,\"tasks\":%d}", key, started.value(), completed.value(), n));
        }
    }
}
