package recoverctl;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.fluss.client.Connection;
import org.apache.fluss.client.ConnectionFactory;
import org.apache.fluss.client.FlussConnection;
import org.apache.fluss.client.admin.Admin;
import org.apache.fluss.client.admin.OffsetSpec;
import org.apache.fluss.client.admin.ProducerOffsetsResult;
import org.apache.fluss.client.metadata.MetadataUpdater;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.scanner.ScanRecord;
import org.apache.fluss.client.table.scanner.log.LogScanner;
import org.apache.fluss.client.table.scanner.log.ScanRecords;
import org.apache.fluss.client.table.writer.AppendWriter;
import org.apache.fluss.client.table.writer.UpsertWriter;
import org.apache.fluss.compression.ArrowCompressionInfo;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.config.cluster.AlterConfig;
import org.apache.fluss.config.cluster.AlterConfigOpType;
import org.apache.fluss.memory.UnmanagedPagedOutputView;
import org.apache.fluss.metadata.DatabaseDescriptor;
import org.apache.fluss.metadata.LogFormat;
import org.apache.fluss.metadata.PartitionInfo;
import org.apache.fluss.metadata.PartitionSpec;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metadata.TableChange;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TableInfo;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.record.ChangeType;
import org.apache.fluss.record.LogRecordBatchFormat;
import org.apache.fluss.record.MemoryLogRecordsArrowBuilder;
import org.apache.fluss.row.BinaryString;
import org.apache.fluss.row.Decimal;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.InternalRow;
import org.apache.fluss.row.TimestampLtz;
import org.apache.fluss.row.TimestampNtz;
import org.apache.fluss.row.arrow.ArrowWriter;
import org.apache.fluss.row.arrow.ArrowWriterPool;
import org.apache.fluss.rpc.messages.CommitLakeTableSnapshotRequest;
import org.apache.fluss.rpc.messages.CommitLakeTableSnapshotResponse;
import org.apache.fluss.rpc.messages.PbLakeTableSnapshotInfo;
import org.apache.fluss.rpc.messages.PbProduceLogRespForBucket;
import org.apache.fluss.rpc.messages.ProduceLogRequest;
import org.apache.fluss.shaded.arrow.org.apache.arrow.memory.RootAllocator;
import org.apache.fluss.types.DataType;
import org.apache.fluss.types.DataTypes;
import org.apache.fluss.types.DecimalType;
import org.apache.fluss.types.LocalZonedTimestampType;
import org.apache.fluss.types.TimestampType;

/**
 * Writes to a Fluss cluster, and reads from it, through Fluss's own client. It takes commands from standard input, a line each, its
 * words separated by tabs, and answers each with a line of JSON: the result, or {"error": "..."}.
 *
 * <p>Usage: FlussTool BOOTSTRAP-SERVERS
 */
public final class FlussTool {
    private final Connection connection;
    private final Admin admin;

    private FlussTool(String servers) {
        Configuration config = new Configuration();
        config.setString("bootstrap.servers", servers);
        config.setString("client.writer.batch-timeout", "20ms");
        connection = ConnectionFactory.createConnection(config);
        admin = connection.getAdmin();
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // the client's own words
        FlussTool tool = new FlussTool(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            StringBuilder answer = new StringBuilder();
            try {
                json(answer, tool.run(line.split("\t", -1)));
            } catch (Exception e) {
                Throwable cause = e;
                while (cause.getCause() != null && cause instanceof java.util.concurrent.ExecutionException) cause = cause.getCause();
                answer.setLength(0);
                json(answer, Map.of("error", cause.toString()));
            }
            out.println(answer);
        }
        tool.connection.close();
    }

