# Made of docs/openapi.json by npm run prepare; do not edit.
"""What the API takes and answers."""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


ActOnDeliveriesRequest = TypedDict(
    "ActOnDeliveriesRequest",
    {
        "eventId": "NotRequired[str]",
        "sourceId": "NotRequired[str]",
        "routeId": "NotRequired[str]",
        "destinationId": "NotRequired[str]",
        "status": "NotRequired[DeliveryStatus | list[DeliveryStatus]]",
        # Of the latest attempt.
        "statusCode": "NotRequired[int]",
        "codeClass": "NotRequired[StatusCodeClass]",
        # A part of the error of the latest attempt.
        "error": "NotRequired[str]",
        # Of the first attempt.
        "lane": "NotRequired[DeliveryLane]",
        # An ISO 8601 date and time, or a date; UTC where no zone is given.
        "from": "NotRequired[str]",
        # An ISO 8601 date and time, or a date; UTC where no zone is given.
        "to": "NotRequired[str]",
        "action": "ActOnDeliveriesRequestAction",
        # `first`, or the `nextCursor` of the answer before.
        "cursor": "NotRequired[str]",
        # Deliveries of this call, at most.
        "limit": "NotRequired[int]",
        # Counts all that match, and changes nothing.
        "dryRun": "NotRequired[bool]",
    },
)


ActOnDeliveriesRequestAction: TypeAlias = 'Literal["retry", "replay", "cancel"]'


class ActOnDeliveriesResult(TypedDict):
    message: "str"
    deliveriesFound: "int"
    """That match: in this call, or all of them with `dryRun`."""
    deliveriesChanged: "int"
    """The others had changed meanwhile, or cannot be replayed: they are under way, or a later one has replaced them."""
    nextCursor: "str | None"
    """The `cursor` of the next call. Null: there is nothing more."""


class AlertChannel(TypedDict):
    id: "str"
    name: "str"
    type: "AlertChannelType"
    config: "dict[str, str]"
    """Its secrets are shown as •••• and their last four characters: the addresses of Slack and Teams are secrets."""
    enabled: "bool"
    kinds: "list[IssueKind] | None"
    """Of issues. Null: all."""
    sourceIds: "list[str] | None"
    routeIds: "list[str] | None"
    destinationIds: "list[str] | None"
    afterCount: "int"
    """An issue is told from this count on."""
    onAcknowledged: "bool"
    """Whether it is told that somebody acknowledged an issue."""
    onResolved: "bool"
    """Whether it is told that an issue was resolved or ignored."""
    throttleMinutes: "int"
    """Between two messages about an issue."""
    quietHours: "QuietHours | None"
    """Every day. What changes meanwhile, and is not undone, is told afterwards."""
    digestMinutes: "int | None"
    """One message with all changes, every so many minutes. Null: one each."""
    withheldEmails: "list[str]"
    """Addresses that get no mail: their owners have not agreed, or the operator does not accept their domain."""
    previousSecretUntil: "Timestamp | None"
    """Until then webhooks are signed with the secret before this one too."""
    failingSince: "Timestamp | None"
    """Since when its messages were given up; null after one that arrived."""
    lastError: "str | None"
    lastSentAt: "Timestamp | None"
    createdAt: "Timestamp"
    updatedAt: "Timestamp"


class AlertChannelPage(TypedDict):
    data: "list[AlertChannel]"
    pagination: "Pagination"


AlertChannelType: TypeAlias = 'Literal["mail", "webhook", "slack", "teams", "pagerduty"]'


AlertTestResult: TypeAlias = "AlertTestSuccess | HttpTestFailure"


class AlertTestSuccess(TypedDict):
    success: "Literal[True]"
    statusCode: "int | None"
    """Null for mails."""
    latency: "int"
    """ms"""
    responseBody: "str | None"
    message: "str"


class ApiKey(TypedDict):
    id: "str"
    name: "str"
    scopes: "list[ApiKeyScope]"
    allowedAddresses: "list[str] | None"
    """The ranges of addresses that it may be used from; null: every address."""
    tokenHint: "str"
    """Its last four characters."""
    expiresAt: "Timestamp | None"
    lastUsedAt: "Timestamp | None"
    createdAt: "Timestamp"


class ApiKeyAuth(TypedDict):
    headerName: "str"
    key: "str"


class ApiKeyPage(TypedDict):
    data: "list[ApiKey]"
    pagination: "Pagination"


ApiKeyScope: TypeAlias = 'Literal["read", "write", "sources:read", "sources:write", "destinations:read", "destinations:write", "routes:read", "routes:write", "filters:read", "filters:write", "transforms:read", "transforms:write", "schemas:read", "schemas:write", "events:read", "events:write", "payloads:read", "deliveries:read", "deliveries:write", "issues:read", "issues:write", "alerts:read", "alerts:write", "keys:read", "keys:write", "organization:read", "audit:read", "secrets:read"]'


class Attempt(TypedDict):
    attemptNumber: "int"
    startedAt: "Timestamp"
    completedAt: "Timestamp"
    status: "AttemptStatus"
    statusCode: "int | None"
    """Null when there was no response."""
    latency: "int"
    """ms"""
    connection: "AttemptConnection | None"
    """Null when none was tried, or it is not known."""
    timings: "AttemptTimings | None"
    """ms. A step that was not made, or not finished, is null; all is null when it is not known."""
    error: "str | None"
    requestHeaders: "StringMap | None"
    """As they were sent, secrets masked."""
    responseHeaders: "StringMap | None"
    responseBody: "str | None"


class AttemptConnection(TypedDict):
    address: "str"
    """The IP address that it went to, or was tried last."""
    port: "int"
    reused: "bool"
    """Whether it was kept from an earlier attempt: then no step of it took time."""


AttemptStatus: TypeAlias = 'Literal["success", "failed"]'


class AttemptTimings(TypedDict):
    dns: "float | None"
    """Look-up of the name; null for an IP address."""
    connect: "float | None"
    """TCP connection, other addresses of the name that did not answer included."""
    tls: "float | None"
    """TLS handshake; null without TLS."""
    firstByte: "float | None"
    """From the request on the connection to the first byte of the answer."""
    total: "int"
    """ms"""


class AuditRecord(TypedDict):
    id: "str"
    at: "Timestamp"
    actor: "AuditRecordActor"
    keyId: "str | None"
    keyName: "str | None"
    address: "str | None"
    userAgent: "str | None"
    requestId: "str | None"
    action: "str"
    """The id of the operation, the command of an operator, or `rememberSecret` of a provider."""
    resource: "str"
    """The kind of records, as scopes name it."""
    recordIds: "list[str]"
    """The first 100 of them."""
    recordCount: "int"
    members: "list[str]"
    """The names of what was sent, never a value."""
    outcome: "AuditRecordOutcome"
    """`refused`: the request was wrong or not allowed; `failed`: the service could not do it."""
    status: "int | None"
    """Of a request that was refused or failed."""
    code: "str | None"


AuditRecordActor: TypeAlias = 'Literal["key", "operator", "provider"]'
"""An operator works on the database itself, or has given somebody a sign-in link; a provider has sent the secret of its source."""


class AuditRecordCursorPage(TypedDict):
    data: "list[AuditRecord]"
    pagination: "CursorPagination"


AuditRecordOutcome: TypeAlias = 'Literal["done", "refused", "failed"]'


class AuditRecordPage(TypedDict):
    data: "list[AuditRecord]"
    pagination: "Pagination"


class AzureBlobConfig(TypedDict):
    accountName: "str"
    credentials: "NotRequired[AzureBlobConfigCredentials]"
    accountKey: "NotRequired[str]"
    sasToken: "NotRequired[str]"
    containerName: "str"
    endpoint: "NotRequired[str]"
    prefix: "NotRequired[str]"
    fileFormat: "NotRequired[WarehouseFileFormat]"
    compression: "NotRequired[WarehouseCompression]"
    """Of the whole file; in a Parquet file of its pages. snappy is for Parquet only."""
    payloadColumn: "NotRequired[WarehousePayloadColumn]"
    partitionBy: "NotRequired[WarehousePartition]"
    keyOrder: "NotRequired[AzureBlobConfigKeyOrder]"
    batchSize: "NotRequired[int | str]"
    """Events."""
    batchBytes: "NotRequired[int | str]"
    """Bytes of payloads."""
    batchWindowSeconds: "NotRequired[int | str]"


AzureBlobConfigCredentials: TypeAlias = 'Literal["keys", "sas", "identity"]'
"""Without it: keys. identity: that of this service, if its operator allows it."""


AzureBlobConfigKeyOrder: TypeAlias = 'Literal["written", "received"]'
"""How the keys of a folder sort: by the time of writing, or by that of the first event."""


class AzureBlobDestinationInput(TypedDict):
    name: "str"
    type: 'Literal["azure_blob"]'
    enabled: "NotRequired[bool]"
    config: "AzureBlobConfig"
    fieldMapping: "NotRequired[list[FieldMappingRuleInput] | None]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"


class BasicAuth(TypedDict):
    username: "str"
    password: "str"


class BasicVerification(TypedDict):
    type: 'Literal["basic"]'
    secret: "str"


class Batch(TypedDict):
    id: "str"
    status: "BatchStatus"
    partition: "str | None"
    key: "str | None"
    fileFormat: "WarehouseFileFormat | None"
    compression: "WarehouseCompression | None"
    count: "int | None"
    """Events; once it is written, rows."""
    bytes: "int | None"
    convertedCount: "int | None"
    """Values that did not fit their column."""
    conversions: "list[Conversion] | None"
    sha256: "str | None"
    firstReceivedAt: "Timestamp | None"
    """Of the events in its rows; null until it is written."""
    lastReceivedAt: "Timestamp | None"
    attempts: "int"
    lastError: "str | None"
    createdAt: "Timestamp"
    frozenAt: "Timestamp | None"
    writtenAt: "Timestamp | None"
    finishedAt: "Timestamp | None"


class BatchCursorPage(TypedDict):
    data: "list[Batch]"
    pagination: "CursorPagination"


class BatchPage(TypedDict):
    data: "list[Batch]"
    pagination: "Pagination"


BatchStatus: TypeAlias = 'Literal["open", "frozen", "uploading", "written", "failed"]'


class BearerAuth(TypedDict):
    token: "str"


class BodyTokenVerification(TypedDict):
    type: 'Literal["body_token"]'
    secret: "str"
    path: "str"


BooleanText: TypeAlias = 'Literal["true", "false"]'


class Caller(TypedDict):
    organization: "CallerOrganization"
    organizations: "list[CallerOrganization]"
    """The same one: a key belongs to one organization. For clients that expect a list."""
    key: "CallerKey"


class CallerKey(TypedDict):
    id: "str"
    name: "str"
    scopes: "list[ApiKeyScope]"
    allowedAddresses: "list[str] | None"
    """The ranges of addresses that it may be used from; null: every address."""
    expiresAt: "Timestamp | None"


class CallerOrganization(TypedDict):
    id: "str"
    name: "str"
    slug: "str"
    plan: "Plan"


CircuitState: TypeAlias = 'Literal["closed", "open", "half_open"]'


class CircuitStatus(TypedDict):
    circuitState: "CircuitState"
    failureCount: "int"
    """Failed attempts in a row."""
    failureThreshold: "int"
    cooldownSeconds: "int"
    lastFailureAt: "Timestamp | None"
    lastSuccessAt: "Timestamp | None"
    openedAt: "Timestamp | None"
    """Null when it is not open."""
    probeSuccessCount: "int"
    probeSuccessThreshold: "int"
    paused: "bool"
    """Whether its deliveries wait until it is resumed."""
    pausedSince: "Timestamp | None"
    """Null when it is not paused."""
    pausedUntil: "Timestamp | None"
    """When the pause ends by itself; null: it does not."""
    pauseReason: "str | None"


class ConfigureCircuitRequest(TypedDict):
    circuitCooldownSeconds: "NotRequired[int]"
    circuitFailureThreshold: "NotRequired[int]"
    circuitProbeSuccessThreshold: "NotRequired[int]"


class ConfigureCircuitResult(TypedDict):
    circuitCooldownSeconds: "int"
    circuitFailureThreshold: "int"
    circuitProbeSuccessThreshold: "int"
    message: "str"


ConflictStrategy: TypeAlias = 'Literal["skip", "rename", "overwrite"]'
"""What happens to an item that is there already."""


class ConsoleKey(TypedDict):
    token: "str"
    """A key with the scopes `read` and `write`."""
    expiresAt: "Timestamp"


class Conversion(TypedDict):
    """A column, how many values did not fit it, and the event of the first."""

    target: "str"
    count: "int"
    eventId: "str"


