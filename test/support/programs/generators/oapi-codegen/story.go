// A webhook from source to receiver and a replay, with the client that oapi-codegen makes.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"hookyard/test/generators/made"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	key := "Bearer " + os.Getenv("HOOKYARD_API_KEY")
	client, err := made.NewClientWithResponses(os.Getenv("HOOKYARD_URL"), made.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", key)
			return nil
		}))
	check(err)
	organization := must(client.GetCallerWithResponse(ctx)).JSON200.Organization
	source := must(client.CreateSourceWithResponse(ctx, organization.Id, nil,
		made.CreateSourceRequest{Name: "Oapi", Slug: "oapi"})).JSON201
	must(client.CreateRouteWithResponse(ctx, nil, made.CreateRouteRequest{
		Name: "Oapi", SourceId: source.Id, DestinationIds: []string{destination(ctx, client)}}))

	sent := must(client.ReceiveWithBodyWithResponse(ctx, organization.Slug, source.Slug, "application/json",
		bytes.NewBufferString(`{"by":"oapi-codegen"}`)))
	accepted, err := sent.JSON200.AsAcceptedEvent()
	check(err)
	delivered(ctx, client, organization.Id, accepted.EventId)
	look(ctx, client, organization.Id, accepted.EventId)
}

// destination makes one of the kind http, of the several that there are.
func destination(ctx context.Context, client *made.ClientWithResponses) string {
	var body made.CreateDestinationRequest
	check(body.FromHttpDestinationInput(made.HttpDestinationInput{Name: "Oapi", Url: os.Getenv("RECEIVER")}))
	created := must(client.CreateDestinationWithResponse(ctx, nil, body))
	destination, err := created.JSON201.AsHttpDestination()
	check(err)
	return destination.Id
}

func look(ctx context.Context, client *made.ClientWithResponses, organization, event string) {
	var page made.EventPage
	statuses := []made.EventStatus{made.EventStatusDelivered, made.EventStatusPending}
	events := must(client.ListEventsWithResponse(ctx, organization, &made.ListEventsParams{Status: &statuses}))
	check(json.Unmarshal(events.Body, &page))
	replay := must(client.ReplayEventWithResponse(ctx, organization, event, nil, made.ReplayEventRequest{}))

	var parts made.DeliveryCursorPage
	first := "first"
	deliveries := must(client.ListDeliveriesWithResponse(ctx,
		&made.ListDeliveriesParams{EventId: &event, Cursor: &first}))
	check(json.Unmarshal(deliveries.Body, &parts))

	refused, err := client.GetEventWithResponse(ctx, organization, "evt_none", nil)
	check(err)
	check(json.NewEncoder(os.Stdout).Encode([]any{
		len(page.Data), replay.JSON200.DeliveriesCreated, len(parts.Data), refused.JSON404.Code}))
}

func delivered(ctx context.Context, client *made.ClientWithResponses, organization, id string) {
	for must(client.GetEventWithResponse(ctx, organization, id, nil)).JSON200.Status != made.EventStatusDelivered {
		time.Sleep(100 * time.Millisecond)
	}
}

type answer interface{ StatusCode() int }

func must[Answer answer](response Answer, err error) Answer {
	check(err)
	if response.StatusCode() >= 300 {
		panic(fmt.Sprintf("answered %d: %+v", response.StatusCode(), response))
	}
	return response
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
