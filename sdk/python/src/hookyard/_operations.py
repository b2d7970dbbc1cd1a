# Made of docs/openapi.json by npm run prepare; do not edit.
# mypy: disable-error-code="no-any-return"
"""A method for each operation of the API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

from . import _types as types
from ._call import Options, Raw

VERSION = "0.1.0"
"""Of this package, and of the Hookyard that it was made for."""


class Operations:
    """Every operation of the API. Members and parameters are those of its description."""

    def _call(
        self,
        operation: str,
        path: dict[str, Any],
        query: dict[str, Any],
        body: Any,
        options: Options | None,
    ) -> Any:
        raise NotImplementedError

    def _each(
        self,
        operation: str,
        path: dict[str, Any],
        query: dict[str, Any],
        by_cursor: bool,
        options: Options | None,
    ) -> Iterator[Any]:
        raise NotImplementedError

    def list_sources(self, *, page: int | None = None, page_size: int | None = None, enabled: bool | None = None, search: str | None = None, org_id: str | None = None, options: Options | None = None) -> types.SourcePage:
        """List sources.

        Needs the scope `sources:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `search`: A part of the name or slug, whatever its case."""
        return self._call("GET /api/organizations/{orgId}/sources", {"orgId": org_id}, {"page": page, "pageSize": page_size, "enabled": enabled, "search": search}, None, options)

    def each_sources(self, *, page_size: int | None = None, enabled: bool | None = None, search: str | None = None, org_id: str | None = None, options: Options | None = None) -> Iterator[types.Source]:
        """The items of all parts of list_sources, each part asked for when it is needed."""
        return self._each("GET /api/organizations/{orgId}/sources", {"orgId": org_id}, {"pageSize": page_size, "enabled": enabled, "search": search}, False, options)

    def create_source(self, body: types.CreateSourceRequest, *, org_id: str | None = None, options: Options | None = None) -> types.Source:
        """Create a source.

        Needs the scope `sources:write`."""
        return self._call("POST /api/organizations/{orgId}/sources", {"orgId": org_id}, {}, body, options)

    def get_source(self, id: str, *, org_id: str | None = None, options: Options | None = None) -> types.Source:
        """Get a source.

        Needs the scope `sources:read`."""
        return self._call("GET /api/organizations/{orgId}/sources/{id}", {"id": id, "orgId": org_id}, {}, None, options)

    def update_source(self, id: str, body: types.UpdateSourceRequest, *, org_id: str | None = None, options: Options | None = None) -> types.Source:
        """Update a source.

        Members that are not sent stay as they are. The slug cannot be changed. Needs the scope `sources:write`."""
        return self._call("PATCH /api/organizations/{orgId}/sources/{id}", {"id": id, "orgId": org_id}, {}, body, options)

    def delete_source(self, id: str, *, org_id: str | None = None, options: Options | None = None) -> None:
        """Delete a source.

        Also deletes its events and deliveries. Needs the scope `sources:write`."""
        return self._call("DELETE /api/organizations/{orgId}/sources/{id}", {"id": id, "orgId": org_id}, {}, None, options)

    def put_source(self, slug: str, body: types.PutSourceRequest, *, org_id: str | None = None, options: Options | None = None) -> types.Source:
        """Create or replace the source of a slug.

        The source becomes what a create would make of the body: what is left out goes back to its default. What protects it stays: `provider`, `verificationConfig`, `handshake`, `ingestToken` and `concealed` if they are left out, and a secret that is left out of a `verificationConfig` of the same type. A `verificationConfig` of the type `none` turns verification off. Needs the scope `sources:write`."""
        return self._call("PUT /api/organizations/{orgId}/sources/by-slug/{slug}", {"slug": slug, "orgId": org_id}, {}, body, options)

    def rotate_ingest_token(self, id: str, body: types.RotateIngestTokenRequest | None = None, *, org_id: str | None = None, options: Options | None = None) -> types.Source:
        """Replace the token of a source's address.

        Both addresses are valid for a while, so that the provider can be moved. Needs the scope `sources:write`."""
        return self._call("POST /api/organizations/{orgId}/sources/{id}/rotate-token", {"id": id, "orgId": org_id}, {}, body, options)

    def list_refusals(self, id: str, *, page: int | None = None, page_size: int | None = None, cause: types.RefusalCause | None = None, period: types.RefusalCountsPeriod | None = None, include_payload: bool | None = None, org_id: str | None = None, options: Options | None = None) -> types.RefusalPage:
        """List refused webhooks.

        Why webhooks to the source were refused: all are counted, and of the last 100 that were sampled it shows what came. Both are some seconds behind. Needs the scope `events:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `period`: Of the counts; `24h` by default.
        `include_payload`: Needs the scope `payloads:read`."""
        return self._call("GET /api/organizations/{orgId}/sources/{id}/refusals", {"id": id, "orgId": org_id}, {"page": page, "pageSize": page_size, "cause": cause, "period": period, "includePayload": include_payload}, None, options)

    def each_refusals(self, id: str, *, page_size: int | None = None, cause: types.RefusalCause | None = None, period: types.RefusalCountsPeriod | None = None, include_payload: bool | None = None, org_id: str | None = None, options: Options | None = None) -> Iterator[types.Refusal]:
        """The items of all parts of list_refusals, each part asked for when it is needed."""
        return self._each("GET /api/organizations/{orgId}/sources/{id}/refusals", {"id": id, "orgId": org_id}, {"pageSize": page_size, "cause": cause, "period": period, "includePayload": include_payload}, False, options)

    def list_providers(self, *, page: int | None = None, page_size: int | None = None, options: Options | None = None) -> types.ProviderPage:
        """List the providers that a source can be made for.

        Needs the scope `sources:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100."""
        return self._call("GET /api/providers", {}, {"page": page, "pageSize": page_size}, None, options)

    def each_providers(self, *, page_size: int | None = None, options: Options | None = None) -> Iterator[types.Provider]:
        """The items of all parts of list_providers, each part asked for when it is needed."""
        return self._each("GET /api/providers", {}, {"pageSize": page_size}, False, options)

    def sign_sample(self, body: types.SignSampleRequest, *, options: Options | None = None) -> types.SignedSample:
        """Make a sample webhook as a provider signs it.

        To try a source before its provider is connected: send it to the `webhookUrl` with `POST`. Needs the scope `sources:write`."""
        return self._call("POST /api/providers/sample", {}, {}, body, options)

    def list_destinations(self, *, page: int | None = None, page_size: int | None = None, enabled: bool | None = None, search: str | None = None, options: Options | None = None) -> types.DestinationSummaryPage:
        """List destinations.

        Needs the scope `destinations:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `search`: A part of the name or address, whatever its case."""
        return self._call("GET /api/destinations", {}, {"page": page, "pageSize": page_size, "enabled": enabled, "search": search}, None, options)

    def each_destinations(self, *, page_size: int | None = None, enabled: bool | None = None, search: str | None = None, options: Options | None = None) -> Iterator[types.DestinationSummary]:
        """The items of all parts of list_destinations, each part asked for when it is needed."""
        return self._each("GET /api/destinations", {}, {"pageSize": page_size, "enabled": enabled, "search": search}, False, options)

    def create_destination(self, body: types.CreateDestinationRequest, *, options: Options | None = None) -> types.Destination:
        """Create a destination.

        Warehouses (`s3`, `r2`, `gcs`, `azure_blob`) need a Pro or Business plan. Needs the scope `destinations:write`."""
        return self._call("POST /api/destinations", {}, {}, body, options)

    def get_destination(self, id: str, *, options: Options | None = None) -> types.Destination:
        """Get a destination.

        Needs the scope `destinations:read`."""
        return self._call("GET /api/destinations/{id}", {"id": id}, {}, None, options)

    def update_destination(self, id: str, body: types.UpdateDestinationRequest, *, options: Options | None = None) -> types.Destination:
        """Update a destination.

        Members that are not sent stay as they are; so does a secret that is sent back masked. Needs the scope `destinations:write`."""
        return self._call("PATCH /api/destinations/{id}", {"id": id}, {}, body, options)

    def delete_destination(self, id: str, *, options: Options | None = None) -> None:
        """Delete a destination.

        It is taken out of all routes; the history of its deliveries stays. Needs the scope `destinations:write`."""
        return self._call("DELETE /api/destinations/{id}", {"id": id}, {}, None, options)

    def get_destination_health(self, id: str, *, options: Options | None = None) -> types.DestinationHealth:
        """Get a destination's health.

        Needs the scope `destinations:read`."""
        return self._call("GET /api/destinations/{id}/health", {"id": id}, {}, None, options)

    def put_destination(self, slug: str, body: types.PutDestinationRequest, *, options: Options | None = None) -> types.Destination:
        """Create or replace the destination of a slug.

        The destination becomes what a create would make of the body: what is left out goes back to its default. Credentials (`authType`, `authConfig`, `signingSecret`, the secret of a `config`) that are left out, or sent back masked, stay: the `authType` `none` and a `signingSecret` of null remove them. The `type` cannot be changed. Needs the scope `destinations:write`."""
        return self._call("PUT /api/destinations/by-slug/{slug}", {"slug": slug}, {}, body, options)

    def test_destination(self, id: str, body: types.TestDestinationRequest | None = None, *, options: Options | None = None) -> types.TestResult:
        """Send a test webhook, or upload a test file.

        Whatever goes wrong on the way is in the result. Needs the scope `destinations:write`."""
        return self._call("POST /api/destinations/{id}/test", {"id": id}, {}, body, options)

    @overload
    def list_batches(self, id: str, *, page_size: int | None = None, cursor: str, with_total: bool | None = None, status: types.BatchStatus | None = None, written_after: str | None = None, options: Options | None = None) -> types.BatchCursorPage: ...

    @overload
    def list_batches(self, id: str, *, page: int | None = None, page_size: int | None = None, status: types.BatchStatus | None = None, written_after: str | None = None, options: Options | None = None) -> types.BatchPage:
        ...

    def list_batches(self, id: str, *, page: int | None = None, page_size: int | None = None, cursor: str | None = None, with_total: bool | None = None, status: types.BatchStatus | None = None, written_after: str | None = None, options: Options | None = None) -> types.BatchPage | types.BatchCursorPage:
        """List a warehouse's batches.

        Which files were written, which are on their way, and why one is not. Needs the scope `destinations:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `cursor`: `first`, or the `nextCursor` of the answer before: what is new shifts nothing. Instead of `page`.
        `with_total`: With `cursor`: whether to count too.
        `written_after`: Only files whose `writtenAt` is later, in the order of writing. Not together with `status`."""
        return self._call("GET /api/destinations/{id}/batches", {"id": id}, {"page": page, "pageSize": page_size, "cursor": cursor, "withTotal": with_total, "status": status, "writtenAfter": written_after}, None, options)

    def each_batches(self, id: str, *, page_size: int | None = None, status: types.BatchStatus | None = None, written_after: str | None = None, options: Options | None = None) -> Iterator[types.Batch]:
        """The items of all parts of list_batches, each part asked for when it is needed."""
        return self._each("GET /api/destinations/{id}/batches", {"id": id}, {"pageSize": page_size, "status": status, "writtenAfter": written_after}, True, options)

    def list_organization_destinations(self, *, page: int | None = None, page_size: int | None = None, enabled: bool | None = None, search: str | None = None, org_id: str | None = None, options: Options | None = None) -> types.HttpDestinationSummaryPage:
        """List HTTP destinations.

        Needs the scope `destinations:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `search`: A part of the name or address, whatever its case."""
        return self._call("GET /api/organizations/{orgId}/destinations", {"orgId": org_id}, {"page": page, "pageSize": page_size, "enabled": enabled, "search": search}, None, options)

    def each_organization_destinations(self, *, page_size: int | None = None, enabled: bool | None = None, search: str | None = None, org_id: str | None = None, options: Options | None = None) -> Iterator[types.HttpDestinationSummary]:
        """The items of all parts of list_organization_destinations, each part asked for when it is needed."""
        return self._each("GET /api/organizations/{orgId}/destinations", {"orgId": org_id}, {"pageSize": page_size, "enabled": enabled, "search": search}, False, options)

    def create_organization_destination(self, body: types.HttpDestinationInput, *, org_id: str | None = None, options: Options | None = None) -> types.HttpDestination:
        """Create an HTTP destination.

        Needs the scope `destinations:write`."""
        return self._call("POST /api/organizations/{orgId}/destinations", {"orgId": org_id}, {}, body, options)

    def get_organization_destination(self, id: str, *, org_id: str | None = None, options: Options | None = None) -> types.HttpDestination:
        """Get an HTTP destination.

        Needs the scope `destinations:read`."""
        return self._call("GET /api/organizations/{orgId}/destinations/{id}", {"id": id, "orgId": org_id}, {}, None, options)

    def update_organization_destination(self, id: str, body: types.HttpDestinationChanges, *, org_id: str | None = None, options: Options | None = None) -> types.HttpDestination:
        """Update an HTTP destination.

        Members that are not sent stay as they are; so does a secret that is sent back masked. Needs the scope `destinations:write`."""
        return self._call("PATCH /api/organizations/{orgId}/destinations/{id}", {"id": id, "orgId": org_id}, {}, body, options)

    def delete_organization_destination(self, id: str, *, org_id: str | None = None, options: Options | None = None) -> None:
        """Delete an HTTP destination.

        It is taken out of all routes; the history of its deliveries stays. Needs the scope `destinations:write`."""
        return self._call("DELETE /api/organizations/{orgId}/destinations/{id}", {"id": id, "orgId": org_id}, {}, None, options)

    def get_organization_destination_health(self, id: str, *, org_id: str | None = None, options: Options | None = None) -> types.DestinationHealth:
        """Get an HTTP destination's health.

        Needs the scope `destinations:read`."""
        return self._call("GET /api/organizations/{orgId}/destinations/{id}/health", {"id": id, "orgId": org_id}, {}, None, options)

    def list_routes(self, *, page: int | None = None, page_size: int | None = None, enabled: bool | None = None, source_id: str | None = None, destination_id: str | None = None, circuit_state: types.CircuitState | None = None, options: Options | None = None) -> types.RoutePage:
        """List routes.

        Needs the scope `routes:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100."""
        return self._call("GET /api/routes", {}, {"page": page, "pageSize": page_size, "enabled": enabled, "sourceId": source_id, "destinationId": destination_id, "circuitState": circuit_state}, None, options)

    def each_routes(self, *, page_size: int | None = None, enabled: bool | None = None, source_id: str | None = None, destination_id: str | None = None, circuit_state: types.CircuitState | None = None, options: Options | None = None) -> Iterator[types.Route]:
        """The items of all parts of list_routes, each part asked for when it is needed."""
        return self._each("GET /api/routes", {}, {"pageSize": page_size, "enabled": enabled, "sourceId": source_id, "destinationId": destination_id, "circuitState": circuit_state}, False, options)

    def create_route(self, body: types.CreateRouteRequest, *, options: Options | None = None) -> types.Route:
        """Create a route.

        Needs the scope `routes:write`."""
        return self._call("POST /api/routes", {}, {}, body, options)

    def get_route(self, id: str, *, options: Options | None = None) -> types.Route:
        """Get a route.

        Needs the scope `routes:read`."""
        return self._call("GET /api/routes/{id}", {"id": id}, {}, None, options)

    def update_route(self, id: str, body: types.UpdateRouteRequest, *, options: Options | None = None) -> types.Route:
        """Update a route.

        Members that are not sent stay as they are. The source cannot be changed. Needs the scope `routes:write`."""
        return self._call("PATCH /api/routes/{id}", {"id": id}, {}, body, options)

    def delete_route(self, id: str, *, options: Options | None = None) -> None:
        """Delete a route.

        Its source, destinations, filter, schema and transform stay. Needs the scope `routes:write`."""
        return self._call("DELETE /api/routes/{id}", {"id": id}, {}, None, options)

    def put_route(self, name: str, body: types.CreateRouteRequest, *, options: Options | None = None) -> types.Route:
        """Create or replace the route of a name.

        The route becomes what a create would make of the body: what is left out goes back to its default. The source of a route cannot be changed. When several routes have the name, the answer is 409. Needs the scope `routes:write`."""
        return self._call("PUT /api/routes/by-name/{name}", {"name": name}, {}, body, options)

    def get_route_statistics(self, id: str, *, period: types.RouteStatisticsPeriod | None = None, options: Options | None = None) -> types.RouteStatistics:
        """Get a route's statistics.

        Needs the scope `routes:read`."""
        return self._call("GET /api/routes/{id}/stats", {"id": id}, {"period": period}, None, options)

    def get_circuit_status(self, id: str, *, options: Options | None = None) -> types.CircuitStatus:
        """Get the state of a route's circuit breaker.

        Needs the scope `routes:read`."""
        return self._call("GET /api/routes/{id}/circuit-status", {"id": id}, {}, None, options)

    def reset_circuit(self, id: str, *, options: Options | None = None) -> types.ResetCircuitResult:
        """Close a route's circuit breaker now.

        What was held is released, unless the route is paused. Needs the scope `routes:write`."""
        return self._call("POST /api/routes/{id}/reset-circuit", {"id": id}, {}, None, options)

    def configure_circuit(self, id: str, body: types.ConfigureCircuitRequest, *, options: Options | None = None) -> types.ConfigureCircuitResult:
        """Change the settings of a route's circuit breaker.

        Needs the scope `routes:write`."""
        return self._call("PATCH /api/routes/{id}/circuit-config", {"id": id}, {}, body, options)

    def preview_route(self, id: str, body: types.PreviewRouteRequest, *, options: Options | None = None) -> types.RoutePreview:
        """See what a route would send for an event.

        With the records as they are now, disabled or not. Nothing is sent; the id of the delivery and signatures are of this answer only. Needs the scope `payloads:read`."""
        return self._call("POST /api/routes/{id}/preview", {"id": id}, {}, body, options)

    def pause_route(self, id: str, body: types.PauseRequest | None = None, *, options: Options | None = None) -> types.Pause:
        """Pause a route.

        It takes webhooks as before; their deliveries wait, and so do retries. Nothing fails over for that. A repeated pause changes its end and its reason. Needs the scope `routes:write`."""
        return self._call("POST /api/routes/{id}/pause", {"id": id}, {}, body, options)

    def resume_route(self, id: str, body: types.ResumeRequest | None = None, *, options: Options | None = None) -> types.Pause:
        """End the pause of a route.

        Deliveries that wait go out in the order of receipt. If its circuit is open, they wait for that. Needs the scope `routes:write`."""
        return self._call("POST /api/routes/{id}/resume", {"id": id}, {}, body, options)

    def pause_destination(self, id: str, body: types.PauseRequest | None = None, *, options: Options | None = None) -> types.Pause:
        """Pause a destination.

        All deliveries to it wait, whatever their route. Nothing fails over for that. A repeated pause changes its end and its reason. Needs the scope `destinations:write`."""
        return self._call("POST /api/destinations/{id}/pause", {"id": id}, {}, body, options)

    def resume_destination(self, id: str, body: types.ResumeRequest | None = None, *, options: Options | None = None) -> types.Pause:
        """End the pause of a destination.

        Deliveries that wait go out in the order of receipt. Needs the scope `destinations:write`."""
        return self._call("POST /api/destinations/{id}/resume", {"id": id}, {}, body, options)

    def delete_destinations(self, body: types.DeleteDestinationsRequest, *, options: Options | None = None) -> types.DeleteDestinationsResult:
        """Delete many destinations.

        Ids that do not exist are passed over. Needs the scope `destinations:write`."""
        return self._call("DELETE /api/destinations/bulk", {}, {}, body, options)

    def pause_routes(self, body: types.PauseRoutesRequest, *, options: Options | None = None) -> types.PauseRoutesResult:
        """Disable or enable many routes.

        A disabled route takes no webhooks. Ids that do not exist are passed over. Needs the scope `routes:write`."""
        return self._call("POST /api/routes/bulk-pause", {}, {}, body, options)

    def delete_routes(self, body: types.DeleteRoutesRequest, *, options: Options | None = None) -> types.DeleteRoutesResult:
        """Delete many routes.

        Irreversible. Ids that do not exist are passed over. Needs the scope `routes:write`."""
        return self._call("POST /api/routes/bulk-delete", {}, {}, body, options)

    def rotate_signing_secret(self, id: str, body: types.RotateSigningSecretRequest, *, options: Options | None = None) -> types.HttpDestination:
        """Rotate a destination's signing secret.

        Deliveries carry two signatures, of the new secret and of the one before, until the overlap ends. Needs the scope `destinations:write`."""
        return self._call("POST /api/destinations/{id}/rotate-secret", {"id": id}, {}, body, options)

    def rotate_verification_secret(self, id: str, body: types.RotateVerificationSecretRequest, *, org_id: str | None = None, options: Options | None = None) -> types.Source:
        """Rotate a source's verification secret.

        Webhooks signed with either secret are taken until the overlap ends. Needs the scope `sources:write`."""
        return self._call("POST /api/organizations/{orgId}/sources/{id}/rotate-secret", {"id": id, "orgId": org_id}, {}, body, options)

    def export_destinations(self, *, ids: str | None = None, include_sensitive: bool | None = None, options: Options | None = None) -> types.DestinationExport:
        """Export destinations.

        Credentials are left out unless `includeSensitive` is true, which needs the scope `secrets:read`. Needs the scope `destinations:read`.

        `ids`: At most 1000 ids separated by commas; all when it is left out."""
        return self._call("GET /api/destinations/export", {}, {"ids": ids, "includeSensitive": include_sensitive}, None, options)

    def import_destinations(self, body: types.ImportDestinationsRequest, *, options: Options | None = None) -> types.DestinationImportResult:
        """Import destinations.

        Conflicts are detected by slug. What is wrong with an item is in the result. Needs the scope `destinations:write`."""
        return self._call("POST /api/destinations/import", {}, {}, body, options)

    def export_routes(self, *, ids: str | None = None, options: Options | None = None) -> types.RouteExport:
        """Export routes.

        Needs the scope `routes:read`.

        `ids`: At most 1000 ids separated by commas; all when it is left out."""
        return self._call("GET /api/routes/export", {}, {"ids": ids}, None, options)

    def import_routes(self, body: types.ImportRoutesRequest, *, options: Options | None = None) -> types.RouteImportResult:
        """Import routes.

        Conflicts are by name. Either all routes are imported or, when anything is wrong, none. Needs the scope `routes:write`."""
        return self._call("POST /api/routes/import", {}, {}, body, options)

    def list_notification_recipients(self, *, page: int | None = None, page_size: int | None = None, options: Options | None = None) -> types.NotificationRecipientPage:
        """List the addresses that routes and alert channels notify.

        Where the operator demands it, an address gets notifications only after its owner has agreed. Needs the scope `routes:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100."""
        return self._call("GET /api/notification-recipients", {}, {"page": page, "pageSize": page_size}, None, options)

    def each_notification_recipients(self, *, page_size: int | None = None, options: Options | None = None) -> Iterator[types.NotificationRecipient]:
        """The items of all parts of list_notification_recipients, each part asked for when it is needed."""
        return self._each("GET /api/notification-recipients", {}, {"pageSize": page_size}, False, options)

    def resend_confirmation(self, body: types.ResendConfirmationRequest, *, options: Options | None = None) -> types.NotificationRecipient:
        """Ask the owner of an address once more.

        An hour after the first mail at the earliest, then after twice as long each time. Nothing is sent to one that has agreed. Needs the scope `routes:write`."""
        return self._call("POST /api/notification-recipients/resend", {}, {}, body, options)

    def list_filters(self, *, page: int | None = None, page_size: int | None = None, search: str | None = None, options: Options | None = None) -> types.FilterPage:
        """List filters.

        Needs the scope `filters:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `search`: A part of the name or slug, whatever its case."""
        return self._call("GET /api/filters", {}, {"page": page, "pageSize": page_size, "search": search}, None, options)

    def each_filters(self, *, page_size: int | None = None, search: str | None = None, options: Options | None = None) -> Iterator[types.Filter]:
        """The items of all parts of list_filters, each part asked for when it is needed."""
        return self._each("GET /api/filters", {}, {"pageSize": page_size, "search": search}, False, options)

    def create_filter(self, body: types.CreateFilterRequest, *, options: Options | None = None) -> types.Filter:
        """Create a filter.

        Needs the scope `filters:write`."""
        return self._call("POST /api/filters", {}, {}, body, options)

    def get_filter(self, id: str, *, options: Options | None = None) -> types.Filter:
        """Get a filter.

        Needs the scope `filters:read`."""
        return self._call("GET /api/filters/{id}", {"id": id}, {}, None, options)

    def update_filter(self, id: str, body: types.UpdateFilterRequest, *, options: Options | None = None) -> types.Filter:
        """Update a filter.

        Members that are not sent stay as they are. Needs the scope `filters:write`."""
        return self._call("PATCH /api/filters/{id}", {"id": id}, {}, body, options)

    def delete_filter(self, id: str, *, options: Options | None = None) -> None:
        """Delete a filter.

        Needs the scope `filters:write`."""
        return self._call("DELETE /api/filters/{id}", {"id": id}, {}, None, options)

    def put_filter(self, slug: str, body: types.CreateFilterRequest, *, options: Options | None = None) -> types.Filter:
        """Create or replace the filter of a slug.

        It becomes what a create would make of the body: what is left out goes back to its default. Needs the scope `filters:write`."""
        return self._call("PUT /api/filters/by-slug/{slug}", {"slug": slug}, {}, body, options)

    def test_conditions(self, body: types.TestConditionsRequest, *, options: Options | None = None) -> types.FilterResult:
        """Try conditions that are not stored.

        Needs the scope `filters:write`."""
        return self._call("POST /api/filters/test", {}, {}, body, options)

    def test_filter(self, id: str, body: types.TestFilterRequest, *, options: Options | None = None) -> types.FilterResult:
        """Try a filter.

        Needs the scope `filters:write`."""
        return self._call("POST /api/filters/{id}/test", {"id": id}, {}, body, options)

    def list_transforms(self, *, page: int | None = None, page_size: int | None = None, search: str | None = None, options: Options | None = None) -> types.TransformPage:
        """List transforms.

        Needs the scope `transforms:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `search`: A part of the name or slug, whatever its case."""
        return self._call("GET /api/transforms", {}, {"page": page, "pageSize": page_size, "search": search}, None, options)

    def each_transforms(self, *, page_size: int | None = None, search: str | None = None, options: Options | None = None) -> Iterator[types.Transform]:
        """The items of all parts of list_transforms, each part asked for when it is needed."""
        return self._each("GET /api/transforms", {}, {"pageSize": page_size, "search": search}, False, options)

    def create_transform(self, body: types.CreateTransformRequest, *, options: Options | None = None) -> types.Transform:
        """Create a transform.

        Needs the scope `transforms:write`."""
        return self._call("POST /api/transforms", {}, {}, body, options)

    def get_transform(self, id: str, *, options: Options | None = None) -> types.Transform:
        """Get a transform.

        Needs the scope `transforms:read`."""
        return self._call("GET /api/transforms/{id}", {"id": id}, {}, None, options)

    def update_transform(self, id: str, body: types.UpdateTransformRequest, *, options: Options | None = None) -> types.Transform:
        """Update a transform.

        Members that are not sent stay as they are. Needs the scope `transforms:write`."""
        return self._call("PATCH /api/transforms/{id}", {"id": id}, {}, body, options)

    def delete_transform(self, id: str, *, options: Options | None = None) -> None:
        """Delete a transform.

        Needs the scope `transforms:write`."""
        return self._call("DELETE /api/transforms/{id}", {"id": id}, {}, None, options)

    def put_transform(self, slug: str, body: types.CreateTransformRequest, *, options: Options | None = None) -> types.Transform:
        """Create or replace the transform of a slug.

        It becomes what a create would make of the body: what is left out goes back to its default. Needs the scope `transforms:write`."""
        return self._call("PUT /api/transforms/by-slug/{slug}", {"slug": slug}, {}, body, options)

    def test_code(self, body: types.TestCodeRequest, *, options: Options | None = None) -> types.TransformResult:
        """Try code that is not stored.

        Needs the scope `transforms:write`."""
        return self._call("POST /api/transforms/test", {}, {}, body, options)

    def test_transform(self, id: str, body: types.TestTransformRequest | None = None, *, options: Options | None = None) -> types.TransformResult:
        """Try a transform.

        Needs the scope `transforms:write`."""
        return self._call("POST /api/transforms/{id}/test", {"id": id}, {}, body, options)

    def list_schemas(self, *, page: int | None = None, page_size: int | None = None, search: str | None = None, options: Options | None = None) -> types.SchemaPage:
        """List schemas.

        Needs the scope `schemas:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `search`: A part of the name or slug, whatever its case."""
        return self._call("GET /api/schemas", {}, {"page": page, "pageSize": page_size, "search": search}, None, options)

    def each_schemas(self, *, page_size: int | None = None, search: str | None = None, options: Options | None = None) -> Iterator[types.Schema]:
        """The items of all parts of list_schemas, each part asked for when it is needed."""
        return self._each("GET /api/schemas", {}, {"pageSize": page_size, "search": search}, False, options)

    def create_schema(self, body: types.CreateSchemaRequest, *, options: Options | None = None) -> types.Schema:
        """Create a schema.

        Needs the scope `schemas:write`."""
        return self._call("POST /api/schemas", {}, {}, body, options)

    def get_schema(self, id: str, *, options: Options | None = None) -> types.Schema:
        """Get a schema.

        Needs the scope `schemas:read`."""
        return self._call("GET /api/schemas/{id}", {"id": id}, {}, None, options)

    def update_schema(self, id: str, body: types.UpdateSchemaRequest, *, options: Options | None = None) -> types.Schema:
        """Update a schema.

        Members that are not sent stay as they are. Needs the scope `schemas:write`."""
        return self._call("PATCH /api/schemas/{id}", {"id": id}, {}, body, options)

    def delete_schema(self, id: str, *, options: Options | None = None) -> None:
        """Delete a schema.

        Needs the scope `schemas:write`."""
        return self._call("DELETE /api/schemas/{id}", {"id": id}, {}, None, options)

    def put_schema(self, slug: str, body: types.CreateSchemaRequest, *, options: Options | None = None) -> types.Schema:
        """Create or replace the schema of a slug.

        It becomes what a create would make of the body: what is left out goes back to its default. Needs the scope `schemas:write`."""
        return self._call("PUT /api/schemas/by-slug/{slug}", {"slug": slug}, {}, body, options)

    def test_schema(self, body: types.TestSchemaRequest, *, options: Options | None = None) -> types.SchemaResult:
        """Try a schema that is not stored.

        Needs the scope `schemas:write`."""
        return self._call("POST /api/schemas/test", {}, {}, body, options)

    def validate_payload(self, id: str, body: types.ValidatePayloadRequest, *, options: Options | None = None) -> types.SchemaResult:
        """Try a schema on a payload.

        Needs the scope `schemas:write`."""
        return self._call("POST /api/schemas/{id}/validate", {"id": id}, {}, body, options)

    @overload
    def list_events(self, *, page_size: int | None = None, cursor: str, with_total: bool | None = None, source_id: str | None = None, status: list[types.EventStatus] | types.EventStatus | None = None, routed: bool | None = None, from_: str | None = None, to: str | None = None, search: str | None = None, route_id: str | None = None, destination_id: str | None = None, org_id: str | None = None, options: Options | None = None) -> types.EventCursorPage: ...

    @overload
    def list_events(self, *, page: int | None = None, page_size: int | None = None, source_id: str | None = None, status: list[types.EventStatus] | types.EventStatus | None = None, routed: bool | None = None, from_: str | None = None, to: str | None = None, search: str | None = None, route_id: str | None = None, destination_id: str | None = None, org_id: str | None = None, options: Options | None = None) -> types.EventPage:
        ...

    def list_events(self, *, page: int | None = None, page_size: int | None = None, cursor: str | None = None, with_total: bool | None = None, source_id: str | None = None, status: list[types.EventStatus] | types.EventStatus | None = None, routed: bool | None = None, from_: str | None = None, to: str | None = None, search: str | None = None, route_id: str | None = None, destination_id: str | None = None, org_id: str | None = None, options: Options | None = None) -> types.EventPage | types.EventCursorPage:
        """List events.

        Needs the scope `events:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `cursor`: `first`, or the `nextCursor` of the answer before: what is new shifts nothing. Instead of `page`.
        `with_total`: With `cursor`: whether to count too.
        `status`: One or several.
        `routed`: Whether a route took it.
        `from_`: An ISO 8601 date and time, or a date; UTC where no zone is given.
        `to`: An ISO 8601 date and time, or a date; UTC where no zone is given.
        `route_id`: It has a delivery of the route.
        `destination_id`: It has a delivery to the destination; of `routeId`, if given."""
        return self._call("GET /api/organizations/{orgId}/events", {"orgId": org_id}, {"page": page, "pageSize": page_size, "cursor": cursor, "withTotal": with_total, "sourceId": source_id, "status": status, "routed": routed, "from": from_, "to": to, "search": search, "routeId": route_id, "destinationId": destination_id}, None, options)

    def each_events(self, *, page_size: int | None = None, source_id: str | None = None, status: list[types.EventStatus] | types.EventStatus | None = None, routed: bool | None = None, from_: str | None = None, to: str | None = None, search: str | None = None, route_id: str | None = None, destination_id: str | None = None, org_id: str | None = None, options: Options | None = None) -> Iterator[types.Event]:
        """The items of all parts of list_events, each part asked for when it is needed."""
        return self._each("GET /api/organizations/{orgId}/events", {"orgId": org_id}, {"pageSize": page_size, "sourceId": source_id, "status": status, "routed": routed, "from": from_, "to": to, "search": search, "routeId": route_id, "destinationId": destination_id}, True, options)

    def get_event(self, id: str, *, include_payload: bool | None = None, include_deliveries: bool | None = None, org_id: str | None = None, options: Options | None = None) -> types.EventInFull:
        """Get an event.

        Needs the scope `events:read`."""
        return self._call("GET /api/organizations/{orgId}/events/{id}", {"id": id, "orgId": org_id}, {"includePayload": include_payload, "includeDeliveries": include_deliveries}, None, options)

    def delete_event(self, id: str, *, org_id: str | None = None, options: Options | None = None) -> None:
        """Delete an event.

        Also deletes its deliveries and its payload. Needs the scope `events:write`."""
        return self._call("DELETE /api/organizations/{orgId}/events/{id}", {"id": id, "orgId": org_id}, {}, None, options)

    def get_event_payload(self, id: str, *, org_id: str | None = None, options: Options | None = None) -> Raw:
        """Get an event's payload as it was received.

        Needs the scope `payloads:read`."""
        return self._call("GET /api/organizations/{orgId}/events/{id}/payload", {"id": id, "orgId": org_id}, {}, None, options)

    def get_event_timeline(self, id: str, *, org_id: str | None = None, options: Options | None = None) -> types.EventTimeline:
        """Get an event's timeline.

        Needs the scope `events:read`."""
        return self._call("GET /api/organizations/{orgId}/events/{id}/timeline", {"id": id, "orgId": org_id}, {}, None, options)

    def replay_event(self, id: str, body: types.ReplayEventRequest | None = None, *, org_id: str | None = None, options: Options | None = None) -> types.ReplayEventResult:
        """Replay an event.

        Destinations to which a delivery is still under way are passed over. Needs the scope `events:write`."""
        return self._call("POST /api/organizations/{orgId}/events/{id}/replay", {"id": id, "orgId": org_id}, {}, body, options)

    def replay_events(self, body: types.ReplayEventsRequest, *, org_id: str | None = None, options: Options | None = None) -> types.ReplayEventsResult:
        """Replay up to 100 events.

        Ids that do not exist are passed over, and destinations to which a delivery is still under way. Needs the scope `events:write`."""
        return self._call("POST /api/organizations/{orgId}/events/bulk/replay", {"orgId": org_id}, {}, body, options)

    def create_event_replay(self, body: types.CreateEventReplayRequest, *, org_id: str | None = None, options: Options | None = None) -> types.EventReplay | types.EventReplayDryRun:
        """Replay events chosen by a filter.

        The filters are those of the list. `dryRun` counts and changes nothing. Needs the scope `events:write`."""
        return self._call("POST /api/organizations/{orgId}/events/replay", {"orgId": org_id}, {}, body, options)

    def list_event_replays(self, *, page: int | None = None, page_size: int | None = None, org_id: str | None = None, options: Options | None = None) -> types.EventReplayPage:
        """List replays.

        Needs the scope `events:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100."""
        return self._call("GET /api/organizations/{orgId}/events/replays", {"orgId": org_id}, {"page": page, "pageSize": page_size}, None, options)

    def each_event_replays(self, *, page_size: int | None = None, org_id: str | None = None, options: Options | None = None) -> Iterator[types.EventReplay]:
        """The items of all parts of list_event_replays, each part asked for when it is needed."""
        return self._each("GET /api/organizations/{orgId}/events/replays", {"orgId": org_id}, {"pageSize": page_size}, False, options)

    def get_event_replay(self, id: str, *, org_id: str | None = None, options: Options | None = None) -> types.EventReplay:
        """Get a replay.

        Needs the scope `events:read`."""
        return self._call("GET /api/organizations/{orgId}/events/replays/{id}", {"id": id, "orgId": org_id}, {}, None, options)

    def cancel_event_replay(self, id: str, *, org_id: str | None = None, options: Options | None = None) -> types.EventReplay:
        """Cancel a replay.

        Needs the scope `events:write`."""
        return self._call("POST /api/organizations/{orgId}/events/replays/{id}/cancel", {"id": id, "orgId": org_id}, {}, None, options)

    @overload
    def list_deliveries(self, *, page_size: int | None = None, cursor: str, with_total: bool | None = None, event_id: str | None = None, source_id: str | None = None, route_id: str | None = None, destination_id: str | None = None, status: list[types.DeliveryStatus] | types.DeliveryStatus | None = None, status_code: int | None = None, code_class: types.StatusCodeClass | None = None, error: str | None = None, lane: types.DeliveryLane | None = None, from_: str | None = None, to: str | None = None, options: Options | None = None) -> types.DeliveryCursorPage: ...

    @overload
    def list_deliveries(self, *, page: int | None = None, page_size: int | None = None, event_id: str | None = None, source_id: str | None = None, route_id: str | None = None, destination_id: str | None = None, status: list[types.DeliveryStatus] | types.DeliveryStatus | None = None, status_code: int | None = None, code_class: types.StatusCodeClass | None = None, error: str | None = None, lane: types.DeliveryLane | None = None, from_: str | None = None, to: str | None = None, options: Options | None = None) -> types.DeliveryPage:
        ...

    def list_deliveries(self, *, page: int | None = None, page_size: int | None = None, cursor: str | None = None, with_total: bool | None = None, event_id: str | None = None, source_id: str | None = None, route_id: str | None = None, destination_id: str | None = None, status: list[types.DeliveryStatus] | types.DeliveryStatus | None = None, status_code: int | None = None, code_class: types.StatusCodeClass | None = None, error: str | None = None, lane: types.DeliveryLane | None = None, from_: str | None = None, to: str | None = None, options: Options | None = None) -> types.DeliveryPage | types.DeliveryCursorPage:
        """List deliveries.

        Needs the scope `deliveries:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `cursor`: `first`, or the `nextCursor` of the answer before: what is new shifts nothing. Instead of `page`.
        `with_total`: With `cursor`: whether to count too.
        `status`: One or several.
        `status_code`: Of the latest attempt.
        `code_class`: Of the latest attempt; `none`: it had no answer.
        `error`: A part of the error of the latest attempt.
        `lane`: Of the first attempt.
        `from_`: An ISO 8601 date and time, or a date; UTC where no zone is given.
        `to`: An ISO 8601 date and time, or a date; UTC where no zone is given."""
        return self._call("GET /api/deliveries", {}, {"page": page, "pageSize": page_size, "cursor": cursor, "withTotal": with_total, "eventId": event_id, "sourceId": source_id, "routeId": route_id, "destinationId": destination_id, "status": status, "statusCode": status_code, "codeClass": code_class, "error": error, "lane": lane, "from": from_, "to": to}, None, options)

    def each_deliveries(self, *, page_size: int | None = None, event_id: str | None = None, source_id: str | None = None, route_id: str | None = None, destination_id: str | None = None, status: list[types.DeliveryStatus] | types.DeliveryStatus | None = None, status_code: int | None = None, code_class: types.StatusCodeClass | None = None, error: str | None = None, lane: types.DeliveryLane | None = None, from_: str | None = None, to: str | None = None, options: Options | None = None) -> Iterator[types.Delivery]:
        """The items of all parts of list_deliveries, each part asked for when it is needed."""
        return self._each("GET /api/deliveries", {}, {"pageSize": page_size, "eventId": event_id, "sourceId": source_id, "routeId": route_id, "destinationId": destination_id, "status": status, "statusCode": status_code, "codeClass": code_class, "error": error, "lane": lane, "from": from_, "to": to}, True, options)

    def get_delivery(self, id: str, *, options: Options | None = None) -> types.DeliveryWithAttempts:
        """Get a delivery with its attempts.

        Needs the scope `deliveries:read`."""
        return self._call("GET /api/deliveries/{id}", {"id": id}, {}, None, options)

    def retry_delivery(self, id: str, *, options: Options | None = None) -> types.RetryDeliveryResult:
        """Make the next attempt now.

        Needs the scope `deliveries:write`."""
        return self._call("POST /api/deliveries/{id}/retry", {"id": id}, {}, None, options)

    def cancel_delivery(self, id: str, *, options: Options | None = None) -> types.DeliveryWithAttempts:
        """Cancel a delivery that is under way.

        Needs the scope `deliveries:write`."""
        return self._call("POST /api/deliveries/{id}/cancel", {"id": id}, {}, None, options)

    def replay_delivery(self, id: str, *, options: Options | None = None) -> types.ReplayDeliveryResult:
        """Deliver the event to the same destination again.

        Not while it is under way, nor once a later delivery has replaced it. Needs the scope `deliveries:write`."""
        return self._call("POST /api/deliveries/{id}/replay", {"id": id}, {}, None, options)

    def act_on_deliveries(self, body: types.ActOnDeliveriesRequest, *, options: Options | None = None) -> types.ActOnDeliveriesResult:
        """Retry, replay or cancel the deliveries that match a filter.

        The filters are those of the list, at least one. Each call acts on a bounded number, the newest first; call again with `nextCursor` until it is null. Deliveries that are made meanwhile, by a replay for example, do not match. Needs the scope `deliveries:write`."""
        return self._call("POST /api/deliveries/bulk", {}, {}, body, options)

    @overload
    def list_issues(self, *, page_size: int | None = None, cursor: str, with_total: bool | None = None, state: types.IssueState | None = None, kind: types.IssueKind | None = None, source_id: str | None = None, route_id: str | None = None, destination_id: str | None = None, options: Options | None = None) -> types.IssueCursorPage: ...

    @overload
    def list_issues(self, *, page: int | None = None, page_size: int | None = None, state: types.IssueState | None = None, kind: types.IssueKind | None = None, source_id: str | None = None, route_id: str | None = None, destination_id: str | None = None, options: Options | None = None) -> types.IssuePage:
        ...

    def list_issues(self, *, page: int | None = None, page_size: int | None = None, cursor: str | None = None, with_total: bool | None = None, state: types.IssueState | None = None, kind: types.IssueKind | None = None, source_id: str | None = None, route_id: str | None = None, destination_id: str | None = None, options: Options | None = None) -> types.IssuePage | types.IssueCursorPage:
        """List issues.

        Failures that last, one for each kind, source, route, destination and cause. Some seconds behind. Needs the scope `issues:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `cursor`: `first`, or the `nextCursor` of the answer before: what is new shifts nothing. Instead of `page`.
        `with_total`: With `cursor`: whether to count too.
        `source_id`: Issues of the source, and of its routes."""
        return self._call("GET /api/issues", {}, {"page": page, "pageSize": page_size, "cursor": cursor, "withTotal": with_total, "state": state, "kind": kind, "sourceId": source_id, "routeId": route_id, "destinationId": destination_id}, None, options)

    def each_issues(self, *, page_size: int | None = None, state: types.IssueState | None = None, kind: types.IssueKind | None = None, source_id: str | None = None, route_id: str | None = None, destination_id: str | None = None, options: Options | None = None) -> Iterator[types.Issue]:
        """The items of all parts of list_issues, each part asked for when it is needed."""
        return self._each("GET /api/issues", {}, {"pageSize": page_size, "state": state, "kind": kind, "sourceId": source_id, "routeId": route_id, "destinationId": destination_id}, True, options)

    def get_issue(self, id: str, *, options: Options | None = None) -> types.Issue:
        """Get an issue.

        Needs the scope `issues:read`."""
        return self._call("GET /api/issues/{id}", {"id": id}, {}, None, options)

    def update_issue(self, id: str, body: types.UpdateIssueRequest, *, options: Options | None = None) -> types.Issue:
        """Acknowledge, ignore, resolve or open an issue.

        Needs the scope `issues:write`."""
        return self._call("PATCH /api/issues/{id}", {"id": id}, {}, body, options)

    def retry_issue(self, id: str, body: types.RetryIssueRequest | None = None, *, options: Options | None = None) -> types.RetryIssueResult:
        """Deliver again what failed because of an issue.

        Makes a new delivery of each one that failed since the issue opened and was not replayed, at most 1000, the newest first; the rest with further calls, each with `before` as the last one said in `next`. Needs the scope `deliveries:write` too. Needs the scope `issues:write`."""
        return self._call("POST /api/issues/{id}/retry", {"id": id}, {}, body, options)

    def get_metrics(self, *, metric: types.MetricName | None = None, group_by: types.MetricGroup | None = None, from_: str | None = None, to: str | None = None, step: int | None = None, source_id: str | None = None, route_id: str | None = None, destination_id: str | None = None, options: Options | None = None) -> types.Metrics:
        """Get the organization's figures over time.

        Exact: each figure is committed with what it counts; refused webhooks are counted seconds later. Steps of less than an hour reach back a day. Needs the scope `deliveries:read`.

        `metric`: What is counted.
        `group_by`: One series for each, at most 50 (of latencies 10), with 3000 steps in all: those with most. Without it there is one series, or none when there is nothing.
        `from_`: At most 31 days ago; by default a day before `to`.
        `to`: By default now.
        `step`: Seconds. Steps begin at multiples of it since 1970 (UTC)."""
        return self._call("GET /api/metrics", {}, {"metric": metric, "groupBy": group_by, "from": from_, "to": to, "step": step, "sourceId": source_id, "routeId": route_id, "destinationId": destination_id}, None, options)

    def get_delivery_request(self, id: str, *, attempt: int | None = None, include_body: bool | None = None, options: Options | None = None) -> types.DeliveryRequest:
        """Get the request as it was or will be sent.

        It is made again of the event, of the destination as it is now, and of the transform by which the delivery was made. Needs the scope `deliveries:read`.

        `attempt`: Which attempt, from 1 on, the next one included. By default the latest that was made, else the first.
        `include_body`: Default true, which needs `payloads:read`."""
        return self._call("GET /api/deliveries/{id}/request", {"id": id}, {"attempt": attempt, "includeBody": include_body}, None, options)

    def list_alert_channels(self, *, page: int | None = None, page_size: int | None = None, enabled: bool | None = None, search: str | None = None, options: Options | None = None) -> types.AlertChannelPage:
        """List alert channels.

        Needs the scope `alerts:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `search`: A part of the name, whatever its case."""
        return self._call("GET /api/alert-channels", {}, {"page": page, "pageSize": page_size, "enabled": enabled, "search": search}, None, options)

    def each_alert_channels(self, *, page_size: int | None = None, enabled: bool | None = None, search: str | None = None, options: Options | None = None) -> Iterator[types.AlertChannel]:
        """The items of all parts of list_alert_channels, each part asked for when it is needed."""
        return self._each("GET /api/alert-channels", {}, {"pageSize": page_size, "enabled": enabled, "search": search}, False, options)

    def create_alert_channel(self, body: types.CreateAlertChannelRequest, *, options: Options | None = None) -> types.AlertChannel:
        """Create an alert channel.

        Needs the scope `alerts:write`."""
        return self._call("POST /api/alert-channels", {}, {}, body, options)

    def get_alert_channel(self, id: str, *, options: Options | None = None) -> types.AlertChannel:
        """Get an alert channel.

        Needs the scope `alerts:read`."""
        return self._call("GET /api/alert-channels/{id}", {"id": id}, {}, None, options)

    def update_alert_channel(self, id: str, body: types.UpdateAlertChannelRequest, *, options: Options | None = None) -> types.AlertChannel:
        """Update an alert channel.

        Members that are not sent stay as they are; `config` is replaced as a whole, but for a secret that is left out or sent back masked. Needs the scope `alerts:write`."""
        return self._call("PATCH /api/alert-channels/{id}", {"id": id}, {}, body, options)

    def delete_alert_channel(self, id: str, *, options: Options | None = None) -> None:
        """Delete an alert channel.

        Messages on their way are not sent any more. Incidents that it opened elsewhere stay open. Needs the scope `alerts:write`."""
        return self._call("DELETE /api/alert-channels/{id}", {"id": id}, {}, None, options)

    def test_alert_channel(self, id: str, *, options: Options | None = None) -> types.AlertTestResult:
        """Send a test message.

        At once, whatever its rules are. Whatever goes wrong on the way is in the result. Needs the scope `alerts:write`."""
        return self._call("POST /api/alert-channels/{id}/test", {"id": id}, {}, None, options)

    def rotate_alert_channel_secret(self, id: str, body: types.RotateSigningSecretRequest, *, options: Options | None = None) -> types.AlertChannel:
        """Rotate the secret of a signed webhook.

        Messages carry two signatures, of the new secret and of the one before, until the overlap ends. Needs the scope `alerts:write`."""
        return self._call("POST /api/alert-channels/{id}/rotate-secret", {"id": id}, {}, body, options)

    def get_usage(self, *, options: Options | None = None) -> types.Usage:
        """Get the limits and what is used of them.

        Needs the scope `organization:read`."""
        return self._call("GET /api/organization/usage", {}, {}, None, options)

    def list_daily_usage(self, *, from_: str | None = None, to: str | None = None, options: Options | None = None) -> types.DaysOfUse:
        """List the use by day.

        Days without use are left out. With `Accept: text/csv` the answer is a table. At most 400 days. Needs the scope `organization:read`.

        `from_`: A day (UTC), such as 2026-11-21.
        `to`: A day (UTC), such as 2026-11-21."""
        return self._call("GET /api/organization/usage/daily", {}, {"from": from_, "to": to}, None, options)

    def get_caller(self, *, options: Options | None = None) -> types.Caller:
        """Get the organization and the key of the request.

        Every key may."""
        return self._call("GET /api/auth/me", {}, {}, None, options)

    def list_api_keys(self, *, page: int | None = None, page_size: int | None = None, options: Options | None = None) -> types.ApiKeyPage:
        """List API keys.

        Needs the scope `keys:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100."""
        return self._call("GET /api/api-keys", {}, {"page": page, "pageSize": page_size}, None, options)

    def each_api_keys(self, *, page_size: int | None = None, options: Options | None = None) -> Iterator[types.ApiKey]:
        """The items of all parts of list_api_keys, each part asked for when it is needed."""
        return self._each("GET /api/api-keys", {}, {"pageSize": page_size}, False, options)

    def create_api_key(self, body: types.CreateApiKeyRequest, *, options: Options | None = None) -> types.NewApiKey:
        """Create an API key.

        Needs the scope `keys:write`."""
        return self._call("POST /api/api-keys", {}, {}, body, options)

    def revoke_api_key(self, id: str, *, options: Options | None = None) -> None:
        """Revoke an API key.

        Requests with it are refused from now on. One that may create keys is revoked only when another stays that may, for as long and from all of its addresses. Needs the scope `keys:write`."""
        return self._call("DELETE /api/api-keys/{id}", {"id": id}, {}, None, options)

    @overload
    def list_audit_records(self, *, page_size: int | None = None, cursor: str, with_total: bool | None = None, from_: str | None = None, to: str | None = None, key_id: str | None = None, action: str | None = None, resource: str | None = None, record_id: str | None = None, outcome: types.AuditRecordOutcome | None = None, options: Options | None = None) -> types.AuditRecordCursorPage: ...

    @overload
    def list_audit_records(self, *, page: int | None = None, page_size: int | None = None, from_: str | None = None, to: str | None = None, key_id: str | None = None, action: str | None = None, resource: str | None = None, record_id: str | None = None, outcome: types.AuditRecordOutcome | None = None, options: Options | None = None) -> types.AuditRecordPage:
        ...

    def list_audit_records(self, *, page: int | None = None, page_size: int | None = None, cursor: str | None = None, with_total: bool | None = None, from_: str | None = None, to: str | None = None, key_id: str | None = None, action: str | None = None, resource: str | None = None, record_id: str | None = None, outcome: types.AuditRecordOutcome | None = None, options: Options | None = None) -> types.AuditRecordPage | types.AuditRecordCursorPage:
        """List who did what.

        Every request that may change something, and those that read payloads or secrets in clear. Kept for `HOOKYARD_AUDIT_RETENTION_DAYS`; nobody can change a record. Needs the scope `audit:read`.

        `page`: Which page, from 1 on.
        `page_size`: Items on a page; more than 100 are served as 100.
        `cursor`: `first`, or the `nextCursor` of the answer before: what is new shifts nothing. Instead of `page`.
        `with_total`: With `cursor`: whether to count too.
        `from_`: An ISO 8601 date and time, or a date; UTC where no zone is given.
        `to`: An ISO 8601 date and time, or a date; UTC where no zone is given.
        `action`: The id of an operation of this description.
        `resource`: The kind of records, as scopes name it.
        `record_id`: The id of any record: what was done to it."""
        return self._call("GET /api/audit", {}, {"page": page, "pageSize": page_size, "cursor": cursor, "withTotal": with_total, "from": from_, "to": to, "keyId": key_id, "action": action, "resource": resource, "recordId": record_id, "outcome": outcome}, None, options)

    def each_audit_records(self, *, page_size: int | None = None, from_: str | None = None, to: str | None = None, key_id: str | None = None, action: str | None = None, resource: str | None = None, record_id: str | None = None, outcome: types.AuditRecordOutcome | None = None, options: Options | None = None) -> Iterator[types.AuditRecord]:
        """The items of all parts of list_audit_records, each part asked for when it is needed."""
        return self._each("GET /api/audit", {}, {"pageSize": page_size, "from": from_, "to": to, "keyId": key_id, "action": action, "resource": resource, "recordId": record_id, "outcome": outcome}, True, options)

    def is_alive(self, *, options: Options | None = None) -> types.Well:
        """Whether the process lives.

        It asks neither PostgreSQL nor Temporal."""
        return self._call("GET /healthz", {}, {}, None, options)

    def is_ready(self, *, deep: types.IsReadyDeep | None = None, options: Options | None = None) -> types.Ready:
        """Whether webhooks should be sent to this process.

        It is ready when PostgreSQL can be reached and takes writes, and when the process was not told to end. What it finds holds for half a second."""
        return self._call("GET /readyz", {}, {"deep": deep}, None, options)

    def get_description(self, *, options: Options | None = None) -> types.Description:
        """This description.

        Of this instance: another version may have other operations."""
        return self._call("GET /openapi.json", {}, {}, None, options)

    def sign_in(self, body: types.SignInRequest, *, options: Options | None = None) -> types.ConsoleKey:
        """Exchange the code of a sign-in link for a key.

        A start prints a link to the console with a code, which is good once, for ten minutes. The key is that of a session: it expires after twelve hours."""
        return self._call("POST /api/auth/sign-in", {}, {}, body, options)

    def get_status(self, *, organizations: bool | None = None, options: Options | None = None) -> types.InstallationStatus:
        """Get the state of the installation.

        For its operator, with the operator's key. What the database says is at most about a second old. Without such a key it is 404.

        `organizations`: Lists the organizations with most that waits, at most 100."""
        return self._call("GET /api/status", {}, {"organizations": organizations}, None, options)