class CreateAlertChannelRequest(TypedDict):
    name: "str"
    type: "AlertChannelType"
    config: "MailChannel | WebhookChannel | SlackChannel | TeamsChannel | PagerDutyChannel"
    """What it holds depends on `type`."""
    enabled: "NotRequired[bool]"
    kinds: "NotRequired[list[IssueKind] | None]"
    """Of issues. Null: all."""
    sourceIds: "NotRequired[list[str] | None]"
    """Only issues of these sources. Null: all."""
    routeIds: "NotRequired[list[str] | None]"
    """Only issues of these routes. Null: all."""
    destinationIds: "NotRequired[list[str] | None]"
    """Only issues of these destinations. Null: all."""
    afterCount: "NotRequired[int]"
    """An issue is told from this count on."""
    onAcknowledged: "NotRequired[bool]"
    """Whether it is told that somebody acknowledged an issue."""
    onResolved: "NotRequired[bool]"
    """Whether it is told that an issue was resolved or ignored."""
    throttleMinutes: "NotRequired[int]"
    """Between two messages about an issue."""
    quietHours: "NotRequired[QuietHours | None]"
    """Every day. What changes meanwhile, and is not undone, is told afterwards."""
    digestMinutes: "NotRequired[int | None]"
    """One message with all changes, every so many minutes. Null: one each."""


class CreateApiKeyRequest(TypedDict):
    name: "str"
    scopes: "NotRequired[list[ApiKeyScope]]"
    allowedAddresses: "NotRequired[list[str] | None]"
    """Addresses or ranges that it may be used from; null: every address. Left out: as the request's own key."""
    expiresAt: "NotRequired[str | None]"


CreateDestinationRequest: TypeAlias = "HttpDestinationInput | S3DestinationInput | R2DestinationInput | GcsDestinationInput | AzureBlobDestinationInput"


CreateEventReplayRequest = TypedDict(
    "CreateEventReplayRequest",
    {
        "sourceId": "NotRequired[str]",
        "status": "NotRequired[EventStatus]",
        "routed": "NotRequired[bool]",
        # An ISO 8601 date and time, or a date; UTC where no zone is given.
        "from": "NotRequired[str]",
        # An ISO 8601 date and time, or a date; UTC where no zone is given.
        "to": "NotRequired[str]",
        "search": "NotRequired[str]",
        "all": "NotRequired[bool]",
        "destinationIds": "NotRequired[list[str]]",
        "ratePerSecond": "NotRequired[int]",
        "dryRun": "NotRequired[bool]",
    },
)


class CreateFilterRequest(TypedDict):
    name: "str"
    conditions: "list[FilterConditionInput]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"
    logic: "NotRequired[FilterLogic]"


class CreateRouteRequest(TypedDict):
    name: "str"
    sourceId: "str"
    destinationIds: "list[str]"
    description: "NotRequired[str | None]"
    transformId: "NotRequired[str | None]"
    filterId: "NotRequired[str | None]"
    schemaId: "NotRequired[str | None]"
    priority: "NotRequired[int]"
    """Higher values run first."""
    filterConditions: "NotRequired[list[FilterConditionInput] | None]"
    filterLogic: "NotRequired[FilterLogic]"
    failoverDestinationIds: "NotRequired[list[str]]"
    failoverAfterAttempts: "NotRequired[int]"
    circuitCooldownSeconds: "NotRequired[int]"
    circuitFailureThreshold: "NotRequired[int]"
    circuitProbeSuccessThreshold: "NotRequired[int]"
    notifyOnFailure: "NotRequired[bool]"
    notifyOnSuccess: "NotRequired[bool]"
    notifyOnRecovery: "NotRequired[bool]"
    notifyEmails: "NotRequired[str | None]"
    expectedResponse: "NotRequired[RouteExpectedResponse | None]"
    """What of the destination's answer counts as success; null: any 2xx."""
    lane: "NotRequired[RouteLane | None]"
    allowOwnAddress: "NotRequired[bool]"
    """Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks."""
    enabled: "NotRequired[bool]"


class CreateSchemaRequest(TypedDict):
    name: "str"
    schema: "JsonObject | bool"
    """A JSON Schema, draft-07 or 2020-12 (named by `$schema`; without it 2020-12)."""
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"


class CreateSourceRequest(TypedDict):
    name: "str"
    slug: "str"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"
    provider: "NotRequired[SourceProvider | None]"
    """Whose webhooks it receives: they are verified, and handshakes answered, as this provider does it."""
    verificationConfig: "NotRequired[GithubVerification | StripeVerification | SlackVerification | HmacVerification | NoVerification | HmacTemplateVerification | PublicKeyVerification | JwtVerification | HeaderTokenVerification | BasicVerification | QueryTokenVerification | BodyTokenVerification | ProviderConfig | None]"
    idempotencyKey: "NotRequired[SourceIdempotencyKey | None]"
    """By what a repeated webhook is known, and for how long."""
    ingestToken: "NotRequired[SourceIngestToken]"
    concealed: "NotRequired[bool]"
    """Whether webhooks without a valid signature are answered as if there were no such source."""
    allowPaths: "NotRequired[bool]"
    """Whether it takes webhooks at any path below its address, too. The path is the `path` of the event."""
    answer: "NotRequired[SourceAnswerInput | None]"
    """What an accepted webhook is answered, instead of `success` and `eventId`."""
    handshake: "NotRequired[EchoHandshake | OkHandshake | HmacHandshake | None]"
    """What is answered to a `GET` or `HEAD` by which the sender checks the address: 200, a parameter of the query, or its HMAC. Null: 405, unless the provider has such checks."""
    enabled: "NotRequired[bool]"


class CreateTransformRequest(TypedDict):
    name: "str"
    type: "TransformType"
    code: "str"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"
    outputContentType: "NotRequired[str | None]"


class CursorPagination(TypedDict):
    pageSize: "int"
    nextCursor: "str | None"
    searchedUntil: "Timestamp | None"
    """A search was cut by time, so there may be fewer items than `pageSize`, or none: all since then was looked at, and `nextCursor` continues. Else null."""
    total: "NotRequired[int]"
    """Items in all. Only when asked for."""
    totalIsExact: "NotRequired[Literal[False]]"
    """False if `total` is an estimate, because more than 100,000 rows would have to be read. Else missing."""


class CustomHeaderAuth(TypedDict):
    headerName: "str"
    headerValue: "str"


class DayOfUse(TypedDict):
    day: "str"
    """UTC"""
    events: "int"
    """Webhooks that were stored."""
    payloadBytes: "int"
    """Of their payloads."""
    deliveries: "int"
    """Deliveries that were made, with replays and failovers."""
    attempts: "int"
    """Attempts that ended on this day."""


class DaysOfUse(TypedDict):
    data: "list[DayOfUse]"


class DeleteDestinationsRequest(TypedDict):
    ids: "list[str]"


class DeleteDestinationsResult(TypedDict):
    success: "Literal[True]"
    deleted: "int"


class DeleteRoutesRequest(TypedDict):
    routeIds: "list[str]"


class DeleteRoutesResult(TypedDict):
    deleted: "int"
    routes: "list[DeleteRoutesResultRoute]"


class DeleteRoutesResultRoute(TypedDict):
    id: "str"
    name: "str"


class Delivery(TypedDict):
    id: "str"
    eventId: "str"
    sourceId: "str"
    source: "SourceReference"
    routeId: "str | None"
    route: "DeliveryRoute | None"
    """Null only with `routeId`."""
    destinationId: "str"
    destination: "DeliveryDestination"
    status: "DeliveryStatus"
    attemptCount: "int"
    latency: "int | None"
    """Of the latest attempt, ms."""
    statusCode: "int | None"
    """Null when there was no response."""
    error: "str | None"
    nextAttemptAt: "Timestamp | None"
    deliveredAt: "Timestamp | None"
    finishedAt: "Timestamp | None"
    createdAt: "Timestamp"
    failoverOf: "str | None"
    """The delivery that was given up for this one."""
    replayOf: "str | None"
    """The delivery that this one repeats."""
    lane: "DeliveryLane | None"
    """In which lane the first attempt was made; null before it."""
    holdReason: "str | None"
    """Why it is held, while it is `circuit_open`; else null."""
    batchId: "str | None"
    """The file of the warehouse that it is in."""
    workflowId: "str | None"
    """Of its workflow in Temporal, if there is one."""
    temporalUrl: "str | None"


class DeliveryCursorPage(TypedDict):
    data: "list[Delivery]"
    pagination: "CursorPagination"


class DeliveryDestination(TypedDict):
    id: "str"
    name: "str | None"


class DeliveryHttpRequest(TypedDict):
    method: "str"
    url: "str"
    """Only its origin for a key that may not read destinations."""
    headers: "dict[str, str]"
    """Secrets masked. `Host`, `Content-Length` and `Connection` are added when it is sent."""
    bodySize: "int"
    """bytes"""
    body: "NotRequired[str]"
    """As text if it is UTF-8, else in base64."""
    bodyEncoding: 'NotRequired[Literal["base64"]]'
    """Only when the body is no text."""


DeliveryLane: TypeAlias = 'Literal["workflow", "express"]'


DeliveryMethod: TypeAlias = 'Literal["POST", "PUT", "PATCH"]'


class DeliveryPage(TypedDict):
    data: "list[Delivery]"
    pagination: "Pagination"


class DeliveryRequest(TypedDict):
    deliveryId: "str"
    attemptNumber: "int"
    state: "DeliveryRequestState"
    request: "DeliveryHttpRequest | None"
    """Null: `problem` says why."""
    problem: "DeliveryRequestProblem | None"
    """Why there is no request to show."""
    doubts: "list[DeliveryRequestDoubt]"
    """Why it may have been, or may become, another one."""


class DeliveryRequestDoubt(TypedDict):
    code: "DeliveryRequestDoubtCode"
    message: "str"
    changedAt: "Timestamp | None"
    """When the record was changed last."""


DeliveryRequestDoubtCode: TypeAlias = 'Literal["DESTINATION_CHANGED", "HEADERS_NOT_KEPT", "SIGNED_LATER", "DESTINATION_DISABLED"]'


class DeliveryRequestProblem(TypedDict):
    code: "DeliveryRequestProblemCode"
    message: "str"


DeliveryRequestProblemCode: TypeAlias = 'Literal["WAREHOUSE", "DESTINATION_DELETED", "EVENT_DELETED", "PAYLOAD_EXPIRED", "TRANSFORM_DELETED", "TRANSFORM_FAILED", "CANNOT_BE_MADE"]'


DeliveryRequestState: TypeAlias = 'Literal["made", "next", "never"]'
"""Whether the attempt was made, is the next one, or was never made because the delivery ended before: then it is what a replay would send."""


class DeliveryRoute(TypedDict):
    id: "str"
    name: "str | None"


DeliveryStatus: TypeAlias = 'Literal["pending", "retrying", "circuit_open", "delivered", "failed", "failed_over", "schema_failed", "filter_failed", "skipped", "cancelled"]'


class DeliveryWithAttempts(TypedDict):
    id: "str"
    eventId: "str"
    sourceId: "str"
    source: "SourceReference"
    routeId: "str | None"
    route: "DeliveryRoute | None"
    """Null only with `routeId`."""
    destinationId: "str"
    destination: "DeliveryDestination"
    status: "DeliveryStatus"
    attemptCount: "int"
    latency: "int | None"
    """Of the latest attempt, ms."""
    statusCode: "int | None"
    """Null when there was no response."""
    error: "str | None"
    nextAttemptAt: "Timestamp | None"
    deliveredAt: "Timestamp | None"
    finishedAt: "Timestamp | None"
    createdAt: "Timestamp"
    failoverOf: "str | None"
    """The delivery that was given up for this one."""
    replayOf: "str | None"
    """The delivery that this one repeats."""
    lane: "DeliveryLane | None"
    """In which lane the first attempt was made; null before it."""
    holdReason: "str | None"
    """Why it is held, while it is `circuit_open`; else null."""
    batchId: "str | None"
    """The file of the warehouse that it is in."""
    workflowId: "str | None"
    """Of its workflow in Temporal, if there is one."""
    temporalUrl: "str | None"
    attempts: "list[Attempt]"


class Description(TypedDict):
    openapi: "str"


Destination: TypeAlias = "HttpDestination | WarehouseDestination"


DestinationAuthType: TypeAlias = 'Literal["none", "basic", "bearer", "api_key", "custom_header"]'


class DestinationExport(TypedDict):
    version: "str"
    exportedAt: "Timestamp"
    organizationSlug: "str"
    destinations: "list[DestinationExportItem]"


