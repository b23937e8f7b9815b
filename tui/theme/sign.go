package theme

// Signs are the characters with a fixed meaning. All are one cell wide but the
// ASCII form of Broken, which is two.
type Signs struct {
	LogStart string // the first available offset
	LogEnd   string // the next offset to be written
	Boundary string // the largest offset of a committed cleanup, or a write-ahead log's cursor
	Marker   string // where a recovery point starts to read
	Gone     string // still in the log, but no restore or start reads it
	Broken   string // a stretch of a bar that is longer than its scale
	Axis     string // a stretch of a bar to scale
	Selected string // the row that the next key acts on
	Error    string
	Warning  string
	OK       string
	More     string // something is cut off here
	Path     string // between two screens of a path
	None     string // no value: not known, or not asked
	Cursor   string // where the next letter goes
}

var unicodeSigns = Signs{
	LogStart: "├", LogEnd: "┤", Boundary: "▲", Marker: "◆", Gone: "·", Broken: "≠", Axis: "─",
	Selected: "▸", Error: "✖", Warning: "!", OK: "✔", More: "…", Path: "›", None: "–",
	Cursor: "▏",
}

var asciiSigns = Signs{
	LogStart: "[", LogEnd: "]", Boundary: "^", Marker: "*", Gone: ".", Broken: "/=", Axis: "-",
	Selected: ">", Error: "x", Warning: "!", OK: "+", More: "~", Path: "/", None: "-",
	Cursor: "_",
}

// Meaning is one line of the legend.
type Meaning struct{ Sign, Text string }

// Legend explains the signs, in the order in which a reader meets them.
func (s Signs) Legend() []Meaning {
	return []Meaning{
		{s.Error, "error"},
		{s.Warning, "warning"},
		{s.OK, "passed"},
		{s.Selected, "selected"},
		{s.LogStart + " " + s.LogEnd, "log start and log end"},
		{s.Boundary, "boundary: no restore may read before it; of a write-ahead log, the cursor"},
		{s.Marker, "marker: a recovery point reads from here"},
		{s.Gone, "still in the log, but no restore or start reads it"},
		{s.Broken, "drawn longer than its scale, or marks would share a cell"},
		{s.More, "more than is shown"},
		{s.None, "no value: not known, or not asked"},
	}
}
