package flussrpc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
)

// Bounds of one FetchLog, in bytes.
const (
	fetchBytes      = 4 << 20 // of an answer; one batch may be larger
	mostOfBucket    = 4 << 20 // of one bucket in it
	leastOfBucket   = 64 << 10
	maxFetchBuckets = 4096 // in one request
)

// want is from where one bucket is fetched, and how many bytes at the most.
type want struct {
	bucket int32
	from   int64
	limit  int
}

// fetchedBucket is what a leader answered for one bucket. Records share the
// answer's bytes.
type fetchedBucket struct {
	bucket  int32
	err     *Error // nil: none
	end     int64  // the high watermark
	records []byte
	remote  *remoteRows // nil: nothing of it lies in remote storage
}

// fetch asks a leader for rows of several buckets of one log. As a client: a
// request that names a server would change what the cluster thinks of that
// replica. The caller holds the buffer that the records lie in.
func (conn *Conn) fetch(ctx context.Context, log Log, wants []want) ([]fetchedBucket, *buffer, error) {
	most := fetchBytes
	table := &flusspb.FetchLogTable{TableId: &log.Table, ProjectionPushdownEnabled: proto.Bool(false)}
	for i, w := range wants {
		if i == 0 {
			most = max(most, w.limit)
		}
		table.BucketsReq = append(table.BucketsReq, &flusspb.FetchLogBucket{PartitionId: log.partition(), BucketId: proto.Int32(w.bucket), FetchOffset: proto.Int64(w.from), MaxFetchBytes: proto.Int32(int32(w.limit))})
	}
	request := &flusspb.FetchLogRequest{FollowerServerId: proto.Int32(asClient), MaxBytes: proto.Int32(int32(most)), TablesReq: []*flusspb.FetchLogTable{table}}
	got, err := conn.callRaw(ctx, APIFetchLog, request)
	if err != nil {
		return nil, nil, err
	}
	answer, err := parseFetched(got.Body)
	if err != nil {
		return nil, nil, conn.undecodable(APIFetchLog, err)
	}
	if answer.table != log.Table && len(answer.buckets) > 0 {
		return nil, nil, conn.undecodable(APIFetchLog, fmt.Errorf("it is of table %d, and table %d was asked for", answer.table, log.Table))
	}
	return answer.buckets, got.buffer, nil
}

// fetchedTable is an answer to a FetchLog of one table.
type fetchedTable struct {
	table   int64
	buckets []fetchedBucket
}

// fields visits the fields of a message.
func fields(b []byte, visit func(number protowire.Number, kind protowire.Type, value []byte, varint uint64) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var value []byte
		var varint uint64
		switch kind {
		case protowire.VarintType:
			varint, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := visit(number, kind, value, varint); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// parseFetched reads a FetchLogResponse. The generated code would copy the
// records, which are nearly all of it.
func parseFetched(body []byte) (fetchedTable, error) {
	var out fetchedTable
	tables := 0
	err := fields(body, func(number protowire.Number, kind protowire.Type, value []byte, _ uint64) error {
		if number != 1 || kind != protowire.BytesType {
			return nil
		}
		if tables++; tables > 1 {
			return errors.New("it is of more than one table")
		}
		return fields(value, func(number protowire.Number, kind protowire.Type, value []byte, varint uint64) error {
			switch {
			case number == 1 && kind == protowire.VarintType:
				out.table = int64(varint)
			case number == 2 && kind == protowire.BytesType:
				b, err := parseFetchedBucket(value)
				if err != nil {
					return err
				}
				out.buckets = append(out.buckets, b)
			}
			return nil
		})
	})
	return out, err
}

func parseFetchedBucket(value []byte) (fetchedBucket, error) {
	var b fetchedBucket
	var code Code
	var message string
	err := fields(value, func(number protowire.Number, kind protowire.Type, value []byte, varint uint64) error {
		switch {
		case kind == protowire.VarintType && number == 2:
			b.bucket = int32(varint)
		case kind == protowire.VarintType && number == 3:
			code = Code(int32(varint))
		case kind == protowire.BytesType && number == 4:
			message = string(value)
		case kind == protowire.VarintType && number == 5:
			b.end = int64(varint)
		case kind == protowire.BytesType && number == 7:
			var info flusspb.RemoteLogFetchInfo
			if err := proto.Unmarshal(value, &info); err != nil {
				return err
			}
			b.remote = remoteOf(&info)
		case kind == protowire.BytesType && number == 8:
			b.records = value
		}
		return nil
	})
	if code != None {
		b.err = &Error{Code: code, Message: message}
	}
	return b, err
}

func remoteOf(info *flusspb.RemoteLogFetchInfo) *remoteRows {
	r := &remoteRows{dir: info.GetRemoteLogTabletDir(), first: int64(info.GetFirstStartPos())}
	for _, s := range info.GetRemoteLogSegments() {
		r.segments = append(r.segments, segment{id: s.GetRemoteLogSegmentId(), start: s.GetRemoteLogStartOffset(), end: s.GetRemoteLogEndOffset(), size: int64(s.GetSegmentSizeInBytes())})
	}
	// They come in order; what first counts for is the first of them as they came.
	if len(r.segments) > 0 {
		r.firstID = r.segments[0].id
	}
	slices.SortStableFunc(r.segments, func(a, b segment) int { return int(max(min(a.start-b.start, 1), -1)) })
	return r
}

// whole is the part of records that are whole batches, and the offset behind
// them. It looks at no more than lengths and offsets; what can't be is left for
// Batches to say.
func whole(records []byte, next int64) (part []byte, behind int64) {
	at := 0
	for len(records)-at >= headerSize0 {
		size := int64(int32(binary.LittleEndian.Uint32(records[at+8:]))) + batchHead
		if size < headerSize0 || size > int64(len(records)-at) {
			break
		}
		base := int64(binary.LittleEndian.Uint64(records[at:]))
		delta := int64(int32(binary.LittleEndian.Uint32(records[at+28:])))
		if records[at+12] != 0 {
			b, err := parseBatch(records[at : at+int(size)])
			if err != nil {
				break
			}
			delta = int64(b.LastOffsetDelta)
		}
		if base < 0 || delta < 0 || base+delta+1 <= 0 {
			break
		}
		next = max(next, base+delta+1)
		at += int(size)
	}
	return records[:at], next
}