    private Object run(String[] w) throws Exception {
        switch (w[0]) {
            case "create": return create(path(w), w[3], Integer.parseInt(w[4]), Integer.parseInt(w[5]), w[6]);
            case "partition": admin.createPartition(path(w), new PartitionSpec(Map.of("dt", w[3])), false).get(); return Map.of();
            case "add-column": return addColumn(path(w), w[3]);
            case "wide-rows": return wideRows(path(w), Integer.parseInt(w[3]));
            case "drop": admin.dropTable(path(w), false).get(); return Map.of();
            case "orders": return orders(path(w), Integer.parseInt(w[3]));
            case "days": return days(path(w), w[3], Integer.parseInt(w[4]));
            case "balances": return balances(path(w));
            case "mixed": return mixed(path(w));
            case "rows": return rows(path(w), Integer.parseInt(w[3]), Integer.parseInt(w[4]));
            case "lake": return lake(w[1]);
            case "in-lake": return inLake(path(w), Long.parseLong(w[3]), Integer.parseInt(w[4]));
            case "layout1": return layout1(path(w), Integer.parseInt(w[3]));
            case "states": return states(path(w), w);
            case "traffic": return traffic(path(w), Integer.parseInt(w[3]), Integer.parseInt(w[4]), Integer.parseInt(w[5]));
            case "info": return info(path(w));
            case "offsets": return offsets(path(w));
            case "scan": return scan(path(w));
            case "time": return time(path(w), Integer.parseInt(w[3]));
            case "register": return register(w[1], path(new String[] {"", w[2], w[3]}));
            case "producer": return producer(w[1]);
            case "forget": admin.deleteProducerOffsets(w[1]).get(); return Map.of();
            default: throw new IllegalArgumentException("no command " + w[0]);
        }
    }

    private static TablePath path(String[] w) {
        return TablePath.of(w[1], w[2]);
    }

    /** create DATABASE TABLE KIND BUCKETS REPLICAS KEY=VALUE,... */
    private Object create(TablePath path, String kind, int buckets, int replicas, String properties) throws Exception {
        admin.createDatabase(path.getDatabaseName(), DatabaseDescriptor.EMPTY, true).get();
        TableDescriptor.Builder b = TableDescriptor.builder();
        Schema.Builder s = Schema.newBuilder();
        switch (kind) {
            case "states": // as Flink Agents makes it
                s.column("state_key", DataTypes.STRING()).column("state_payload", DataTypes.BYTES()).column("agent_key", DataTypes.STRING());
                b.distributedBy(buckets, "agent_key").comment("Flink Agents action state log");
                break;
            case "orders":
                s.column("order_id", DataTypes.BIGINT()).column("customer", DataTypes.STRING()).column("qty", DataTypes.INT())
                        .column("amount", DataTypes.DECIMAL(10, 2)).column("weight", DataTypes.DOUBLE()).column("paid", DataTypes.BOOLEAN())
                        .column("blob", DataTypes.BYTES()).column("day", DataTypes.DATE()).column("at", DataTypes.TIMESTAMP_LTZ(3))
                        .column("local_at", DataTypes.TIMESTAMP(3)).column("code", DataTypes.CHAR(3)).column("hash", DataTypes.BINARY(4))
                        .column("tiny", DataTypes.TINYINT()).column("small", DataTypes.SMALLINT()).column("ratio", DataTypes.FLOAT());
                b.distributedBy(buckets, "customer");
                break;
            case "days":
                s.column("dt", DataTypes.STRING()).column("id", DataTypes.BIGINT()).column("what", DataTypes.STRING());
                b.partitionedBy("dt").distributedBy(buckets);
                break;
            case "balances":
                s.column("account", DataTypes.STRING()).column("total", DataTypes.BIGINT()).column("note", DataTypes.STRING()).primaryKey("account");
                b.distributedBy(buckets);
                break;
            case "mixed-indexed":
            case "mixed-compacted":
                s.column("a", DataTypes.STRING()).column("b", DataTypes.BIGINT()).column("c", DataTypes.BYTES()).column("d", DataTypes.INT());
                b.distributedBy(buckets).logFormat(kind.endsWith("indexed") ? LogFormat.INDEXED : LogFormat.COMPACTED);
                break;
            case "rows":
                s.column("n", DataTypes.BIGINT()).column("txt", DataTypes.STRING());
                b.distributedBy(buckets);
                break;
            default:
                throw new IllegalArgumentException("no kind " + kind);
        }
        b.schema(s.build()).property("table.replication.factor", String.valueOf(replicas));
        for (String property : properties.isEmpty() ? new String[0] : properties.split(",")) {
            b.property(property.substring(0, property.indexOf('=')), property.substring(property.indexOf('=') + 1));
        }
        admin.createTable(path, b.build(), false).get();
        return info(path);
    }

    private static BinaryString text(String s) {
        return s == null ? null : BinaryString.fromString(s);
    }

