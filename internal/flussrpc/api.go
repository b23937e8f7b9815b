package flussrpc

import "fmt"

// API is one call, by its key on the wire.
type API int16

// The calls that are known here.
const (
	APIVersions            API = 1000
	APIListDatabases       API = 1003
	APIDatabaseExists      API = 1004
	APIGetTableInfo        API = 1007
	APIListTables          API = 1008
	APIListPartitionInfos  API = 1009
	APITableExists         API = 1010
	APIGetTableSchema      API = 1011
	APIGetMetadata         API = 1012
	APIFetchLog            API = 1015
	APIListOffsets         API = 1021
	APIGetLatestSnapshots  API = 1023
	APIGetKvSnapshot       API = 1024
	APIGetFileSystemToken  API = 1025
	APIGetLakeSnapshot     API = 1032
	APILimitScan           API = 1033
	APIGetDatabaseInfo     API = 1035
	APIAuthenticate        API = 1038
	APIDescribeConfigs     API = 1045
	APIRegisterProducer    API = 1053
	APIGetProducerOffsets  API = 1054
	APIDeleteProducer      API = 1055
	APIGetTableStats       API = 1059
	APIGetClusterHealth    API = 1062
	APIListRemoteManifests API = 1063
)

var apiNames = map[API]string{
	APIVersions: "ApiVersions", APIListDatabases: "ListDatabases", APIGetTableInfo: "GetTableInfo", APIListTables: "ListTables",
	APIListPartitionInfos: "ListPartitionInfos", APIGetTableSchema: "GetTableSchema", APIGetMetadata: "GetMetadata",
	APIDatabaseExists: "DatabaseExists", APITableExists: "TableExists", APIGetKvSnapshot: "GetKvSnapshotMetadata", APIGetFileSystemToken: "GetFileSystemSecurityToken",
	APIGetTableStats: "GetTableStats", APIFetchLog: "FetchLog", APIListOffsets: "ListOffsets", APIGetLatestSnapshots: "GetLatestKvSnapshots", APIGetLakeSnapshot: "GetLakeSnapshot",
	APILimitScan: "LimitScan", APIGetDatabaseInfo: "GetDatabaseInfo", APIAuthenticate: "Authenticate",
	APIDescribeConfigs: "DescribeClusterConfigs", APIRegisterProducer: "RegisterProducerOffsets",
	APIGetProducerOffsets: "GetProducerOffsets", APIDeleteProducer: "DeleteProducerOffsets",
	APIGetClusterHealth: "GetClusterHealth", APIListRemoteManifests: "ListRemoteLogManifests",
}

// String is Fluss's name for the call.
func (a API) String() string {
	if name, ok := apiNames[a]; ok {
		return name
	}
	return fmt.Sprintf("call %d", int16(a))
}
