package hookyard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"
)

func readAnswer(response *http.Response, data []byte, result any, what, idempotencyKey string) error {
	contentType := response.Header.Get("Content-Type")
	media, _, _ := mime.ParseMediaType(contentType)
	isJSON := media == "application/json"
	status := response.StatusCode
	switch {
	case status >= 200 && status < 300:
		if raw, ok := result.(*Raw); ok {
			raw.ContentType, raw.Content = contentType, data
			return nil
		}
		if status == http.StatusNoContent || result == nil {
			return nil
		}
		if isJSON {
			if err := decode(data, result); err == nil || json.Valid(data) {
				return err
			}
		}
	case isJSON:
		body := errorBody{}
		if json.Unmarshal(data, &body) == nil && body.Message != "" {
			return body.asError(response, idempotencyKey)
		}
	case status == 429 || status == 502 || status == 503 || status == 504:
		// What stands before the API, a proxy for example, answers these in its own words.
		return errorBody{Message: fmt.Sprintf("%s returned %d", what, status)}.asError(response, idempotencyKey)
	}
	how := " with content type " + cmp.Or(contentType, "none")
	if location := response.Header.Get("Location"); location != "" {
		how = ", a redirect to " + location
	}
	return &APIError{
		Message:        fmt.Sprintf("%s returned %d%s: this is not the Hookyard API; check the URL", what, status, how),
		Status:         status,
		Code:           CodeNotHookyard,
		IdempotencyKey: idempotencyKey,
	}
}

type errorBody struct {
	Message string        `json:"message"`
	Code    string        `json:"code"`
	Details []ErrorDetail `json:"details"`
	Limit   string        `json:"limit"`
}

func (b errorBody) asError(response *http.Response, idempotencyKey string) error {
	return &APIError{
		Message:        b.Message,
		Status:         response.StatusCode,
		Code:           b.Code,
		Details:        b.Details,
		Limit:          b.Limit,
		RequestID:      response.Header.Get("X-Request-Id"),
		RetryAfter:     retryAfter(response.Header.Get("Retry-After")),
		IdempotencyKey: idempotencyKey,
	}
}

// retryAfter reads seconds or a date: RFC 9110, section 10.2.3.
func retryAfter(text string) *time.Duration {
	// Some proxies send fractions.
	if count, err := strconv.ParseFloat(text, 64); err == nil && count >= 0 && count < 1<<31 {
		return Ptr(time.Duration(count * float64(time.Second)))
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return nil
	}
	return Ptr(max(0, time.Until(at)))
}