class DestinationExportItem(TypedDict):
    name: "str"
    type: "DestinationType"
    url: "str"
    isActive: "bool"
    slug: "str"
    """Unique in the organization; stands for the id in export files."""
    description: "str | None"
    method: "DeliveryMethod"
    headers: "dict[str, str]"
    """Added to every delivery; replaced as a whole on update."""
    forwardHeaders: "ForwardedHeaders | list[str] | None"
    """Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never."""
    forwardQuery: "bool"
    """Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels."""
    forwardPath: "bool"
    """Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`."""
    authType: "DestinationAuthType"
    authConfig: 'Literal["***REDACTED***"] | StringMap'
    """In clear only with `includeSensitive=true`."""
    signingSecret: "str | None"
    timeoutMs: "int"
    """ms"""
    rateLimitPerMinute: "int | None"
    """Null: unlimited."""
    maxConcurrency: "int | None"
    """Most attempts at a time. Null: as many as the destination copes with."""
    retryPolicy: "RetryPolicy"
    config: 'NotRequired[WarehouseConfig | Literal["***REDACTED***"]]'
    """Of warehouses only."""
    fieldMapping: "NotRequired[list[FieldMappingRule]]"


class DestinationHealth(TypedDict):
    """Of the last time (HOOKYARD_HEALTH_WINDOW_HOURS, 24 by default)."""

    successRate: "float"
    """percent"""
    avgLatency: "int"
    """ms"""
    p50Latency: "int"
    """ms"""
    p95Latency: "int"
    """ms"""
    p99Latency: "int"
    """ms"""
    totalDeliveries: "int"
    successfulDeliveries: "int"
    failedDeliveries: "int"
    lastDeliveryAt: "Timestamp | None"
    lastSuccessAt: "Timestamp | None"
    lastFailureAt: "Timestamp | None"
    status: "DestinationHealthStatus"


DestinationHealthStatus: TypeAlias = 'Literal["healthy", "degraded", "failing", "unknown"]'
"""By the success rate: `healthy` above 95 %, `degraded` from 80 % on, `failing` below; `unknown` when no delivery ended."""


DestinationImportItem: TypeAlias = "DestinationImportItemHttp | DestinationImportItemWarehouse"


class DestinationImportItemHttp(TypedDict):
    name: "str"
    url: "str"
    """An http:// or https:// address without credentials; HTTPS is recommended."""
    type: 'NotRequired[Literal["http"]]'
    isActive: "NotRequired[bool]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"
    method: "NotRequired[DeliveryMethod]"
    headers: "NotRequired[dict[str, str]]"
    """Added to every delivery; replaced as a whole on update."""
    forwardHeaders: "NotRequired[ForwardedHeaders | list[str] | None]"
    """Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never."""
    forwardQuery: "NotRequired[bool]"
    """Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels."""
    forwardPath: "NotRequired[bool]"
    """Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`."""
    authType: "NotRequired[DestinationAuthType]"
    authConfig: 'NotRequired[Literal["***REDACTED***"] | JsonObject | None]'
    signingSecret: "NotRequired[str | None]"
    timeoutMs: "NotRequired[int]"
    """ms"""
    rateLimitPerMinute: "NotRequired[int | None]"
    """Null: unlimited."""
    maxConcurrency: "NotRequired[int | None]"
    """Most attempts at a time. Null: as many as the destination copes with."""
    retryPolicy: "NotRequired[RetryPolicyInput]"


class DestinationImportItemWarehouse(TypedDict):
    name: "str"
    type: "WarehouseType"
    isActive: "NotRequired[bool]"
    config: "NotRequired[Any]"
    fieldMapping: "NotRequired[Any]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"


class DestinationImportResult(TypedDict):
    success: "bool"
    summary: "DestinationImportResultSummary"
    details: "DestinationImportResultDetails"
    errors: "list[str]"
    warnings: "list[str]"
    destinations: "list[DestinationImportResultDestination]"


class DestinationImportResultDestination(TypedDict):
    id: "str | None"
    """Null when it was not stored."""
    name: "str"
    slug: "str | None"
    status: "DestinationImportResultDestinationStatus"


DestinationImportResultDestinationStatus: TypeAlias = 'Literal["created", "skipped", "overwritten", "failed"]'


class DestinationImportResultDetails(TypedDict):
    imported: "list[str]"
    skipped: "list[str]"
    overwritten: "list[str]"
    failed: "list[str]"


class DestinationImportResultSummary(TypedDict):
    imported: "int"
    skipped: "int"
    overwritten: "int"
    failed: "int"


DestinationSummary: TypeAlias = "HttpDestinationSummary | WarehouseDestinationSummary"


class DestinationSummaryPage(TypedDict):
    data: "list[DestinationSummary]"
    pagination: "Pagination"


DestinationType: TypeAlias = 'Literal["http", "s3", "r2", "gcs", "azure_blob"]'


class EchoHandshake(TypedDict):
    type: 'Literal["echo"]'
    parameter: "str"
    member: "NotRequired[str]"
    verifyToken: "NotRequired[str | None]"


class Event(TypedDict):
    id: "str"
    sourceId: "str"
    source: "SourceReference"
    status: "EventStatus"
    routed: "bool"
    """Whether a route took it. One that no route took is `delivered`, with no delivery, and went nowhere."""
    method: "DeliveryMethod"
    path: "str"
    """Below the address of the source, as it was received; empty without one."""
    query: "str"
    """Of the address it was sent to."""
    headers: "dict[str, str]"
    clientAddress: "str"
    """Of the sender, behind proxies that the operator trusts."""
    traceId: "str | None"
    payloadSize: "int"
    """bytes"""
    payloadHash: "str"
    deliveriesCount: "int"
    deliveriesSucceeded: "int"
    deliveriesFailed: "int"
    receivedAt: "Timestamp"
    createdAt: "Timestamp"


class EventCursorPage(TypedDict):
    data: "list[Event]"
    pagination: "CursorPagination"


EventFilter = TypedDict(
    "EventFilter",
    {
        "sourceId": "NotRequired[str]",
        "status": "NotRequired[EventStatus]",
        "routed": "NotRequired[bool]",
        "from": "NotRequired[Timestamp]",
        "to": "NotRequired[Timestamp]",
        "search": "NotRequired[str]",
    },
)


class EventInFull(TypedDict):
    id: "str"
    sourceId: "str"
    source: "SourceReference"
    status: "EventStatus"
    routed: "bool"
    """Whether a route took it. One that no route took is `delivered`, with no delivery, and went nowhere."""
    method: "DeliveryMethod"
    path: "str"
    """Below the address of the source, as it was received; empty without one."""
    query: "str"
    """Of the address it was sent to."""
    headers: "dict[str, str]"
    clientAddress: "str"
    """Of the sender, behind proxies that the operator trusts."""
    traceId: "str | None"
    payloadSize: "int"
    """bytes"""
    payloadHash: "str"
    deliveriesCount: "int"
    deliveriesSucceeded: "int"
    deliveriesFailed: "int"
    receivedAt: "Timestamp"
    createdAt: "Timestamp"
    payload: "NotRequired[Any]"
    """Parsed when it is JSON, else its text, else base64. Only when asked for."""
    payloadEncoding: 'NotRequired[Literal["base64"]]'
    """Only when the payload is no text."""
    deliveries: "NotRequired[list[Delivery]]"
    """The newest 1,000, only when asked for."""
    deliveriesNextCursor: "NotRequired[str | None]"
    """The `cursor` of the older ones in `GET /api/deliveries?eventId=`. Null: there are none."""


class EventPage(TypedDict):
    data: "list[Event]"
    pagination: "Pagination"


class EventReplay(TypedDict):
    id: "str"
    status: "EventReplayStatus"
    filter: "EventFilter"
    destinationIds: "list[str] | None"
    ratePerSecond: "int"
    """Events a second."""
    eventsTotal: "int | None"
    """Null when counting them took too long."""
    eventsReplayed: "int"
    eventsExpired: "int"
    """Their payload was gone."""
    eventsUnroutable: "int"
    """They go nowhere now."""
    deliveriesCreated: "int"
    replayedUntil: "Timestamp | None"
    """Events received before it have been judged."""
    waitsFor: "str | None"
    """Why no page can be made at the moment, such as a full backlog."""
    error: "str | None"
    createdAt: "Timestamp"
    startedAt: "Timestamp | None"
    finishedAt: "Timestamp | None"
    workflowId: "str"
    temporalUrl: "str | None"


class EventReplayDryRun(TypedDict):
    dryRun: "Literal[True]"
    filter: "EventFilter"
    eventsTotal: "int"
    eventsExpired: "int"


class EventReplayPage(TypedDict):
    data: "list[EventReplay]"
    pagination: "Pagination"


EventReplayStatus: TypeAlias = 'Literal["pending", "running", "completed", "cancelled", "failed"]'


EventStatus: TypeAlias = 'Literal["pending", "delivered", "partial", "failed"]'


class EventTimeline(TypedDict):
    received: "Timestamp"
    validated: "Timestamp"
    queued: "Timestamp"
    deliveries: "list[EventTimelineDelivery]"
    deliveriesNextCursor: "str | None"
    """The `cursor` of the older ones in `GET /api/deliveries?eventId=`. Null: there are none."""
    totalDuration: "int"
    """ms"""


class EventTimelineDelivery(TypedDict):
    deliveryId: "str"
    destinationId: "str"
    destinationName: "str"
    status: "DeliveryStatus"
    attempts: "list[EventTimelineDeliveryAttempt]"


class EventTimelineDeliveryAttempt(TypedDict):
    attemptNumber: "int"
    startedAt: "Timestamp"
    completedAt: "Timestamp"
    status: "AttemptStatus"
    statusCode: "int | None"
    """Null when there was no response."""
    latency: "int"
    """ms"""


class FieldMappingRule(TypedDict):
    source: "str"
    target: "str"
    type: "FieldMappingRuleType"
    precision: "NotRequired[int]"
    """Of a decimal: its digits."""
    scale: "NotRequired[int]"
    """Of a decimal: its digits behind the point."""
    default: "NotRequired[str]"


class FieldMappingRuleInput(TypedDict):
    source: "str"
    target: "str"
    type: "FieldMappingRuleType"
    precision: "NotRequired[int]"
    scale: "NotRequired[int]"
    default: "NotRequired[str]"


FieldMappingRuleType: TypeAlias = 'Literal["string", "number", "decimal", "boolean", "timestamp", "json"]'


class Filter(TypedDict):
    id: "str"
    name: "str"
    slug: "str"
    """Unique in the organization; stands for the id in export files."""
    description: "str | None"
    conditions: "FilterConditions"
    logic: "FilterLogic"
    routeCount: "int"
    """Routes that use it."""
    createdAt: "Timestamp"
    updatedAt: "Timestamp"


class FilterCondition(TypedDict):
    field: "str"
    """`payload.<path>`, `headers.<name>`, `query.<name>`, `request.path` or `method`"""
    operator: "FilterConditionOperator"
    value: "NotRequired[Any]"


class FilterConditionInput(TypedDict):
    field: "str"
    """`payload.<path>`, `headers.<name>`, `query.<name>`, `request.path` or `method`"""
    operator: "FilterConditionOperator"
    value: "NotRequired[Any]"


FilterConditionOperator: TypeAlias = 'Literal["equals", "not_equals", "contains", "not_contains", "starts_with", "ends_with", "matches", "exists", "not_exists", "gt", "gte", "lt", "lte", "in", "not_in", "regex", "greater_than", "less_than"]'


FilterConditions: TypeAlias = "list[FilterCondition]"


FilterLogic: TypeAlias = 'Literal["AND", "OR"]'
"""Whether all conditions must be met, or one."""


class FilterPage(TypedDict):
    data: "list[Filter]"
    pagination: "Pagination"


class FilterResult(TypedDict):
    matches: "bool"
    """Whether a route with this filter takes the sample."""
    conditions: "list[FilterResultCondition]"


class FilterResultCondition(TypedDict):
    field: "str"
    operator: "FilterConditionOperator"
    matches: "bool"


ForwardedHeaders: TypeAlias = 'Literal["all", "none"]'


class GcsConfig(TypedDict):
    bucket: "str"
    projectId: "str"
    credentials: "NotRequired[GcsConfigCredentials]"
    serviceAccountKey: "NotRequired[str]"
    endpoint: "NotRequired[str]"
    prefix: "NotRequired[str]"
    fileFormat: "NotRequired[WarehouseFileFormat]"
    compression: "NotRequired[WarehouseCompression]"
    """Of the whole file; in a Parquet file of its pages. snappy is for Parquet only."""
    payloadColumn: "NotRequired[WarehousePayloadColumn]"
    partitionBy: "NotRequired[WarehousePartition]"
    keyOrder: "NotRequired[AzureBlobConfigKeyOrder]"
    batchSize: "NotRequired[int | str]"
    """Events."""
    batchBytes: "NotRequired[int | str]"
    """Bytes of payloads."""
    batchWindowSeconds: "NotRequired[int | str]"


GcsConfigCredentials: TypeAlias = 'Literal["keys", "identity"]'
"""Without it: keys. identity: that of this service, if its operator allows it."""


class GcsDestinationInput(TypedDict):
    name: "str"
    type: 'Literal["gcs"]'
    enabled: "NotRequired[bool]"
    config: "GcsConfig"
    fieldMapping: "NotRequired[list[FieldMappingRuleInput] | None]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"


