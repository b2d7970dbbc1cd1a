// Made of docs/openapi.json by npm run prepare. DO NOT EDIT.

package hookyard

import (
	"context"
	"iter"
)

// Version is that of this package, and of the Hookyard that it was made for.
const Version = "0.1.0"

// ListSourcesParams are the parameters of ListSources; what is nil is left out.
type ListSourcesParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`

	// A part of the name or slug, whatever its case.
	Search *string `json:"search,omitzero"`
}

// ListSources: List sources.
//
// Needs the scope `sources:read`.
func (c *Client) ListSources(ctx context.Context, params *ListSourcesParams, opts ...CallOption) (*SourcePage, error) {
	result := new(SourcePage)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/sources", inOrganization: true, query: params}, result, opts)
	return orNil(result, err)
}

// EachSources gives the items of all parts of ListSources, each part asked for when it is needed.
func (c *Client) EachSources(ctx context.Context, params *ListSourcesParams, opts ...CallOption) iter.Seq2[Source, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]Source, Pagination, error) {
		given.Page = &page
		answer, err := c.ListSources(ctx, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, func(item Source) string { return item.ID })
}

// CreateSource: Create a source.
//
// Needs the scope `sources:write`.
func (c *Client) CreateSource(ctx context.Context, body CreateSourceRequest, opts ...CallOption) (*Source, error) {
	result := new(Source)
	err := c.send(ctx, call{method: "POST", template: "/api/organizations/{orgId}/sources", inOrganization: true, body: body}, result, opts)
	return orNil(result, err)
}

// GetSource: Get a source.
//
// Needs the scope `sources:read`.
func (c *Client) GetSource(ctx context.Context, id string, opts ...CallOption) (*Source, error) {
	result := new(Source)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/sources/{id}", path: []string{"id", id}, inOrganization: true}, result, opts)
	return orNil(result, err)
}

// UpdateSource: Update a source.
//
// Members that are not sent stay as they are. The slug cannot be changed. Needs the scope `sources:write`.
func (c *Client) UpdateSource(ctx context.Context, id string, body UpdateSourceRequest, opts ...CallOption) (*Source, error) {
	result := new(Source)
	err := c.send(ctx, call{method: "PATCH", template: "/api/organizations/{orgId}/sources/{id}", path: []string{"id", id}, inOrganization: true, body: body}, result, opts)
	return orNil(result, err)
}

// DeleteSource: Delete a source.
//
// Also deletes its events and deliveries. Needs the scope `sources:write`.
func (c *Client) DeleteSource(ctx context.Context, id string, opts ...CallOption) error {
	return c.send(ctx, call{method: "DELETE", template: "/api/organizations/{orgId}/sources/{id}", path: []string{"id", id}, inOrganization: true}, nil, opts)
}

// PutSource: Create or replace the source of a slug.
//
// The source becomes what a create would make of the body: what is left out goes back to its default. What protects it stays: `provider`, `verificationConfig`, `handshake`, `ingestToken` and `concealed` if they are left out, and a secret that is left out of a `verificationConfig` of the same type. A `verificationConfig` of the type `none` turns verification off. Needs the scope `sources:write`.
func (c *Client) PutSource(ctx context.Context, slug string, body PutSourceRequest, opts ...CallOption) (*Source, error) {
	result := new(Source)
	err := c.send(ctx, call{method: "PUT", template: "/api/organizations/{orgId}/sources/by-slug/{slug}", path: []string{"slug", slug}, inOrganization: true, body: body}, result, opts)
	return orNil(result, err)
}

// RotateIngestToken: Replace the token of a source's address.
//
// Both addresses are valid for a while, so that the provider can be moved. Needs the scope `sources:write`.
func (c *Client) RotateIngestToken(ctx context.Context, id string, body *RotateIngestTokenRequest, opts ...CallOption) (*Source, error) {
	result := new(Source)
	err := c.send(ctx, call{method: "POST", template: "/api/organizations/{orgId}/sources/{id}/rotate-token", path: []string{"id", id}, inOrganization: true, body: orNone(body)}, result, opts)
	return orNil(result, err)
}

// ListRefusalsParams are the parameters of ListRefusals; what is nil is left out.
type ListRefusalsParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	Cause *RefusalCause `json:"cause,omitzero"`

	// Of the counts; `24h` by default.
	Period *RefusalCountsPeriod `json:"period,omitzero"`

	// Needs the scope `payloads:read`.
	IncludePayload *bool `json:"includePayload,omitzero"`
}

// ListRefusals: List refused webhooks.
//
// Why webhooks to the source were refused: all are counted, and of the last 100 that were sampled it shows what came. Both are some seconds behind. Needs the scope `events:read`.
func (c *Client) ListRefusals(ctx context.Context, id string, params *ListRefusalsParams, opts ...CallOption) (*RefusalPage, error) {
	result := new(RefusalPage)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/sources/{id}/refusals", path: []string{"id", id}, inOrganization: true, query: params}, result, opts)
	return orNil(result, err)
}

// EachRefusals gives the items of all parts of ListRefusals, each part asked for when it is needed.
func (c *Client) EachRefusals(ctx context.Context, id string, params *ListRefusalsParams, opts ...CallOption) iter.Seq2[Refusal, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]Refusal, Pagination, error) {
		given.Page = &page
		answer, err := c.ListRefusals(ctx, id, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, func(item Refusal) string { return item.ID })
}

// ListProvidersParams are the parameters of ListProviders; what is nil is left out.
type ListProvidersParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`
}

// ListProviders: List the providers that a source can be made for.
//
// Needs the scope `sources:read`.
func (c *Client) ListProviders(ctx context.Context, params *ListProvidersParams, opts ...CallOption) (*ProviderPage, error) {
	result := new(ProviderPage)
	err := c.send(ctx, call{method: "GET", template: "/api/providers", query: params}, result, opts)
	return orNil(result, err)
}

// EachProviders gives the items of all parts of ListProviders, each part asked for when it is needed.
func (c *Client) EachProviders(ctx context.Context, params *ListProvidersParams, opts ...CallOption) iter.Seq2[Provider, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]Provider, Pagination, error) {
		given.Page = &page
		answer, err := c.ListProviders(ctx, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, asJSON[Provider])
}

// SignSample: Make a sample webhook as a provider signs it.
//
// To try a source before its provider is connected: send it to the `webhookUrl` with `POST`. Needs the scope `sources:write`.
func (c *Client) SignSample(ctx context.Context, body SignSampleRequest, opts ...CallOption) (*SignedSample, error) {
	result := new(SignedSample)
	err := c.send(ctx, call{method: "POST", template: "/api/providers/sample", body: body}, result, opts)
	return orNil(result, err)
}

