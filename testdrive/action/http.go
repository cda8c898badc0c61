package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// responseLimit bounds what is read of an answer, and shownLimit what a message shows of it.
const (
	responseLimit = 16 << 20
	shownLimit    = 2000
)

// httpRequest is $ http-request method=… url=…: the lines below are its body; the status must be 2xx or one of
// accept-additional-status-codes. Tried once.
func httpRequest(m *Machine, ctx context.Context, c *call) error {
	accepted, err := statusCodes(c.get("accept-additional-status-codes"))
	if err != nil {
		return err
	}
	status, answer, err := m.send(ctx, c.get("method"), c.get("url"), c.get("content-type"), strings.Join(c.body, "\n"))
	if err != nil {
		return err
	}
	if status/100 == 2 || slices.Contains(accepted, status) {
		return nil
	}
	if len(answer) > shownLimit {
		answer = answer[:shownLimit] + "…"
	}
	return &problem{fmt.Sprintf("status is %d", status), answer}
}

func statusCodes(list string) ([]int, error) {
	if list == "" {
		return nil, nil
	}
	var codes []int
	for text := range strings.SplitSeq(list, ",") {
		code, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, &problem{"malformed argument", fmt.Sprintf("%q is no list of status codes", list)}
		}
		codes = append(codes, code)
	}
	return codes, nil
}

func (m *Machine) send(ctx context.Context, method, url, contentType, body string) (status int, answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", &problem{"malformed request", err.Error()}
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", &problem{"request failed", err.Error()}
	}
	content, err := io.ReadAll(io.LimitReader(resp.Body, responseLimit+1))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return 0, "", &problem{"request failed", err.Error()}
	}
	if len(content) > responseLimit {
		return 0, "", &problem{"request failed", fmt.Sprintf("the answer is longer than %d MiB", responseLimit>>20)}
	}
	return resp.StatusCode, string(content), nil
}