class GithubVerification(TypedDict):
    type: 'Literal["github"]'
    secret: "str"


class HeaderTokenVerification(TypedDict):
    type: 'Literal["header_token"]'
    secret: "str"
    header: "str"
    prefix: "NotRequired[str]"


HmacAlgorithm: TypeAlias = 'Literal["sha1", "sha256", "sha512"]'


class HmacHandshake(TypedDict):
    type: 'Literal["hmac"]'
    parameter: "str"
    member: "NotRequired[str]"
    echoMember: "NotRequired[str]"
    algorithm: "NotRequired[HmacAlgorithm]"
    encoding: "NotRequired[SignatureEncoding]"
    prefix: "NotRequired[str]"


class HmacTemplateVerification(TypedDict):
    type: 'Literal["hmac_template"]'
    secret: "str"
    secretEncoding: "NotRequired[SecretEncoding]"
    algorithm: "NotRequired[HmacAlgorithm]"
    encoding: "NotRequired[SignatureEncoding]"
    header: "str"
    prefix: "NotRequired[str]"
    listSeparator: "NotRequired[str]"
    signaturePart: "NotRequired[str]"
    timestampPart: "NotRequired[str]"
    partSeparator: "NotRequired[str]"
    timestampHeader: "NotRequired[str]"
    timestampUnit: "NotRequired[TimestampUnit]"
    toleranceSeconds: "NotRequired[int]"
    idHeader: "NotRequired[str]"
    template: "NotRequired[str]"


class HmacVerification(TypedDict):
    type: 'Literal["hmac"]'
    secret: "str"
    header: "str"
    algorithm: "NotRequired[HmacAlgorithm]"
    encoding: "NotRequired[SignatureEncoding]"
    prefix: "NotRequired[str]"
    timestampHeader: "NotRequired[str]"
    timestampSeparator: "NotRequired[str]"


class HttpDestination(TypedDict):
    id: "str"
    name: "str"
    type: 'Literal["http"]'
    url: "str"
    enabled: "bool"
    paused: "bool"
    """Whether its deliveries wait until it is resumed."""
    pausedSince: "Timestamp | None"
    """Null when it is not paused."""
    pausedUntil: "Timestamp | None"
    """When the pause ends by itself; null: it does not."""
    pauseReason: "str | None"
    successRate: "float | None"
    """percent; null without a recent delivery"""
    avgLatency: "int | None"
    """ms; null without a recent attempt that was answered"""
    deliveriesCount: "int"
    slug: "str"
    """Unique in the organization; stands for the id in export files."""
    description: "str | None"
    method: "DeliveryMethod"
    headers: "dict[str, str]"
    """Added to every delivery; replaced as a whole on update."""
    forwardHeaders: "ForwardedHeaders | list[str] | None"
    """Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never."""
    forwardQuery: "bool"
    """Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels."""
    forwardPath: "bool"
    """Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`."""
    authType: "DestinationAuthType"
    authConfig: "StringMap | None"
    """Its secrets are shown as •••• and their last four characters."""
    signingSecret: "str | None"
    previousSigningSecretUntil: "Timestamp | None"
    """Until then deliveries are signed with the secret before this one too."""
    timeoutMs: "int"
    """ms"""
    rateLimitPerMinute: "int | None"
    """Null: unlimited."""
    maxConcurrency: "int | None"
    """Most attempts at a time. Null: as many as the destination copes with."""
    retryPolicy: "RetryPolicy"
    lastDeliveryAt: "Timestamp | None"
    createdAt: "Timestamp"
    updatedAt: "Timestamp"


class HttpDestinationChanges(TypedDict):
    name: "NotRequired[str]"
    type: 'NotRequired[Literal["http"]]'
    url: "NotRequired[str]"
    """An http:// or https:// address without credentials; HTTPS is recommended."""
    enabled: "NotRequired[bool]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"
    method: "NotRequired[DeliveryMethod]"
    headers: "NotRequired[dict[str, str]]"
    """Added to every delivery; replaced as a whole on update."""
    forwardHeaders: "NotRequired[ForwardedHeaders | list[str] | None]"
    """Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never."""
    forwardQuery: "NotRequired[bool]"
    """Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels."""
    forwardPath: "NotRequired[bool]"
    """Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`."""
    authType: "NotRequired[DestinationAuthType]"
    authConfig: "NotRequired[JsonObject | None]"
    signingSecret: "NotRequired[str | None]"
    timeoutMs: "NotRequired[int]"
    """ms"""
    rateLimitPerMinute: "NotRequired[int | None]"
    """Null: unlimited."""
    maxConcurrency: "NotRequired[int | None]"
    """Most attempts at a time. Null: as many as the destination copes with."""
    retryPolicy: "NotRequired[RetryPolicyInput]"


class HttpDestinationInput(TypedDict):
    name: "str"
    url: "str"
    """An http:// or https:// address without credentials; HTTPS is recommended."""
    type: 'NotRequired[Literal["http"]]'
    enabled: "NotRequired[bool]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"
    method: "NotRequired[DeliveryMethod]"
    headers: "NotRequired[dict[str, str]]"
    """Added to every delivery; replaced as a whole on update."""
    forwardHeaders: "NotRequired[ForwardedHeaders | list[str] | None]"
    """Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never."""
    forwardQuery: "NotRequired[bool]"
    """Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels."""
    forwardPath: "NotRequired[bool]"
    """Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`."""
    authType: "NotRequired[DestinationAuthType]"
    authConfig: "NotRequired[NoAuth | BasicAuth | BearerAuth | ApiKeyAuth | CustomHeaderAuth | None]"
    """What it holds depends on `authType`."""
    signingSecret: "NotRequired[str | None]"
    timeoutMs: "NotRequired[int]"
    """ms"""
    rateLimitPerMinute: "NotRequired[int | None]"
    """Null: unlimited."""
    maxConcurrency: "NotRequired[int | None]"
    """Most attempts at a time. Null: as many as the destination copes with."""
    retryPolicy: "NotRequired[RetryPolicyInput]"


class HttpDestinationSummary(TypedDict):
    id: "str"
    name: "str"
    type: 'Literal["http"]'
    url: "str"
    enabled: "bool"
    paused: "bool"
    """Whether its deliveries wait until it is resumed."""
    pausedUntil: "Timestamp | None"
    """When the pause ends by itself; null: it does not."""
    successRate: "float | None"
    """percent; null without a recent delivery"""
    avgLatency: "int | None"
    """ms; null without a recent attempt that was answered"""
    deliveriesCount: "int"
    slug: "str"
    """Unique in the organization; stands for the id in export files."""


class HttpDestinationSummaryPage(TypedDict):
    data: "list[HttpDestinationSummary]"
    pagination: "Pagination"


class HttpTestFailure(TypedDict):
    success: "Literal[False]"
    statusCode: "int | None"
    latency: "int"
    """ms"""
    responseBody: "str | None"
    error: "str"
    message: "str"


class HttpTestSuccess(TypedDict):
    success: "Literal[True]"
    statusCode: "int"
    latency: "int"
    """ms"""
    responseBody: "str"
    message: "str"


class ImportDestinationsRequest(TypedDict):
    conflictStrategy: "ConflictStrategy"
    validateOnly: "NotRequired[bool]"
    """Says what would happen, and changes nothing."""
    version: "NotRequired[Any]"
    """The file's own; a newer major version is refused."""
    destinations: "list[DestinationImportItem]"


class ImportRoutesRequest(TypedDict):
    conflictStrategy: "ConflictStrategy"
    validateOnly: "NotRequired[bool]"
    """Says what would happen, and changes nothing."""
    version: "NotRequired[Any]"
    """The file's own; a newer major version is refused."""
    routes: "list[RouteImportItem]"


IngestState: TypeAlias = 'Literal["open", "partly_full", "full"]'


class InstallationStatus(TypedDict):
    version: "str"
    """Of the process that answers."""
    at: "Timestamp"
    ingest: "IngestState"
    """Of the process that answers."""
    temporal: "ServerState"
    searchAttributes: "bool | None"
    """Whether the namespace in Temporal has the search attributes by which its UI finds deliveries. Null: not known."""
    database: "ServerState"
    """`away`: what it would say is null."""
    limits: "InstallationStatusLimits"
    databaseBytes: "int | None"
    backlog: "InstallationStatusBacklog | None"
    workers: "list[InstallationStatusWorker] | None"
    """Those seen in the last seconds, at most 1,000."""
    shardsWithoutOwner: "int | None"
    """Above 0 for seconds when a worker dies."""
    circuits: "InstallationStatusCircuits | None"
    retention: "InstallationStatusRetention | None"
    housekeeping: "InstallationStatusHousekeeping | None"
    organizations: "NotRequired[list[InstallationStatusOrganization]]"


class InstallationStatusBacklog(TypedDict):
    due: "int"
    """Wait for a worker."""
    retrying: "int"
    """Wait for a retry."""
    held: "int"
    """Wait for a circuit, or the end of a pause."""
    inFiles: "int"
    """Wait for the file of a warehouse."""
    oldestDueAt: "Timestamp | None"
    """When the oldest of `due` was made."""
    suspended: "int"
    """Of `due`, those of suspended organizations."""
    oldestDueSeconds: "int | None"
    """The age of `oldestDueAt`."""


class InstallationStatusCircuits(TypedDict):
    open: "int"
    halfOpen: "int"


class InstallationStatusHousekeeping(TypedDict):
    failures: "list[InstallationStatusHousekeepingFailure]"
    """Of the last day."""


class InstallationStatusHousekeepingFailure(TypedDict):
    part: "str"
    total: "int"
    lastAt: "Timestamp"


class InstallationStatusLimits(TypedDict):
    """Of the installation: `HOOKYARD_MAX_BACKLOG`, `HOOKYARD_MAX_DATABASE_BYTES`. Null: none."""

    waitingDeliveries: "int | None"
    databaseBytes: "int | None"


class InstallationStatusOrganization(TypedDict):
    id: "str"
    slug: "str"
    isSuspended: "bool"
    due: "int"
    """Wait for a worker."""
    retrying: "int"
    """Wait for a retry."""
    held: "int"
    """Wait for a circuit, or the end of a pause."""
    inFiles: "int"
    """Wait for the file of a warehouse."""
    oldestDueAt: "Timestamp | None"
    """When the oldest of `due` was made."""
    openCircuits: "int"


class InstallationStatusRetention(TypedDict):
    payloads: "RetentionLag"
    events: "RetentionLag"


class InstallationStatusWorker(TypedDict):
    name: "str"
    version: "str | None"
    lane: "DeliveryLane | None"
    seenAt: "Timestamp"
    shards: "int"
    """Parts of the outbox (of 64) that it claims from."""
    isLeaving: "bool"


IsReadyDeep: TypeAlias = 'Literal["", "true", "false"]'
"""Requires all that a webhook needs to be accepted and delivered: Temporal too, and room in the backlog."""


class Issue(TypedDict):
    id: "str"
    kind: "IssueKind"
    state: "IssueState"
    cause: "str"
    """A short code that stays the same; `OTHER` counts together what is too much to tell apart."""
    sourceId: "str | None"
    source: "IssueSource | None"
    """With the name of now, null when it was deleted; null without an id."""
    routeId: "str | None"
    route: "IssueRoute | None"
    """With the name of now, null when it was deleted; null without an id."""
    destinationId: "str | None"
    destination: "IssueDestination | None"
    """With the name of now, null when it was deleted; null without an id."""
    count: "int"
    """Failures, with those in a row that opened it."""
    firstSeenAt: "Timestamp"
    lastSeenAt: "Timestamp"
    sampleEventId: "str | None"
    """Of a late failure."""
    sampleDeliveryId: "str | None"
    """Of a late failure."""
    openedAt: "Timestamp"
    resolvedAt: "Timestamp | None"
    changedAt: "Timestamp"
    """When `state` changed last."""


class IssueCursorPage(TypedDict):
    data: "list[Issue]"
    pagination: "CursorPagination"


class IssueDestination(TypedDict):
    id: "str"
    name: "str | None"


IssueKind: TypeAlias = 'Literal["delivery_failing", "circuit_open", "transform_failing", "schema_refusing", "signature_failing", "warehouse_not_writable", "quota_reached", "ingest_refused", "notification_failing"]'


class IssuePage(TypedDict):
    data: "list[Issue]"
    pagination: "Pagination"


class IssueRoute(TypedDict):
    id: "str"
    name: "str | None"


class IssueSource(TypedDict):
    id: "str"
    name: "str | None"


IssueState: TypeAlias = 'Literal["open", "acknowledged", "resolved", "ignored"]'


JsonObject: TypeAlias = "dict[str, Any]"


JwtAlgorithm: TypeAlias = 'Literal["RS256", "ES256", "HS256"]'