// ListDestinationsParams are the parameters of ListDestinations; what is nil is left out.
type ListDestinationsParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`

	// A part of the name or address, whatever its case.
	Search *string `json:"search,omitzero"`
}

// ListDestinations: List destinations.
//
// Needs the scope `destinations:read`.
func (c *Client) ListDestinations(ctx context.Context, params *ListDestinationsParams, opts ...CallOption) (*DestinationSummaryPage, error) {
	result := new(DestinationSummaryPage)
	err := c.send(ctx, call{method: "GET", template: "/api/destinations", query: params}, result, opts)
	return orNil(result, err)
}

// EachDestinations gives the items of all parts of ListDestinations, each part asked for when it is needed.
func (c *Client) EachDestinations(ctx context.Context, params *ListDestinationsParams, opts ...CallOption) iter.Seq2[DestinationSummary, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]DestinationSummary, Pagination, error) {
		given.Page = &page
		answer, err := c.ListDestinations(ctx, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, func(item DestinationSummary) string { return item.ID })
}

// CreateDestination: Create a destination.
//
// Warehouses (`s3`, `r2`, `gcs`, `azure_blob`) need a Pro or Business plan. Needs the scope `destinations:write`.
func (c *Client) CreateDestination(ctx context.Context, body CreateDestinationRequest, opts ...CallOption) (*Destination, error) {
	result := new(Destination)
	err := c.send(ctx, call{method: "POST", template: "/api/destinations", body: body}, result, opts)
	return orNil(result, err)
}

// GetDestination: Get a destination.
//
// Needs the scope `destinations:read`.
func (c *Client) GetDestination(ctx context.Context, id string, opts ...CallOption) (*Destination, error) {
	result := new(Destination)
	err := c.send(ctx, call{method: "GET", template: "/api/destinations/{id}", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// UpdateDestination: Update a destination.
//
// Members that are not sent stay as they are; so does a secret that is sent back masked. Needs the scope `destinations:write`.
func (c *Client) UpdateDestination(ctx context.Context, id string, body UpdateDestinationRequest, opts ...CallOption) (*Destination, error) {
	result := new(Destination)
	err := c.send(ctx, call{method: "PATCH", template: "/api/destinations/{id}", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// DeleteDestination: Delete a destination.
//
// It is taken out of all routes; the history of its deliveries stays. Needs the scope `destinations:write`.
func (c *Client) DeleteDestination(ctx context.Context, id string, opts ...CallOption) error {
	return c.send(ctx, call{method: "DELETE", template: "/api/destinations/{id}", path: []string{"id", id}}, nil, opts)
}

// GetDestinationHealth: Get a destination's health.
//
// Needs the scope `destinations:read`.
func (c *Client) GetDestinationHealth(ctx context.Context, id string, opts ...CallOption) (*DestinationHealth, error) {
	result := new(DestinationHealth)
	err := c.send(ctx, call{method: "GET", template: "/api/destinations/{id}/health", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// PutDestination: Create or replace the destination of a slug.
//
// The destination becomes what a create would make of the body: what is left out goes back to its default. Credentials (`authType`, `authConfig`, `signingSecret`, the secret of a `config`) that are left out, or sent back masked, stay: the `authType` `none` and a `signingSecret` of null remove them. The `type` cannot be changed. Needs the scope `destinations:write`.
func (c *Client) PutDestination(ctx context.Context, slug string, body PutDestinationRequest, opts ...CallOption) (*Destination, error) {
	result := new(Destination)
	err := c.send(ctx, call{method: "PUT", template: "/api/destinations/by-slug/{slug}", path: []string{"slug", slug}, body: body}, result, opts)
	return orNil(result, err)
}

// TestDestination: Send a test webhook, or upload a test file.
//
// Whatever goes wrong on the way is in the result. Needs the scope `destinations:write`.
func (c *Client) TestDestination(ctx context.Context, id string, body *TestDestinationRequest, opts ...CallOption) (*TestResult, error) {
	result := new(TestResult)
	err := c.send(ctx, call{method: "POST", template: "/api/destinations/{id}/test", path: []string{"id", id}, body: orNone(body)}, result, opts)
	return orNil(result, err)
}

// ListBatchesParams are the parameters of ListBatches; what is nil is left out.
type ListBatchesParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	// With `cursor`: whether to count too.
	WithTotal *bool `json:"withTotal,omitzero"`

	Status *BatchStatus `json:"status,omitzero"`

	// Only files whose `writtenAt` is later, in the order of writing. Not together with `status`.
	WrittenAfter *string `json:"writtenAfter,omitzero"`
}

// ListBatches: List a warehouse's batches.
//
// Which files were written, which are on their way, and why one is not. Needs the scope `destinations:read`.
func (c *Client) ListBatches(ctx context.Context, id string, params *ListBatchesParams, opts ...CallOption) (*BatchPage, error) {
	result := new(BatchPage)
	err := c.send(ctx, call{method: "GET", template: "/api/destinations/{id}/batches", path: []string{"id", id}, query: params}, result, opts)
	return orNil(result, err)
}

// ListBatchesFrom is ListBatches by cursor: "first", or the NextCursor of the answer before.
func (c *Client) ListBatchesFrom(ctx context.Context, cursor string, id string, params *ListBatchesParams, opts ...CallOption) (*BatchCursorPage, error) {
	result := new(BatchCursorPage)
	err := c.send(ctx, call{method: "GET", template: "/api/destinations/{id}/batches", path: []string{"id", id}, query: params, cursor: cursor}, result, opts)
	return orNil(result, err)
}

// EachBatches gives the items of all parts of ListBatches, each part asked for when it is needed.
func (c *Client) EachBatches(ctx context.Context, id string, params *ListBatchesParams, opts ...CallOption) iter.Seq2[Batch, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByCursor(func(cursor string) ([]Batch, *string, error) {
		part, err := c.ListBatchesFrom(ctx, cursor, id, &given, opts...)
		if err != nil {
			return nil, nil, err
		}
		return part.Data, part.Pagination.NextCursor, nil
	})
}

// ListOrganizationDestinationsParams are the parameters of ListOrganizationDestinations; what is nil is left out.
type ListOrganizationDestinationsParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`

	// A part of the name or address, whatever its case.
	Search *string `json:"search,omitzero"`
}

// ListOrganizationDestinations: List HTTP destinations.
//
// Needs the scope `destinations:read`.
func (c *Client) ListOrganizationDestinations(ctx context.Context, params *ListOrganizationDestinationsParams, opts ...CallOption) (*HttpDestinationSummaryPage, error) {
	result := new(HttpDestinationSummaryPage)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/destinations", inOrganization: true, query: params}, result, opts)
	return orNil(result, err)
}

// EachOrganizationDestinations gives the items of all parts of ListOrganizationDestinations, each part asked for when it is needed.
func (c *Client) EachOrganizationDestinations(ctx context.Context, params *ListOrganizationDestinationsParams, opts ...CallOption) iter.Seq2[HttpDestinationSummary, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]HttpDestinationSummary, Pagination, error) {
		given.Page = &page
		answer, err := c.ListOrganizationDestinations(ctx, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, func(item HttpDestinationSummary) string { return item.ID })
}

// CreateOrganizationDestination: Create an HTTP destination.
//
// Needs the scope `destinations:write`.
func (c *Client) CreateOrganizationDestination(ctx context.Context, body HttpDestinationInput, opts ...CallOption) (*HttpDestination, error) {
	result := new(HttpDestination)
	err := c.send(ctx, call{method: "POST", template: "/api/organizations/{orgId}/destinations", inOrganization: true, body: body}, result, opts)
	return orNil(result, err)
}

// GetOrganizationDestination: Get an HTTP destination.
//
// Needs the scope `destinations:read`.
func (c *Client) GetOrganizationDestination(ctx context.Context, id string, opts ...CallOption) (*HttpDestination, error) {
	result := new(HttpDestination)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/destinations/{id}", path: []string{"id", id}, inOrganization: true}, result, opts)
	return orNil(result, err)
}

// UpdateOrganizationDestination: Update an HTTP destination.
//
// Members that are not sent stay as they are; so does a secret that is sent back masked. Needs the scope `destinations:write`.
func (c *Client) UpdateOrganizationDestination(ctx context.Context, id string, body HttpDestinationChanges, opts ...CallOption) (*HttpDestination, error) {
	result := new(HttpDestination)
	err := c.send(ctx, call{method: "PATCH", template: "/api/organizations/{orgId}/destinations/{id}", path: []string{"id", id}, inOrganization: true, body: body}, result, opts)
	return orNil(result, err)
}

// DeleteOrganizationDestination: Delete an HTTP destination.
//
// It is taken out of all routes; the history of its deliveries stays. Needs the scope `destinations:write`.
func (c *Client) DeleteOrganizationDestination(ctx context.Context, id string, opts ...CallOption) error {
	return c.send(ctx, call{method: "DELETE", template: "/api/organizations/{orgId}/destinations/{id}", path: []string{"id", id}, inOrganization: true}, nil, opts)
}

// GetOrganizationDestinationHealth: Get an HTTP destination's health.
//
// Needs the scope `destinations:read`.
func (c *Client) GetOrganizationDestinationHealth(ctx context.Context, id string, opts ...CallOption) (*DestinationHealth, error) {
	result := new(DestinationHealth)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/destinations/{id}/health", path: []string{"id", id}, inOrganization: true}, result, opts)
	return orNil(result, err)
}

