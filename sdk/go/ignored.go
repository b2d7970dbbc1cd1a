package hookyard

import (
	"net/url"
	"regexp"
	"strconv"
)

// Ignored is what of a request the service did not know and ignored.
type Ignored struct {
	// Request is its method and path.
	Request string
	Names   []IgnoredName
	// More is how many others there were.
	More int
}

// IgnoredName is a member or query parameter that the service does not know.
type IgnoredName struct {
	Name string
	// Place is "query" or "body".
	Place string
	// Nearest is the known name that is nearest; empty when none is near.
	Nearest string
}

var (
	ignoredItem = regexp.MustCompile(`"([^"]*)";in=(query|body)(?:;nearest="([^"]*)")?`)
	ignoredMore = regexp.MustCompile(`more;count=(\d+)$`)
)

// readIgnored reads the header X-Ignored, and tells whether there is anything in it that is understood.
func readIgnored(request, header string) (Ignored, bool) {
	ignored := Ignored{Request: request}
	for _, item := range ignoredItem.FindAllStringSubmatch(header, -1) {
		ignored.Names = append(ignored.Names, IgnoredName{decoded(item[1]), item[2], decoded(item[3])})
	}
	if more := ignoredMore.FindStringSubmatch(header); more != nil {
		ignored.More, _ = strconv.Atoi(more[1])
	}
	return ignored, len(ignored.Names) > 0
}

func decoded(text string) string {
	if name, err := url.PathUnescape(text); err == nil {
		return name
	}
	return text
}