class JwtVerification(TypedDict):
    type: 'Literal["jwt"]'
    secret: "NotRequired[str]"
    header: "NotRequired[str]"
    algorithm: "NotRequired[JwtAlgorithm]"
    jwksUrl: "NotRequired[str]"
    issuer: "NotRequired[str]"
    audience: "NotRequired[str]"
    claims: "NotRequired[dict[str, str]]"
    bodyHashClaim: "NotRequired[str]"
    toleranceSeconds: "NotRequired[int]"


KeyAlgorithm: TypeAlias = 'Literal["ecdsa", "ed25519", "rsa"]'


LimitName: TypeAlias = 'Literal["eventsPerSecond", "eventsPerMonth", "payloadBytes", "deliveriesPerEvent", "routesPerSource", "destinations", "sources", "filters", "transforms", "schemas", "alertChannels", "apiKeys", "waitingDeliveries", "storedBytes", "transformMsPerMinute", "requestsPerMinute", "runningReplays", "replayedPerSecond", "runningImports", "runningSearches", "runningTests", "runningStreams"]'
"""A limit of the organization."""


class LimitUse(TypedDict):
    limit: "int | None"
    """Null: no limit."""
    used: "int | None"
    """Null where there is nothing to count."""
    unit: "str"


class MailChannel(TypedDict):
    emails: "str"
    """Separated by commas."""


MetricGroup: TypeAlias = 'Literal["source", "route", "destination", "statusCode"]'


MetricName: TypeAlias = 'Literal["events", "filtered", "refused", "deliveries", "attempts", "latency"]'


class MetricPoint(TypedDict):
    """Of one step; `at` is its beginning."""

    at: "Timestamp"
    events: "NotRequired[int]"
    """`events`"""
    filtered: "NotRequired[int]"
    """`filtered`"""
    refused: "NotRequired[int]"
    """`refused`"""
    causes: "NotRequired[dict[str, int]]"
    """`refused`: by cause, as the refused webhooks of a source have it"""
    delivered: "NotRequired[int]"
    """`deliveries`"""
    failed: "NotRequired[int]"
    """`deliveries`: after an attempt"""
    failedOver: "NotRequired[int]"
    """`deliveries`: another destination took over"""
    notSent: "NotRequired[int]"
    """`deliveries`: failed without an attempt, such as by a schema"""
    cancelled: "NotRequired[int]"
    """`deliveries`"""
    attempts: "NotRequired[int]"
    """`attempts`, and those with an answer of `latency`"""
    avgLatency: "NotRequired[int | None]"
    """`attempts`: ms; null without an answer"""
    classes: "NotRequired[dict[str, int]]"
    """`attempts`: by `1xx` to `5xx`, `other` codes, and `none` (no answer)"""
    p50: "NotRequired[int | None]"
    p95: "NotRequired[int | None]"
    p99: "NotRequired[int | None]"


class MetricSeries(TypedDict):
    id: "str | None"
    name: "str | None"
    total: "MetricTotal"
    points: "list[MetricPoint]"
    """Steps in which nothing was counted are left out."""


class MetricTotal(TypedDict):
    """Of the whole time; the members that the metric has."""

    events: "NotRequired[int]"
    """`events`"""
    filtered: "NotRequired[int]"
    """`filtered`"""
    refused: "NotRequired[int]"
    """`refused`"""
    causes: "NotRequired[dict[str, int]]"
    """`refused`: by cause, as the refused webhooks of a source have it"""
    delivered: "NotRequired[int]"
    """`deliveries`"""
    failed: "NotRequired[int]"
    """`deliveries`: after an attempt"""
    failedOver: "NotRequired[int]"
    """`deliveries`: another destination took over"""
    notSent: "NotRequired[int]"
    """`deliveries`: failed without an attempt, such as by a schema"""
    cancelled: "NotRequired[int]"
    """`deliveries`"""
    attempts: "NotRequired[int]"
    """`attempts`, and those with an answer of `latency`"""
    avgLatency: "NotRequired[int | None]"
    """`attempts`: ms; null without an answer"""
    classes: "NotRequired[dict[str, int]]"
    """`attempts`: by `1xx` to `5xx`, `other` codes, and `none` (no answer)"""
    p50: "NotRequired[int | None]"
    p95: "NotRequired[int | None]"
    p99: "NotRequired[int | None]"
    codes: "NotRequired[dict[str, int]]"
    """`attempts`: by status code"""


Metrics = TypedDict(
    "Metrics",
    {
        "metric": "MetricName",
        "groupBy": "MetricGroup | None",
        "from": "Timestamp",
        "to": "Timestamp",
        # Seconds.
        "step": "int",
        # What happened before is counted, but for results that a worker could not record yet because the database was away. Later figures still grow.
        "completeUntil": "Timestamp",
        # How many there are, shown or not.
        "groups": "int",
        "series": "list[MetricSeries]",
    },
)


class NewApiKey(TypedDict):
    id: "str"
    name: "str"
    scopes: "list[ApiKeyScope]"
    allowedAddresses: "list[str] | None"
    """The ranges of addresses that it may be used from; null: every address."""
    tokenHint: "str"
    """Its last four characters."""
    expiresAt: "Timestamp | None"
    lastUsedAt: "Timestamp | None"
    createdAt: "Timestamp"
    token: "str"


class NoAuth(TypedDict):
    """An object of any members."""


class NoVerification(TypedDict):
    type: 'Literal["none"]'


class NotificationRecipient(TypedDict):
    address: "str"
    """In lower case."""
    confirmedAt: "Timestamp | None"
    """When its owner has agreed."""
    askedAt: "Timestamp | None"
    """When a mail asked its owner for the last time."""
    refused: "bool"
    """Whether its owner wants no more mails, and may not be asked again."""


class NotificationRecipientPage(TypedDict):
    data: "list[NotificationRecipient]"
    pagination: "Pagination"


class OkHandshake(TypedDict):
    type: 'Literal["ok"]'


class PagerDutyChannel(TypedDict):
    routingKey: "str"
    severity: "NotRequired[PagerDutyChannelSeverity]"
    region: "NotRequired[PagerDutyChannelRegion]"


PagerDutyChannelRegion: TypeAlias = 'Literal["us", "eu"]'
"""Where the account is."""


PagerDutyChannelSeverity: TypeAlias = 'Literal["critical", "error", "warning", "info"]'


class Pagination(TypedDict):
    total: "int"
    """Items on all pages."""
    totalIsExact: "NotRequired[Literal[False]]"
    """False if `total` is an estimate, because more than 100,000 rows would have to be read. Else missing."""
    page: "int"
    pageSize: "int"


class Pause(TypedDict):
    id: "str"
    paused: "bool"
    """Whether its deliveries wait until it is resumed."""
    pausedSince: "Timestamp | None"
    """Null when it is not paused."""
    pausedUntil: "Timestamp | None"
    """When the pause ends by itself; null: it does not."""
    pauseReason: "str | None"


class PauseRequest(TypedDict):
    reason: "NotRequired[str | None]"
    """Shown wherever the pause is."""
    until: "NotRequired[str | None]"
    """When it ends by itself, in the future. Left out, or null: it lasts until somebody ends it."""


class PauseRoutesRequest(TypedDict):
    routeIds: "list[str]"
    isActive: "bool"


class PauseRoutesResult(TypedDict):
    updated: "int"
    routes: "list[PauseRoutesResultRoute]"


class PauseRoutesResultRoute(TypedDict):
    id: "str"
    name: "str"
    isActive: "bool"


Plan: TypeAlias = 'Literal["free", "pro", "business"]'


class PreviewRouteRequest(TypedDict):
    eventId: "str"


class Provider(TypedDict):
    name: "str"
    """The `provider` of a source."""
    title: "str"
    docs: "str"
    """The provider's page about its webhooks."""
    secret: "str | None"
    verifyToken: "str | None"
    eventType: "ProviderPlace | None"
    eventId: "ProviderPlace | None"
    dedup: "ProviderDedup | None"
    """What tells a repeat; to be set as the `idempotencyKey` of the source, with a window."""
    handshakes: "list[str]"
    """The handshakes that are answered."""
    answer: "SourceAnswer | None"
    instructions: "str"
    """How to connect it."""
    samples: "list[str]"
    """The events that there are samples of."""


class ProviderConfig(TypedDict):
    """With a `provider`, here or beside it."""

    type: 'NotRequired[Literal["provider"]]'
    provider: "NotRequired[SourceProvider]"
    """The same as the `provider` of the source."""
    secret: "NotRequired[str | None]"
    """What it is, `GET /api/providers` says. Null forgets one that the provider has sent in its handshake."""
    verifyToken: "NotRequired[str]"
    """The second secret of providers that have one."""
    confirmSubscriptions: "NotRequired[bool]"
    """Of Amazon SNS: whether the address that confirms a subscription is visited; by default it is shown."""


class ProviderDedup(TypedDict):
    header: "NotRequired[str]"
    jsonPath: "NotRequired[str]"
    signature: "NotRequired[Literal[True]]"


class ProviderPage(TypedDict):
    data: "list[Provider]"
    pagination: "Pagination"


class ProviderPlace(TypedDict):
    """A header, or a path of the payload."""

    header: "NotRequired[str]"
    payload: "NotRequired[str]"


class PublicKeyVerification(TypedDict):
    type: 'Literal["public_key"]'
    secret: "str"
    algorithm: "KeyAlgorithm"
    encoding: "NotRequired[SignatureEncoding]"
    header: "str"
    prefix: "NotRequired[str]"
    listSeparator: "NotRequired[str]"
    signaturePart: "NotRequired[str]"
    timestampPart: "NotRequired[str]"
    partSeparator: "NotRequired[str]"
    timestampHeader: "NotRequired[str]"
    timestampUnit: "NotRequired[TimestampUnit]"
    toleranceSeconds: "NotRequired[int]"
    idHeader: "NotRequired[str]"
    template: "NotRequired[str]"


PutDestinationRequest: TypeAlias = "HttpDestinationInput | WarehouseDestinationInput"


class PutSourceRequest(TypedDict):
    name: "str"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"
    provider: "NotRequired[SourceProvider | None]"
    """Whose webhooks it receives: they are verified, and handshakes answered, as this provider does it."""
    verificationConfig: "NotRequired[VerificationConfigInput | None]"
    idempotencyKey: "NotRequired[SourceIdempotencyKey | None]"
    """By what a repeated webhook is known, and for how long."""
    ingestToken: "NotRequired[SourceIngestToken]"
    concealed: "NotRequired[bool]"
    """Whether webhooks without a valid signature are answered as if there were no such source."""
    allowPaths: "NotRequired[bool]"
    """Whether it takes webhooks at any path below its address, too. The path is the `path` of the event."""
    answer: "NotRequired[SourceAnswerInput | None]"
    """What an accepted webhook is answered, instead of `success` and `eventId`."""
    handshake: "NotRequired[EchoHandshake | OkHandshake | HmacHandshake | None]"
    """What is answered to a `GET` or `HEAD` by which the sender checks the address: 200, a parameter of the query, or its HMAC. Null: 405, unless the provider has such checks."""
    enabled: "NotRequired[bool]"


class QueryTokenVerification(TypedDict):
    type: 'Literal["query_token"]'
    secret: "str"
    parameter: "str"


QuietHours = TypedDict(
    "QuietHours",
    {
        "from": "str",
        "to": "str",
        "timeZone": "str",
    },
)


class R2Config(TypedDict):
    bucket: "str"
    accountId: "NotRequired[str]"
    endpoint: "NotRequired[str]"
    region: "NotRequired[str]"
    accessKeyId: "NotRequired[str]"
    secretAccessKey: "NotRequired[str]"
    prefix: "NotRequired[str]"
    fileFormat: "NotRequired[WarehouseFileFormat]"
    compression: "NotRequired[WarehouseCompression]"
    """Of the whole file; in a Parquet file of its pages. snappy is for Parquet only."""
    payloadColumn: "NotRequired[WarehousePayloadColumn]"
    partitionBy: "NotRequired[WarehousePartition]"
    keyOrder: "NotRequired[AzureBlobConfigKeyOrder]"
    batchSize: "NotRequired[int | str]"
    """Events."""
    batchBytes: "NotRequired[int | str]"
    """Bytes of payloads."""
    batchWindowSeconds: "NotRequired[int | str]"


class R2DestinationInput(TypedDict):
    name: "str"
    type: 'Literal["r2"]'
    enabled: "NotRequired[bool]"
    config: "R2Config"
    fieldMapping: "NotRequired[list[FieldMappingRuleInput] | None]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"


class Ready(TypedDict):
    status: 'Literal["ok"]'
    ingest: "IngestState"
    """Whether webhooks are accepted: `full` refuses all with 503, `partly_full` those for destinations that have most of the backlog."""
    temporal: "ServerState"
    """Whether Temporal can be reached. While it is away, webhooks are accepted and wait for it."""
    lanes: "NotRequired[ReadyLanes]"