// ListRoutesParams are the parameters of ListRoutes; what is nil is left out.
type ListRoutesParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`

	SourceID *string `json:"sourceId,omitzero"`

	DestinationID *string `json:"destinationId,omitzero"`

	CircuitState *CircuitState `json:"circuitState,omitzero"`
}

// ListRoutes: List routes.
//
// Needs the scope `routes:read`.
func (c *Client) ListRoutes(ctx context.Context, params *ListRoutesParams, opts ...CallOption) (*RoutePage, error) {
	result := new(RoutePage)
	err := c.send(ctx, call{method: "GET", template: "/api/routes", query: params}, result, opts)
	return orNil(result, err)
}

// EachRoutes gives the items of all parts of ListRoutes, each part asked for when it is needed.
func (c *Client) EachRoutes(ctx context.Context, params *ListRoutesParams, opts ...CallOption) iter.Seq2[Route, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]Route, Pagination, error) {
		given.Page = &page
		answer, err := c.ListRoutes(ctx, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, func(item Route) string { return item.ID })
}

// CreateRoute: Create a route.
//
// Needs the scope `routes:write`.
func (c *Client) CreateRoute(ctx context.Context, body CreateRouteRequest, opts ...CallOption) (*Route, error) {
	result := new(Route)
	err := c.send(ctx, call{method: "POST", template: "/api/routes", body: body}, result, opts)
	return orNil(result, err)
}

// GetRoute: Get a route.
//
// Needs the scope `routes:read`.
func (c *Client) GetRoute(ctx context.Context, id string, opts ...CallOption) (*Route, error) {
	result := new(Route)
	err := c.send(ctx, call{method: "GET", template: "/api/routes/{id}", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// UpdateRoute: Update a route.
//
// Members that are not sent stay as they are. The source cannot be changed. Needs the scope `routes:write`.
func (c *Client) UpdateRoute(ctx context.Context, id string, body UpdateRouteRequest, opts ...CallOption) (*Route, error) {
	result := new(Route)
	err := c.send(ctx, call{method: "PATCH", template: "/api/routes/{id}", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// DeleteRoute: Delete a route.
//
// Its source, destinations, filter, schema and transform stay. Needs the scope `routes:write`.
func (c *Client) DeleteRoute(ctx context.Context, id string, opts ...CallOption) error {
	return c.send(ctx, call{method: "DELETE", template: "/api/routes/{id}", path: []string{"id", id}}, nil, opts)
}

// PutRoute: Create or replace the route of a name.
//
// The route becomes what a create would make of the body: what is left out goes back to its default. The source of a route cannot be changed. When several routes have the name, the answer is 409. Needs the scope `routes:write`.
func (c *Client) PutRoute(ctx context.Context, name string, body CreateRouteRequest, opts ...CallOption) (*Route, error) {
	result := new(Route)
	err := c.send(ctx, call{method: "PUT", template: "/api/routes/by-name/{name}", path: []string{"name", name}, body: body}, result, opts)
	return orNil(result, err)
}

// GetRouteStatisticsParams are the parameters of GetRouteStatistics; what is nil is left out.
type GetRouteStatisticsParams struct {
	Period *RouteStatisticsPeriod `json:"period,omitzero"`
}

// GetRouteStatistics: Get a route's statistics.
//
// Needs the scope `routes:read`.
func (c *Client) GetRouteStatistics(ctx context.Context, id string, params *GetRouteStatisticsParams, opts ...CallOption) (*RouteStatistics, error) {
	result := new(RouteStatistics)
	err := c.send(ctx, call{method: "GET", template: "/api/routes/{id}/stats", path: []string{"id", id}, query: params}, result, opts)
	return orNil(result, err)
}

// GetCircuitStatus: Get the state of a route's circuit breaker.
//
// Needs the scope `routes:read`.
func (c *Client) GetCircuitStatus(ctx context.Context, id string, opts ...CallOption) (*CircuitStatus, error) {
	result := new(CircuitStatus)
	err := c.send(ctx, call{method: "GET", template: "/api/routes/{id}/circuit-status", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// ResetCircuit: Close a route's circuit breaker now.
//
// What was held is released, unless the route is paused. Needs the scope `routes:write`.
func (c *Client) ResetCircuit(ctx context.Context, id string, opts ...CallOption) (*ResetCircuitResult, error) {
	result := new(ResetCircuitResult)
	err := c.send(ctx, call{method: "POST", template: "/api/routes/{id}/reset-circuit", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// ConfigureCircuit: Change the settings of a route's circuit breaker.
//
// Needs the scope `routes:write`.
func (c *Client) ConfigureCircuit(ctx context.Context, id string, body ConfigureCircuitRequest, opts ...CallOption) (*ConfigureCircuitResult, error) {
	result := new(ConfigureCircuitResult)
	err := c.send(ctx, call{method: "PATCH", template: "/api/routes/{id}/circuit-config", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// PreviewRoute: See what a route would send for an event.
//
// With the records as they are now, disabled or not. Nothing is sent; the id of the delivery and signatures are of this answer only. Needs the scope `payloads:read`.
func (c *Client) PreviewRoute(ctx context.Context, id string, body PreviewRouteRequest, opts ...CallOption) (*RoutePreview, error) {
	result := new(RoutePreview)
	err := c.send(ctx, call{method: "POST", template: "/api/routes/{id}/preview", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// PauseRoute: Pause a route.
//
// It takes webhooks as before; their deliveries wait, and so do retries. Nothing fails over for that. A repeated pause changes its end and its reason. Needs the scope `routes:write`.
func (c *Client) PauseRoute(ctx context.Context, id string, body *PauseRequest, opts ...CallOption) (*Pause, error) {
	result := new(Pause)
	err := c.send(ctx, call{method: "POST", template: "/api/routes/{id}/pause", path: []string{"id", id}, body: orNone(body)}, result, opts)
	return orNil(result, err)
}

// ResumeRoute: End the pause of a route.
//
// Deliveries that wait go out in the order of receipt. If its circuit is open, they wait for that. Needs the scope `routes:write`.
func (c *Client) ResumeRoute(ctx context.Context, id string, body *ResumeRequest, opts ...CallOption) (*Pause, error) {
	result := new(Pause)
	err := c.send(ctx, call{method: "POST", template: "/api/routes/{id}/resume", path: []string{"id", id}, body: orNone(body)}, result, opts)
	return orNil(result, err)
}

// PauseDestination: Pause a destination.
//
// All deliveries to it wait, whatever their route. Nothing fails over for that. A repeated pause changes its end and its reason. Needs the scope `destinations:write`.
func (c *Client) PauseDestination(ctx context.Context, id string, body *PauseRequest, opts ...CallOption) (*Pause, error) {
	result := new(Pause)
	err := c.send(ctx, call{method: "POST", template: "/api/destinations/{id}/pause", path: []string{"id", id}, body: orNone(body)}, result, opts)
	return orNil(result, err)
}

// ResumeDestination: End the pause of a destination.
//
// Deliveries that wait go out in the order of receipt. Needs the scope `destinations:write`.
func (c *Client) ResumeDestination(ctx context.Context, id string, body *ResumeRequest, opts ...CallOption) (*Pause, error) {
	result := new(Pause)
	err := c.send(ctx, call{method: "POST", template: "/api/destinations/{id}/resume", path: []string{"id", id}, body: orNone(body)}, result, opts)
	return orNil(result, err)
}

// DeleteDestinations: Delete many destinations.
//
// Ids that do not exist are passed over. Needs the scope `destinations:write`.
func (c *Client) DeleteDestinations(ctx context.Context, body DeleteDestinationsRequest, opts ...CallOption) (*DeleteDestinationsResult, error) {
	result := new(DeleteDestinationsResult)
	err := c.send(ctx, call{method: "DELETE", template: "/api/destinations/bulk", body: body}, result, opts)
	return orNil(result, err)
}

// PauseRoutes: Disable or enable many routes.
//
// A disabled route takes no webhooks. Ids that do not exist are passed over. Needs the scope `routes:write`.
func (c *Client) PauseRoutes(ctx context.Context, body PauseRoutesRequest, opts ...CallOption) (*PauseRoutesResult, error) {
	result := new(PauseRoutesResult)
	err := c.send(ctx, call{method: "POST", template: "/api/routes/bulk-pause", body: body}, result, opts)
	return orNil(result, err)
}

// DeleteRoutes: Delete many routes.
//
// Irreversible. Ids that do not exist are passed over. Needs the scope `routes:write`.
func (c *Client) DeleteRoutes(ctx context.Context, body DeleteRoutesRequest, opts ...CallOption) (*DeleteRoutesResult, error) {
	result := new(DeleteRoutesResult)
	err := c.send(ctx, call{method: "POST", template: "/api/routes/bulk-delete", body: body}, result, opts)
	return orNil(result, err)
}

// RotateSigningSecret: Rotate a destination's signing secret.
//
// Deliveries carry two signatures, of the new secret and of the one before, until the overlap ends. Needs the scope `destinations:write`.
func (c *Client) RotateSigningSecret(ctx context.Context, id string, body RotateSigningSecretRequest, opts ...CallOption) (*HttpDestination, error) {
	result := new(HttpDestination)
	err := c.send(ctx, call{method: "POST", template: "/api/destinations/{id}/rotate-secret", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// RotateVerificationSecret: Rotate a source's verification secret.
//
// Webhooks signed with either secret are taken until the overlap ends. Needs the scope `sources:write`.
func (c *Client) RotateVerificationSecret(ctx context.Context, id string, body RotateVerificationSecretRequest, opts ...CallOption) (*Source, error) {
	result := new(Source)
	err := c.send(ctx, call{method: "POST", template: "/api/organizations/{orgId}/sources/{id}/rotate-secret", path: []string{"id", id}, inOrganization: true, body: body}, result, opts)
	return orNil(result, err)
}

// ExportDestinationsParams are the parameters of ExportDestinations; what is nil is left out.
type ExportDestinationsParams struct {
	// At most 1000 ids separated by commas; all when it is left out.
	IDs *string `json:"ids,omitzero"`

	IncludeSensitive *bool `json:"includeSensitive,omitzero"`
}

// ExportDestinations: Export destinations.
//
// Credentials are left out unless `includeSensitive` is true, which needs the scope `secrets:read`. Needs the scope `destinations:read`.
func (c *Client) ExportDestinations(ctx context.Context, params *ExportDestinationsParams, opts ...CallOption) (*DestinationExport, error) {
	result := new(DestinationExport)
	err := c.send(ctx, call{method: "GET", template: "/api/destinations/export", query: params}, result, opts)
	return orNil(result, err)
}

// ImportDestinations: Import destinations.
//
// Conflicts are detected by slug. What is wrong with an item is in the result. Needs the scope `destinations:write`.
func (c *Client) ImportDestinations(ctx context.Context, body ImportDestinationsRequest, opts ...CallOption) (*DestinationImportResult, error) {
	result := new(DestinationImportResult)
	err := c.send(ctx, call{method: "POST", template: "/api/destinations/import", body: body}, result, opts)
	return orNil(result, err)
}

// ExportRoutesParams are the parameters of ExportRoutes; what is nil is left out.
type ExportRoutesParams struct {
	// At most 1000 ids separated by commas; all when it is left out.
	IDs *string `json:"ids,omitzero"`
}

// ExportRoutes: Export routes.
//
// Needs the scope `routes:read`.
func (c *Client) ExportRoutes(ctx context.Context, params *ExportRoutesParams, opts ...CallOption) (*RouteExport, error) {
	result := new(RouteExport)
	err := c.send(ctx, call{method: "GET", template: "/api/routes/export", query: params}, result, opts)
	return orNil(result, err)
}

// ImportRoutes: Import routes.
//
// Conflicts are by name. Either all routes are imported or, when anything is wrong, none. Needs the scope `routes:write`.
func (c *Client) ImportRoutes(ctx context.Context, body ImportRoutesRequest, opts ...CallOption) (*RouteImportResult, error) {
	result := new(RouteImportResult)
	err := c.send(ctx, call{method: "POST", template: "/api/routes/import", body: body}, result, opts)
	return orNil(result, err)
}

// ListNotificationRecipientsParams are the parameters of ListNotificationRecipients; what is nil is left out.
type ListNotificationRecipientsParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`
}

