// Does with the Go SDK what a test asks for: driver <what>, with JSON on standard input and output.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	hookyard "github.com/hookyard/hookyard-go"
)

type given struct {
	URL        string   `json:"url"`
	APIKey     string   `json:"api_key"`
	Timeout    *float64 `json:"timeout"`
	MaxRetries *int     `json:"max_retries"`
	MaxWait    *float64 `json:"max_wait"`
	Receiver   string   `json:"receiver"`
	Secret     string   `json:"secret"`
	Cases      []struct {
		Body    string            `json:"body"`
		Headers map[string]string `json:"headers"`
		Secrets []string          `json:"secrets"`
		Now     int64             `json:"now"`
	} `json:"cases"`
}

func main() {
	in := given{}
	check(json.NewDecoder(os.Stdin).Decode(&in))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	commands := map[string]func() any{
		"story":  func() any { return story(ctx, in) },
		"lists":  func() any { return lists(ctx, in) },
		"verify": func() any { return verify(in) },
		"alive":  func() any { return outcome(clientOf(in).IsAlive(ctx)) },
		"create": func() any {
			return outcome(clientOf(in).CreateApiKey(ctx, hookyard.CreateApiKeyRequest{Name: "Key"}))
		},
		"delete": func() any { return outcome("", clientOf(in).DeleteRoute(ctx, "rte_1")) },
	}
	check(json.NewEncoder(os.Stdout).Encode(commands[os.Args[1]]()))
}

func clientOf(in given) *hookyard.Client {
	options := []hookyard.Option{}
	if in.Timeout != nil {
		options = append(options, hookyard.WithTimeout(seconds(*in.Timeout)))
	}
	if in.MaxRetries != nil || in.MaxWait != nil {
		retries, wait := 4, 60.0
		if in.MaxRetries != nil {
			retries = *in.MaxRetries
		}
		if in.MaxWait != nil {
			wait = *in.MaxWait
		}
		options = append(options, hookyard.WithRetries(retries, seconds(wait)))
	}
	return must(hookyard.New(in.URL, in.APIKey, options...))
}

func seconds(count float64) time.Duration { return time.Duration(count * float64(time.Second)) }

func outcome(answer any, err error) any {
	failure := (*hookyard.APIError)(nil)
	if !errors.As(err, &failure) {
		check(err)
		return map[string]any{"answer": answer}
	}
	details := [][]string{}
	for _, detail := range failure.Details {
		details = append(details, []string{detail.Path, detail.Message})
	}
	told := map[string]any{
		"status": orNull(failure.Status), "code": orNull(failure.Code), "message": failure.Message, "details": details,
		"request_id": orNull(failure.RequestID), "retry_after": nil, "idempotency_key": orNull(failure.IdempotencyKey),
	}
	if failure.RetryAfter != nil {
		told["retry_after"] = failure.RetryAfter.Seconds()
	}
	return told
}

func orNull[Value comparable](value Value) any {
	if value == *new(Value) {
		return nil
	}
	return value
}

func codeOf(err error) string {
	failure := (*hookyard.APIError)(nil)
	if !errors.As(err, &failure) {
		return ""
	}
	return failure.Code
}

func story(ctx context.Context, in given) any {
	client := clientOf(in)
	source := must(client.CreateSource(ctx, hookyard.CreateSourceRequest{Name: "Go", Slug: "sdk"}))
	destination := must(client.CreateDestination(ctx, hookyard.CreateDestinationRequest{
		Name: "SDK", URL: &in.Receiver, SigningSecret: hookyard.Set(in.Secret)}))
	must(client.CreateRoute(ctx, hookyard.CreateRouteRequest{
		Name: "SDK", SourceID: source.ID, DestinationIDs: []string{destination.ID}}))
	must(http.Post(source.WebhookURL, "application/json", strings.NewReader(`{"by": "sdk"}`)))
	event := first(ctx, client, source.ID)
	for must(client.GetEvent(ctx, event, nil)).Status != hookyard.EventStatusDelivered {
		time.Sleep(100 * time.Millisecond)
	}
	replay := must(client.ReplayEvent(ctx, event, nil))
	var payload any
	check(json.Unmarshal(must(client.GetEventPayload(ctx, event)).Content, &payload))
	page := must(client.ListEvents(ctx, &hookyard.ListEventsParams{
		Status: []hookyard.EventStatus{hookyard.EventStatusDelivered, hookyard.EventStatusPending}}))
	parts := must(client.ListDeliveriesFrom(ctx, "first", &hookyard.ListDeliveriesParams{
		EventID: &event, WithTotal: hookyard.Ptr(true)}))
	_, unknown := client.GetEvent(ctx, "evt_none", nil)
	etags := 0
	must(client.GetDestination(ctx, destination.ID, hookyard.OnETag(func(string) { etags++ })))
	_, changed := client.UpdateDestination(ctx, destination.ID,
		hookyard.UpdateDestinationRequest{Description: hookyard.Null[string]()}, hookyard.IfMatch(`"999"`))
	check(client.DeleteSource(ctx, source.ID))
	return map[string]any{
		"events": len(page.Data), "replayed": replay.DeliveriesCreated, "deliveries": len(parts.Data), "payload": payload,
		"unknown": codeOf(unknown), "etags": etags, "changed": codeOf(changed),
	}
}

func first(ctx context.Context, client *hookyard.Client, source string) string {
	for event, err := range client.EachEvents(ctx, &hookyard.ListEventsParams{SourceID: &source}) {
		check(err)
		return event.ID
	}
	panic("there is no event")
}

func lists(ctx context.Context, in given) any {
	client := clientOf(in)
	filters, events, providers := []string{}, []string{}, map[string]bool{}
	for filter, err := range client.EachFilters(ctx, &hookyard.ListFiltersParams{PageSize: hookyard.Ptr(int64(3))}) {
		check(err)
		filters = append(filters, filter.Name)
	}
	for provider, err := range client.EachProviders(ctx, &hookyard.ListProvidersParams{PageSize: hookyard.Ptr(int64(20))}) {
		check(err)
		providers[provider.Name] = true
	}
	for event, err := range client.EachEvents(ctx, &hookyard.ListEventsParams{PageSize: hookyard.Ptr(int64(2))}) {
		check(err)
		events = append(events, event.ID)
	}
	return map[string]any{"filters": filters, "providers": len(providers), "events": events}
}

func verify(in given) any {
	fits := []bool{}
	for _, each := range in.Cases {
		header := http.Header{}
		for name, value := range each.Headers {
			header.Set(name, value)
		}
		_, err := hookyard.VerifyWebhookAt(time.Unix(each.Now, 0), []byte(each.Body), header, each.Secrets...)
		if err != nil && !errors.Is(err, hookyard.ErrNotVerified) {
			panic(err)
		}
		fits = append(fits, err == nil)
	}
	return fits
}

func must[Value any](value Value, err error) Value {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
