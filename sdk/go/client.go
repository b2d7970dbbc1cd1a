// Package hookyard is a client for Hookyard, a webhook router, and verifies the webhooks that it delivers. It uses only the
// standard library.
package hookyard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Client has a method for each operation of the API. Goroutines may share a client.
type Client struct {
	base         string
	apiKey       string
	timeout      time.Duration
	maxRetries   int
	maxWait      time.Duration
	userAgent    string
	http         *http.Client
	organization organization
}

// organization is that of the key, asked for once.
type organization struct {
	sync.Mutex
	id string
}

// Option configures a client.
type Option func(*Client)

// WithTimeout sets the deadline of each request, including the response body. The default is 30 s.
func WithTimeout(timeout time.Duration) Option {
	return func(c *Client) { c.timeout = timeout }
}

// WithRetries sets the maximum number of retries of a request (default 4; 0 never retries), and the maximum total wait of a call
// between retries (default 60 s).
func WithRetries(most int, maxWait time.Duration) Option {
	return func(c *Client) { c.maxRetries, c.maxWait = most, maxWait }
}

// WithUserAgent sets the User-Agent header.
func WithUserAgent(userAgent string) Option {
	return func(c *Client) { c.userAgent = userAgent }
}

// WithTransport sets the transport of requests, instead of http.DefaultTransport.
func WithTransport(transport http.RoundTripper) Option {
	return func(c *Client) { c.http.Transport = transport }
}

// New creates a client. Nothing is sent until you call a method.
//
// The address is the service URL, for example https://hooks.example.com, and may have a path. The key is whr_...;
// without it, only public operations work.
func New(address, apiKey string, options ...Option) (*Client, error) {
	parsed, err := url.Parse(address)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" {
		return nil, fmt.Errorf("%q must start with http:// or https://", address)
	}
	client := &Client{
		base:       parsed.Scheme + "://" + parsed.Host + strings.TrimRight(parsed.EscapedPath(), "/"),
		apiKey:     apiKey,
		timeout:    30 * time.Second,
		maxRetries: 4,
		maxWait:    60 * time.Second,
		userAgent:  "hookyard-go/" + Version,
		// Followed, a POST would become a GET and the key would go to another place.
		http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	for _, option := range options {
		option(client)
	}
	return client, nil
}

func (c *Client) organizationID(ctx context.Context, opts []CallOption) (string, error) {
	c.organization.Lock()
	defer c.organization.Unlock()
	if c.organization.id != "" {
		return c.organization.id, nil
	}
	caller, err := c.GetCaller(ctx, WithCallTimeout(optionsOf(opts).timeout))
	if err != nil {
		return "", err
	}
	if caller.Organization.ID == "" {
		return "", errors.New("the API did not return the API key's organization")
	}
	c.organization.id = caller.Organization.ID
	return c.organization.id, nil
}