// ListNotificationRecipients: List the addresses that routes and alert channels notify.
//
// Where the operator demands it, an address gets notifications only after its owner has agreed. Needs the scope `routes:read`.
func (c *Client) ListNotificationRecipients(ctx context.Context, params *ListNotificationRecipientsParams, opts ...CallOption) (*NotificationRecipientPage, error) {
	result := new(NotificationRecipientPage)
	err := c.send(ctx, call{method: "GET", template: "/api/notification-recipients", query: params}, result, opts)
	return orNil(result, err)
}

// EachNotificationRecipients gives the items of all parts of ListNotificationRecipients, each part asked for when it is needed.
func (c *Client) EachNotificationRecipients(ctx context.Context, params *ListNotificationRecipientsParams, opts ...CallOption) iter.Seq2[NotificationRecipient, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]NotificationRecipient, Pagination, error) {
		given.Page = &page
		answer, err := c.ListNotificationRecipients(ctx, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, asJSON[NotificationRecipient])
}

// ResendConfirmation: Ask the owner of an address once more.
//
// An hour after the first mail at the earliest, then after twice as long each time. Nothing is sent to one that has agreed. Needs the scope `routes:write`.
func (c *Client) ResendConfirmation(ctx context.Context, body ResendConfirmationRequest, opts ...CallOption) (*NotificationRecipient, error) {
	result := new(NotificationRecipient)
	err := c.send(ctx, call{method: "POST", template: "/api/notification-recipients/resend", body: body}, result, opts)
	return orNil(result, err)
}

// ListFiltersParams are the parameters of ListFilters; what is nil is left out.
type ListFiltersParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	// A part of the name or slug, whatever its case.
	Search *string `json:"search,omitzero"`
}

// ListFilters: List filters.
//
// Needs the scope `filters:read`.
func (c *Client) ListFilters(ctx context.Context, params *ListFiltersParams, opts ...CallOption) (*FilterPage, error) {
	result := new(FilterPage)
	err := c.send(ctx, call{method: "GET", template: "/api/filters", query: params}, result, opts)
	return orNil(result, err)
}

// EachFilters gives the items of all parts of ListFilters, each part asked for when it is needed.
func (c *Client) EachFilters(ctx context.Context, params *ListFiltersParams, opts ...CallOption) iter.Seq2[Filter, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]Filter, Pagination, error) {
		given.Page = &page
		answer, err := c.ListFilters(ctx, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, func(item Filter) string { return item.ID })
}

// CreateFilter: Create a filter.
//
// Needs the scope `filters:write`.
func (c *Client) CreateFilter(ctx context.Context, body CreateFilterRequest, opts ...CallOption) (*Filter, error) {
	result := new(Filter)
	err := c.send(ctx, call{method: "POST", template: "/api/filters", body: body}, result, opts)
	return orNil(result, err)
}

