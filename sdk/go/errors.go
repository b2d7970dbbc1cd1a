package hookyard

import "time"

// CodeUnreachable, CodeTimeout and CodeNotHookyard are codes of the client itself: there was no connection, no answer in time, or
// something else answered.
const (
	CodeUnreachable = "UNREACHABLE"
	CodeTimeout     = "TIMEOUT"
	CodeNotHookyard = "NOT_HOOKYARD"
)

// APIError is every failure of a call but the end of its context. Its message says what to do, and contains no secret.
type APIError struct {
	Message string
	// Status is that of HTTP; 0 when there was no answer.
	Status int
	// Code is the API's (VALIDATION_ERROR, RESOURCE_NOT_FOUND, ...), or one of the client itself; empty where there is none.
	Code string
	// Details are problems of single members of the request; empty for most errors.
	Details []ErrorDetail
	// Limit is the limit of the organization that the request would exceed.
	Limit string
	// RequestID is what the service's log knows the request by.
	RequestID string
	// RetryAfter is how long the service asks to wait; nil when it does not say.
	RetryAfter *time.Duration
	// IdempotencyKey is what a POST can be sent again with, without being carried out twice.
	IdempotencyKey string

	cause error
}

// ErrorDetail is one thing wrong with one member of a request.
type ErrorDetail struct {
	// Path is dotted: retryPolicy.maxRetries; empty for the whole.
	Path    string `json:"path"`
	Message string `json:"message"`
}

func (e *APIError) Error() string { return e.Message }

// Unwrap is why there was no answer.
func (e *APIError) Unwrap() error { return e.cause }