    private Object orders(TablePath path, int n) throws Exception {
        try (Table table = connection.getTable(path)) {
            AppendWriter writer = table.newAppend().createWriter();
            for (int i = 0; i < n; i++) {
                writer.append(GenericRow.of((long) i, text("customer-" + i % 12 + " \u00e9\u6f22"), i % 7 == 3 ? null : i * 3,
                        Decimal.fromBigDecimal(BigDecimal.valueOf(i * 137L - 5000, 2), 10, 2), i / 8.0 - 3, i % 2 == 0,
                        i % 5 == 0 ? null : ("blob " + i).getBytes(StandardCharsets.UTF_8), 20000 + i,
                        TimestampLtz.fromEpochMillis(1790000000000L + i * 1000L), TimestampNtz.fromMillis(1790000000123L + i * 1000L),
                        text(i % 11 == 0 ? null : "c" + i % 10 + "x"), i % 6 == 1 ? null : new byte[] {1, 2, (byte) i, (byte) 255},
                        (byte) (i - 20), (short) (i * 300 - 9000), i / 4.0f));
                if (i % Math.max(n / 3, 1) == 0) writer.flush();
            }
            writer.flush();
        }
        return Map.of();
    }

    private Object days(TablePath path, String day, int n) throws Exception {
        try (Table table = connection.getTable(path)) {
            AppendWriter writer = table.newAppend().createWriter();
            for (int i = 0; i < n; i++) writer.append(GenericRow.of(text(day), (long) i, text("event " + i)));
            writer.flush();
        }
        return Map.of();
    }

    private Object balances(TablePath path) throws Exception {
        try (Table table = connection.getTable(path)) {
            UpsertWriter writer = table.newUpsert().createWriter();
            for (int i = 0; i < 10; i++) writer.upsert(GenericRow.of(text("account-" + i), 100L * i, text("open")));
            writer.flush();
            for (int i = 0; i < 10; i += 2) writer.upsert(GenericRow.of(text("account-" + i), 100L * i + 7, null));
            writer.flush();
            writer.delete(GenericRow.of(text("account-3"), null, null));
            writer.flush();
        }
        return Map.of();
    }

    private Object mixed(TablePath path) throws Exception {
        try (Table table = connection.getTable(path)) {
            AppendWriter writer = table.newAppend().createWriter();
            for (int i = 0; i < 9; i++) {
                writer.append(GenericRow.of(i == 2 ? null : text("a" + i), i == 3 ? null : (long) (i * 1000000007L - 5),
                        i == 4 ? null : new byte[] {(byte) i, 0, (byte) 255}, i == 5 ? null : i * 65537 - 100000));
            }
            writer.flush();
        }
        return Map.of();
    }

    /** rows DATABASE TABLE COUNT EACH: so many rows, flushed each so many. */
    private Object rows(TablePath path, int n, int each) throws Exception {
        try (Table table = connection.getTable(path)) {
            AppendWriter writer = table.newAppend().createWriter();
            for (int i = 0; i < n; i++) {
                writer.append(GenericRow.of((long) i, text("row-" + i + "-" + "x".repeat(60))));
                if (i % each == each - 1) writer.flush();
            }
            writer.flush();
        }
        return Map.of();
    }

    /** lake on|off: whether tables of the cluster may have a lake. Those that have one keep it. */
    private Object lake(String word) throws Exception {
        AlterConfig change = word.equals("on") ? new AlterConfig("datalake.format", "lance", AlterConfigOpType.SET)
                : new AlterConfig("datalake.format", null, AlterConfigOpType.DELETE);
        admin.alterClusterConfigs(List.of(change)).get();
        return Map.of();
    }

    /** in-lake DATABASE TABLE OFFSET SNAPSHOT: tells the coordinator that the rows of bucket 0 before this offset lie in the lake. */
    private Object inLake(TablePath path, long offset, int snapshot) throws Exception {
        long id = admin.getTableInfo(path).get().getTableId();
        CommitLakeTableSnapshotRequest request = new CommitLakeTableSnapshotRequest();
        PbLakeTableSnapshotInfo info = request.addTablesReq().setTableId(id).setSnapshotId(snapshot);
        info.addBucketsReq().setBucketId(0).setLogEndOffset(offset).setMaxTimestamp(System.currentTimeMillis());
        CommitLakeTableSnapshotResponse answer = ((FlussConnection) connection).getMetadataUpdater().newCoordinatorServerClient().commitLakeTableSnapshot(request).get();
        if (answer.getTableRespAt(0).hasErrorCode()) throw new IllegalStateException(answer.getTableRespAt(0).getErrorMessage());
        return Map.of();
    }