// GetFilter: Get a filter.
//
// Needs the scope `filters:read`.
func (c *Client) GetFilter(ctx context.Context, id string, opts ...CallOption) (*Filter, error) {
	result := new(Filter)
	err := c.send(ctx, call{method: "GET", template: "/api/filters/{id}", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// UpdateFilter: Update a filter.
//
// Members that are not sent stay as they are. Needs the scope `filters:write`.
func (c *Client) UpdateFilter(ctx context.Context, id string, body UpdateFilterRequest, opts ...CallOption) (*Filter, error) {
	result := new(Filter)
	err := c.send(ctx, call{method: "PATCH", template: "/api/filters/{id}", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// DeleteFilter: Delete a filter.
//
// Needs the scope `filters:write`.
func (c *Client) DeleteFilter(ctx context.Context, id string, opts ...CallOption) error {
	return c.send(ctx, call{method: "DELETE", template: "/api/filters/{id}", path: []string{"id", id}}, nil, opts)
}

// PutFilter: Create or replace the filter of a slug.
//
// It becomes what a create would make of the body: what is left out goes back to its default. Needs the scope `filters:write`.
func (c *Client) PutFilter(ctx context.Context, slug string, body CreateFilterRequest, opts ...CallOption) (*Filter, error) {
	result := new(Filter)
	err := c.send(ctx, call{method: "PUT", template: "/api/filters/by-slug/{slug}", path: []string{"slug", slug}, body: body}, result, opts)
	return orNil(result, err)
}

// TestConditions: Try conditions that are not stored.
//
// Needs the scope `filters:write`.
func (c *Client) TestConditions(ctx context.Context, body TestConditionsRequest, opts ...CallOption) (*FilterResult, error) {
	result := new(FilterResult)
	err := c.send(ctx, call{method: "POST", template: "/api/filters/test", body: body}, result, opts)
	return orNil(result, err)
}

// TestFilter: Try a filter.
//
// Needs the scope `filters:write`.
func (c *Client) TestFilter(ctx context.Context, id string, body TestFilterRequest, opts ...CallOption) (*FilterResult, error) {
	result := new(FilterResult)
	err := c.send(ctx, call{method: "POST", template: "/api/filters/{id}/test", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// ListTransformsParams are the parameters of ListTransforms; what is nil is left out.
type ListTransformsParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	// A part of the name or slug, whatever its case.
	Search *string `json:"search,omitzero"`
}

// ListTransforms: List transforms.
//
// Needs the scope `transforms:read`.
func (c *Client) ListTransforms(ctx context.Context, params *ListTransformsParams, opts ...CallOption) (*TransformPage, error) {
	result := new(TransformPage)
	err := c.send(ctx, call{method: "GET", template: "/api/transforms", query: params}, result, opts)
	return orNil(result, err)
}

// EachTransforms gives the items of all parts of ListTransforms, each part asked for when it is needed.
func (c *Client) EachTransforms(ctx context.Context, params *ListTransformsParams, opts ...CallOption) iter.Seq2[Transform, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]Transform, Pagination, error) {
		given.Page = &page
		answer, err := c.ListTransforms(ctx, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, func(item Transform) string { return item.ID })
}

// CreateTransform: Create a transform.
//
// Needs the scope `transforms:write`.
func (c *Client) CreateTransform(ctx context.Context, body CreateTransformRequest, opts ...CallOption) (*Transform, error) {
	result := new(Transform)
	err := c.send(ctx, call{method: "POST", template: "/api/transforms", body: body}, result, opts)
	return orNil(result, err)
}

// GetTransform: Get a transform.
//
// Needs the scope `transforms:read`.
func (c *Client) GetTransform(ctx context.Context, id string, opts ...CallOption) (*Transform, error) {
	result := new(Transform)
	err := c.send(ctx, call{method: "GET", template: "/api/transforms/{id}", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// UpdateTransform: Update a transform.
//
// Members that are not sent stay as they are. Needs the scope `transforms:write`.
func (c *Client) UpdateTransform(ctx context.Context, id string, body UpdateTransformRequest, opts ...CallOption) (*Transform, error) {
	result := new(Transform)
	err := c.send(ctx, call{method: "PATCH", template: "/api/transforms/{id}", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// DeleteTransform: Delete a transform.
//
// Needs the scope `transforms:write`.
func (c *Client) DeleteTransform(ctx context.Context, id string, opts ...CallOption) error {
	return c.send(ctx, call{method: "DELETE", template: "/api/transforms/{id}", path: []string{"id", id}}, nil, opts)
}

// PutTransform: Create or replace the transform of a slug.
//
// It becomes what a create would make of the body: what is left out goes back to its default. Needs the scope `transforms:write`.
func (c *Client) PutTransform(ctx context.Context, slug string, body CreateTransformRequest, opts ...CallOption) (*Transform, error) {
	result := new(Transform)
	err := c.send(ctx, call{method: "PUT", template: "/api/transforms/by-slug/{slug}", path: []string{"slug", slug}, body: body}, result, opts)
	return orNil(result, err)
}

// TestCode: Try code that is not stored.
//
// Needs the scope `transforms:write`.
func (c *Client) TestCode(ctx context.Context, body TestCodeRequest, opts ...CallOption) (*TransformResult, error) {
	result := new(TransformResult)
	err := c.send(ctx, call{method: "POST", template: "/api/transforms/test", body: body}, result, opts)
	return orNil(result, err)
}

// TestTransform: Try a transform.
//
// Needs the scope `transforms:write`.
func (c *Client) TestTransform(ctx context.Context, id string, body *TestTransformRequest, opts ...CallOption) (*TransformResult, error) {
	result := new(TransformResult)
	err := c.send(ctx, call{method: "POST", template: "/api/transforms/{id}/test", path: []string{"id", id}, body: orNone(body)}, result, opts)
	return orNil(result, err)
}

// ListSchemasParams are the parameters of ListSchemas; what is nil is left out.
type ListSchemasParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	// A part of the name or slug, whatever its case.
	Search *string `json:"search,omitzero"`
}

// ListSchemas: List schemas.
//
// Needs the scope `schemas:read`.
func (c *Client) ListSchemas(ctx context.Context, params *ListSchemasParams, opts ...CallOption) (*SchemaPage, error) {
	result := new(SchemaPage)
	err := c.send(ctx, call{method: "GET", template: "/api/schemas", query: params}, result, opts)
	return orNil(result, err)
}

// EachSchemas gives the items of all parts of ListSchemas, each part asked for when it is needed.
func (c *Client) EachSchemas(ctx context.Context, params *ListSchemasParams, opts ...CallOption) iter.Seq2[Schema, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]Schema, Pagination, error) {
		given.Page = &page
		answer, err := c.ListSchemas(ctx, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, func(item Schema) string { return item.ID })
}

// CreateSchema: Create a schema.
//
// Needs the scope `schemas:write`.
func (c *Client) CreateSchema(ctx context.Context, body CreateSchemaRequest, opts ...CallOption) (*Schema, error) {
	result := new(Schema)
	err := c.send(ctx, call{method: "POST", template: "/api/schemas", body: body}, result, opts)
	return orNil(result, err)
}

// GetSchema: Get a schema.
//
// Needs the scope `schemas:read`.
func (c *Client) GetSchema(ctx context.Context, id string, opts ...CallOption) (*Schema, error) {
	result := new(Schema)
	err := c.send(ctx, call{method: "GET", template: "/api/schemas/{id}", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// UpdateSchema: Update a schema.
//
// Members that are not sent stay as they are. Needs the scope `schemas:write`.
func (c *Client) UpdateSchema(ctx context.Context, id string, body UpdateSchemaRequest, opts ...CallOption) (*Schema, error) {
	result := new(Schema)
	err := c.send(ctx, call{method: "PATCH", template: "/api/schemas/{id}", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// DeleteSchema: Delete a schema.
//
// Needs the scope `schemas:write`.
func (c *Client) DeleteSchema(ctx context.Context, id string, opts ...CallOption) error {
	return c.send(ctx, call{method: "DELETE", template: "/api/schemas/{id}", path: []string{"id", id}}, nil, opts)
}

// PutSchema: Create or replace the schema of a slug.
//
// It becomes what a create would make of the body: what is left out goes back to its default. Needs the scope `schemas:write`.
func (c *Client) PutSchema(ctx context.Context, slug string, body CreateSchemaRequest, opts ...CallOption) (*Schema, error) {
	result := new(Schema)
	err := c.send(ctx, call{method: "PUT", template: "/api/schemas/by-slug/{slug}", path: []string{"slug", slug}, body: body}, result, opts)
	return orNil(result, err)
}

// TestSchema: Try a schema that is not stored.
//
// Needs the scope `schemas:write`.
func (c *Client) TestSchema(ctx context.Context, body TestSchemaRequest, opts ...CallOption) (*SchemaResult, error) {
	result := new(SchemaResult)
	err := c.send(ctx, call{method: "POST", template: "/api/schemas/test", body: body}, result, opts)
	return orNil(result, err)
}

// ValidatePayload: Try a schema on a payload.
//
// Needs the scope `schemas:write`.
func (c *Client) ValidatePayload(ctx context.Context, id string, body ValidatePayloadRequest, opts ...CallOption) (*SchemaResult, error) {
	result := new(SchemaResult)
	err := c.send(ctx, call{method: "POST", template: "/api/schemas/{id}/validate", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// ListEventsParams are the parameters of ListEvents; what is nil is left out.
type ListEventsParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	// With `cursor`: whether to count too.
	WithTotal *bool `json:"withTotal,omitzero"`

	SourceID *string `json:"sourceId,omitzero"`

	// One or several.
	Status []EventStatus `json:"status,omitzero"`

	// Whether a route took it.
	Routed *bool `json:"routed,omitzero"`

	// An ISO 8601 date and time, or a date; UTC where no zone is given.
	From *string `json:"from,omitzero"`

	// An ISO 8601 date and time, or a date; UTC where no zone is given.
	To *string `json:"to,omitzero"`

	Search *string `json:"search,omitzero"`

	// It has a delivery of the route.
	RouteID *string `json:"routeId,omitzero"`

	// It has a delivery to the destination; of `routeId`, if given.
	DestinationID *string `json:"destinationId,omitzero"`
}

// ListEvents: List events.
//
// Needs the scope `events:read`.
func (c *Client) ListEvents(ctx context.Context, params *ListEventsParams, opts ...CallOption) (*EventPage, error) {
	result := new(EventPage)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/events", inOrganization: true, query: params}, result, opts)
	return orNil(result, err)
}

// ListEventsFrom is ListEvents by cursor: "first", or the NextCursor of the answer before.
func (c *Client) ListEventsFrom(ctx context.Context, cursor string, params *ListEventsParams, opts ...CallOption) (*EventCursorPage, error) {
	result := new(EventCursorPage)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/events", inOrganization: true, query: params, cursor: cursor}, result, opts)
	return orNil(result, err)
}

// EachEvents gives the items of all parts of ListEvents, each part asked for when it is needed.
func (c *Client) EachEvents(ctx context.Context, params *ListEventsParams, opts ...CallOption) iter.Seq2[Event, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByCursor(func(cursor string) ([]Event, *string, error) {
		part, err := c.ListEventsFrom(ctx, cursor, &given, opts...)
		if err != nil {
			return nil, nil, err
		}
		return part.Data, part.Pagination.NextCursor, nil
	})
}

// GetEventParams are the parameters of GetEvent; what is nil is left out.
type GetEventParams struct {
	IncludePayload *bool `json:"includePayload,omitzero"`

	IncludeDeliveries *bool `json:"includeDeliveries,omitzero"`
}

// GetEvent: Get an event.
//
// Needs the scope `events:read`.
func (c *Client) GetEvent(ctx context.Context, id string, params *GetEventParams, opts ...CallOption) (*EventInFull, error) {
	result := new(EventInFull)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/events/{id}", path: []string{"id", id}, inOrganization: true, query: params}, result, opts)
	return orNil(result, err)
}

// DeleteEvent: Delete an event.
//
// Also deletes its deliveries and its payload. Needs the scope `events:write`.
func (c *Client) DeleteEvent(ctx context.Context, id string, opts ...CallOption) error {
	return c.send(ctx, call{method: "DELETE", template: "/api/organizations/{orgId}/events/{id}", path: []string{"id", id}, inOrganization: true}, nil, opts)
}

// GetEventPayload: Get an event's payload as it was received.
//
// Needs the scope `payloads:read`.
func (c *Client) GetEventPayload(ctx context.Context, id string, opts ...CallOption) (*Raw, error) {
	result := new(Raw)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/events/{id}/payload", path: []string{"id", id}, inOrganization: true}, result, opts)
	return orNil(result, err)
}

// GetEventTimeline: Get an event's timeline.
//
// Needs the scope `events:read`.
func (c *Client) GetEventTimeline(ctx context.Context, id string, opts ...CallOption) (*EventTimeline, error) {
	result := new(EventTimeline)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/events/{id}/timeline", path: []string{"id", id}, inOrganization: true}, result, opts)
	return orNil(result, err)
}

// ReplayEvent: Replay an event.
//
// Destinations to which a delivery is still under way are passed over. Needs the scope `events:write`.
func (c *Client) ReplayEvent(ctx context.Context, id string, body *ReplayEventRequest, opts ...CallOption) (*ReplayEventResult, error) {
	result := new(ReplayEventResult)
	err := c.send(ctx, call{method: "POST", template: "/api/organizations/{orgId}/events/{id}/replay", path: []string{"id", id}, inOrganization: true, body: orNone(body)}, result, opts)
	return orNil(result, err)
}

// ReplayEvents: Replay up to 100 events.
//
// Ids that do not exist are passed over, and destinations to which a delivery is still under way. Needs the scope `events:write`.
func (c *Client) ReplayEvents(ctx context.Context, body ReplayEventsRequest, opts ...CallOption) (*ReplayEventsResult, error) {
	result := new(ReplayEventsResult)
	err := c.send(ctx, call{method: "POST", template: "/api/organizations/{orgId}/events/bulk/replay", inOrganization: true, body: body}, result, opts)
	return orNil(result, err)
}

// CreateEventReplay: Replay events chosen by a filter.
//
// The filters are those of the list. `dryRun` counts and changes nothing. Needs the scope `events:write`.
func (c *Client) CreateEventReplay(ctx context.Context, body CreateEventReplayRequest, opts ...CallOption) (*CreateEventReplayResult, error) {
	result := new(CreateEventReplayResult)
	err := c.send(ctx, call{method: "POST", template: "/api/organizations/{orgId}/events/replay", inOrganization: true, body: body}, result, opts)
	return orNil(result, err)
}

// ListEventReplaysParams are the parameters of ListEventReplays; what is nil is left out.
type ListEventReplaysParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`
}

// ListEventReplays: List replays.
//
// Needs the scope `events:read`.
func (c *Client) ListEventReplays(ctx context.Context, params *ListEventReplaysParams, opts ...CallOption) (*EventReplayPage, error) {
	result := new(EventReplayPage)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/events/replays", inOrganization: true, query: params}, result, opts)
	return orNil(result, err)
}

// EachEventReplays gives the items of all parts of ListEventReplays, each part asked for when it is needed.
func (c *Client) EachEventReplays(ctx context.Context, params *ListEventReplaysParams, opts ...CallOption) iter.Seq2[EventReplay, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]EventReplay, Pagination, error) {
		given.Page = &page
		answer, err := c.ListEventReplays(ctx, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, func(item EventReplay) string { return item.ID })
}

// GetEventReplay: Get a replay.
//
// Needs the scope `events:read`.
func (c *Client) GetEventReplay(ctx context.Context, id string, opts ...CallOption) (*EventReplay, error) {
	result := new(EventReplay)
	err := c.send(ctx, call{method: "GET", template: "/api/organizations/{orgId}/events/replays/{id}", path: []string{"id", id}, inOrganization: true}, result, opts)
	return orNil(result, err)
}

// CancelEventReplay: Cancel a replay.
//
// Needs the scope `events:write`.
func (c *Client) CancelEventReplay(ctx context.Context, id string, opts ...CallOption) (*EventReplay, error) {
	result := new(EventReplay)
	err := c.send(ctx, call{method: "POST", template: "/api/organizations/{orgId}/events/replays/{id}/cancel", path: []string{"id", id}, inOrganization: true}, result, opts)
	return orNil(result, err)
}

// ListDeliveriesParams are the parameters of ListDeliveries; what is nil is left out.
type ListDeliveriesParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	// With `cursor`: whether to count too.
	WithTotal *bool `json:"withTotal,omitzero"`

	EventID *string `json:"eventId,omitzero"`

	SourceID *string `json:"sourceId,omitzero"`

	RouteID *string `json:"routeId,omitzero"`

	DestinationID *string `json:"destinationId,omitzero"`

	// One or several.
	Status []DeliveryStatus `json:"status,omitzero"`

	// Of the latest attempt.
	StatusCode *int64 `json:"statusCode,omitzero"`

	// Of the latest attempt; `none`: it had no answer.
	CodeClass *StatusCodeClass `json:"codeClass,omitzero"`

	// A part of the error of the latest attempt.
	Error *string `json:"error,omitzero"`

	// Of the first attempt.
	Lane *DeliveryLane `json:"lane,omitzero"`

	// An ISO 8601 date and time, or a date; UTC where no zone is given.
	From *string `json:"from,omitzero"`

	// An ISO 8601 date and time, or a date; UTC where no zone is given.
	To *string `json:"to,omitzero"`
}

// ListDeliveries: List deliveries.
//
// Needs the scope `deliveries:read`.
func (c *Client) ListDeliveries(ctx context.Context, params *ListDeliveriesParams, opts ...CallOption) (*DeliveryPage, error) {
	result := new(DeliveryPage)
	err := c.send(ctx, call{method: "GET", template: "/api/deliveries", query: params}, result, opts)
	return orNil(result, err)
}

// ListDeliveriesFrom is ListDeliveries by cursor: "first", or the NextCursor of the answer before.
func (c *Client) ListDeliveriesFrom(ctx context.Context, cursor string, params *ListDeliveriesParams, opts ...CallOption) (*DeliveryCursorPage, error) {
	result := new(DeliveryCursorPage)
	err := c.send(ctx, call{method: "GET", template: "/api/deliveries", query: params, cursor: cursor}, result, opts)
	return orNil(result, err)
}

// EachDeliveries gives the items of all parts of ListDeliveries, each part asked for when it is needed.
func (c *Client) EachDeliveries(ctx context.Context, params *ListDeliveriesParams, opts ...CallOption) iter.Seq2[Delivery, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByCursor(func(cursor string) ([]Delivery, *string, error) {
		part, err := c.ListDeliveriesFrom(ctx, cursor, &given, opts...)
		if err != nil {
			return nil, nil, err
		}
		return part.Data, part.Pagination.NextCursor, nil
	})
}

// GetDelivery: Get a delivery with its attempts.
//
// Needs the scope `deliveries:read`.
func (c *Client) GetDelivery(ctx context.Context, id string, opts ...CallOption) (*DeliveryWithAttempts, error) {
	result := new(DeliveryWithAttempts)
	err := c.send(ctx, call{method: "GET", template: "/api/deliveries/{id}", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// RetryDelivery: Make the next attempt now.
//
// Needs the scope `deliveries:write`.
func (c *Client) RetryDelivery(ctx context.Context, id string, opts ...CallOption) (*RetryDeliveryResult, error) {
	result := new(RetryDeliveryResult)
	err := c.send(ctx, call{method: "POST", template: "/api/deliveries/{id}/retry", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// CancelDelivery: Cancel a delivery that is under way.
//
// Needs the scope `deliveries:write`.
func (c *Client) CancelDelivery(ctx context.Context, id string, opts ...CallOption) (*DeliveryWithAttempts, error) {
	result := new(DeliveryWithAttempts)
	err := c.send(ctx, call{method: "POST", template: "/api/deliveries/{id}/cancel", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// ReplayDelivery: Deliver the event to the same destination again.
//
// Not while it is under way, nor once a later delivery has replaced it. Needs the scope `deliveries:write`.
func (c *Client) ReplayDelivery(ctx context.Context, id string, opts ...CallOption) (*ReplayDeliveryResult, error) {
	result := new(ReplayDeliveryResult)
	err := c.send(ctx, call{method: "POST", template: "/api/deliveries/{id}/replay", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// ActOnDeliveries: Retry, replay or cancel the deliveries that match a filter.
//
// The filters are those of the list, at least one. Each call acts on a bounded number, the newest first; call again with `nextCursor` until it is null. Deliveries that are made meanwhile, by a replay for example, do not match. Needs the scope `deliveries:write`.
func (c *Client) ActOnDeliveries(ctx context.Context, body ActOnDeliveriesRequest, opts ...CallOption) (*ActOnDeliveriesResult, error) {
	result := new(ActOnDeliveriesResult)
	err := c.send(ctx, call{method: "POST", template: "/api/deliveries/bulk", body: body}, result, opts)
	return orNil(result, err)
}

// ListIssuesParams are the parameters of ListIssues; what is nil is left out.
type ListIssuesParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	// With `cursor`: whether to count too.
	WithTotal *bool `json:"withTotal,omitzero"`

	State *IssueState `json:"state,omitzero"`

	Kind *IssueKind `json:"kind,omitzero"`

	// Issues of the source, and of its routes.
	SourceID *string `json:"sourceId,omitzero"`

	RouteID *string `json:"routeId,omitzero"`

	DestinationID *string `json:"destinationId,omitzero"`
}

// ListIssues: List issues.
//
// Failures that last, one for each kind, source, route, destination and cause. Some seconds behind. Needs the scope `issues:read`.
func (c *Client) ListIssues(ctx context.Context, params *ListIssuesParams, opts ...CallOption) (*IssuePage, error) {
	result := new(IssuePage)
	err := c.send(ctx, call{method: "GET", template: "/api/issues", query: params}, result, opts)
	return orNil(result, err)
}

// ListIssuesFrom is ListIssues by cursor: "first", or the NextCursor of the answer before.
func (c *Client) ListIssuesFrom(ctx context.Context, cursor string, params *ListIssuesParams, opts ...CallOption) (*IssueCursorPage, error) {
	result := new(IssueCursorPage)
	err := c.send(ctx, call{method: "GET", template: "/api/issues", query: params, cursor: cursor}, result, opts)
	return orNil(result, err)
}

// EachIssues gives the items of all parts of ListIssues, each part asked for when it is needed.
func (c *Client) EachIssues(ctx context.Context, params *ListIssuesParams, opts ...CallOption) iter.Seq2[Issue, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByCursor(func(cursor string) ([]Issue, *string, error) {
		part, err := c.ListIssuesFrom(ctx, cursor, &given, opts...)
		if err != nil {
			return nil, nil, err
		}
		return part.Data, part.Pagination.NextCursor, nil
	})
}

// GetIssue: Get an issue.
//
// Needs the scope `issues:read`.
func (c *Client) GetIssue(ctx context.Context, id string, opts ...CallOption) (*Issue, error) {
	result := new(Issue)
	err := c.send(ctx, call{method: "GET", template: "/api/issues/{id}", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// UpdateIssue: Acknowledge, ignore, resolve or open an issue.
//
// Needs the scope `issues:write`.
func (c *Client) UpdateIssue(ctx context.Context, id string, body UpdateIssueRequest, opts ...CallOption) (*Issue, error) {
	result := new(Issue)
	err := c.send(ctx, call{method: "PATCH", template: "/api/issues/{id}", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// RetryIssue: Deliver again what failed because of an issue.
//
// Makes a new delivery of each one that failed since the issue opened and was not replayed, at most 1000, the newest first; the rest with further calls, each with `before` as the last one said in `next`. Needs the scope `deliveries:write` too. Needs the scope `issues:write`.
func (c *Client) RetryIssue(ctx context.Context, id string, body *RetryIssueRequest, opts ...CallOption) (*RetryIssueResult, error) {
	result := new(RetryIssueResult)
	err := c.send(ctx, call{method: "POST", template: "/api/issues/{id}/retry", path: []string{"id", id}, body: orNone(body)}, result, opts)
	return orNil(result, err)
}

// GetMetricsParams are the parameters of GetMetrics; what is nil is left out.
type GetMetricsParams struct {
	// What is counted.
	Metric *MetricName `json:"metric,omitzero"`

	// One series for each, at most 50 (of latencies 10), with 3000 steps in all: those with most. Without it there is one series, or none when there is nothing.
	GroupBy *MetricGroup `json:"groupBy,omitzero"`

	// At most 31 days ago; by default a day before `to`.
	From *string `json:"from,omitzero"`

	// By default now.
	To *string `json:"to,omitzero"`

	// Seconds. Steps begin at multiples of it since 1970 (UTC).
	Step *int64 `json:"step,omitzero"`

	SourceID *string `json:"sourceId,omitzero"`

	RouteID *string `json:"routeId,omitzero"`

	DestinationID *string `json:"destinationId,omitzero"`
}

// GetMetrics: Get the organization's figures over time.
//
// Exact: each figure is committed with what it counts; refused webhooks are counted seconds later. Steps of less than an hour reach back a day. Needs the scope `deliveries:read`.
func (c *Client) GetMetrics(ctx context.Context, params *GetMetricsParams, opts ...CallOption) (*Metrics, error) {
	result := new(Metrics)
	err := c.send(ctx, call{method: "GET", template: "/api/metrics", query: params}, result, opts)
	return orNil(result, err)
}

// GetDeliveryRequestParams are the parameters of GetDeliveryRequest; what is nil is left out.
type GetDeliveryRequestParams struct {
	// Which attempt, from 1 on, the next one included. By default the latest that was made, else the first.
	Attempt *int64 `json:"attempt,omitzero"`

	// Default true, which needs `payloads:read`.
	IncludeBody *bool `json:"includeBody,omitzero"`
}

// GetDeliveryRequest: Get the request as it was or will be sent.
//
// It is made again of the event, of the destination as it is now, and of the transform by which the delivery was made. Needs the scope `deliveries:read`.
func (c *Client) GetDeliveryRequest(ctx context.Context, id string, params *GetDeliveryRequestParams, opts ...CallOption) (*DeliveryRequest, error) {
	result := new(DeliveryRequest)
	err := c.send(ctx, call{method: "GET", template: "/api/deliveries/{id}/request", path: []string{"id", id}, query: params}, result, opts)
	return orNil(result, err)
}

// ListAlertChannelsParams are the parameters of ListAlertChannels; what is nil is left out.
type ListAlertChannelsParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`

	// A part of the name, whatever its case.
	Search *string `json:"search,omitzero"`
}

// ListAlertChannels: List alert channels.
//
// Needs the scope `alerts:read`.
func (c *Client) ListAlertChannels(ctx context.Context, params *ListAlertChannelsParams, opts ...CallOption) (*AlertChannelPage, error) {
	result := new(AlertChannelPage)
	err := c.send(ctx, call{method: "GET", template: "/api/alert-channels", query: params}, result, opts)
	return orNil(result, err)
}

// EachAlertChannels gives the items of all parts of ListAlertChannels, each part asked for when it is needed.
func (c *Client) EachAlertChannels(ctx context.Context, params *ListAlertChannelsParams, opts ...CallOption) iter.Seq2[AlertChannel, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]AlertChannel, Pagination, error) {
		given.Page = &page
		answer, err := c.ListAlertChannels(ctx, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, func(item AlertChannel) string { return item.ID })
}

// CreateAlertChannel: Create an alert channel.
//
// Needs the scope `alerts:write`.
func (c *Client) CreateAlertChannel(ctx context.Context, body CreateAlertChannelRequest, opts ...CallOption) (*AlertChannel, error) {
	result := new(AlertChannel)
	err := c.send(ctx, call{method: "POST", template: "/api/alert-channels", body: body}, result, opts)
	return orNil(result, err)
}

// GetAlertChannel: Get an alert channel.
//
// Needs the scope `alerts:read`.
func (c *Client) GetAlertChannel(ctx context.Context, id string, opts ...CallOption) (*AlertChannel, error) {
	result := new(AlertChannel)
	err := c.send(ctx, call{method: "GET", template: "/api/alert-channels/{id}", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// UpdateAlertChannel: Update an alert channel.
//
// Members that are not sent stay as they are; `config` is replaced as a whole, but for a secret that is left out or sent back masked. Needs the scope `alerts:write`.
func (c *Client) UpdateAlertChannel(ctx context.Context, id string, body UpdateAlertChannelRequest, opts ...CallOption) (*AlertChannel, error) {
	result := new(AlertChannel)
	err := c.send(ctx, call{method: "PATCH", template: "/api/alert-channels/{id}", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// DeleteAlertChannel: Delete an alert channel.
//
// Messages on their way are not sent any more. Incidents that it opened elsewhere stay open. Needs the scope `alerts:write`.
func (c *Client) DeleteAlertChannel(ctx context.Context, id string, opts ...CallOption) error {
	return c.send(ctx, call{method: "DELETE", template: "/api/alert-channels/{id}", path: []string{"id", id}}, nil, opts)
}

// TestAlertChannel: Send a test message.
//
// At once, whatever its rules are. Whatever goes wrong on the way is in the result. Needs the scope `alerts:write`.
func (c *Client) TestAlertChannel(ctx context.Context, id string, opts ...CallOption) (*AlertTestResult, error) {
	result := new(AlertTestResult)
	err := c.send(ctx, call{method: "POST", template: "/api/alert-channels/{id}/test", path: []string{"id", id}}, result, opts)
	return orNil(result, err)
}

// RotateAlertChannelSecret: Rotate the secret of a signed webhook.
//
// Messages carry two signatures, of the new secret and of the one before, until the overlap ends. Needs the scope `alerts:write`.
func (c *Client) RotateAlertChannelSecret(ctx context.Context, id string, body RotateSigningSecretRequest, opts ...CallOption) (*AlertChannel, error) {
	result := new(AlertChannel)
	err := c.send(ctx, call{method: "POST", template: "/api/alert-channels/{id}/rotate-secret", path: []string{"id", id}, body: body}, result, opts)
	return orNil(result, err)
}

// GetUsage: Get the limits and what is used of them.
//
// Needs the scope `organization:read`.
func (c *Client) GetUsage(ctx context.Context, opts ...CallOption) (*Usage, error) {
	result := new(Usage)
	err := c.send(ctx, call{method: "GET", template: "/api/organization/usage"}, result, opts)
	return orNil(result, err)
}

// ListDailyUsageParams are the parameters of ListDailyUsage; what is nil is left out.
type ListDailyUsageParams struct {
	// A day (UTC), such as 2026-11-21.
	From *string `json:"from,omitzero"`

	// A day (UTC), such as 2026-11-21.
	To *string `json:"to,omitzero"`
}

// ListDailyUsage: List the use by day.
//
// Days without use are left out. With `Accept: text/csv` the answer is a table. At most 400 days. Needs the scope `organization:read`.
func (c *Client) ListDailyUsage(ctx context.Context, params *ListDailyUsageParams, opts ...CallOption) (*DaysOfUse, error) {
	result := new(DaysOfUse)
	err := c.send(ctx, call{method: "GET", template: "/api/organization/usage/daily", query: params}, result, opts)
	return orNil(result, err)
}

// GetCaller: Get the organization and the key of the request.
//
// Every key may.
func (c *Client) GetCaller(ctx context.Context, opts ...CallOption) (*Caller, error) {
	result := new(Caller)
	err := c.send(ctx, call{method: "GET", template: "/api/auth/me"}, result, opts)
	return orNil(result, err)
}

// ListApiKeysParams are the parameters of ListApiKeys; what is nil is left out.
type ListApiKeysParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`
}

// ListApiKeys: List API keys.
//
// Needs the scope `keys:read`.
func (c *Client) ListApiKeys(ctx context.Context, params *ListApiKeysParams, opts ...CallOption) (*ApiKeyPage, error) {
	result := new(ApiKeyPage)
	err := c.send(ctx, call{method: "GET", template: "/api/api-keys", query: params}, result, opts)
	return orNil(result, err)
}

// EachApiKeys gives the items of all parts of ListApiKeys, each part asked for when it is needed.
func (c *Client) EachApiKeys(ctx context.Context, params *ListApiKeysParams, opts ...CallOption) iter.Seq2[ApiKey, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByPage(func(page int64) ([]ApiKey, Pagination, error) {
		given.Page = &page
		answer, err := c.ListApiKeys(ctx, &given, opts...)
		if err != nil {
			return nil, Pagination{}, err
		}
		return answer.Data, answer.Pagination, nil
	}, func(item ApiKey) string { return item.ID })
}

// CreateApiKey: Create an API key.
//
// Needs the scope `keys:write`.
func (c *Client) CreateApiKey(ctx context.Context, body CreateApiKeyRequest, opts ...CallOption) (*NewApiKey, error) {
	result := new(NewApiKey)
	err := c.send(ctx, call{method: "POST", template: "/api/api-keys", body: body}, result, opts)
	return orNil(result, err)
}

// RevokeApiKey: Revoke an API key.
//
// Requests with it are refused from now on. One that may create keys is revoked only when another stays that may, for as long and from all of its addresses. Needs the scope `keys:write`.
func (c *Client) RevokeApiKey(ctx context.Context, id string, opts ...CallOption) error {
	return c.send(ctx, call{method: "DELETE", template: "/api/api-keys/{id}", path: []string{"id", id}}, nil, opts)
}

// ListAuditRecordsParams are the parameters of ListAuditRecords; what is nil is left out.
type ListAuditRecordsParams struct {
	// Which page, from 1 on.
	Page *int64 `json:"page,omitzero"`

	// Items on a page; more than 100 are served as 100.
	PageSize *int64 `json:"pageSize,omitzero"`

	// With `cursor`: whether to count too.
	WithTotal *bool `json:"withTotal,omitzero"`

	// An ISO 8601 date and time, or a date; UTC where no zone is given.
	From *string `json:"from,omitzero"`

	// An ISO 8601 date and time, or a date; UTC where no zone is given.
	To *string `json:"to,omitzero"`

	KeyID *string `json:"keyId,omitzero"`

	// The id of an operation of this description.
	Action *string `json:"action,omitzero"`

	// The kind of records, as scopes name it.
	Resource *string `json:"resource,omitzero"`

	// The id of any record: what was done to it.
	RecordID *string `json:"recordId,omitzero"`

	Outcome *AuditRecordOutcome `json:"outcome,omitzero"`
}

// ListAuditRecords: List who did what.
//
// Every request that may change something, and those that read payloads or secrets in clear. Kept for `HOOKYARD_AUDIT_RETENTION_DAYS`; nobody can change a record. Needs the scope `audit:read`.
func (c *Client) ListAuditRecords(ctx context.Context, params *ListAuditRecordsParams, opts ...CallOption) (*AuditRecordPage, error) {
	result := new(AuditRecordPage)
	err := c.send(ctx, call{method: "GET", template: "/api/audit", query: params}, result, opts)
	return orNil(result, err)
}

// ListAuditRecordsFrom is ListAuditRecords by cursor: "first", or the NextCursor of the answer before.
func (c *Client) ListAuditRecordsFrom(ctx context.Context, cursor string, params *ListAuditRecordsParams, opts ...CallOption) (*AuditRecordCursorPage, error) {
	result := new(AuditRecordCursorPage)
	err := c.send(ctx, call{method: "GET", template: "/api/audit", query: params, cursor: cursor}, result, opts)
	return orNil(result, err)
}

// EachAuditRecords gives the items of all parts of ListAuditRecords, each part asked for when it is needed.
func (c *Client) EachAuditRecords(ctx context.Context, params *ListAuditRecordsParams, opts ...CallOption) iter.Seq2[AuditRecord, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return eachByCursor(func(cursor string) ([]AuditRecord, *string, error) {
		part, err := c.ListAuditRecordsFrom(ctx, cursor, &given, opts...)
		if err != nil {
			return nil, nil, err
		}
		return part.Data, part.Pagination.NextCursor, nil
	})
}

// IsAlive: Whether the process lives.
//
// It asks neither PostgreSQL nor Temporal.
func (c *Client) IsAlive(ctx context.Context, opts ...CallOption) (*Well, error) {
	result := new(Well)
	err := c.send(ctx, call{method: "GET", template: "/healthz"}, result, opts)
	return orNil(result, err)
}

// IsReadyParams are the parameters of IsReady; what is nil is left out.
type IsReadyParams struct {
	Deep *IsReadyDeep `json:"deep,omitzero"`
}

// IsReady: Whether webhooks should be sent to this process.
//
// It is ready when PostgreSQL can be reached and takes writes, and when the process was not told to end. What it finds holds for half a second.
func (c *Client) IsReady(ctx context.Context, params *IsReadyParams, opts ...CallOption) (*Ready, error) {
	result := new(Ready)
	err := c.send(ctx, call{method: "GET", template: "/readyz", query: params}, result, opts)
	return orNil(result, err)
}

// GetDescription: This description.
//
// Of this instance: another version may have other operations.
func (c *Client) GetDescription(ctx context.Context, opts ...CallOption) (*Description, error) {
	result := new(Description)
	err := c.send(ctx, call{method: "GET", template: "/openapi.json"}, result, opts)
	return orNil(result, err)
}

// SignIn: Exchange the code of a sign-in link for a key.
//
// A start prints a link to the console with a code, which is good once, for ten minutes. The key is that of a session: it expires after twelve hours.
func (c *Client) SignIn(ctx context.Context, body SignInRequest, opts ...CallOption) (*ConsoleKey, error) {
	result := new(ConsoleKey)
	err := c.send(ctx, call{method: "POST", template: "/api/auth/sign-in", body: body}, result, opts)
	return orNil(result, err)
}

// GetStatusParams are the parameters of GetStatus; what is nil is left out.
type GetStatusParams struct {
	// Lists the organizations with most that waits, at most 100.
	Organizations *bool `json:"organizations,omitzero"`
}

// GetStatus: Get the state of the installation.
//
// For its operator, with the operator's key. What the database says is at most about a second old. Without such a key it is 404.
func (c *Client) GetStatus(ctx context.Context, params *GetStatusParams, opts ...CallOption) (*InstallationStatus, error) {
	result := new(InstallationStatus)
	err := c.send(ctx, call{method: "GET", template: "/api/status", query: params}, result, opts)
	return orNil(result, err)
}
