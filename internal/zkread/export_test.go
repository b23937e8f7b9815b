package zkread

// What answers are read by.
var (
	ParseConnect  = parseConnect
	ParseReply    = parseReply
	ParseExists   = parseExists
	ParseData     = parseData
	ParseChildren = parseChildren
)

// Session and Reply let tests look at answers.
func (s session) Parts() (id int64, readOnly bool)         { return s.id, s.readOnly }
func (r reply) Parts() (xid int32, code Code, body []byte) { return r.xid, r.code, r.body }
