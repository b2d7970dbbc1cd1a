package hookyard

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const firstBackoff = 500 * time.Millisecond

// CallOption configures one call.
type CallOption func(*callOptions)

type callOptions struct {
	timeout        time.Duration
	organization   string
	idempotencyKey string
	ifMatch        string
	onETag         func(string)
}

// WithCallTimeout sets the deadline of each request of this call, instead of the client's deadline.
func WithCallTimeout(timeout time.Duration) CallOption {
	return func(o *callOptions) { o.timeout = timeout }
}

// InOrganization sets the organization of the call, instead of the API key's organization.
func InOrganization(id string) CallOption {
	return func(o *callOptions) { o.organization = id }
}

// WithIdempotencyKey sets the key of a POST, to retry it from another process: 1 to 255 visible ASCII characters.
func WithIdempotencyKey(key string) CallOption {
	return func(o *callOptions) { o.idempotencyKey = key }
}

// IfMatch applies a change only if the record has this version, an ETag from OnETag.
func IfMatch(etag string) CallOption {
	return func(o *callOptions) { o.ifMatch = etag }
}

// OnETag receives the ETag of a response that returns a single record: the version of the record.
func OnETag(onETag func(etag string)) CallOption {
	return func(o *callOptions) { o.onETag = onETag }
}

func optionsOf(opts []CallOption) callOptions {
	options := callOptions{}
	for _, option := range opts {
		option(&options)
	}
	return options
}

// Raw is a response that is not JSON, as received.
type Raw struct {
	ContentType string
	Content     []byte
}

type call struct {
	method         string
	template       string
	path           []string
	inOrganization bool
	query          any
	cursor         string
	body           any
}

// request is a call that is ready to be sent, again and again.
type request struct {
	method         string
	path           string
	query          string
	body           []byte
	options        callOptions
	idempotencyKey string
}

