package hookyard

import "time"

// CodeUnreachable, CodeTimeout and CodeNotHookyard are codes of the client itself: there was no connection, no response in time, or
// the response is not from Hookyard.
const (
	CodeUnreachable = "UNREACHABLE"
	CodeTimeout     = "TIMEOUT"
	CodeNotHookyard = "NOT_HOOKYARD"
)

// APIError is the error of a call, except the end of its context. The message says what to do, and contains no secrets.
type APIError struct {
	Message string
	// Status is the HTTP status; 0 if there was no response.
	Status int
	// Code is the code from the API (VALIDATION_ERROR, RESOURCE_NOT_FOUND, ...) or from the client; empty if there is none.
	Code string
	// Details are problems with individual fields of the request; empty for most errors.
	Details []ErrorDetail
	// Limit is the limit of the organization that the request would exceed.
	Limit string
	// RequestID is the ID of the request in the log of the service.
	RequestID string
	// RetryAfter is how long to wait before a retry; nil if the service did not specify it.
	RetryAfter *time.Duration
	// IdempotencyKey can be sent again to retry the POST without carrying it out twice.
	IdempotencyKey string

	cause error
}

// ErrorDetail is a problem with one field of a request.
type ErrorDetail struct {
	// Path is the dotted path of the field, such as retryPolicy.maxRetries; empty for the whole body.
	Path    string `json:"path"`
	Message string `json:"message"`
}

func (e *APIError) Error() string { return e.Message }

// Unwrap returns the reason why there was no response.
func (e *APIError) Unwrap() error { return e.cause }
