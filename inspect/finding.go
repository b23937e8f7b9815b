package inspect

// Finding is a fact worth an operator's attention. Rule is stable; Cause says
// plainly what is so; Next says what to do about it.
type Finding struct {
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`
	Refs     []string `json:"refs"`
	Numbers  Named    `json:"numbers"`
	Cause    string   `json:"cause"`
	Next     string   `json:"next"`
}
