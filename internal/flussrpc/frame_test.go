package flussrpc

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
)

// messages are the request and the answer of each call that this package knows.
var messages = map[API]func() (request, answer proto.Message){
	APIVersions: func() (proto.Message, proto.Message) {
		return &flusspb.ApiVersionsRequest{}, &flusspb.ApiVersionsResponse{}
	},
	APIAuthenticate: func() (proto.Message, proto.Message) {
		return &flusspb.AuthenticateRequest{}, &flusspb.AuthenticateResponse{}
	},
	APIListDatabases: func() (proto.Message, proto.Message) {
		return &flusspb.ListDatabasesRequest{}, &flusspb.ListDatabasesResponse{}
	},
	APIListTables: func() (proto.Message, proto.Message) {
		return &flusspb.ListTablesRequest{}, &flusspb.ListTablesResponse{}
	},
	APIGetDatabaseInfo: func() (proto.Message, proto.Message) {
		return &flusspb.GetDatabaseInfoRequest{}, &flusspb.GetDatabaseInfoResponse{}
	},
	APIDatabaseExists: func() (proto.Message, proto.Message) {
		return &flusspb.DatabaseExistsRequest{}, &flusspb.DatabaseExistsResponse{}
	},
	APITableExists: func() (proto.Message, proto.Message) {
		return &flusspb.TableExistsRequest{}, &flusspb.TableExistsResponse{}
	},
	APIGetKvSnapshot: func() (proto.Message, proto.Message) {
		return &flusspb.GetKvSnapshotMetadataRequest{}, &flusspb.GetKvSnapshotMetadataResponse{}
	},
	APIGetFileSystemToken: func() (proto.Message, proto.Message) {
		return &flusspb.GetFileSystemSecurityTokenRequest{}, &flusspb.GetFileSystemSecurityTokenResponse{}
	},
	APIGetTableStats: func() (proto.Message, proto.Message) {
		return &flusspb.GetTableStatsRequest{}, &flusspb.GetTableStatsResponse{}
	},
	APIListPartitionInfos: func() (proto.Message, proto.Message) {
		return &flusspb.ListPartitionInfosRequest{}, &flusspb.ListPartitionInfosResponse{}
	},
	APIGetTableInfo: func() (proto.Message, proto.Message) {
		return &flusspb.GetTableInfoRequest{}, &flusspb.GetTableInfoResponse{}
	},
	APIGetTableSchema: func() (proto.Message, proto.Message) {
		return &flusspb.GetTableSchemaRequest{}, &flusspb.GetTableSchemaResponse{}
	},
	APIGetMetadata: func() (proto.Message, proto.Message) {
		return &flusspb.GetMetadataRequest{}, &flusspb.GetMetadataResponse{}
	},
	APIListOffsets: func() (proto.Message, proto.Message) {
		return &flusspb.ListOffsetsRequest{}, &flusspb.ListOffsetsResponse{}
	},
	APIFetchLog: func() (proto.Message, proto.Message) { return &flusspb.FetchLogRequest{}, &flusspb.FetchLogResponse{} },
	APILimitScan: func() (proto.Message, proto.Message) {
		return &flusspb.LimitScanRequest{}, &flusspb.LimitScanResponse{}
	},
	APIGetLatestSnapshots: func() (proto.Message, proto.Message) {
		return &flusspb.GetLatestKvSnapshotsRequest{}, &flusspb.GetLatestKvSnapshotsResponse{}
	},
	APIGetLakeSnapshot: func() (proto.Message, proto.Message) {
		return &flusspb.GetLakeSnapshotRequest{}, &flusspb.GetLakeSnapshotResponse{}
	},
	APIDescribeConfigs: func() (proto.Message, proto.Message) {
		return &flusspb.DescribeClusterConfigsRequest{}, &flusspb.DescribeClusterConfigsResponse{}
	},
	APIRegisterProducer: func() (proto.Message, proto.Message) {
		return &flusspb.RegisterProducerOffsetsRequest{}, &flusspb.RegisterProducerOffsetsResponse{}
	},
	APIGetProducerOffsets: func() (proto.Message, proto.Message) {
		return &flusspb.GetProducerOffsetsRequest{}, &flusspb.GetProducerOffsetsResponse{}
	},
	APIDeleteProducer: func() (proto.Message, proto.Message) {
		return &flusspb.DeleteProducerOffsetsRequest{}, &flusspb.DeleteProducerOffsetsResponse{}
	},
}