// send sends a request, again where that is safe and useful, and reads its answer into the result.
//
// Repeated are answers 429 and 503, which say that nothing was done, and a 409 that says that this very POST still runs; of GET and
// POST also broken connections (a POST carries the same Idempotency-Key each time), and of a PUT without IfMatch. A time-out is not
// repeated: the caller said how long to wait.
func (c *Client) send(ctx context.Context, call call, result any, opts []CallOption) error {
	ready, err := c.prepare(ctx, call, opts)
	if err != nil {
		return err
	}
	waited := time.Duration(0)
	for retry := 0; ; retry++ {
		err := c.sendOnce(ctx, ready, result)
		failure := (*APIError)(nil)
		if err == nil || !errors.As(err, &failure) || retry >= c.maxRetries || !isRepeatable(failure, ready) {
			return err
		}
		wait := backoff(retry)
		if failure.RetryAfter != nil {
			wait = *failure.RetryAfter
		}
		// A wait that does not fit is the caller's to decide on; half of it would be of no use.
		if waited+wait > c.maxWait {
			return err
		}
		waited += wait
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

func (c *Client) prepare(ctx context.Context, call call, opts []CallOption) (request, error) {
	options := optionsOf(opts)
	path := call.path
	if call.inOrganization {
		id := options.organization
		if id == "" {
			known, err := c.organizationID(ctx, opts)
			if err != nil {
				return request{}, err
			}
			id = known
		}
		path = append([]string{"orgId", id}, path...)
	}
	filled, err := fill(call.template, path)
	if err != nil {
		return request{}, err
	}
	query, err := queryOf(call.query, call.cursor)
	if err != nil {
		return request{}, err
	}
	ready := request{method: call.method, path: filled, query: query, options: options}
	if call.body != nil {
		if ready.body, err = json.Marshal(call.body); err != nil {
			return request{}, fmt.Errorf("the body cannot be sent: %w", err)
		}
	}
	if call.method == http.MethodPost {
		ready.idempotencyKey = options.idempotencyKey
		if ready.idempotencyKey == "" {
			ready.idempotencyKey = rand.Text()
		}
	}
	return ready, nil
}

// fill sets the parameters of a path: names and values by turns.
func fill(template string, pairs []string) (string, error) {
	for index := 0; index+1 < len(pairs); index += 2 {
		if pairs[index+1] == "" {
			return "", fmt.Errorf("%s must be a non-empty string", pairs[index])
		}
		template = strings.Replace(template, "{"+pairs[index]+"}", url.PathEscape(pairs[index+1]), 1)
	}
	return template, nil
}

// queryOf writes parameters by their JSON names; lists are separated by commas.
func queryOf(params any, cursor string) (string, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return "", fmt.Errorf("the parameters cannot be sent: %w", err)
	}
	given := map[string]any{}
	if err := decode(text, &given); err != nil {
		return "", err
	}
	values := url.Values{}
	if cursor != "" {
		delete(given, "page")
		values.Set("cursor", cursor)
	}
	for name, value := range given {
		items, isList := value.([]any)
		if !isList {
			items = []any{value}
		}
		texts := make([]string, len(items))
		for index, item := range items {
			texts[index] = fmt.Sprint(item)
		}
		values.Set(name, strings.Join(texts, ","))
	}
	return values.Encode(), nil
}

func isRepeatable(failure *APIError, sent request) bool {
	if failure.Status == http.StatusTooManyRequests || failure.Status == http.StatusServiceUnavailable ||
		failure.Code == "IDEMPOTENCY_KEY_IN_USE" {
		return true
	}
	if failure.Code != CodeUnreachable {
		return false
	}
	return sent.method == http.MethodGet || sent.method == http.MethodPost ||
		(sent.method == http.MethodPut && sent.options.ifMatch == "")
}

// backoff is half to all of 0.5, 1, 2, ... s, so that clients that failed together do not come back together.
func backoff(retry int) time.Duration {
	return time.Duration(float64(firstBackoff) * math.Pow(2, float64(retry)) * (0.5 + mathrand.Float64()/2))
}

func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (c *Client) sendOnce(ctx context.Context, ready request, result any) error {
	timeout := c.timeout
	if ready.options.timeout > 0 {
		timeout = ready.options.timeout
	}
	what := ready.method + " " + c.base + ready.path
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	failed := func(err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if within.Err() != nil {
			message := fmt.Sprintf("%s got no response within %s", what, timeout)
			return &APIError{Message: message, Code: CodeTimeout, IdempotencyKey: ready.idempotencyKey, cause: err}
		}
		message := fmt.Sprintf("%s cannot be reached (%v)", what, reasonOf(err))
		return &APIError{Message: message, Code: CodeUnreachable, IdempotencyKey: ready.idempotencyKey, cause: err}
	}
	outgoing, err := c.newRequest(within, ready)
	if err != nil {
		return err
	}
	response, err := c.http.Do(outgoing)
	if err != nil {
		return failed(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return failed(err)
	}
	if err := readAnswer(response, data, result, what, ready.idempotencyKey); err != nil {
		return err
	}
	if etag := response.Header.Get("ETag"); etag != "" && ready.options.onETag != nil {
		ready.options.onETag(etag)
	}
	return nil
}

func (c *Client) newRequest(ctx context.Context, ready request) (*http.Request, error) {
	address := c.base + ready.path
	if ready.query != "" {
		address += "?" + ready.query
	}
	var body io.Reader
	if ready.body != nil {
		body = bytes.NewReader(ready.body)
	}
	outgoing, err := http.NewRequestWithContext(ctx, ready.method, address, body)
	if err != nil {
		return nil, err
	}
	header := outgoing.Header
	header.Set("Accept", "application/json, */*;q=0.1")
	header.Set("User-Agent", c.userAgent)
	for name, value := range map[string]string{
		"If-Match":        ready.options.ifMatch,
		"Idempotency-Key": ready.idempotencyKey,
	} {
		if value != "" {
			header.Set(name, value)
		}
	}
	if c.apiKey != "" {
		header.Set("Authorization", "Bearer "+c.apiKey)
	}
	if ready.body != nil {
		header.Set("Content-Type", "application/json")
	}
	return outgoing, nil
}

// reasonOf leaves out the address, which is said anyway.
func reasonOf(err error) error {
	failed := (*url.Error)(nil)
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