class ReadyLanes(TypedDict):
    """Only with `deep`: how many workers take deliveries in each lane now, where the route names none. With `HOOKYARD_LANE=adaptive`, `express` are those whose workflows fall behind."""

    workflow: "int"
    express: "int"


class Refusal(TypedDict):
    id: "str"
    refusedAt: "Timestamp"
    cause: "RefusalCause"
    limit: "LimitName | None"
    """The limit of the organization that it was about."""
    status: "int"
    """That the sender was answered."""
    message: "str"
    """What the sender was told."""
    method: "DeliveryMethod"
    clientAddress: "str"
    """Of the sender, behind proxies that the operator trusts."""
    headers: "dict[str, str]"
    """Secrets masked, long values cut; at most 4 KiB."""
    payloadSize: "int | None"
    """bytes; null when it was neither read nor announced."""
    payloadStart: "NotRequired[str | None]"
    """The first 1024 bytes; null when it was refused before the body was read. Only when asked for."""
    payloadEncoding: 'NotRequired[Literal["base64"]]'
    """Only when the payload is no text."""


RefusalCause: TypeAlias = 'Literal["signature", "token", "path", "disabled", "suspended", "too_large", "incomplete", "too_slow", "limit", "unavailable", "error"]'


class RefusalCauseCount(TypedDict):
    cause: "RefusalCause"
    limit: "LimitName | None"
    """The limit of the organization that it was about."""
    count: "int"
    lastAt: "Timestamp"


class RefusalCounts(TypedDict):
    period: "RefusalCountsPeriod"
    since: "Timestamp"
    total: "int"
    causes: "list[RefusalCauseCount]"
    """The most frequent first."""
    steps: "list[RefusalStep]"
    """By hour, or in longer periods by day (UTC), oldest first; without those in which there was none."""


RefusalCountsPeriod: TypeAlias = 'Literal["24h", "7d", "30d"]'


class RefusalPage(TypedDict):
    data: "list[Refusal]"
    pagination: "Pagination"
    counts: "RefusalCounts"


class RefusalStep(TypedDict):
    start: "Timestamp"
    cause: "RefusalCause"
    limit: "LimitName | None"
    """The limit of the organization that it was about."""
    count: "int"


class ReplayDeliveryResult(TypedDict):
    message: "str"
    deliveriesCreated: "int"
    deliveryId: "str"


class ReplayEventRequest(TypedDict):
    destinationIds: "NotRequired[list[str]]"


class ReplayEventResult(TypedDict):
    message: "str"
    deliveriesCreated: "int"


class ReplayEventsRequest(TypedDict):
    eventIds: "list[str]"
    destinationIds: "NotRequired[list[str]]"


class ReplayEventsResult(TypedDict):
    message: "str"
    deliveriesCreated: "int"
    eventsQueued: "int"


class ResendConfirmationRequest(TypedDict):
    address: "str"


class ResetCircuitResult(TypedDict):
    message: "str"
    circuitState: 'Literal["closed"]'


class ResumeRequest(TypedDict):
    releasePerSecond: "NotRequired[int]"
    """How many of the deliveries that wait go out per second at most. Left out: as the server is set (50)."""


class RetentionLag(TypedDict):
    keptDays: "int | None"
    """Null: for ever."""
    lagDays: "int"
    """Days that should be gone."""


class RetryDeliveryResult(TypedDict):
    message: "str"
    deliveryId: "str"


class RetryIssueRequest(TypedDict):
    before: "NotRequired[str]"
    """Only deliveries made before this one."""
    dryRun: "NotRequired[bool]"
    """Counts, and creates nothing."""


class RetryIssueResult(TypedDict):
    message: "str"
    deliveriesFound: "int"
    """That failed and were not replayed, in this call."""
    deliveriesCreated: "int"
    """Fewer, when a later delivery has replaced one, or a payload or destination is gone; 0 with `dryRun`."""
    more: "bool"
    """Whether there may be more to retry: call it again, with `before`."""
    next: "str | None"
    """The `before` of the next call; null when nothing is left."""


class RetryPolicy(TypedDict):
    maxRetries: "int"
    """After the first attempt."""
    initialDelay: "int"
    """ms"""
    maxDelay: "int"
    """ms"""
    backoffMultiplier: "float"


class RetryPolicyInput(TypedDict):
    """A part of it is merged over the defaults, or over what is stored."""

    maxRetries: "NotRequired[int]"
    """After the first attempt."""
    initialDelay: "NotRequired[int]"
    """ms"""
    maxDelay: "NotRequired[int]"
    """ms"""
    backoffMultiplier: "NotRequired[float]"


class RotateIngestTokenRequest(TypedDict):
    overlapSeconds: "NotRequired[int]"
    """How long the address before it stays valid; a day by default."""


class RotateSigningSecretRequest(TypedDict):
    secret: "str"
    """The new one: `whsec_` and 24 to 64 bytes in base64."""
    overlapSeconds: "NotRequired[int]"
    """How long the secret before this one stays valid; 0: it ends now."""


class RotateVerificationSecretRequest(TypedDict):
    secret: "str"
    """The new one."""
    overlapSeconds: "NotRequired[int]"
    """How long the secret before this one stays valid; 0: it ends now."""


class Route(TypedDict):
    id: "str"
    name: "str"
    description: "str | None"
    sourceId: "str"
    destinationIds: "list[str]"
    transformId: "str | None"
    filterId: "str | None"
    schemaId: "str | None"
    priority: "int"
    """Higher values run first."""
    filterConditions: "FilterConditions | None"
    filterLogic: "FilterLogic"
    failoverDestinationIds: "list[str]"
    failoverAfterAttempts: "int"
    circuitState: "CircuitState"
    circuitCooldownSeconds: "int"
    circuitFailureThreshold: "int"
    circuitProbeSuccessThreshold: "int"
    notifyOnFailure: "bool"
    notifyOnSuccess: "bool"
    notifyOnRecovery: "bool"
    notifyEmails: "str | None"
    withheldEmails: "list[str]"
    """Addresses in `notifyEmails` that get no mail: their owners have not agreed, or the operator does not accept their domain."""
    expectedResponse: "RouteExpectedResponse | None"
    """What of the destination's answer counts as success; null: any 2xx."""
    lane: "NotRequired[RouteLane]"
    """Only there when it is set for this route."""
    allowOwnAddress: "bool"
    """Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks."""
    enabled: "bool"
    paused: "bool"
    """Whether its deliveries wait until it is resumed."""
    pausedSince: "Timestamp | None"
    """Null when it is not paused."""
    pausedUntil: "Timestamp | None"
    """When the pause ends by itself; null: it does not."""
    pauseReason: "str | None"
    source: "SourceReference"
    destinations: "list[RouteDestination]"
    transform: "RouteTransform | None"
    filter: "RouteFilter | None"
    schema: "RouteSchema | None"
    eventsRouted: "int"
    lastEventAt: "Timestamp | None"
    createdAt: "Timestamp"
    updatedAt: "Timestamp"


class RouteDestination(TypedDict):
    id: "str"
    name: "str"


class RouteExpectedResponse(TypedDict):
    statusCodes: "NotRequired[list[int]]"
    bodyContains: "NotRequired[str]"


class RouteExport(TypedDict):
    version: "str"
    exportedAt: "Timestamp"
    organizationSlug: "str"
    routes: "list[RouteExportItem]"


class RouteExportItem(TypedDict):
    name: "str"
    description: "str | None"
    sourceSlug: "str | None"
    destinationSlugs: "list[str]"
    transformSlug: "str | None"
    filterSlug: "str | None"
    schemaSlug: "str | None"
    priority: "int"
    """Higher values run first."""
    filterConditions: "FilterConditions | None"
    filterLogic: "FilterLogic"
    failoverDestinationSlugs: "list[str]"
    failoverAfterAttempts: "int"
    circuitCooldownSeconds: "int"
    circuitFailureThreshold: "int"
    circuitProbeSuccessThreshold: "int"
    notifyOnFailure: "bool"
    notifyOnSuccess: "bool"
    notifyOnRecovery: "bool"
    notifyEmails: "str | None"
    expectedResponse: "RouteExpectedResponse | None"
    """What of the destination's answer counts as success; null: any 2xx."""
    lane: "NotRequired[RouteLane]"
    """Only there when it is set for this route."""
    allowOwnAddress: "bool"
    """Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks."""
    isActive: "bool"
    destinationSlug: "str | None"
    """The first of `destinationSlugs`."""
    failureThreshold: "int"
    """The same as `circuitFailureThreshold`."""


class RouteFilter(TypedDict):
    id: "str"
    name: "str"


class RouteImportItem(TypedDict):
    name: "str"
    sourceSlug: "str"
    destinationSlugs: "NotRequired[list[str]]"
    description: "NotRequired[str | None]"
    transformSlug: "NotRequired[str | None]"
    filterSlug: "NotRequired[str | None]"
    schemaSlug: "NotRequired[str | None]"
    priority: "NotRequired[int]"
    """Higher values run first."""
    filterConditions: "NotRequired[list[FilterConditionInput] | None]"
    filterLogic: "NotRequired[FilterLogic]"
    failoverDestinationSlugs: "NotRequired[list[str]]"
    failoverAfterAttempts: "NotRequired[int]"
    circuitCooldownSeconds: "NotRequired[int]"
    circuitFailureThreshold: "NotRequired[int]"
    circuitProbeSuccessThreshold: "NotRequired[int]"
    notifyOnFailure: "NotRequired[bool]"
    notifyOnSuccess: "NotRequired[bool]"
    notifyOnRecovery: "NotRequired[bool]"
    notifyEmails: "NotRequired[str | None]"
    expectedResponse: "NotRequired[RouteExpectedResponse | None]"
    """What of the destination's answer counts as success; null: any 2xx."""
    lane: "NotRequired[RouteLane | None]"
    allowOwnAddress: "NotRequired[bool]"
    """Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks."""
    isActive: "NotRequired[bool]"
    destinationSlug: "NotRequired[str | None]"
    failureThreshold: "NotRequired[Any]"


class RouteImportResult(TypedDict):
    imported: "int"
    skipped: "int"
    overwritten: "int"
    errors: "list[str]"
    """When there is one, nothing was imported."""
    warnings: "list[str]"
    routes: "list[RouteImportResultRoute]"


class RouteImportResultRoute(TypedDict):
    id: "str | None"
    """Null when it was not stored."""
    name: "str"
    status: "RouteImportResultRouteStatus"


RouteImportResultRouteStatus: TypeAlias = 'Literal["created", "skipped", "overwritten"]'


RouteLane: TypeAlias = 'Literal["adaptive", "workflow", "express"]'


class RoutePage(TypedDict):
    data: "list[Route]"
    pagination: "Pagination"


class RoutePreview(TypedDict):
    routeId: "str"
    eventId: "str"
    verdict: "RoutePreviewVerdict"
    error: "str | None"
    schemaErrors: "list[RoutePreviewSchemaError]"
    """The first mismatches, when the payload does not match its schema."""
    content: "RoutePreviewContent | None"
    """What all destinations get; null when nothing would be sent, or the transform fails."""
    requests: "list[RoutePreviewRequest]"
    """One for each destination, in their order; none when the event is not taken."""


class RoutePreviewContent(TypedDict):
    bodySize: "int"
    """bytes"""
    body: "str"
    """Its first 64 KiB, as text if they are UTF-8, else in base64."""
    bodyEncoding: 'NotRequired[Literal["base64"]]'
    """Only when the body is no text."""
    isCut: "bool"
    """Whether there is more of it."""


class RoutePreviewHttpRequest(TypedDict):
    method: "str"
    url: "str"
    """Only its origin for a key that may not read destinations."""
    headers: "dict[str, str]"
    """Secrets masked. `Host`, `Content-Length` and `Connection` are added when it is sent."""
    bodySize: "int"
    """bytes"""


class RoutePreviewRequest(TypedDict):
    destinationId: "str"
    destinationName: "str"
    enabled: "bool"
    """To a disabled destination nothing is sent."""
    request: "RoutePreviewHttpRequest | None"
    """Null: `problem` says why."""
    problem: "DeliveryRequestProblem | None"
    """Why there is no request to show."""


class RoutePreviewSchemaError(TypedDict):
    path: "str"
    message: "str"


RoutePreviewVerdict: TypeAlias = 'Literal["taken", "filtered", "schema_failed", "filter_failed"]'
"""Whether it takes the event, its filter refuses it, the payload does not match its schema, or the filter is too much work."""


class RouteSchema(TypedDict):
    id: "str"
    name: "str"


class RouteStatistics(TypedDict):
    eventsRouted: "int"
    eventsFiltered: "int"
    """Refused by the route's filter."""
    deliveriesSucceeded: "int"
    deliveriesFailed: "int"
    avgLatency: "int"
    """ms"""
    period: "RouteStatisticsPeriod"


