package runner

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
)

// The shape of a JUnit report, as much of it as readers of such reports ask for.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Skipped *struct{}     `xml:"skipped,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func writeJUnit(path, extension string, s Summary) error {
	suite := junitSuite{
		Name: strings.TrimPrefix(extension, "."), Tests: len(s.Outcomes), Failures: s.Failed, Skipped: s.Skipped,
	}
	total := 0.0
	for _, o := range s.Outcomes {
		total += o.Took.Seconds()
		c := junitCase{Name: o.Path, Class: suite.Name, Time: fmt.Sprintf("%.3f", o.Took.Seconds())}
		if o.Skipped {
			c.Skipped = &struct{}{}
		}
		if len(o.Errors) > 0 {
			texts := make([]string, len(o.Errors))
			for i, err := range o.Errors {
				texts[i] = err.Error()
			}
			first, _, _ := strings.Cut(texts[0], "\n")
			c.Failure = &junitFailure{Message: first, Text: strings.Join(texts, "\n")}
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Time = fmt.Sprintf("%.3f", total)
	out, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return fmt.Errorf("write the JUnit report: %w", err)
	}
	if err := os.WriteFile(path, append([]byte(xml.Header), append(out, '\n')...), 0o644); err != nil {
		return fmt.Errorf("write the JUnit report: %w", err)
	}
	return nil
}