    /**
     * layout1 DATABASE TABLE COUNT: one batch of so many rows of the kind rows, in the layout 1, which has the leader's epoch in its header: this
     * release reads and keeps it, and its own writers make none yet.
     */
    private Object layout1(TablePath path, int n) throws Exception {
        TableInfo t = admin.getTableInfo(path).get();
        TableBucket bucket = new TableBucket(t.getTableId(), 0);
        try (RootAllocator memory = new RootAllocator(); ArrowWriterPool pool = new ArrowWriterPool(memory)) {
            ArrowWriter writer = pool.getOrCreateWriter(t.getTableId(), t.getSchemaId(), Integer.MAX_VALUE, t.getRowType(), ArrowCompressionInfo.DEFAULT_COMPRESSION);
            MemoryLogRecordsArrowBuilder batch = MemoryLogRecordsArrowBuilder.builder(
                    0L, LogRecordBatchFormat.LOG_MAGIC_VALUE_V1, t.getSchemaId(), writer, new UnmanagedPagedOutputView(1 << 16));
            for (int i = 0; i < n; i++) batch.append(ChangeType.APPEND_ONLY, GenericRow.of((long) i, text("row-" + i)));
            batch.close();
            ProduceLogRequest request = new ProduceLogRequest().setAcks(-1).setTableId(t.getTableId()).setTimeoutMs(10_000);
            request.addBucketsReq().setBucketId(0).setRecordsBytesView(batch.build());
            MetadataUpdater metadata = ((FlussConnection) connection).getMetadataUpdater();
            metadata.checkAndUpdateTableMetadata(java.util.Set.of(path));
            PbProduceLogRespForBucket answer = metadata.newTabletServerClientForNode(metadata.leaderFor(path, bucket)).produceLog(request).get().getBucketsRespAt(0);
            if (answer.hasErrorCode()) throw new IllegalStateException(answer.getErrorMessage());
        }
        return Map.of();
    }

    /** add-column DATABASE TABLE NAME: a column of integers, behind the others. */
    private Object addColumn(TablePath path, String name) throws Exception {
        admin.alterTable(path, List.of(TableChange.addColumn(name, DataTypes.INT(), null, TableChange.ColumnPosition.last())), false).get();
        return Map.of();
    }

    /** wide-rows DATABASE TABLE COUNT: rows of the kind rows with a column of integers more, in one batch. */
    private Object wideRows(TablePath path, int n) throws Exception {
        try (Table table = connection.getTable(path)) {
            AppendWriter writer = table.newAppend().createWriter();
            for (int i = 0; i < n; i++) writer.append(GenericRow.of((long) i, text("wide-" + i), i % 3 == 0 ? null : i * 7));
            writer.flush();
        }
        return Map.of();
    }

    /** states DATABASE TABLE (KEY PAYLOAD-IN-BASE64 AGENT)...: rows as Flink Agents writes them, each by itself; a payload of - is null. */
    private Object states(TablePath path, String[] w) throws Exception {
        try (Table table = connection.getTable(path)) {
            AppendWriter writer = table.newAppend().createWriter();
            for (int i = 3; i + 2 < w.length; i += 3) {
                writer.append(GenericRow.of(text(w[i]), w[i + 1].equals("-") ? null : Base64.getDecoder().decode(w[i + 1]), text(w[i + 2]))).get();
            }
        }
        return Map.of();
    }

    /** traffic DATABASE TABLE COUNT AGENTS EACH: rows as of a busy job, flushed each so many; 0: in the batches that the client makes. */
    private Object traffic(TablePath path, int n, int agents, int each) throws Exception {
        try (Table table = connection.getTable(path)) {
            AppendWriter writer = table.newAppend().createWriter();
            for (int i = 0; i < n; i++) {
                String key = "user-" + i % agents;
                long sequence = i / agents;
                byte[] payload = ("{\"taskEvent\":null,\"sensoryMemoryUpdates\":[],\"shortTermMemoryUpdates\":[],\"outputEvents\":[],\"callResults\":[],\"completed\":true}")
                        .getBytes(StandardCharsets.UTF_8);
                writer.append(GenericRow.of(text(key + "_" + sequence + "_" + new UUID(i * 7919L, i) + "_" + new UUID(i % 17, 5)), payload, text(key)));
                if (each > 0 && i % each == each - 1) writer.flush();
            }
            writer.flush();
        }
        return Map.of();
    }