RouteStatisticsPeriod: TypeAlias = 'Literal["1h", "24h", "7d", "30d"]'


class RouteTransform(TypedDict):
    id: "str"
    name: "str"


class S3Config(TypedDict):
    bucket: "str"
    region: "str"
    credentials: "NotRequired[GcsConfigCredentials]"
    accessKeyId: "NotRequired[str]"
    secretAccessKey: "NotRequired[str]"
    roleArn: "NotRequired[str]"
    """With identity: the role that is assumed, with the id of the organization as external ID."""
    endpoint: "NotRequired[str]"
    forcePathStyle: "NotRequired[bool | BooleanText]"
    bucketOwner: "NotRequired[str]"
    """Files are refused by a bucket of another account."""
    kmsKeyId: "NotRequired[str]"
    """Id, ARN or alias of the KMS key that files are encrypted with."""
    storageClass: "NotRequired[S3ConfigStorageClass]"
    tags: "NotRequired[str]"
    """Of each file: name=value&name=value, percent-encoded."""
    prefix: "NotRequired[str]"
    fileFormat: "NotRequired[WarehouseFileFormat]"
    compression: "NotRequired[WarehouseCompression]"
    """Of the whole file; in a Parquet file of its pages. snappy is for Parquet only."""
    payloadColumn: "NotRequired[WarehousePayloadColumn]"
    partitionBy: "NotRequired[WarehousePartition]"
    keyOrder: "NotRequired[AzureBlobConfigKeyOrder]"
    batchSize: "NotRequired[int | str]"
    """Events."""
    batchBytes: "NotRequired[int | str]"
    """Bytes of payloads."""
    batchWindowSeconds: "NotRequired[int | str]"


S3ConfigStorageClass: TypeAlias = 'Literal["STANDARD", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER_IR"]'


class S3DestinationInput(TypedDict):
    name: "str"
    type: 'Literal["s3"]'
    enabled: "NotRequired[bool]"
    config: "S3Config"
    fieldMapping: "NotRequired[list[FieldMappingRuleInput] | None]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"


class Schema(TypedDict):
    id: "str"
    name: "str"
    slug: "str"
    """Unique in the organization; stands for the id in export files."""
    description: "str | None"
    schema: "JsonObject | bool"
    """A JSON Schema."""
    version: "int"
    """Grows with every change."""
    routeCount: "int"
    """Routes that use it."""
    createdAt: "Timestamp"
    updatedAt: "Timestamp"


class SchemaPage(TypedDict):
    data: "list[Schema]"
    pagination: "Pagination"


class SchemaResult(TypedDict):
    valid: "bool"
    errors: "list[SchemaResultError]"


class SchemaResultError(TypedDict):
    path: "str"
    """A JSON pointer into the payload; empty for the payload itself."""
    message: "str"


SecretEncoding: TypeAlias = 'Literal["text", "hex", "base64"]'


ServerState: TypeAlias = 'Literal["ok", "away"]'


class SignInRequest(TypedDict):
    code: "str"


class SignSampleRequest(TypedDict):
    provider: "str"
    """Its `name`."""
    secret: "str"
    """As `verificationConfig.secret` of the source. It is not stored."""
    url: "str"
    """The `webhookUrl` of the source, which some providers sign."""
    event: "NotRequired[str]"
    """One of the `samples`; the first by default."""
    payload: "NotRequired[str]"
    """Instead of the payload of the sample."""


SignatureEncoding: TypeAlias = 'Literal["hex", "base64", "base64url"]'


class SignedSample(TypedDict):
    event: "str"
    headers: "dict[str, str]"
    payload: "str"
    """To be sent byte by byte."""
    sample: "str"
    """The same before the provider adds to it what proves it."""
    query: "str"
    """To be added to the address; usually empty."""


class SlackChannel(TypedDict):
    url: "str"
    """Of an incoming webhook."""


class SlackVerification(TypedDict):
    type: 'Literal["slack"]'
    secret: "str"


class Source(TypedDict):
    id: "str"
    name: "str"
    slug: "str"
    """Unique in the organization; stands for the id in export files."""
    description: "str | None"
    webhookUrl: "str"
    """Where the provider sends its webhooks."""
    provider: "SourceProvider | None"
    """Whose webhooks it receives: they are verified, and handshakes answered, as this provider does it."""
    verificationConfig: "VerificationConfig"
    previousSecretUntil: "Timestamp | None"
    """Until then webhooks signed with the secret before this one are taken too."""
    idempotencyKey: "SourceIdempotencyKey | None"
    """By what a repeated webhook is known, and for how long."""
    ingestToken: "SourceIngestToken"
    previousTokenUntil: "Timestamp | None"
    """Until when the address before the last rotation is taken, too."""
    concealed: "bool"
    """Whether webhooks without a valid signature are answered as if there were no such source."""
    allowPaths: "bool"
    """Whether it takes webhooks at any path below its address, too. The path is the `path` of the event."""
    answer: "SourceAnswer | None"
    handshake: "SourceHandshake | None"
    lastHandshake: "SourceLastHandshake | None"
    """The last handshake of the provider that was answered."""
    enabled: "bool"
    eventsCount: "int"
    lastEventAt: "Timestamp | None"
    warnings: "list[str]"
    """What works, but should be changed, such as a secret so short that it can be guessed."""
    createdAt: "Timestamp"
    updatedAt: "Timestamp"


class SourceAnswer(TypedDict):
    status: "int"
    body: "str"
    contentType: "str"


class SourceAnswerInput(TypedDict):
    status: "NotRequired[int]"
    body: "NotRequired[str]"
    contentType: "NotRequired[str]"


class SourceHandshake(TypedDict):
    type: "SourceHandshakeType"
    parameter: "NotRequired[str]"
    member: "NotRequired[str]"
    verifyToken: "NotRequired[str]"
    echoMember: "NotRequired[str]"
    algorithm: "NotRequired[HmacAlgorithm]"
    encoding: "NotRequired[SignatureEncoding]"
    prefix: "NotRequired[str]"


SourceHandshakeType: TypeAlias = 'Literal["ok", "echo", "hmac"]'


class SourceIdempotencyKey(TypedDict):
    header: "NotRequired[str]"
    jsonPath: "NotRequired[str]"
    query: "NotRequired[str]"
    signature: "NotRequired[Literal[True]]"
    """By the signature: a captured request that is sent again is a repeat."""
    windowSeconds: "int"


SourceIngestToken: TypeAlias = 'Literal["none", "optional", "required"]'
"""Whether the address ends in an unguessable part: never, if the sender likes, or always."""


class SourceLastHandshake(TypedDict):
    kind: "str"
    """Which one."""
    at: "Timestamp"
    shown: "str | None"


class SourcePage(TypedDict):
    data: "list[Source]"
    pagination: "Pagination"


SourceProvider: TypeAlias = 'Literal["adyen", "airtable", "asana", "auth0", "aws-sns", "azure-event-grid", "bitbucket", "braintree", "cal-com", "calendly", "chargebee", "clerk", "clickup", "coinbase", "coinbase-commerce", "datadog", "discord", "docusign", "dropbox", "elevenlabs", "github", "gitlab", "google-pubsub", "hubspot", "instagram", "intercom", "jira", "linear", "mailchimp", "mailgun", "mandrill", "meta", "microsoft-graph", "monday", "notion", "nylas", "okta", "openai", "paddle", "pagerduty", "paypal", "plaid", "postmark", "replicate", "resend", "salesforce", "sendgrid", "sentry", "shopify", "slack", "square", "standard-webhooks", "stripe", "telegram", "trello", "twilio", "twitch", "typeform", "vercel", "webflow", "websub", "whatsapp", "woocommerce", "x", "xero", "youtube", "zendesk", "zoom"]'


class SourceReference(TypedDict):
    id: "str"
    name: "str"


StatusCodeClass: TypeAlias = 'Literal["1xx", "2xx", "3xx", "4xx", "5xx", "none"]'
"""Of the latest attempt; `none`: it had no answer."""


StringMap: TypeAlias = "dict[str, str]"


class StripeVerification(TypedDict):
    type: 'Literal["stripe"]'
    secret: "str"


class TeamsChannel(TypedDict):
    url: "str"
    """Of a workflow that posts to a channel when a webhook is received."""


class TestCodeRequest(TypedDict):
    payload: "NotRequired[Any]"
    headers: "NotRequired[dict[str, str]]"
    path: "NotRequired[str]"
    query: "NotRequired[str]"
    method: "NotRequired[DeliveryMethod]"
    type: "TransformType"
    code: "str"
    outputContentType: "NotRequired[str | None]"


class TestConditionsRequest(TypedDict):
    payload: "NotRequired[Any]"
    headers: "NotRequired[dict[str, str]]"
    query: "NotRequired[StringMap | str]"
    path: "NotRequired[str]"
    method: "NotRequired[str]"
    conditions: "list[FilterConditionInput]"
    logic: "NotRequired[FilterLogic]"


class TestDestinationRequest(TypedDict):
    payload: "NotRequired[dict[str, Any]]"
    path: "NotRequired[str]"
    """As below a source: added to `url` with `forwardPath`."""
    query: "NotRequired[str]"
    """Added to that of `url` with `forwardQuery`."""


class TestFilterRequest(TypedDict):
    payload: "NotRequired[Any]"
    headers: "NotRequired[dict[str, str]]"
    query: "NotRequired[StringMap | str]"
    path: "NotRequired[str]"
    method: "NotRequired[str]"


TestResult: TypeAlias = "HttpTestSuccess | HttpTestFailure | WarehouseTestSuccess | WarehouseTestFailure"


class TestSchemaRequest(TypedDict):
    payload: "Any"
    headers: "NotRequired[dict[str, str]]"
    schema: "JsonObject | bool"
    """A JSON Schema, draft-07 or 2020-12 (named by `$schema`; without it 2020-12)."""


class TestTransformRequest(TypedDict):
    payload: "NotRequired[Any]"
    headers: "NotRequired[dict[str, str]]"
    path: "NotRequired[str]"
    query: "NotRequired[str]"
    method: "NotRequired[DeliveryMethod]"


Timestamp: TypeAlias = "str"
"""ISO 8601, UTC, with milliseconds."""


TimestampUnit: TypeAlias = 'Literal["s", "ms", "rfc3339"]'


class Transform(TypedDict):
    id: "str"
    name: "str"
    slug: "str"
    """Unique in the organization; stands for the id in export files."""
    description: "str | None"
    type: "TransformType"
    code: "str"
    outputContentType: "str | None"
    version: "int"
    """Grows with every change."""
    routeCount: "int"
    """Routes that use it."""
    createdAt: "Timestamp"
    updatedAt: "Timestamp"


class TransformPage(TypedDict):
    data: "list[Transform]"
    pagination: "Pagination"


TransformResult: TypeAlias = "TransformResultSuccess | TransformResultFailure"


class TransformResultFailure(TypedDict):
    success: "Literal[False]"
    error: "TransformResultFailureError"
    outputContentType: "str | None"
    durationMs: "float"


class TransformResultFailureError(TypedDict):
    message: "str"
    line: "int | None"
    column: "int | None"


class TransformResultSuccess(TypedDict):
    success: "Literal[True]"
    output: "Any"
    """Parsed when it is JSON, else its text."""
    outputContentType: "str | None"
    durationMs: "float"


TransformType: TypeAlias = 'Literal["jsonata", "javascript", "liquid"]'


class UpdateAlertChannelRequest(TypedDict):
    name: "NotRequired[str]"
    type: "NotRequired[AlertChannelType]"
    config: "NotRequired[dict[str, Any]]"
    enabled: "NotRequired[bool]"
    kinds: "NotRequired[list[IssueKind] | None]"
    """Of issues. Null: all."""
    sourceIds: "NotRequired[list[str] | None]"
    """Only issues of these sources. Null: all."""
    routeIds: "NotRequired[list[str] | None]"
    """Only issues of these routes. Null: all."""
    destinationIds: "NotRequired[list[str] | None]"
    """Only issues of these destinations. Null: all."""
    afterCount: "NotRequired[int]"
    """An issue is told from this count on."""
    onAcknowledged: "NotRequired[bool]"
    """Whether it is told that somebody acknowledged an issue."""
    onResolved: "NotRequired[bool]"
    """Whether it is told that an issue was resolved or ignored."""
    throttleMinutes: "NotRequired[int]"
    """Between two messages about an issue."""
    quietHours: "NotRequired[QuietHours | None]"
    """Every day. What changes meanwhile, and is not undone, is told afterwards."""
    digestMinutes: "NotRequired[int | None]"
    """One message with all changes, every so many minutes. Null: one each."""


UpdateDestinationRequest: TypeAlias = "HttpDestinationChanges | WarehouseDestinationChanges"


