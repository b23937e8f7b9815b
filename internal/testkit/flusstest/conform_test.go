package flusstest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// subject is a cluster that the story is told on: with a table of two columns, one
// bucket and five rows in one batch.
type subject struct {
	coordinator, tablet string // addresses
	login               *flussrpc.Login
	path                flussrpc.TablePath
	id                  int64
	several             int64   // a table whose buckets have one batch of more than 100 bytes each …
	led                 []int32 // … of which the tablet server leads these, at least two
}

// conform asks what the fake cluster and a real one must answer alike: codes, and
// what their messages begin with or hold.
func conform(t *testing.T, s subject) {
	t.Helper()
	dial := func(address string) *flussrpc.Conn {
		t.Helper()
		c, err := flussrpc.Dial(t.Context(), address, flussrpc.Options{Login: s.login, Timeout: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	coordinator, tablet := dial(s.coordinator), dial(s.tablet)
	path := &flusspb.TablePath{DatabaseName: &s.path.Database, TableName: &s.path.Table}
	gone := &flusspb.TablePath{DatabaseName: &s.path.Database, TableName: proto.String("no_such_table")}
	for name, c := range map[string]struct {
		conn    *flussrpc.Conn
		api     flussrpc.API
		request proto.Message
		answer  proto.Message
		code    flussrpc.Code
		says    string
	}{
		"metadata of no table":     {tablet, flussrpc.APIGetMetadata, &flusspb.GetMetadataRequest{TablePath: []*flusspb.TablePath{gone}}, &flusspb.GetMetadataResponse{}, flussrpc.UnknownServerError, "TableNotExistException"},
		"metadata of no partition": {coordinator, flussrpc.APIGetMetadata, &flusspb.GetMetadataRequest{PartitionsId: []int64{471100}}, &flusspb.GetMetadataResponse{}, flussrpc.PartitionNotExists, "471100"},
		"no table":                 {tablet, flussrpc.APIGetTableInfo, &flusspb.GetTableInfoRequest{TablePath: gone}, &flusspb.GetTableInfoResponse{}, flussrpc.TableNotExist, "does not exist"},
		"no database":              {tablet, flussrpc.APIListTables, &flusspb.ListTablesRequest{DatabaseName: proto.String("no_such_db")}, &flusspb.ListTablesResponse{}, flussrpc.DatabaseNotExist, "no_such_db does not exist"},
		"no partitions":            {tablet, flussrpc.APIListPartitionInfos, &flusspb.ListPartitionInfosRequest{TablePath: path}, &flusspb.ListPartitionInfosResponse{}, flussrpc.TableNotPartitioned, "is not a partitioned table"},
		"no primary key":           {tablet, flussrpc.APIGetLatestSnapshots, &flusspb.GetLatestKvSnapshotsRequest{TablePath: path}, &flusspb.GetLatestKvSnapshotsResponse{}, flussrpc.NonPrimaryKeyTable, "is not a primary key table"},
		"no id of producer":        {coordinator, flussrpc.APIGetProducerOffsets, &flusspb.GetProducerOffsetsRequest{ProducerId: proto.String("bad id!")}, &flusspb.GetProducerOffsetsResponse{}, flussrpc.InvalidProducerID, "Invalid producer ID 'bad id!'"},
	} {
		err := c.conn.Call(t.Context(), c.api, c.request, c.answer)
		refused, ok := errors.AsType[*flussrpc.Error](err)
		if !ok || refused.Code != c.code || !strings.Contains(refused.Message, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A malformed request is never answered, and the connection goes on.
	silent, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := tablet.Call(silent, flussrpc.APIGetTableInfo, &flusspb.ListDatabasesRequest{}, &flusspb.GetTableInfoResponse{}); fault.KindOf(err) != fault.Unreachable {
		t.Errorf("a request without what it must have: %v", err)
	}
	if err := tablet.Call(t.Context(), flussrpc.APIListDatabases, &flusspb.ListDatabasesRequest{}, &flusspb.ListDatabasesResponse{}); err != nil {
		t.Error(err)
	}
	if tablet.Serves(flussrpc.APIGetProducerOffsets) || coordinator.Serves(flussrpc.APIFetchLog) || coordinator.Kind() != flussrpc.Coordinator || tablet.Kind() != flussrpc.TabletServer {
		t.Error("the servers serve each other's calls")
	}
	s.offsets(t, tablet)
	s.rows(t, tablet)
	s.cut(t, tablet)
}

// cut asks for less of each of several buckets than a batch has: one gets it whole.
func (s subject) cut(t *testing.T, tablet *flussrpc.Conn) {
	t.Helper()
	const limit = 100
	table := &flusspb.FetchLogTable{TableId: &s.several, ProjectionPushdownEnabled: proto.Bool(false)}
	for _, bucket := range s.led {
		table.BucketsReq = append(table.BucketsReq, &flusspb.FetchLogBucket{BucketId: &bucket, FetchOffset: proto.Int64(0), MaxFetchBytes: proto.Int32(limit)})
	}
	var answer flusspb.FetchLogResponse
	request := &flusspb.FetchLogRequest{FollowerServerId: proto.Int32(-1), MaxBytes: proto.Int32(1 << 20), TablesReq: []*flusspb.FetchLogTable{table}}
	if err := tablet.Call(t.Context(), flussrpc.APIFetchLog, request, &answer); err != nil {
		t.Error(err)
		return
	}
	whole, cut := 0, 0
	for _, b := range answer.GetTablesResp()[0].GetBucketsResp() {
		switch n := len(b.GetRecords()); {
		case n > limit:
			whole++
		case n == limit:
			cut++
		default:
			t.Errorf("bucket %d has %d bytes", b.GetBucketId(), n)
		}
	}
	if whole != 1 || cut != len(s.led)-1 {
		t.Errorf("%d batches are whole and %d are cut, of %d", whole, cut, len(s.led))
	}
}

// offsets asks for offsets of one bucket.
func (s subject) offsets(t *testing.T, tablet *flussrpc.Conn) {
	t.Helper()
	for name, c := range map[string]struct {
		table  int64
		bucket int32
		kind   int32
		at     *int64
		code   flussrpc.Code
		offset int64
	}{
		"earliest":    {table: s.id, kind: 0},
		"latest":      {table: s.id, kind: 1, offset: 5},
		"time of all": {table: s.id, kind: 2, at: proto.Int64(1)},
		"the future":  {table: s.id, kind: 2, at: proto.Int64(time.Now().Add(time.Hour).UnixMilli()), code: flussrpc.InvalidTimestamp},
		"no time":     {table: s.id, kind: 2, code: flussrpc.UnknownServerError},
		"no bucket":   {table: s.id, bucket: 77, kind: 1, code: flussrpc.UnknownTableOrBucket},
		"no table":    {table: 987654, kind: 1, code: flussrpc.UnknownTableOrBucket},
	} {
		var answer flusspb.ListOffsetsResponse
		request := &flusspb.ListOffsetsRequest{FollowerServerId: proto.Int32(-1), OffsetType: &c.kind, TableId: &c.table, BucketId: []int32{c.bucket}, StartTimestamp: c.at}
		if err := tablet.Call(t.Context(), flussrpc.APIListOffsets, request, &answer); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := answer.GetBucketsResp()[0]; flussrpc.Code(got.GetErrorCode()) != c.code || got.GetOffset() != c.offset {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// rows fetches from one bucket.
func (s subject) rows(t *testing.T, tablet *flussrpc.Conn) {
	t.Helper()
	for name, c := range map[string]struct {
		table, from int64
		code        flussrpc.Code
		says        string
		rows        int32
	}{
		"from the start": {table: s.id, from: -2, rows: 5},
		"from inside":    {table: s.id, from: 3, rows: 5}, // the whole batch
		"at the end":     {table: s.id, from: 5},
		"behind the end": {table: s.id, from: 6, code: flussrpc.LogOffsetOutOfRange, says: "but we only have log segments from offset 0 up to 5"},
		"no table":       {table: 987654, code: flussrpc.UnknownTableOrBucket},
	} {
		var answer flusspb.FetchLogResponse
		request := &flusspb.FetchLogRequest{FollowerServerId: proto.Int32(-1), MaxBytes: proto.Int32(1 << 20), TablesReq: []*flusspb.FetchLogTable{{
			TableId: &c.table, ProjectionPushdownEnabled: proto.Bool(false),
			BucketsReq: []*flusspb.FetchLogBucket{{BucketId: proto.Int32(0), FetchOffset: &c.from, MaxFetchBytes: proto.Int32(1 << 20)}},
		}}}
		if err := tablet.Call(t.Context(), flussrpc.APIFetchLog, request, &answer); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := answer.GetTablesResp()[0].GetBucketsResp()[0]
		rows := int32(0)
		for b, err := range flussrpc.Batches(got.GetRecords()) {
			if err != nil || !b.Intact || !b.AppendOnly || b.Magic != 0 {
				t.Errorf("%s: %+v, %v", name, b, err)
			}
			rows += b.Count
		}
		if flussrpc.Code(got.GetErrorCode()) != c.code || !strings.Contains(got.GetErrorMessage(), c.says) || rows != c.rows || c.code == flussrpc.None && got.GetHighWatermark() != 5 {
			t.Errorf("%s: %d rows, %v", name, rows, got)
		}
	}
}

func TestTheFakeClusterAnswersAsRealOnesDo(t *testing.T) {
	c, err := flusstest.Start(flusstest.Options{Users: map[string]string{"ops": "pw"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	path := flussrpc.TablePath{Database: "story", Table: "rows"}
	id, err := c.CreateTable(flusstest.Spec{Path: path, Columns: []flusstest.Column{{Name: "n", Type: "BIGINT"}, {Name: "txt", Type: "STRING"}}})
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	for n := range 5 {
		rows = append(rows, []any{int64(n), "row"})
	}
	if _, err := c.Append(flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}, 0, time.Now().UnixMilli(), rows...); err != nil {
		t.Fatal(err)
	}
	several, err := c.CreateTable(flusstest.ActionState(flussrpc.TablePath{Database: "story", Table: "several"}, 3))
	if err != nil {
		t.Fatal(err)
	}
	for bucket := range int32(3) {
		if _, err := c.Append(flussrpc.Log{Table: several, Partition: flussrpc.NoPartition}, bucket, time.Now().UnixMilli(), []any{"key", []byte("payload"), "agent"}); err != nil {
			t.Fatal(err)
		}
	}
	conform(t, subject{
		coordinator: c.Coordinator(), tablet: c.Tablet(0), login: &flussrpc.Login{Username: "ops", Password: secret.New("pw")}, path: path, id: id,
		several: several, led: []int32{0, 1, 2},
	})
}