// recorded is an exchange between Fluss's own client, or a probe, and a real
// server, with what that client read in it.
type recorded struct {
	APIKey    API   `json:"api_key"`
	Version   int16 `json:"api_version"`
	RequestID int32 `json:"request_id"`
	Request   any   `json:"request"`
	FrameType byte  `json:"response_frame_type"`
	Response  any   `json:"response"`
	Error     *struct {
		Code    Code   `json:"error_code"`
		Message string `json:"error_message"`
	} `json:"error"`
}

// exchanges reads every recorded exchange, by its name.
func exchanges(t testing.TB) map[string]recorded {
	t.Helper()
	paths, err := filepath.Glob("testdata/fluss/*.req.bin")
	if err != nil || len(paths) < 80 {
		t.Fatal(len(paths), err)
	}
	out := map[string]recorded{}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".req.bin")
		text, err := os.ReadFile("testdata/fluss/" + name + ".expected.json")
		if err != nil {
			t.Fatal(err)
		}
		var r recorded
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&r); err != nil {
			t.Fatal(name, err)
		}
		out[name] = r
	}
	return out
}

func frameOf(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/fluss/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// plain is a message as the recordings write it: field names as on the wire,
// records by their length.
func plain(m protoreflect.Message) map[string]any {
	out := map[string]any{}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := string(f.Name())
		if f.IsList() {
			list := make([]any, v.List().Len())
			for i := range list {
				list[i] = plainValue(f, v.List().Get(i))
			}
			out[name] = list
			return true
		}
		out[name] = plainValue(f, v)
		return true
	})
	return out
}

func plainValue(f protoreflect.FieldDescriptor, v protoreflect.Value) any {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return plain(v.Message())
	case protoreflect.BytesKind:
		if f.Name() == "records" {
			return map[string]any{"length": json.Number(f0(len(v.Bytes())))}
		}
		return v.Bytes()
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return json.Number(f0(int(v.Int())))
	default:
		return v.Interface()
	}
}

func f0(n int) string {
	text, _ := json.Marshal(n) // of a number
	return string(text)
}

// alike compares a decoded message with the recording. Lists that are empty are
// the same as none; bytes may be shown as text, as JSON, or as base64.
func alike(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		if raw, ok := got.([]byte); ok {
			var document any
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			if d.Decode(&document) == nil && reflect.DeepEqual(document, any(want)) {
				return true
			}
			for name, value := range want {
				switch {
				case name == "length":
					return value == json.Number(f0(len(raw)))
				case strings.Contains(name, "b64") || strings.Contains(name, "base64"):
					text, ok := value.(string)
					decoded, err := base64.StdEncoding.DecodeString(text)
					return ok && err == nil && bytes.Equal(decoded, raw)
				}
			}
			return false
		}
		have, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for name, value := range want {
			if list, ok := value.([]any); ok && len(list) == 0 && have[name] == nil {
				continue
			}
			if !alike(have[name], value) {
				return false
			}
		}
		for name := range have {
			if _, ok := want[name]; !ok {
				return false
			}
		}
		return true
	case []any:
		have, ok := got.([]any)
		if !ok || len(have) != len(want) {
			return false
		}
		for i := range want {
			if !alike(have[i], want[i]) {
				return false
			}
		}
		return true
	case string:
		if raw, ok := got.([]byte); ok {
			return string(raw) == want
		}
		return got == want
	default:
		return reflect.DeepEqual(got, want)
	}
}

// Every request of the real client is read as it was meant, and is made again.
func TestRequestsAreMadeAsTheRealClientMakesThem(t *testing.T) {
	for name, want := range exchanges(t) {
		t.Run(name, func(t *testing.T) {
			known, ok := messages[want.APIKey]
			if !ok {
				t.Fatalf("%d is a call that is not known", want.APIKey)
			}
			frame := frameOf(t, name+".req.bin")
			request, _ := known()
			if err := proto.Unmarshal(frame[lengthSize+requestHeaderSize:], request); err != nil {
				t.Fatal(err)
			}
			if got := plain(request.ProtoReflect()); want.Request != nil && !alike(got, want.Request) {
				t.Errorf("request %v\nwant %v", got, want.Request)
			}
			made, err := AppendRequest(nil, want.APIKey, want.Version, want.RequestID, request)
			if err != nil {
				t.Fatal(err)
			}
			again, _ := known()
			if err := proto.Unmarshal(made[lengthSize+requestHeaderSize:], again); err != nil || !proto.Equal(request, again) || !bytes.Equal(made[lengthSize:lengthSize+requestHeaderSize], frame[lengthSize:lengthSize+requestHeaderSize]) {
				t.Errorf("%v: made %x, want %x", err, made, frame)
			}
			// The Java client writes a packed list that is empty as one of no bytes, which
			// means the same as none.
			if text, _ := json.Marshal(want.Request); !bytes.Contains(text, []byte("[]")) && !bytes.Equal(made, frame) {
				t.Errorf("made %x, want %x", made, frame)
			}
		})
	}
}