class UpdateFilterRequest(TypedDict):
    name: "NotRequired[str]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"
    conditions: "NotRequired[list[FilterConditionInput]]"
    logic: "NotRequired[FilterLogic]"


class UpdateIssueRequest(TypedDict):
    state: "IssueState"


class UpdateRouteRequest(TypedDict):
    name: "NotRequired[str]"
    description: "NotRequired[str | None]"
    sourceId: "NotRequired[str]"
    destinationIds: "NotRequired[list[str]]"
    transformId: "NotRequired[str | None]"
    filterId: "NotRequired[str | None]"
    schemaId: "NotRequired[str | None]"
    priority: "NotRequired[int]"
    """Higher values run first."""
    filterConditions: "NotRequired[list[FilterConditionInput] | None]"
    filterLogic: "NotRequired[FilterLogic]"
    failoverDestinationIds: "NotRequired[list[str]]"
    failoverAfterAttempts: "NotRequired[int]"
    circuitCooldownSeconds: "NotRequired[int]"
    circuitFailureThreshold: "NotRequired[int]"
    circuitProbeSuccessThreshold: "NotRequired[int]"
    notifyOnFailure: "NotRequired[bool]"
    notifyOnSuccess: "NotRequired[bool]"
    notifyOnRecovery: "NotRequired[bool]"
    notifyEmails: "NotRequired[str | None]"
    expectedResponse: "NotRequired[RouteExpectedResponse | None]"
    """What of the destination's answer counts as success; null: any 2xx."""
    lane: "NotRequired[RouteLane | None]"
    allowOwnAddress: "NotRequired[bool]"
    """Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks."""
    enabled: "NotRequired[bool]"


class UpdateSchemaRequest(TypedDict):
    name: "NotRequired[str]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"
    schema: "NotRequired[JsonObject | bool]"
    """A JSON Schema, draft-07 or 2020-12 (named by `$schema`; without it 2020-12)."""


class UpdateSourceRequest(TypedDict):
    name: "NotRequired[str]"
    slug: "NotRequired[str]"
    description: "NotRequired[str | None]"
    provider: "NotRequired[SourceProvider | None]"
    """Whose webhooks it receives: they are verified, and handshakes answered, as this provider does it."""
    verificationConfig: "NotRequired[VerificationConfigInput | None]"
    idempotencyKey: "NotRequired[SourceIdempotencyKey | None]"
    """By what a repeated webhook is known, and for how long."""
    ingestToken: "NotRequired[SourceIngestToken]"
    concealed: "NotRequired[bool]"
    """Whether webhooks without a valid signature are answered as if there were no such source."""
    allowPaths: "NotRequired[bool]"
    """Whether it takes webhooks at any path below its address, too. The path is the `path` of the event."""
    answer: "NotRequired[SourceAnswerInput | None]"
    """What an accepted webhook is answered, instead of `success` and `eventId`."""
    handshake: "NotRequired[EchoHandshake | OkHandshake | HmacHandshake | None]"
    """What is answered to a `GET` or `HEAD` by which the sender checks the address: 200, a parameter of the query, or its HMAC. Null: 405, unless the provider has such checks."""
    enabled: "NotRequired[bool]"


class UpdateTransformRequest(TypedDict):
    name: "NotRequired[str]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"
    type: "NotRequired[TransformType]"
    code: "NotRequired[str]"
    outputContentType: "NotRequired[str | None]"


class Usage(TypedDict):
    plan: "Plan"
    limits: "UsageLimits"
    month: "UsageMonth"


class UsageLimits(TypedDict):
    eventsPerSecond: "LimitUse"
    eventsPerMonth: "LimitUse"
    payloadBytes: "LimitUse"
    deliveriesPerEvent: "LimitUse"
    routesPerSource: "LimitUse"
    destinations: "LimitUse"
    sources: "LimitUse"
    filters: "LimitUse"
    transforms: "LimitUse"
    schemas: "LimitUse"
    alertChannels: "LimitUse"
    apiKeys: "LimitUse"
    waitingDeliveries: "LimitUse"
    storedBytes: "LimitUse"
    transformMsPerMinute: "LimitUse"
    requestsPerMinute: "LimitUse"
    runningReplays: "LimitUse"
    replayedPerSecond: "LimitUse"
    runningImports: "LimitUse"
    runningSearches: "LimitUse"
    runningTests: "LimitUse"
    runningStreams: "LimitUse"


UsageMonth = TypedDict(
    "UsageMonth",
    {
        "from": "str",
        "events": "int",
        "payloadBytes": "int",
    },
)


class ValidatePayloadRequest(TypedDict):
    payload: "Any"
    headers: "NotRequired[dict[str, str]]"


VerificationAlgorithm: TypeAlias = 'Literal["sha1", "sha256", "sha512", "ecdsa", "ed25519", "rsa", "RS256", "ES256", "HS256"]'


class VerificationConfig(TypedDict):
    """How webhooks are verified; the secret is never shown. `provider` means as the provider of the source does, and `confirmSubscriptions` is of some providers; the other members are those of the type."""

    type: "VerificationType"
    header: "NotRequired[str]"
    algorithm: "NotRequired[VerificationAlgorithm]"
    encoding: "NotRequired[SignatureEncoding]"
    prefix: "NotRequired[str]"
    timestampHeader: "NotRequired[str]"
    timestampSeparator: "NotRequired[str]"
    secretEncoding: "NotRequired[SecretEncoding]"
    listSeparator: "NotRequired[str]"
    signaturePart: "NotRequired[str]"
    timestampPart: "NotRequired[str]"
    partSeparator: "NotRequired[str]"
    timestampUnit: "NotRequired[TimestampUnit]"
    toleranceSeconds: "NotRequired[int]"
    idHeader: "NotRequired[str]"
    template: "NotRequired[str]"
    jwksUrl: "NotRequired[str]"
    issuer: "NotRequired[str]"
    audience: "NotRequired[str]"
    claims: "NotRequired[dict[str, str]]"
    bodyHashClaim: "NotRequired[str]"
    parameter: "NotRequired[str]"
    path: "NotRequired[str]"
    confirmSubscriptions: "NotRequired[bool]"


class VerificationConfigInput(TypedDict):
    type: "NotRequired[str]"
    provider: "NotRequired[SourceProvider | None]"


VerificationType: TypeAlias = 'Literal["github", "stripe", "slack", "hmac", "none", "hmac_template", "public_key", "jwt", "header_token", "basic", "query_token", "body_token", "provider"]'


WarehouseCompression: TypeAlias = 'Literal["none", "snappy", "gzip", "zstd"]'


class WarehouseConfig(TypedDict):
    """The members of the type; its secret is shown as •••• and the last four."""

    bucket: "NotRequired[str]"
    region: "NotRequired[str]"
    credentials: "NotRequired[AzureBlobConfigCredentials]"
    accessKeyId: "NotRequired[str]"
    secretAccessKey: "NotRequired[str]"
    """Masked."""
    roleArn: "NotRequired[str]"
    """With identity: the role that is assumed, with the id of the organization as external ID."""
    endpoint: "NotRequired[str]"
    forcePathStyle: "NotRequired[bool]"
    bucketOwner: "NotRequired[str]"
    """Files are refused by a bucket of another account."""
    kmsKeyId: "NotRequired[str]"
    """Id, ARN or alias of the KMS key that files are encrypted with."""
    storageClass: "NotRequired[S3ConfigStorageClass]"
    tags: "NotRequired[str]"
    """Of each file: name=value&name=value, percent-encoded."""
    prefix: "NotRequired[str]"
    fileFormat: "NotRequired[WarehouseFileFormat]"
    compression: "NotRequired[WarehouseCompression]"
    """Of the whole file; in a Parquet file of its pages. snappy is for Parquet only."""
    payloadColumn: "NotRequired[WarehousePayloadColumn]"
    partitionBy: "NotRequired[WarehousePartition]"
    keyOrder: "NotRequired[AzureBlobConfigKeyOrder]"
    batchSize: "NotRequired[int]"
    """Events."""
    batchBytes: "NotRequired[int]"
    """Bytes of payloads."""
    batchWindowSeconds: "NotRequired[int]"
    accountId: "NotRequired[str]"
    projectId: "NotRequired[str]"
    serviceAccountKey: "NotRequired[str]"
    """Masked."""
    accountName: "NotRequired[str]"
    accountKey: "NotRequired[str]"
    """Masked."""
    sasToken: "NotRequired[str]"
    """Masked."""
    containerName: "NotRequired[str]"


class WarehouseDestination(TypedDict):
    """Members that are for HTTP only have their defaults."""

    id: "str"
    name: "str"
    type: "WarehouseType"
    url: 'Literal[""]'
    enabled: "bool"
    paused: "bool"
    """Whether its deliveries wait until it is resumed."""
    pausedSince: "Timestamp | None"
    """Null when it is not paused."""
    pausedUntil: "Timestamp | None"
    """When the pause ends by itself; null: it does not."""
    pauseReason: "str | None"
    successRate: "float | None"
    """percent; null without a recent delivery"""
    avgLatency: "int | None"
    """ms; null without a recent attempt that was answered"""
    deliveriesCount: "int"
    config: "WarehouseConfig"
    fieldMapping: "list[FieldMappingRule]"
    slug: "str"
    """Unique in the organization; stands for the id in export files."""
    description: "str | None"
    method: "DeliveryMethod"
    headers: "dict[str, str]"
    """Added to every delivery; replaced as a whole on update."""
    forwardHeaders: "ForwardedHeaders | list[str] | None"
    """Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never."""
    forwardQuery: "bool"
    """Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels."""
    forwardPath: "bool"
    """Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`."""
    authType: "DestinationAuthType"
    authConfig: "StringMap | None"
    """Its secrets are shown as •••• and their last four characters."""
    signingSecret: "str | None"
    previousSigningSecretUntil: "Timestamp | None"
    """Until then deliveries are signed with the secret before this one too."""
    timeoutMs: "int"
    """ms"""
    rateLimitPerMinute: "int | None"
    """Null: unlimited."""
    maxConcurrency: "int | None"
    """Most attempts at a time. Null: as many as the destination copes with."""
    retryPolicy: "RetryPolicy"
    lastDeliveryAt: "Timestamp | None"
    createdAt: "Timestamp"
    updatedAt: "Timestamp"


class WarehouseDestinationChanges(TypedDict):
    name: "NotRequired[str]"
    type: "NotRequired[str]"
    enabled: "NotRequired[bool]"
    config: "NotRequired[dict[str, Any]]"
    """Members that are not sent stay, null removes one; a secret sent back masked is kept."""
    fieldMapping: "NotRequired[list[FieldMappingRuleInput] | None]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"


class WarehouseDestinationInput(TypedDict):
    name: "str"
    type: "WarehouseType"
    enabled: "NotRequired[bool]"
    config: "dict[str, Any]"
    """The whole config; a secret that is left out, or sent back masked, is kept."""
    fieldMapping: "NotRequired[list[FieldMappingRuleInput] | None]"
    slug: "NotRequired[str]"
    """Unique in the organization; stands for the id in export files."""
    description: "NotRequired[str | None]"


class WarehouseDestinationSummary(TypedDict):
    id: "str"
    name: "str"
    type: "WarehouseType"
    url: 'Literal[""]'
    enabled: "bool"
    paused: "bool"
    """Whether its deliveries wait until it is resumed."""
    pausedUntil: "Timestamp | None"
    """When the pause ends by itself; null: it does not."""
    config: "WarehouseConfig"
    slug: "str"
    """Unique in the organization; stands for the id in export files."""


WarehouseFileFormat: TypeAlias = 'Literal["jsonl", "json", "parquet"]'


WarehousePartition: TypeAlias = 'Literal["date", "hour", "source"]'


WarehousePayloadColumn: TypeAlias = 'Literal["text", "json"]'
"""What rows without a mapping hold: text in every column, or the payload as JSON. text in Parquet files."""


class WarehouseTestFailure(TypedDict):
    success: "Literal[False]"
    statusCode: "int | None"
    latency: "int"
    """ms"""
    error: "str"
    message: "str"


class WarehouseTestSuccess(TypedDict):
    success: "Literal[True]"
    result: "WarehouseTestSuccessResult"
    latency: "int"
    """ms"""
    message: "str"


class WarehouseTestSuccessResult(TypedDict):
    key: "str"
    size: "int"
    """bytes"""
    count: "int"
    """rows"""
    conversions: "list[Conversion]"
    """Values that did not fit, by column."""
    row: "JsonObject | None"
    """The row as it was written; null when it is longer than 64 KiB."""


WarehouseType: TypeAlias = 'Literal["s3", "r2", "gcs", "azure_blob"]'


class WebhookChannel(TypedDict):
    url: "str"
    secret: "str"
    """`whsec_` and 24 to 64 bytes in base64."""


class Well(TypedDict):
    status: 'Literal["ok"]'