    private Object info(TablePath path) throws Exception {
        TableInfo t = admin.getTableInfo(path).get();
        return map("table", path.toString(), "id", t.getTableId(), "schema", t.getSchemaId(), "buckets", t.getNumBuckets(), "bucketKeys", t.getBucketKeys(),
                "created", t.getCreatedTime());
    }

    private List<Integer> buckets(TableInfo t) {
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < t.getNumBuckets(); i++) all.add(i);
        return all;
    }

    private List<PartitionInfo> partitions(TableInfo t) throws Exception {
        return t.isPartitioned() ? admin.listPartitionInfos(t.getTablePath()).get() : Collections.singletonList(null);
    }

    private Map<Integer, Long> offsets(TableInfo t, PartitionInfo part, OffsetSpec spec) throws Exception {
        return part == null ? admin.listOffsets(t.getTablePath(), buckets(t), spec).all().get()
                : admin.listOffsets(t.getTablePath(), part.getPartitionName(), buckets(t), spec).all().get();
    }

    private Object offsets(TablePath path) throws Exception {
        TableInfo t = admin.getTableInfo(path).get();
        List<Object> out = new ArrayList<>();
        for (PartitionInfo part : partitions(t)) {
            out.add(map("partition", part == null ? -1L : part.getPartitionId(), "earliest", new TreeMap<>(offsets(t, part, new OffsetSpec.EarliestSpec())),
                    "latest", new TreeMap<>(offsets(t, part, new OffsetSpec.LatestSpec()))));
        }
        return out;
    }

    private static Object value(InternalRow row, int i, DataType type) {
        if (row.isNullAt(i)) return null;
        switch (type.getTypeRoot()) {
            case STRING: return row.getString(i).toString();
            case CHAR: return row.getChar(i, 3).toString();
            case BIGINT: return row.getLong(i);
            case INTEGER: return row.getInt(i);
            case SMALLINT: return row.getShort(i);
            case TINYINT: return row.getByte(i);
            case FLOAT: return (double) row.getFloat(i);
            case DOUBLE: return row.getDouble(i);
            case BOOLEAN: return row.getBoolean(i);
            case DATE: return map("date_days", row.getInt(i));
            case BYTES: return map("bytes_b64", Base64.getEncoder().encodeToString(row.getBytes(i)));
            case BINARY: return map("bytes_b64", Base64.getEncoder().encodeToString(row.getBinary(i, 4)));
            case DECIMAL: return map("decimal", row.getDecimal(i, ((DecimalType) type).getPrecision(), ((DecimalType) type).getScale()).toString());
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return map("timestamp_ltz_ms", row.getTimestampLtz(i, ((LocalZonedTimestampType) type).getPrecision()).getEpochMillisecond());
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return map("timestamp_ntz_ms", row.getTimestampNtz(i, ((TimestampType) type).getPrecision()).getMillisecond());
            default: throw new IllegalArgumentException("no type " + type);
        }
    }

    /** scan DATABASE TABLE: every row from the log start to the log end as it is now. */
    private Object scan(TablePath path) throws Exception {
        TableInfo t = admin.getTableInfo(path).get();
        List<Object> out = new ArrayList<>();
        for (PartitionInfo part : partitions(t)) {
            Map<Integer, Long> ends = offsets(t, part, new OffsetSpec.LatestSpec());
            for (int bucket : buckets(t)) {
                List<Object> rows = new ArrayList<>();
                try (Table table = connection.getTable(path); LogScanner scanner = table.newScan().createLogScanner()) {
                    if (part == null) scanner.subscribeFromBeginning(bucket);
                    else scanner.subscribeFromBeginning(part.getPartitionId(), bucket);
                    long next = 0, until = System.currentTimeMillis() + 30_000;
                    while (next < ends.get(bucket) && System.currentTimeMillis() < until) {
                        for (ScanRecord r : scanner.poll(Duration.ofMillis(300))) {
                            next = r.logOffset() + 1;
                            Map<String, Object> row = map();
                            for (int i = 0; i < t.getRowType().getFieldCount(); i++) {
                                row.put(t.getRowType().getFieldNames().get(i), value(r.getRow(), i, t.getRowType().getTypeAt(i)));
                            }
                            rows.add(map("offset", r.logOffset(), "timestamp", r.timestamp(), "change", r.getChangeType().shortString(), "row", row));
                        }
                    }
                }
                out.add(map("partition", part == null ? -1L : part.getPartitionId(), "bucket", bucket, "end", ends.get(bucket), "rows", rows));
            }
        }
        return out;
    }

    /** time DATABASE TABLE ROUNDS: how many milliseconds each reading of the whole table took. */
    private Object time(TablePath path, int rounds) throws Exception {
        TableInfo t = admin.getTableInfo(path).get();
        List<Object> out = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            long total = 0, seen = 0, bytes = 0, began = System.nanoTime();
            for (long end : offsets(t, null, new OffsetSpec.LatestSpec()).values()) total += end;
            try (Table table = connection.getTable(path); LogScanner scanner = table.newScan().createLogScanner()) {
                for (int bucket : buckets(t)) scanner.subscribeFromBeginning(bucket);
                for (long last = began; seen < total; ) {
                    if (System.nanoTime() - last > 60_000_000_000L) throw new IllegalStateException("no row for a minute after " + seen + " of " + total);
                    ScanRecords polled = scanner.poll(Duration.ofSeconds(1));
                    if (!polled.isEmpty()) last = System.nanoTime();
                    for (ScanRecord r : polled) {
                        seen++;
                        bytes += r.getRow().getString(0).getSizeInBytes() + r.getRow().getBytes(1).length + r.getRow().getString(2).getSizeInBytes();
                    }
                }
            }
            out.add(map("millis", (System.nanoTime() - began) / 1_000_000, "rows", seen, "bytes", bytes));
        }
        return out;
    }

    private Object register(String id, TablePath path) throws Exception {
        TableInfo t = admin.getTableInfo(path).get();
        Map<TableBucket, Long> offsets = new LinkedHashMap<>();
        for (PartitionInfo part : partitions(t)) {
            offsets(t, part, new OffsetSpec.LatestSpec())
                    .forEach((bucket, at) -> offsets.put(new TableBucket(t.getTableId(), part == null ? null : part.getPartitionId(), bucket), at));
        }
        return map("result", admin.registerProducerOffsets(id, offsets).get().toString());
    }

    private Object producer(String id) throws Exception {
        ProducerOffsetsResult r = admin.getProducerOffsets(id).get();
        if (r == null) return map("found", false);
        List<Object> offsets = new ArrayList<>();
        r.getTableOffsets().forEach((table, byBucket) -> byBucket.forEach((bucket, at) -> offsets.add(
                map("table", table, "partition", bucket.getPartitionId() == null ? -1L : bucket.getPartitionId(), "bucket", bucket.getBucket(), "offset", at))));
        return map("found", true, "expires", r.getExpirationTime(), "offsets", offsets);
    }

    private static Map<String, Object> map(Object... pairs) {
        Map<String, Object> m = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) m.put((String) pairs[i], pairs[i + 1]);
        return m;
    }

    private static void json(StringBuilder b, Object o) {
        if (o == null || o instanceof Number || o instanceof Boolean) {
            b.append(o);
        } else if (o instanceof Map) {
            String separator = "{";
            for (Map.Entry<?, ?> e : ((Map<?, ?>) o).entrySet()) {
                b.append(separator);
                json(b, e.getKey().toString());
                b.append(':');
                json(b, e.getValue());
                separator = ",";
            }
            b.append(separator.equals("{") ? "{}" : "}");
        } else if (o instanceof Iterable) {
            String separator = "[";
            for (Object e : (Iterable<?>) o) {
                b.append(separator);
                json(b, e);
                separator = ",";
            }
            b.append(separator.equals("[") ? "[]" : "]");
        } else {
            b.append('"');
            for (char c : o.toString().toCharArray()) {
                if (c == '"' || c == '\\') b.append('\\').append(c);
                else if (c < 32) b.append(String.format("\\u%04x", (int) c));
                else b.append(c);
            }
            b.append('"');
        }
    }
}