func TestAnswersAreReadAsByTheRealClient(t *testing.T) {
	for name, want := range exchanges(t) {
		t.Run(name, func(t *testing.T) {
			known, ok := messages[want.APIKey]
			if !ok {
				t.Fatalf("%d is a call that is not known", want.APIKey)
			}
			frame, err := ReadFrame(bytes.NewReader(frameOf(t, name+".resp.bin")))
			if err != nil {
				t.Fatal(err)
			}
			a, err := ParseAnswer(frame)
			if err != nil {
				t.Fatal(err)
			}
			if a.ID != want.RequestID || (a.Err != nil) != (want.FrameType == answerError) {
				t.Fatalf("%+v, want id %d, kind %d", a, want.RequestID, want.FrameType)
			}
			if want.Error != nil {
				if a.Err == nil || a.Err.Code != want.Error.Code || a.Err.Message != want.Error.Message {
					t.Errorf("%+v, want %+v", a.Err, want.Error)
				}
				return
			}
			_, answer := known()
			if err := proto.Unmarshal(a.Body, answer); err != nil {
				t.Fatal(err)
			}
			if got := plain(answer.ProtoReflect()); !alike(got, want.Response) {
				t.Errorf("answer %v\nwant %v", got, want.Response)
			}
		})
	}
}

// Of a Java stack trace an operator sees the first line and the last cause.
func TestAStackTraceIsToldInALine(t *testing.T) {
	e := Error{Code: UnknownServerError, Message: exchanges(t)["error-metadata-unknown-table"].Error.Message}
	got := e.Error()
	if strings.Contains(got, "\n") || !strings.HasPrefix(got, "UNKNOWN_SERVER_ERROR: org.apache.fluss.exception.FlussRuntimeException: Failed to get tables") || !strings.Contains(got, "; caused by org.apache.fluss.exception.TableNotExistException") {
		t.Error(got)
	}
}

func TestFramesThatAreNone(t *testing.T) {
	var other *NotFlussError
	for name, in := range map[string]string{
		"a web server":           "HTTP/1.1 400 Bad Request\r\n\r\n",
		"a length of zero":       "\x00\x00\x00\x00",
		"a length of two GB":     "\x7f\xff\xff\xff\x00",
		"an answer of Kafka":     "\x00\x00\x00\x0a\x30\x30\x30\x30\x00\x23\x00\x00\x00\x00",
		"a kind of the future":   "\x00\x00\x00\x05\x07\x00\x00\x00\x01",
		"TLS, which has no such": "\x15\x03\x03\x00\x02\x02\x46",
	} {
		if _, err := ReadFrame(strings.NewReader(in)); !errors.As(err, &other) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, in := range map[string]string{
		"cut in its length": "\x00\x00", "cut in its body": "\x00\x00\x00\x10\x00\x00\x00\x00\x01",
	} {
		if _, err := ReadFrame(strings.NewReader(in)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadFrame(strings.NewReader("")); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	for _, frame := range []string{"", "\x00\x00", "\x01\x00\x00\x00\x01\xff", "\x02\xff"} {
		if a, err := ParseAnswer([]byte(frame)); err == nil {
			t.Errorf("%q: %+v", frame, a)
		}
	}
	if a, err := ParseAnswer([]byte("\x02\x08\x1a")); err != nil || a.ID != -1 || a.Err.Code != Storage {
		t.Errorf("%+v, %v", a, err)
	}
}

func FuzzAnswer(f *testing.F) {
	for name := range exchanges(f) {
		if frame := frameOf(f, name+".resp.bin"); len(frame) < 2000 {
			f.Add(frame)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		frame, err := ReadFrame(bytes.NewReader(in))
		if err != nil {
			return
		}
		if len(frame) > len(in)-lengthSize || int(binary.BigEndian.Uint32(in)) != len(frame) {
			t.Errorf("a frame of %d bytes out of %d", len(frame), len(in))
		}
		a, err := ParseAnswer(frame)
		if err != nil || a.Err != nil {
			return
		}
		for _, known := range messages {
			_, answer := known()
			_ = proto.Unmarshal(a.Body, answer) // it must end, and not panic
		}
	})
}
