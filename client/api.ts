// Made of docs/openapi.json by npm run prepare; do not edit.

import type { CallOptions, RawAnswer } from './http.ts';

import type { Streamed, StreamOptions } from './stream.ts';

export type Accepted = AcceptedEvent | AcceptedChallenge;

export type AcceptedChallenge = {
  /** Slack's, of a `url_verification`. */
  challenge: string;
};

export type AcceptedEvent = {
  success: true;
  eventId: string;
  /** It came before; the id is that of the first, and nothing was stored. */
  duplicate?: true;
};

export type ActOnDeliveriesRequest = {
  eventId?: string;
  sourceId?: string;
  routeId?: string;
  destinationId?: string;
  status?: DeliveryStatus | Array<DeliveryStatus>;
  /** Of the latest attempt. */
  statusCode?: number;
  codeClass?: StatusCodeClass;
  /** A part of the error of the latest attempt. */
  error?: string;
  /** Of the first attempt. */
  lane?: DeliveryLane;
  /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
  from?: string;
  /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
  to?: string;
  action: ActOnDeliveriesRequestAction;
  /** `first`, or the `nextCursor` of the answer before. */
  cursor?: string;
  /** Deliveries of this call, at most. */
  limit?: number;
  /** Counts all that match, and changes nothing. */
  dryRun?: boolean;
};

export type ActOnDeliveriesRequestAction = 'retry' | 'replay' | 'cancel';

export type ActOnDeliveriesResult = {
  message: string;
  /** That match: in this call, or all of them with `dryRun`. */
  deliveriesFound: number;
  /** The others had changed meanwhile, or cannot be replayed: they are under way, or a later one has replaced them. */
  deliveriesChanged: number;
  /** The `cursor` of the next call. Null: there is nothing more. */
  nextCursor: string | null;
};

export type AlertChange = {
  type: AlertChangeType;
  change: IssueChange;
  issue: AlertIssue;
};

export type AlertChangeType = 'delivery.failing' | 'destination.recovered' | 'circuit.opened' | 'circuit.closed' | 'transform.failing' | 'transform.recovered' | 'schema.refusing' | 'schema.recovered' | 'signature.failing' | 'signature.recovered' | 'warehouse.failing' | 'warehouse.recovered' | 'quota.reached' | 'quota.recovered' | 'ingest.refused' | 'ingest.recovered' | 'notification.failing' | 'notification.recovered' | 'delivery.exhausted' | 'issue.acknowledged' | 'issue.ignored';

export type AlertChannel = {
  id: string;
  name: string;
  type: AlertChannelType;
  /** Its secrets are shown as •••• and their last four characters: the addresses of Slack and Teams are secrets. */
  config: Record<string, string>;
  enabled: boolean;
  /** Of issues. Null: all. */
  kinds: Array<IssueKind> | null;
  sourceIds: Array<string> | null;
  routeIds: Array<string> | null;
  destinationIds: Array<string> | null;
  /** An issue is told from this count on. */
  afterCount: number;
  /** Whether it is told that somebody acknowledged an issue. */
  onAcknowledged: boolean;
  /** Whether it is told that an issue was resolved or ignored. */
  onResolved: boolean;
  /** Between two messages about an issue. */
  throttleMinutes: number;
  /** Every day. What changes meanwhile, and is not undone, is told afterwards. */
  quietHours: QuietHours | null;
  /** One message with all changes, every so many minutes. Null: one each. */
  digestMinutes: number | null;
  /** Addresses that get no mail: their owners have not agreed, or the operator does not accept their domain. */
  withheldEmails: Array<string>;
  /** Until then webhooks are signed with the secret before this one too. */
  previousSecretUntil: Timestamp | null;
  /** Since when its messages were given up; null after one that arrived. */
  failingSince: Timestamp | null;
  lastError: string | null;
  lastSentAt: Timestamp | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type AlertChannelPage = {
  data: Array<AlertChannel>;
  pagination: Pagination;
};

export type AlertChannelReference = {
  id: string;
  name: string;
};

export type AlertChannelType = 'mail' | 'webhook' | 'slack' | 'teams' | 'pagerduty';

/** As it was when the message was sent. */
export type AlertIssue = {
  id: string;
  kind: IssueKind;
  cause: string;
  state: IssueState;
  count: number;
  firstSeenAt: Timestamp;
  lastSeenAt: Timestamp;
  openedAt: Timestamp;
  resolvedAt: Timestamp | null;
  /** `name` is null when it was deleted; null: the issue is not about one. */
  source: IssueSource | null;
  /** `name` is null when it was deleted; null: the issue is not about one. */
  route: IssueRoute | null;
  /** `name` is null when it was deleted; null: the issue is not about one. */
  destination: IssueDestination | null;
  sampleEventId: string | null;
  sampleDeliveryId: string | null;
  url: string | null;
};

export type AlertOrganization = {
  id: string;
  slug: string;
};

export type AlertTestResult = AlertTestSuccess | HttpTestFailure;

export type AlertTestSuccess = {
  success: true;
  /** Null for mails. */
  statusCode: number | null;
  /** ms */
  latency: number;
  responseBody: string | null;
  message: string;
};

export type ApiKey = {
  id: string;
  name: string;
  scopes: Array<ApiKeyScope>;
  /** The ranges of addresses that it may be used from; null: every address. */
  allowedAddresses: Array<string> | null;
  /** Its last four characters. */
  tokenHint: string;
  expiresAt: Timestamp | null;
  lastUsedAt: Timestamp | null;
  createdAt: Timestamp;
};

export type ApiKeyAuth = {
  headerName: string;
  key: string;
};

export type ApiKeyPage = {
  data: Array<ApiKey>;
  pagination: Pagination;
};

export type ApiKeyScope = 'read' | 'write' | 'sources:read' | 'sources:write' | 'destinations:read' | 'destinations:write' | 'routes:read' | 'routes:write' | 'filters:read' | 'filters:write' | 'transforms:read' | 'transforms:write' | 'schemas:read' | 'schemas:write' | 'events:read' | 'events:write' | 'payloads:read' | 'deliveries:read' | 'deliveries:write' | 'issues:read' | 'issues:write' | 'alerts:read' | 'alerts:write' | 'keys:read' | 'keys:write' | 'organization:read' | 'audit:read' | 'secrets:read';

export type Attempt = {
  attemptNumber: number;
  startedAt: Timestamp;
  completedAt: Timestamp;
  status: AttemptStatus;
  /** Null when there was no response. */
  statusCode: number | null;
  /** ms */
  latency: number;
  /** Null when none was tried, or it is not known. */
  connection: AttemptConnection | null;
  /** ms. A step that was not made, or not finished, is null; all is null when it is not known. */
  timings: AttemptTimings | null;
  error: string | null;
  /** As they were sent, secrets masked. */
  requestHeaders: StringMap | null;
  responseHeaders: StringMap | null;
  responseBody: string | null;
};

export type AttemptConnection = {
  /** The IP address that it went to, or was tried last. */
  address: string;
  port: number;
  /** Whether it was kept from an earlier attempt: then no step of it took time. */
  reused: boolean;
};

export type AttemptStatus = 'success' | 'failed';

export type AttemptTimings = {
  /** Look-up of the name; null for an IP address. */
  dns: number | null;
  /** TCP connection, other addresses of the name that did not answer included. */
  connect: number | null;
  /** TLS handshake; null without TLS. */
  tls: number | null;
  /** From the request on the connection to the first byte of the answer. */
  firstByte: number | null;
  /** ms */
  total: number;
};

export type AuditRecord = {
  id: string;
  at: Timestamp;
  actor: AuditRecordActor;
  keyId: string | null;
  keyName: string | null;
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
  /** The id of the operation, the command of an operator, or `rememberSecret` of a provider. */
  action: string;
  /** The kind of records, as scopes name it. */
  resource: string;
  /** The first 100 of them. */
  recordIds: Array<string>;
  recordCount: number;
  /** The names of what was sent, never a value. */
  members: Array<string>;
  /** `refused`: the request was wrong or not allowed; `failed`: the service could not do it. */
  outcome: AuditRecordOutcome;
  /** Of a request that was refused or failed. */
  status: number | null;
  code: string | null;
};

/** An operator works on the database itself, or has given somebody a sign-in link; a provider has sent the secret of its source. */
export type AuditRecordActor = 'key' | 'operator' | 'provider';

export type AuditRecordCursorPage = {
  data: Array<AuditRecord>;
  pagination: CursorPagination;
};

export type AuditRecordOutcome = 'done' | 'refused' | 'failed';

export type AuditRecordPage = {
  data: Array<AuditRecord>;
  pagination: Pagination;
};

export type AzureBlobConfig = {
  accountName: string;
  credentials?: AzureBlobConfigCredentials;
  accountKey?: string;
  sasToken?: string;
  containerName: string;
  endpoint?: string;
  prefix?: string;
  fileFormat?: WarehouseFileFormat;
  /** Of the whole file; in a Parquet file of its pages. snappy is for Parquet only. */
  compression?: WarehouseCompression;
  payloadColumn?: WarehousePayloadColumn;
  partitionBy?: WarehousePartition;
  keyOrder?: AzureBlobConfigKeyOrder;
  /** Events. */
  batchSize?: number | string;
  /** Bytes of payloads. */
  batchBytes?: number | string;
  batchWindowSeconds?: number | string;
};

/** Without it: keys. identity: that of this service, if its operator allows it. */
export type AzureBlobConfigCredentials = 'keys' | 'sas' | 'identity';

/** How the keys of a folder sort: by the time of writing, or by that of the first event. */
export type AzureBlobConfigKeyOrder = 'written' | 'received';

export type AzureBlobDestinationInput = {
  name: string;
  type: 'azure_blob';
  enabled?: boolean;
  config: AzureBlobConfig;
  fieldMapping?: Array<FieldMappingRuleInput> | null;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
};

export type BasicAuth = {
  username: string;
  password: string;
};

export type BasicVerification = {
  type: 'basic';
  secret: string;
};

export type Batch = {
  id: string;
  status: BatchStatus;
  partition: string | null;
  key: string | null;
  fileFormat: WarehouseFileFormat | null;
  compression: WarehouseCompression | null;
  /** Events; once it is written, rows. */
  count: number | null;
  bytes: number | null;
  /** Values that did not fit their column. */
  convertedCount: number | null;
  conversions: Array<Conversion> | null;
  sha256: string | null;
  /** Of the events in its rows; null until it is written. */
  firstReceivedAt: Timestamp | null;
  lastReceivedAt: Timestamp | null;
  attempts: number;
  lastError: string | null;
  createdAt: Timestamp;
  frozenAt: Timestamp | null;
  writtenAt: Timestamp | null;
  finishedAt: Timestamp | null;
};

export type BatchCursorPage = {
  data: Array<Batch>;
  pagination: CursorPagination;
};

export type BatchPage = {
  data: Array<Batch>;
  pagination: Pagination;
};

export type BatchStatus = 'open' | 'frozen' | 'uploading' | 'written' | 'failed';

export type BearerAuth = {
  token: string;
};

export type BodyTokenVerification = {
  type: 'body_token';
  secret: string;
  path: string;
};

export type BooleanText = 'true' | 'false';

export type Caller = {
  organization: CallerOrganization;
  /** The same one: a key belongs to one organization. For clients that expect a list. */
  organizations: Array<CallerOrganization>;
  key: CallerKey;
};

export type CallerKey = {
  id: string;
  name: string;
  scopes: Array<ApiKeyScope>;
  /** The ranges of addresses that it may be used from; null: every address. */
  allowedAddresses: Array<string> | null;
  expiresAt: Timestamp | null;
};

export type CallerOrganization = {
  id: string;
  name: string;
  slug: string;
  plan: Plan;
};

export type ChannelFailingAlert = {
  type: 'channel.failing';
  timestamp: Timestamp;
  data: ChannelFailingAlertData;
};

export type ChannelFailingAlertData = {
  /** One line for people. */
  title: string;
  organization: AlertOrganization;
  alertChannel: AlertChannelReference;
  failingChannel: FailingAlertChannel;
  /** What it could not be told. */
  changes: Array<AlertChange>;
};

export type ChannelRecoveredAlert = {
  type: 'channel.recovered';
  timestamp: Timestamp;
  data: ChannelRecoveredAlertData;
};

export type ChannelRecoveredAlertData = {
  /** One line for people. */
  title: string;
  organization: AlertOrganization;
  alertChannel: AlertChannelReference;
  recoveredChannel: RecoveredAlertChannel;
};

export type CircuitState = 'closed' | 'open' | 'half_open';

export type CircuitStatus = {
  circuitState: CircuitState;
  /** Failed attempts in a row. */
  failureCount: number;
  failureThreshold: number;
  cooldownSeconds: number;
  lastFailureAt: Timestamp | null;
  lastSuccessAt: Timestamp | null;
  /** Null when it is not open. */
  openedAt: Timestamp | null;
  probeSuccessCount: number;
  probeSuccessThreshold: number;
  /** Whether its deliveries wait until it is resumed. */
  paused: boolean;
  /** Null when it is not paused. */
  pausedSince: Timestamp | null;
  /** When the pause ends by itself; null: it does not. */
  pausedUntil: Timestamp | null;
  pauseReason: string | null;
};

export type ConfigureCircuitRequest = {
  circuitCooldownSeconds?: number;
  circuitFailureThreshold?: number;
  circuitProbeSuccessThreshold?: number;
};

export type ConfigureCircuitResult = {
  circuitCooldownSeconds: number;
  circuitFailureThreshold: number;
  circuitProbeSuccessThreshold: number;
  message: string;
};

/** What happens to an item that is there already. */
export type ConflictStrategy = 'skip' | 'rename' | 'overwrite';

export type ConsoleKey = {
  /** A key with the scopes `read` and `write`. */
  token: string;
  expiresAt: Timestamp;
};

/** A column, how many values did not fit it, and the event of the first. */
export type Conversion = {
  target: string;
  count: number;
  eventId: string;
};

export type CreateAlertChannelRequest = {
  name: string;
  type: AlertChannelType;
  /** What it holds depends on `type`. */
  config: MailChannel | WebhookChannel | SlackChannel | TeamsChannel | PagerDutyChannel;
  enabled?: boolean;
  /** Of issues. Null: all. */
  kinds?: Array<IssueKind> | null;
  /** Only issues of these sources. Null: all. */
  sourceIds?: Array<string> | null;
  /** Only issues of these routes. Null: all. */
  routeIds?: Array<string> | null;
  /** Only issues of these destinations. Null: all. */
  destinationIds?: Array<string> | null;
  /** An issue is told from this count on. */
  afterCount?: number;
  /** Whether it is told that somebody acknowledged an issue. */
  onAcknowledged?: boolean;
  /** Whether it is told that an issue was resolved or ignored. */
  onResolved?: boolean;
  /** Between two messages about an issue. */
  throttleMinutes?: number;
  /** Every day. What changes meanwhile, and is not undone, is told afterwards. */
  quietHours?: QuietHours | null;
  /** One message with all changes, every so many minutes. Null: one each. */
  digestMinutes?: number | null;
};

export type CreateApiKeyRequest = {
  name: string;
  scopes?: Array<ApiKeyScope>;
  /** Addresses or ranges that it may be used from; null: every address. Left out: as the request's own key. */
  allowedAddresses?: Array<string> | null;
  expiresAt?: string | null;
};

export type CreateDestinationRequest = HttpDestinationInput | S3DestinationInput | R2DestinationInput | GcsDestinationInput | AzureBlobDestinationInput;

export type CreateEventReplayRequest = {
  sourceId?: string;
  status?: EventStatus;
  routed?: boolean;
  /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
  from?: string;
  /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
  to?: string;
  search?: string;
  all?: boolean;
  destinationIds?: Array<string>;
  ratePerSecond?: number;
  dryRun?: boolean;
};

export type CreateFilterRequest = {
  name: string;
  conditions: Array<FilterConditionInput>;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
  logic?: FilterLogic;
};

export type CreateRouteRequest = {
  name: string;
  sourceId: string;
  destinationIds: Array<string>;
  description?: string | null;
  transformId?: string | null;
  filterId?: string | null;
  schemaId?: string | null;
  /** Higher values run first. */
  priority?: number;
  filterConditions?: Array<FilterConditionInput> | null;
  filterLogic?: FilterLogic;
  failoverDestinationIds?: Array<string>;
  failoverAfterAttempts?: number;
  circuitCooldownSeconds?: number;
  circuitFailureThreshold?: number;
  circuitProbeSuccessThreshold?: number;
  notifyOnFailure?: boolean;
  notifyOnSuccess?: boolean;
  notifyOnRecovery?: boolean;
  notifyEmails?: string | null;
  /** What of the destination's answer counts as success; null: any 2xx. */
  expectedResponse?: RouteExpectedResponse | null;
  lane?: RouteLane | null;
  /** Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks. */
  allowOwnAddress?: boolean;
  enabled?: boolean;
};

export type CreateSchemaRequest = {
  name: string;
  /** A JSON Schema, draft-07 or 2020-12 (named by `$schema`; without it 2020-12). */
  schema: JsonObject | boolean;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
};

export type CreateSourceRequest = {
  name: string;
  /** Unique in the organization; stands for the id in export files. */
  slug: string;
  description?: string | null;
  /** Whose webhooks it receives: they are verified, and handshakes answered, as this provider does it. */
  provider?: SourceProvider | null;
  verificationConfig?: GithubVerification | StripeVerification | SlackVerification | HmacVerification | NoVerification | HmacTemplateVerification | PublicKeyVerification | JwtVerification | HeaderTokenVerification | BasicVerification | QueryTokenVerification | BodyTokenVerification | ProviderConfig | null;
  /** By what a repeated webhook is known, and for how long. */
  idempotencyKey?: SourceIdempotencyKey | null;
  ingestToken?: SourceIngestToken;
  /** Whether webhooks without a valid signature are answered as if there were no such source. */
  concealed?: boolean;
  /** Whether it takes webhooks at any path below its address, too. The path is the `path` of the event. */
  allowPaths?: boolean;
  /** What an accepted webhook is answered, instead of `success` and `eventId`. */
  answer?: SourceAnswerInput | null;
  /** What is answered to a `GET` or `HEAD` by which the sender checks the address: 200, a parameter of the query, or its HMAC. Null: 405, unless the provider has such checks. */
  handshake?: EchoHandshake | OkHandshake | HmacHandshake | null;
  enabled?: boolean;
};

export type CreateTransformRequest = {
  name: string;
  type: TransformType;
  code: string;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
  outputContentType?: string | null;
};

export type CursorPagination = {
  pageSize: number;
  nextCursor: string | null;
  /** A search was cut by time, so there may be fewer items than `pageSize`, or none: all since then was looked at, and `nextCursor` continues. Else null. */
  searchedUntil: Timestamp | null;
  /** Items in all. Only when asked for. */
  total?: number;
  /** False if `total` is an estimate, because more than 100,000 rows would have to be read. Else missing. */
  totalIsExact?: false;
};

export type CustomHeaderAuth = {
  headerName: string;
  headerValue: string;
};

export type DayOfUse = {
  /** UTC */
  day: string;
  /** Webhooks that were stored. */
  events: number;
  /** Of their payloads. */
  payloadBytes: number;
  /** Deliveries that were made, with replays and failovers. */
  deliveries: number;
  /** Attempts that ended on this day. */
  attempts: number;
};

export type DaysOfUse = {
  data: Array<DayOfUse>;
};

export type DeleteDestinationsRequest = {
  ids: Array<string>;
};

export type DeleteDestinationsResult = {
  success: true;
  deleted: number;
};

export type DeleteRoutesRequest = {
  routeIds: Array<string>;
};

export type DeleteRoutesResult = {
  deleted: number;
  routes: Array<DeleteRoutesResultRoute>;
};

export type DeleteRoutesResultRoute = {
  id: string;
  name: string;
};

export type Delivery = {
  id: string;
  eventId: string;
  sourceId: string;
  source: SourceReference;
  routeId: string | null;
  /** Null only with `routeId`. */
  route: DeliveryRoute | null;
  destinationId: string;
  destination: DeliveryDestination;
  status: DeliveryStatus;
  attemptCount: number;
  /** Of the latest attempt, ms. */
  latency: number | null;
  /** Null when there was no response. */
  statusCode: number | null;
  error: string | null;
  nextAttemptAt: Timestamp | null;
  deliveredAt: Timestamp | null;
  finishedAt: Timestamp | null;
  createdAt: Timestamp;
  /** The delivery that was given up for this one. */
  failoverOf: string | null;
  /** The delivery that this one repeats. */
  replayOf: string | null;
  /** In which lane the first attempt was made; null before it. */
  lane: DeliveryLane | null;
  /** Why it is held, while it is `circuit_open`; else null. */
  holdReason: string | null;
  /** The file of the warehouse that it is in. */
  batchId: string | null;
  /** Of its workflow in Temporal, if there is one. */
  workflowId: string | null;
  temporalUrl: string | null;
};

export type DeliveryCursorPage = {
  data: Array<Delivery>;
  pagination: CursorPagination;
};

export type DeliveryDestination = {
  id: string;
  name: string | null;
};

export type DeliveryHttpRequest = {
  method: string;
  /** Only its origin for a key that may not read destinations. */
  url: string;
  /** Secrets masked. `Host`, `Content-Length` and `Connection` are added when it is sent. */
  headers: Record<string, string>;
  /** bytes */
  bodySize: number;
  /** As text if it is UTF-8, else in base64. */
  body?: string;
  /** Only when the body is no text. */
  bodyEncoding?: 'base64';
};

export type DeliveryLane = 'workflow' | 'express';

export type DeliveryMethod = 'POST' | 'PUT' | 'PATCH';

export type DeliveryPage = {
  data: Array<Delivery>;
  pagination: Pagination;
};

export type DeliveryRequest = {
  deliveryId: string;
  attemptNumber: number;
  state: DeliveryRequestState;
  /** Null: `problem` says why. */
  request: DeliveryHttpRequest | null;
  /** Why there is no request to show. */
  problem: DeliveryRequestProblem | null;
  /** Why it may have been, or may become, another one. */
  doubts: Array<DeliveryRequestDoubt>;
};

export type DeliveryRequestDoubt = {
  code: DeliveryRequestDoubtCode;
  message: string;
  /** When the record was changed last. */
  changedAt: Timestamp | null;
};

export type DeliveryRequestDoubtCode = 'DESTINATION_CHANGED' | 'HEADERS_NOT_KEPT' | 'SIGNED_LATER' | 'DESTINATION_DISABLED';

export type DeliveryRequestProblem = {
  code: DeliveryRequestProblemCode;
  message: string;
};

export type DeliveryRequestProblemCode = 'WAREHOUSE' | 'DESTINATION_DELETED' | 'EVENT_DELETED' | 'PAYLOAD_EXPIRED' | 'TRANSFORM_DELETED' | 'TRANSFORM_FAILED' | 'CANNOT_BE_MADE';

/** Whether the attempt was made, is the next one, or was never made because the delivery ended before: then it is what a replay would send. */
export type DeliveryRequestState = 'made' | 'next' | 'never';

export type DeliveryRoute = {
  id: string;
  name: string | null;
};

export type DeliveryStatus = 'pending' | 'retrying' | 'circuit_open' | 'delivered' | 'failed' | 'failed_over' | 'schema_failed' | 'filter_failed' | 'skipped' | 'cancelled';

export type DeliveryWithAttempts = {
  id: string;
  eventId: string;
  sourceId: string;
  source: SourceReference;
  routeId: string | null;
  /** Null only with `routeId`. */
  route: DeliveryRoute | null;
  destinationId: string;
  destination: DeliveryDestination;
  status: DeliveryStatus;
  attemptCount: number;
  /** Of the latest attempt, ms. */
  latency: number | null;
  /** Null when there was no response. */
  statusCode: number | null;
  error: string | null;
  nextAttemptAt: Timestamp | null;
  deliveredAt: Timestamp | null;
  finishedAt: Timestamp | null;
  createdAt: Timestamp;
  /** The delivery that was given up for this one. */
  failoverOf: string | null;
  /** The delivery that this one repeats. */
  replayOf: string | null;
  /** In which lane the first attempt was made; null before it. */
  lane: DeliveryLane | null;
  /** Why it is held, while it is `circuit_open`; else null. */
  holdReason: string | null;
  /** The file of the warehouse that it is in. */
  batchId: string | null;
  /** Of its workflow in Temporal, if there is one. */
  workflowId: string | null;
  temporalUrl: string | null;
  attempts: Array<Attempt>;
};

export type Description = {
  openapi: string;
};

export type Destination = HttpDestination | WarehouseDestination;

export type DestinationAuthType = 'none' | 'basic' | 'bearer' | 'api_key' | 'custom_header';

export type DestinationExport = {
  version: string;
  exportedAt: Timestamp;
  organizationSlug: string;
  destinations: Array<DestinationExportItem>;
};

export type DestinationExportItem = {
  name: string;
  type: DestinationType;
  url: string;
  isActive: boolean;
  /** Unique in the organization; stands for the id in export files. */
  slug: string;
  description: string | null;
  method: DeliveryMethod;
  /** Added to every delivery; replaced as a whole on update. */
  headers: Record<string, string>;
  /** Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never. */
  forwardHeaders: ForwardedHeaders | Array<string> | null;
  /** Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels. */
  forwardQuery: boolean;
  /** Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`. */
  forwardPath: boolean;
  authType: DestinationAuthType;
  /** In clear only with `includeSensitive=true`. */
  authConfig: '***REDACTED***' | StringMap;
  signingSecret: string | null;
  /** ms */
  timeoutMs: number;
  /** Null: unlimited. */
  rateLimitPerMinute: number | null;
  /** Most attempts at a time. Null: as many as the destination copes with. */
  maxConcurrency: number | null;
  retryPolicy: RetryPolicy;
  /** Of warehouses only. */
  config?: WarehouseConfig | '***REDACTED***';
  fieldMapping?: Array<FieldMappingRule>;
};

/** Of the last time (HOOKYARD_HEALTH_WINDOW_HOURS, 24 by default). */
export type DestinationHealth = {
  /** percent */
  successRate: number;
  /** ms */
  avgLatency: number;
  /** ms */
  p50Latency: number;
  /** ms */
  p95Latency: number;
  /** ms */
  p99Latency: number;
  totalDeliveries: number;
  successfulDeliveries: number;
  failedDeliveries: number;
  lastDeliveryAt: Timestamp | null;
  lastSuccessAt: Timestamp | null;
  lastFailureAt: Timestamp | null;
  status: DestinationHealthStatus;
};

/** By the success rate: `healthy` above 95 %, `degraded` from 80 % on, `failing` below; `unknown` when no delivery ended. */
export type DestinationHealthStatus = 'healthy' | 'degraded' | 'failing' | 'unknown';

export type DestinationImportItem = DestinationImportItemHttp | DestinationImportItemWarehouse;

export type DestinationImportItemHttp = {
  name: string;
  /** An http:// or https:// address without credentials; HTTPS is recommended. */
  url: string;
  type?: 'http';
  isActive?: boolean;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
  method?: DeliveryMethod;
  /** Added to every delivery; replaced as a whole on update. */
  headers?: Record<string, string>;
  /** Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never. */
  forwardHeaders?: ForwardedHeaders | Array<string> | null;
  /** Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels. */
  forwardQuery?: boolean;
  /** Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`. */
  forwardPath?: boolean;
  authType?: DestinationAuthType;
  authConfig?: '***REDACTED***' | JsonObject | null;
  signingSecret?: string | null;
  /** ms */
  timeoutMs?: number;
  /** Null: unlimited. */
  rateLimitPerMinute?: number | null;
  /** Most attempts at a time. Null: as many as the destination copes with. */
  maxConcurrency?: number | null;
  retryPolicy?: RetryPolicyInput;
};

export type DestinationImportItemWarehouse = {
  name: string;
  type: WarehouseType;
  isActive?: boolean;
  config?: unknown;
  fieldMapping?: unknown;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
};

export type DestinationImportResult = {
  success: boolean;
  summary: DestinationImportResultSummary;
  details: DestinationImportResultDetails;
  errors: Array<string>;
  warnings: Array<string>;
  destinations: Array<DestinationImportResultDestination>;
};

export type DestinationImportResultDestination = {
  /** Null when it was not stored. */
  id: string | null;
  name: string;
  slug: string | null;
  status: DestinationImportResultDestinationStatus;
};

export type DestinationImportResultDestinationStatus = 'created' | 'skipped' | 'overwritten' | 'failed';

export type DestinationImportResultDetails = {
  imported: Array<string>;
  skipped: Array<string>;
  overwritten: Array<string>;
  failed: Array<string>;
};

export type DestinationImportResultSummary = {
  imported: number;
  skipped: number;
  overwritten: number;
  failed: number;
};

export type DestinationSummary = HttpDestinationSummary | WarehouseDestinationSummary;

export type DestinationSummaryPage = {
  data: Array<DestinationSummary>;
  pagination: Pagination;
};

export type DestinationType = 'http' | 's3' | 'r2' | 'gcs' | 'azure_blob';

export type DigestAlert = {
  type: 'digest';
  timestamp: Timestamp;
  data: DigestAlertData;
};

export type DigestAlertData = {
  /** One line for people. */
  title: string;
  organization: AlertOrganization;
  alertChannel: AlertChannelReference;
  changes: Array<AlertChange>;
};

export type EchoHandshake = {
  type: 'echo';
  parameter: string;
  member?: string;
  verifyToken?: string | null;
};

/** Every error is like this. */
export type Error = {
  /** The name of the status. */
  error: string;
  /** What is wrong and what to do. */
  message: string;
  /** Stable, for programs. Each answer of an operation says which ones it has; more may be added. */
  code?: string;
  /** Of a 400: what is wrong with single members. */
  details?: Array<ErrorDetail>;
  limit?: LimitName;
};

export type ErrorDetail = {
  /** Dotted; empty for the whole. */
  path: string;
  message: string;
  /** In a member that is code, from 1 on. */
  line?: number;
  column?: number;
};

export type Event = {
  id: string;
  sourceId: string;
  source: SourceReference;
  status: EventStatus;
  /** Whether a route took it. One that no route took is `delivered`, with no delivery, and went nowhere. */
  routed: boolean;
  method: DeliveryMethod;
  /** Below the address of the source, as it was received; empty without one. */
  path: string;
  /** Of the address it was sent to. */
  query: string;
  headers: Record<string, string>;
  /** Of the sender, behind proxies that the operator trusts. */
  clientAddress: string;
  traceId: string | null;
  /** bytes */
  payloadSize: number;
  payloadHash: string;
  deliveriesCount: number;
  deliveriesSucceeded: number;
  deliveriesFailed: number;
  receivedAt: Timestamp;
  createdAt: Timestamp;
};

export type EventCursorPage = {
  data: Array<Event>;
  pagination: CursorPagination;
};

/** The filters as they were understood. */
export type EventFilter = {
  sourceId?: string;
  status?: EventStatus;
  routed?: boolean;
  from?: Timestamp;
  to?: Timestamp;
  search?: string;
};

export type EventInFull = {
  id: string;
  sourceId: string;
  source: SourceReference;
  status: EventStatus;
  /** Whether a route took it. One that no route took is `delivered`, with no delivery, and went nowhere. */
  routed: boolean;
  method: DeliveryMethod;
  /** Below the address of the source, as it was received; empty without one. */
  path: string;
  /** Of the address it was sent to. */
  query: string;
  headers: Record<string, string>;
  /** Of the sender, behind proxies that the operator trusts. */
  clientAddress: string;
  traceId: string | null;
  /** bytes */
  payloadSize: number;
  payloadHash: string;
  deliveriesCount: number;
  deliveriesSucceeded: number;
  deliveriesFailed: number;
  receivedAt: Timestamp;
  createdAt: Timestamp;
  /** Parsed when it is JSON, else its text, else base64. Only when asked for. */
  payload?: unknown;
  /** Only when the payload is no text. */
  payloadEncoding?: 'base64';
  /** The newest 1,000, only when asked for. */
  deliveries?: Array<Delivery>;
  /** The `cursor` of the older ones in `GET /api/deliveries?eventId=`. Null: there are none. */
  deliveriesNextCursor?: string | null;
};

export type EventPage = {
  data: Array<Event>;
  pagination: Pagination;
};

export type EventReplay = {
  id: string;
  status: EventReplayStatus;
  filter: EventFilter;
  destinationIds: Array<string> | null;
  /** Events a second. */
  ratePerSecond: number;
  /** Null when counting them took too long. */
  eventsTotal: number | null;
  eventsReplayed: number;
  /** Their payload was gone. */
  eventsExpired: number;
  /** They go nowhere now. */
  eventsUnroutable: number;
  deliveriesCreated: number;
  /** Events received before it have been judged. */
  replayedUntil: Timestamp | null;
  /** Why no page can be made at the moment, such as a full backlog. */
  waitsFor: string | null;
  error: string | null;
  createdAt: Timestamp;
  startedAt: Timestamp | null;
  finishedAt: Timestamp | null;
  workflowId: string;
  temporalUrl: string | null;
};

export type EventReplayDryRun = {
  dryRun: true;
  filter: EventFilter;
  eventsTotal: number;
  eventsExpired: number;
};

export type EventReplayPage = {
  data: Array<EventReplay>;
  pagination: Pagination;
};

export type EventReplayStatus = 'pending' | 'running' | 'completed' | 'cancelled' | 'failed';

export type EventStatus = 'pending' | 'delivered' | 'partial' | 'failed';

export type EventTimeline = {
  received: Timestamp;
  validated: Timestamp;
  queued: Timestamp;
  deliveries: Array<EventTimelineDelivery>;
  /** The `cursor` of the older ones in `GET /api/deliveries?eventId=`. Null: there are none. */
  deliveriesNextCursor: string | null;
  /** ms */
  totalDuration: number;
};

export type EventTimelineDelivery = {
  deliveryId: string;
  destinationId: string;
  destinationName: string;
  status: DeliveryStatus;
  attempts: Array<EventTimelineDeliveryAttempt>;
};

export type EventTimelineDeliveryAttempt = {
  attemptNumber: number;
  startedAt: Timestamp;
  completedAt: Timestamp;
  status: AttemptStatus;
  /** Null when there was no response. */
  statusCode: number | null;
  /** ms */
  latency: number;
};

export type FailingAlertChannel = {
  id: string;
  name: string;
  type: AlertChannelType;
  failingSince: Timestamp;
  lastError: string;
};

export type FieldMappingRule = {
  source: string;
  target: string;
  type: FieldMappingRuleType;
  /** Of a decimal: its digits. */
  precision?: number;
  /** Of a decimal: its digits behind the point. */
  scale?: number;
  default?: string;
};

export type FieldMappingRuleInput = {
  source: string;
  target: string;
  type: FieldMappingRuleType;
  precision?: number;
  scale?: number;
  default?: string;
};

export type FieldMappingRuleType = 'string' | 'number' | 'decimal' | 'boolean' | 'timestamp' | 'json';

export type Filter = {
  id: string;
  name: string;
  /** Unique in the organization; stands for the id in export files. */
  slug: string;
  description: string | null;
  conditions: FilterConditions;
  logic: FilterLogic;
  /** Routes that use it. */
  routeCount: number;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type FilterCondition = {
  /** `payload.<path>`, `headers.<name>`, `query.<name>`, `request.path` or `method` */
  field: string;
  operator: FilterConditionOperator;
  value?: unknown;
};

export type FilterConditionInput = {
  /** `payload.<path>`, `headers.<name>`, `query.<name>`, `request.path` or `method` */
  field: string;
  operator: FilterConditionOperator;
  value?: unknown;
};

export type FilterConditionOperator = 'equals' | 'not_equals' | 'contains' | 'not_contains' | 'starts_with' | 'ends_with' | 'matches' | 'exists' | 'not_exists' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'not_in' | 'regex' | 'greater_than' | 'less_than';

export type FilterConditions = Array<FilterCondition>;

/** Whether all conditions must be met, or one. */
export type FilterLogic = 'AND' | 'OR';

export type FilterPage = {
  data: Array<Filter>;
  pagination: Pagination;
};

export type FilterResult = {
  /** Whether a route with this filter takes the sample. */
  matches: boolean;
  conditions: Array<FilterResultCondition>;
};

export type FilterResultCondition = {
  field: string;
  operator: FilterConditionOperator;
  matches: boolean;
};

export type ForwardedHeaders = 'all' | 'none';

export type GcsConfig = {
  bucket: string;
  projectId: string;
  credentials?: GcsConfigCredentials;
  serviceAccountKey?: string;
  endpoint?: string;
  prefix?: string;
  fileFormat?: WarehouseFileFormat;
  /** Of the whole file; in a Parquet file of its pages. snappy is for Parquet only. */
  compression?: WarehouseCompression;
  payloadColumn?: WarehousePayloadColumn;
  partitionBy?: WarehousePartition;
  keyOrder?: AzureBlobConfigKeyOrder;
  /** Events. */
  batchSize?: number | string;
  /** Bytes of payloads. */
  batchBytes?: number | string;
  batchWindowSeconds?: number | string;
};

/** Without it: keys. identity: that of this service, if its operator allows it. */
export type GcsConfigCredentials = 'keys' | 'identity';

export type GcsDestinationInput = {
  name: string;
  type: 'gcs';
  enabled?: boolean;
  config: GcsConfig;
  fieldMapping?: Array<FieldMappingRuleInput> | null;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
};

export type GithubVerification = {
  type: 'github';
  secret: string;
};

export type HeaderTokenVerification = {
  type: 'header_token';
  secret: string;
  header: string;
  prefix?: string;
};

export type HmacAlgorithm = 'sha1' | 'sha256' | 'sha512';

export type HmacHandshake = {
  type: 'hmac';
  parameter: string;
  member?: string;
  echoMember?: string;
  algorithm?: HmacAlgorithm;
  encoding?: SignatureEncoding;
  prefix?: string;
};

export type HmacTemplateVerification = {
  type: 'hmac_template';
  secret: string;
  secretEncoding?: SecretEncoding;
  algorithm?: HmacAlgorithm;
  encoding?: SignatureEncoding;
  header: string;
  prefix?: string;
  listSeparator?: string;
  signaturePart?: string;
  timestampPart?: string;
  partSeparator?: string;
  timestampHeader?: string;
  timestampUnit?: TimestampUnit;
  toleranceSeconds?: number;
  idHeader?: string;
  template?: string;
};

export type HmacVerification = {
  type: 'hmac';
  secret: string;
  header: string;
  algorithm?: HmacAlgorithm;
  encoding?: SignatureEncoding;
  prefix?: string;
  timestampHeader?: string;
  timestampSeparator?: string;
};

export type HttpDestination = {
  id: string;
  name: string;
  type: 'http';
  url: string;
  enabled: boolean;
  /** Whether its deliveries wait until it is resumed. */
  paused: boolean;
  /** Null when it is not paused. */
  pausedSince: Timestamp | null;
  /** When the pause ends by itself; null: it does not. */
  pausedUntil: Timestamp | null;
  pauseReason: string | null;
  /** percent; null without a recent delivery */
  successRate: number | null;
  /** ms; null without a recent attempt that was answered */
  avgLatency: number | null;
  deliveriesCount: number;
  /** Unique in the organization; stands for the id in export files. */
  slug: string;
  description: string | null;
  method: DeliveryMethod;
  /** Added to every delivery; replaced as a whole on update. */
  headers: Record<string, string>;
  /** Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never. */
  forwardHeaders: ForwardedHeaders | Array<string> | null;
  /** Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels. */
  forwardQuery: boolean;
  /** Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`. */
  forwardPath: boolean;
  authType: DestinationAuthType;
  /** Its secrets are shown as •••• and their last four characters. */
  authConfig: StringMap | null;
  signingSecret: string | null;
  /** Until then deliveries are signed with the secret before this one too. */
  previousSigningSecretUntil: Timestamp | null;
  /** ms */
  timeoutMs: number;
  /** Null: unlimited. */
  rateLimitPerMinute: number | null;
  /** Most attempts at a time. Null: as many as the destination copes with. */
  maxConcurrency: number | null;
  retryPolicy: RetryPolicy;
  lastDeliveryAt: Timestamp | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type HttpDestinationChanges = {
  name?: string;
  type?: 'http';
  /** An http:// or https:// address without credentials; HTTPS is recommended. */
  url?: string;
  enabled?: boolean;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
  method?: DeliveryMethod;
  /** Added to every delivery; replaced as a whole on update. */
  headers?: Record<string, string>;
  /** Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never. */
  forwardHeaders?: ForwardedHeaders | Array<string> | null;
  /** Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels. */
  forwardQuery?: boolean;
  /** Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`. */
  forwardPath?: boolean;
  authType?: DestinationAuthType;
  authConfig?: JsonObject | null;
  signingSecret?: string | null;
  /** ms */
  timeoutMs?: number;
  /** Null: unlimited. */
  rateLimitPerMinute?: number | null;
  /** Most attempts at a time. Null: as many as the destination copes with. */
  maxConcurrency?: number | null;
  retryPolicy?: RetryPolicyInput;
};

export type HttpDestinationInput = {
  name: string;
  /** An http:// or https:// address without credentials; HTTPS is recommended. */
  url: string;
  type?: 'http';
  enabled?: boolean;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
  method?: DeliveryMethod;
  /** Added to every delivery; replaced as a whole on update. */
  headers?: Record<string, string>;
  /** Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never. */
  forwardHeaders?: ForwardedHeaders | Array<string> | null;
  /** Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels. */
  forwardQuery?: boolean;
  /** Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`. */
  forwardPath?: boolean;
  authType?: DestinationAuthType;
  /** What it holds depends on `authType`. */
  authConfig?: NoAuth | BasicAuth | BearerAuth | ApiKeyAuth | CustomHeaderAuth | null;
  signingSecret?: string | null;
  /** ms */
  timeoutMs?: number;
  /** Null: unlimited. */
  rateLimitPerMinute?: number | null;
  /** Most attempts at a time. Null: as many as the destination copes with. */
  maxConcurrency?: number | null;
  retryPolicy?: RetryPolicyInput;
};

export type HttpDestinationSummary = {
  id: string;
  name: string;
  type: 'http';
  url: string;
  enabled: boolean;
  /** Whether its deliveries wait until it is resumed. */
  paused: boolean;
  /** When the pause ends by itself; null: it does not. */
  pausedUntil: Timestamp | null;
  /** percent; null without a recent delivery */
  successRate: number | null;
  /** ms; null without a recent attempt that was answered */
  avgLatency: number | null;
  deliveriesCount: number;
  /** Unique in the organization; stands for the id in export files. */
  slug: string;
};

export type HttpDestinationSummaryPage = {
  data: Array<HttpDestinationSummary>;
  pagination: Pagination;
};

export type HttpTestFailure = {
  success: false;
  statusCode: number | null;
  /** ms */
  latency: number;
  responseBody: string | null;
  error: string;
  message: string;
};

export type HttpTestSuccess = {
  success: true;
  statusCode: number;
  /** ms */
  latency: number;
  responseBody: string;
  message: string;
};

export type ImportDestinationsRequest = {
  conflictStrategy: ConflictStrategy;
  /** Says what would happen, and changes nothing. */
  validateOnly?: boolean;
  /** The file's own; a newer major version is refused. */
  version?: unknown;
  destinations: Array<DestinationImportItem>;
};

export type ImportRoutesRequest = {
  conflictStrategy: ConflictStrategy;
  /** Says what would happen, and changes nothing. */
  validateOnly?: boolean;
  /** The file's own; a newer major version is refused. */
  version?: unknown;
  routes: Array<RouteImportItem>;
};

export type IngestState = 'open' | 'partly_full' | 'full';

export type InstallationStatus = {
  /** Of the process that answers. */
  version: string;
  at: Timestamp;
  /** Of the process that answers. */
  ingest: IngestState;
  temporal: ServerState;
  /** Whether the namespace in Temporal has the search attributes by which its UI finds deliveries. Null: not known. */
  searchAttributes: boolean | null;
  /** `away`: what it would say is null. */
  database: ServerState;
  limits: InstallationStatusLimits;
  databaseBytes: number | null;
  backlog: InstallationStatusBacklog | null;
  /** Those seen in the last seconds, at most 1,000. */
  workers: Array<InstallationStatusWorker> | null;
  /** Above 0 for seconds when a worker dies. */
  shardsWithoutOwner: number | null;
  circuits: InstallationStatusCircuits | null;
  retention: InstallationStatusRetention | null;
  housekeeping: InstallationStatusHousekeeping | null;
  organizations?: Array<InstallationStatusOrganization>;
};

export type InstallationStatusBacklog = {
  /** Wait for a worker. */
  due: number;
  /** Wait for a retry. */
  retrying: number;
  /** Wait for a circuit, or the end of a pause. */
  held: number;
  /** Wait for the file of a warehouse. */
  inFiles: number;
  /** When the oldest of `due` was made. */
  oldestDueAt: Timestamp | null;
  /** Of `due`, those of suspended organizations. */
  suspended: number;
  /** The age of `oldestDueAt`. */
  oldestDueSeconds: number | null;
};

export type InstallationStatusCircuits = {
  open: number;
  halfOpen: number;
};

export type InstallationStatusHousekeeping = {
  /** Of the last day. */
  failures: Array<InstallationStatusHousekeepingFailure>;
};

export type InstallationStatusHousekeepingFailure = {
  part: string;
  total: number;
  lastAt: Timestamp;
};

/** Of the installation: `HOOKYARD_MAX_BACKLOG`, `HOOKYARD_MAX_DATABASE_BYTES`. Null: none. */
export type InstallationStatusLimits = {
  waitingDeliveries: number | null;
  databaseBytes: number | null;
};

export type InstallationStatusOrganization = {
  id: string;
  slug: string;
  isSuspended: boolean;
  /** Wait for a worker. */
  due: number;
  /** Wait for a retry. */
  retrying: number;
  /** Wait for a circuit, or the end of a pause. */
  held: number;
  /** Wait for the file of a warehouse. */
  inFiles: number;
  /** When the oldest of `due` was made. */
  oldestDueAt: Timestamp | null;
  openCircuits: number;
};

export type InstallationStatusRetention = {
  payloads: RetentionLag;
  events: RetentionLag;
};

export type InstallationStatusWorker = {
  name: string;
  version: string | null;
  lane: DeliveryLane | null;
  seenAt: Timestamp;
  /** Parts of the outbox (of 64) that it claims from. */
  shards: number;
  isLeaving: boolean;
};

/** Requires all that a webhook needs to be accepted and delivered: Temporal too, and room in the backlog. */
export type IsReadyDeep = '' | 'true' | 'false';

export type Issue = {
  id: string;
  kind: IssueKind;
  state: IssueState;
  /** A short code that stays the same; `OTHER` counts together what is too much to tell apart. */
  cause: string;
  sourceId: string | null;
  /** With the name of now, null when it was deleted; null without an id. */
  source: IssueSource | null;
  routeId: string | null;
  /** With the name of now, null when it was deleted; null without an id. */
  route: IssueRoute | null;
  destinationId: string | null;
  /** With the name of now, null when it was deleted; null without an id. */
  destination: IssueDestination | null;
  /** Failures, with those in a row that opened it. */
  count: number;
  firstSeenAt: Timestamp;
  lastSeenAt: Timestamp;
  /** Of a late failure. */
  sampleEventId: string | null;
  /** Of a late failure. */
  sampleDeliveryId: string | null;
  openedAt: Timestamp;
  resolvedAt: Timestamp | null;
  /** When `state` changed last. */
  changedAt: Timestamp;
};

export type IssueAlert = {
  type: AlertChangeType;
  timestamp: Timestamp;
  data: IssueAlertData;
};

export type IssueAlertData = {
  /** One line for people. */
  title: string;
  organization: AlertOrganization;
  alertChannel: AlertChannelReference;
  change: IssueChange;
  issue: AlertIssue;
};

export type IssueChange = 'opened' | 'exhausted' | 'acknowledged' | 'resolved' | 'ignored';

export type IssueCursorPage = {
  data: Array<Issue>;
  pagination: CursorPagination;
};

export type IssueDestination = {
  id: string;
  name: string | null;
};

export type IssueKind = 'delivery_failing' | 'circuit_open' | 'transform_failing' | 'schema_refusing' | 'signature_failing' | 'warehouse_not_writable' | 'quota_reached' | 'ingest_refused' | 'notification_failing';

export type IssuePage = {
  data: Array<Issue>;
  pagination: Pagination;
};

export type IssueRoute = {
  id: string;
  name: string | null;
};

export type IssueSource = {
  id: string;
  name: string | null;
};

export type IssueState = 'open' | 'acknowledged' | 'resolved' | 'ignored';

export type JsonObject = Record<string, unknown>;

export type JwtAlgorithm = 'RS256' | 'ES256' | 'HS256';

export type JwtVerification = {
  type: 'jwt';
  secret?: string;
  header?: string;
  algorithm?: JwtAlgorithm;
  jwksUrl?: string;
  issuer?: string;
  audience?: string;
  claims?: Record<string, string>;
  bodyHashClaim?: string;
  toleranceSeconds?: number;
};

export type KeyAlgorithm = 'ecdsa' | 'ed25519' | 'rsa';

/** A limit of the organization. */
export type LimitName = 'eventsPerSecond' | 'eventsPerMonth' | 'payloadBytes' | 'deliveriesPerEvent' | 'routesPerSource' | 'destinations' | 'sources' | 'filters' | 'transforms' | 'schemas' | 'alertChannels' | 'apiKeys' | 'waitingDeliveries' | 'storedBytes' | 'transformMsPerMinute' | 'requestsPerMinute' | 'runningReplays' | 'replayedPerSecond' | 'runningImports' | 'runningSearches' | 'runningTests' | 'runningStreams';

export type LimitUse = {
  /** Null: no limit. */
  limit: number | null;
  /** Null where there is nothing to count. */
  used: number | null;
  unit: string;
};

export type MailChannel = {
  /** Separated by commas. */
  emails: string;
};

export type MetricGroup = 'source' | 'route' | 'destination' | 'statusCode';

export type MetricName = 'events' | 'filtered' | 'refused' | 'deliveries' | 'attempts' | 'latency';

/** Of one step; `at` is its beginning. */
export type MetricPoint = {
  at: Timestamp;
  /** `events` */
  events?: number;
  /** `filtered` */
  filtered?: number;
  /** `refused` */
  refused?: number;
  /** `refused`: by cause, as the refused webhooks of a source have it */
  causes?: Record<string, number>;
  /** `deliveries` */
  delivered?: number;
  /** `deliveries`: after an attempt */
  failed?: number;
  /** `deliveries`: another destination took over */
  failedOver?: number;
  /** `deliveries`: failed without an attempt, such as by a schema */
  notSent?: number;
  /** `deliveries` */
  cancelled?: number;
  /** `attempts`, and those with an answer of `latency` */
  attempts?: number;
  /** `attempts`: ms; null without an answer */
  avgLatency?: number | null;
  /** `attempts`: by `1xx` to `5xx`, `other` codes, and `none` (no answer) */
  classes?: Record<string, number>;
  p50?: number | null;
  p95?: number | null;
  p99?: number | null;
};

export type MetricSeries = {
  id: string | null;
  name: string | null;
  total: MetricTotal;
  /** Steps in which nothing was counted are left out. */
  points: Array<MetricPoint>;
};

/** Of the whole time; the members that the metric has. */
export type MetricTotal = {
  /** `events` */
  events?: number;
  /** `filtered` */
  filtered?: number;
  /** `refused` */
  refused?: number;
  /** `refused`: by cause, as the refused webhooks of a source have it */
  causes?: Record<string, number>;
  /** `deliveries` */
  delivered?: number;
  /** `deliveries`: after an attempt */
  failed?: number;
  /** `deliveries`: another destination took over */
  failedOver?: number;
  /** `deliveries`: failed without an attempt, such as by a schema */
  notSent?: number;
  /** `deliveries` */
  cancelled?: number;
  /** `attempts`, and those with an answer of `latency` */
  attempts?: number;
  /** `attempts`: ms; null without an answer */
  avgLatency?: number | null;
  /** `attempts`: by `1xx` to `5xx`, `other` codes, and `none` (no answer) */
  classes?: Record<string, number>;
  p50?: number | null;
  p95?: number | null;
  p99?: number | null;
  /** `attempts`: by status code */
  codes?: Record<string, number>;
};

export type Metrics = {
  metric: MetricName;
  groupBy: MetricGroup | null;
  from: Timestamp;
  to: Timestamp;
  /** Seconds. */
  step: number;
  /** What happened before is counted, but for results that a worker could not record yet because the database was away. Later figures still grow. */
  completeUntil: Timestamp;
  /** How many there are, shown or not. */
  groups: number;
  series: Array<MetricSeries>;
};

export type NewApiKey = {
  id: string;
  name: string;
  scopes: Array<ApiKeyScope>;
  /** The ranges of addresses that it may be used from; null: every address. */
  allowedAddresses: Array<string> | null;
  /** Its last four characters. */
  tokenHint: string;
  expiresAt: Timestamp | null;
  lastUsedAt: Timestamp | null;
  createdAt: Timestamp;
  token: string;
};

export type NoAuth = Record<string, unknown>;

export type NoVerification = {
  type: 'none';
};

export type NotificationRecipient = {
  /** In lower case. */
  address: string;
  /** When its owner has agreed. */
  confirmedAt: Timestamp | null;
  /** When a mail asked its owner for the last time. */
  askedAt: Timestamp | null;
  /** Whether its owner wants no more mails, and may not be asked again. */
  refused: boolean;
};

export type NotificationRecipientPage = {
  data: Array<NotificationRecipient>;
  pagination: Pagination;
};

export type OkHandshake = {
  type: 'ok';
};

export type PagerDutyChannel = {
  routingKey: string;
  severity?: PagerDutyChannelSeverity;
  region?: PagerDutyChannelRegion;
};

/** Where the account is. */
export type PagerDutyChannelRegion = 'us' | 'eu';

export type PagerDutyChannelSeverity = 'critical' | 'error' | 'warning' | 'info';

export type Pagination = {
  /** Items on all pages. */
  total: number;
  /** False if `total` is an estimate, because more than 100,000 rows would have to be read. Else missing. */
  totalIsExact?: false;
  page: number;
  pageSize: number;
};

export type Pause = {
  id: string;
  /** Whether its deliveries wait until it is resumed. */
  paused: boolean;
  /** Null when it is not paused. */
  pausedSince: Timestamp | null;
  /** When the pause ends by itself; null: it does not. */
  pausedUntil: Timestamp | null;
  pauseReason: string | null;
};

export type PauseRequest = {
  /** Shown wherever the pause is. */
  reason?: string | null;
  /** When it ends by itself, in the future. Left out, or null: it lasts until somebody ends it. */
  until?: string | null;
};

export type PauseRoutesRequest = {
  routeIds: Array<string>;
  isActive: boolean;
};

export type PauseRoutesResult = {
  updated: number;
  routes: Array<PauseRoutesResultRoute>;
};

export type PauseRoutesResultRoute = {
  id: string;
  name: string;
  isActive: boolean;
};

export type Plan = 'free' | 'pro' | 'business';

export type PreviewRouteRequest = {
  eventId: string;
};

export type Provider = {
  /** The `provider` of a source. */
  name: string;
  title: string;
  /** The provider's page about its webhooks. */
  docs: string;
  secret: string | null;
  verifyToken: string | null;
  eventType: ProviderPlace | null;
  eventId: ProviderPlace | null;
  /** What tells a repeat; to be set as the `idempotencyKey` of the source, with a window. */
  dedup: ProviderDedup | null;
  /** The handshakes that are answered. */
  handshakes: Array<string>;
  answer: SourceAnswer | null;
  /** How to connect it. */
  instructions: string;
  /** The events that there are samples of. */
  samples: Array<string>;
};

/** With a `provider`, here or beside it. */
export type ProviderConfig = {
  type?: 'provider';
  /** The same as the `provider` of the source. */
  provider?: SourceProvider;
  /** What it is, `GET /api/providers` says. Null forgets one that the provider has sent in its handshake. */
  secret?: string | null;
  /** The second secret of providers that have one. */
  verifyToken?: string;
  /** Of Amazon SNS: whether the address that confirms a subscription is visited; by default it is shown. */
  confirmSubscriptions?: boolean;
};

export type ProviderDedup = {
  header?: string;
  jsonPath?: string;
  signature?: true;
};

export type ProviderPage = {
  data: Array<Provider>;
  pagination: Pagination;
};

/** A header, or a path of the payload. */
export type ProviderPlace = {
  header?: string;
  payload?: string;
};

export type PublicKeyVerification = {
  type: 'public_key';
  secret: string;
  algorithm: KeyAlgorithm;
  encoding?: SignatureEncoding;
  header: string;
  prefix?: string;
  listSeparator?: string;
  signaturePart?: string;
  timestampPart?: string;
  partSeparator?: string;
  timestampHeader?: string;
  timestampUnit?: TimestampUnit;
  toleranceSeconds?: number;
  idHeader?: string;
  template?: string;
};

export type PutDestinationRequest = HttpDestinationInput | WarehouseDestinationInput;

export type PutSourceRequest = {
  name: string;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
  /** Whose webhooks it receives: they are verified, and handshakes answered, as this provider does it. */
  provider?: SourceProvider | null;
  verificationConfig?: VerificationConfigInput | null;
  /** By what a repeated webhook is known, and for how long. */
  idempotencyKey?: SourceIdempotencyKey | null;
  ingestToken?: SourceIngestToken;
  /** Whether webhooks without a valid signature are answered as if there were no such source. */
  concealed?: boolean;
  /** Whether it takes webhooks at any path below its address, too. The path is the `path` of the event. */
  allowPaths?: boolean;
  /** What an accepted webhook is answered, instead of `success` and `eventId`. */
  answer?: SourceAnswerInput | null;
  /** What is answered to a `GET` or `HEAD` by which the sender checks the address: 200, a parameter of the query, or its HMAC. Null: 405, unless the provider has such checks. */
  handshake?: EchoHandshake | OkHandshake | HmacHandshake | null;
  enabled?: boolean;
};

export type QueryTokenVerification = {
  type: 'query_token';
  secret: string;
  parameter: string;
};

export type QuietHours = {
  from: string;
  to: string;
  timeZone: string;
};

export type R2Config = {
  bucket: string;
  accountId?: string;
  endpoint?: string;
  region?: string;
  accessKeyId?: string;
  secretAccessKey?: string;
  prefix?: string;
  fileFormat?: WarehouseFileFormat;
  /** Of the whole file; in a Parquet file of its pages. snappy is for Parquet only. */
  compression?: WarehouseCompression;
  payloadColumn?: WarehousePayloadColumn;
  partitionBy?: WarehousePartition;
  keyOrder?: AzureBlobConfigKeyOrder;
  /** Events. */
  batchSize?: number | string;
  /** Bytes of payloads. */
  batchBytes?: number | string;
  batchWindowSeconds?: number | string;
};

export type R2DestinationInput = {
  name: string;
  type: 'r2';
  enabled?: boolean;
  config: R2Config;
  fieldMapping?: Array<FieldMappingRuleInput> | null;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
};

export type Ready = {
  status: 'ok';
  /** Whether webhooks are accepted: `full` refuses all with 503, `partly_full` those for destinations that have most of the backlog. */
  ingest: IngestState;
  /** Whether Temporal can be reached. While it is away, webhooks are accepted and wait for it. */
  temporal: ServerState;
  lanes?: ReadyLanes;
};

/** Only with `deep`: how many workers take deliveries in each lane now, where the route names none. With `HOOKYARD_LANE=adaptive`, `express` are those whose workflows fall behind. */
export type ReadyLanes = {
  workflow: number;
  express: number;
};

export type RecoveredAlertChannel = {
  id: string;
  name: string | null;
};

export type Refusal = {
  id: string;
  refusedAt: Timestamp;
  cause: RefusalCause;
  /** The limit of the organization that it was about. */
  limit: LimitName | null;
  /** That the sender was answered. */
  status: number;
  /** What the sender was told. */
  message: string;
  method: DeliveryMethod;
  /** Of the sender, behind proxies that the operator trusts. */
  clientAddress: string;
  /** Secrets masked, long values cut; at most 4 KiB. */
  headers: Record<string, string>;
  /** bytes; null when it was neither read nor announced. */
  payloadSize: number | null;
  /** The first 1024 bytes; null when it was refused before the body was read. Only when asked for. */
  payloadStart?: string | null;
  /** Only when the payload is no text. */
  payloadEncoding?: 'base64';
};

export type RefusalCause = 'signature' | 'token' | 'path' | 'disabled' | 'suspended' | 'too_large' | 'incomplete' | 'too_slow' | 'limit' | 'unavailable' | 'error';

export type RefusalCauseCount = {
  cause: RefusalCause;
  /** The limit of the organization that it was about. */
  limit: LimitName | null;
  count: number;
  lastAt: Timestamp;
};

export type RefusalCounts = {
  period: RefusalCountsPeriod;
  since: Timestamp;
  total: number;
  /** The most frequent first. */
  causes: Array<RefusalCauseCount>;
  /** By hour, or in longer periods by day (UTC), oldest first; without those in which there was none. */
  steps: Array<RefusalStep>;
};

export type RefusalCountsPeriod = '24h' | '7d' | '30d';

export type RefusalPage = {
  data: Array<Refusal>;
  pagination: Pagination;
  counts: RefusalCounts;
};

export type RefusalStep = {
  start: Timestamp;
  cause: RefusalCause;
  /** The limit of the organization that it was about. */
  limit: LimitName | null;
  count: number;
};

export type ReplayDeliveryResult = {
  message: string;
  deliveriesCreated: number;
  deliveryId: string;
};

export type ReplayEventRequest = {
  destinationIds?: Array<string>;
};

export type ReplayEventResult = {
  message: string;
  deliveriesCreated: number;
};

export type ReplayEventsRequest = {
  eventIds: Array<string>;
  destinationIds?: Array<string>;
};

export type ReplayEventsResult = {
  message: string;
  deliveriesCreated: number;
  eventsQueued: number;
};

export type ResendConfirmationRequest = {
  address: string;
};

export type ResetCircuitResult = {
  message: string;
  circuitState: 'closed';
};

export type ResumeRequest = {
  /** How many of the deliveries that wait go out per second at most. Left out: as the server is set (50). */
  releasePerSecond?: number;
};

export type RetentionLag = {
  /** Null: for ever. */
  keptDays: number | null;
  /** Days that should be gone. */
  lagDays: number;
};

export type RetryDeliveryResult = {
  message: string;
  deliveryId: string;
};

export type RetryIssueRequest = {
  /** Only deliveries made before this one. */
  before?: string;
  /** Counts, and creates nothing. */
  dryRun?: boolean;
};

export type RetryIssueResult = {
  message: string;
  /** That failed and were not replayed, in this call. */
  deliveriesFound: number;
  /** Fewer, when a later delivery has replaced one, or a payload or destination is gone; 0 with `dryRun`. */
  deliveriesCreated: number;
  /** Whether there may be more to retry: call it again, with `before`. */
  more: boolean;
  /** The `before` of the next call; null when nothing is left. */
  next: string | null;
};

export type RetryPolicy = {
  /** After the first attempt. */
  maxRetries: number;
  /** ms */
  initialDelay: number;
  /** ms */
  maxDelay: number;
  backoffMultiplier: number;
};

/** A part of it is merged over the defaults, or over what is stored. */
export type RetryPolicyInput = {
  /** After the first attempt. */
  maxRetries?: number;
  /** ms */
  initialDelay?: number;
  /** ms */
  maxDelay?: number;
  backoffMultiplier?: number;
};

export type RotateIngestTokenRequest = {
  /** How long the address before it stays valid; a day by default. */
  overlapSeconds?: number;
};

export type RotateSigningSecretRequest = {
  /** The new one: `whsec_` and 24 to 64 bytes in base64. */
  secret: string;
  /** How long the secret before this one stays valid; 0: it ends now. */
  overlapSeconds?: number;
};

export type RotateVerificationSecretRequest = {
  /** The new one. */
  secret: string;
  /** How long the secret before this one stays valid; 0: it ends now. */
  overlapSeconds?: number;
};

export type Route = {
  id: string;
  name: string;
  description: string | null;
  sourceId: string;
  destinationIds: Array<string>;
  transformId: string | null;
  filterId: string | null;
  schemaId: string | null;
  /** Higher values run first. */
  priority: number;
  filterConditions: FilterConditions | null;
  filterLogic: FilterLogic;
  failoverDestinationIds: Array<string>;
  failoverAfterAttempts: number;
  circuitState: CircuitState;
  circuitCooldownSeconds: number;
  circuitFailureThreshold: number;
  circuitProbeSuccessThreshold: number;
  notifyOnFailure: boolean;
  notifyOnSuccess: boolean;
  notifyOnRecovery: boolean;
  notifyEmails: string | null;
  /** Addresses in `notifyEmails` that get no mail: their owners have not agreed, or the operator does not accept their domain. */
  withheldEmails: Array<string>;
  /** What of the destination's answer counts as success; null: any 2xx. */
  expectedResponse: RouteExpectedResponse | null;
  /** Only there when it is set for this route. */
  lane?: RouteLane;
  /** Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks. */
  allowOwnAddress: boolean;
  enabled: boolean;
  /** Whether its deliveries wait until it is resumed. */
  paused: boolean;
  /** Null when it is not paused. */
  pausedSince: Timestamp | null;
  /** When the pause ends by itself; null: it does not. */
  pausedUntil: Timestamp | null;
  pauseReason: string | null;
  source: SourceReference;
  destinations: Array<RouteDestination>;
  transform: RouteTransform | null;
  filter: RouteFilter | null;
  schema: RouteSchema | null;
  eventsRouted: number;
  lastEventAt: Timestamp | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type RouteDestination = {
  id: string;
  name: string;
};

export type RouteExpectedResponse = {
  statusCodes?: Array<number>;
  bodyContains?: string;
};

export type RouteExport = {
  version: string;
  exportedAt: Timestamp;
  organizationSlug: string;
  routes: Array<RouteExportItem>;
};

export type RouteExportItem = {
  name: string;
  description: string | null;
  sourceSlug: string | null;
  destinationSlugs: Array<string>;
  transformSlug: string | null;
  filterSlug: string | null;
  schemaSlug: string | null;
  /** Higher values run first. */
  priority: number;
  filterConditions: FilterConditions | null;
  filterLogic: FilterLogic;
  failoverDestinationSlugs: Array<string>;
  failoverAfterAttempts: number;
  circuitCooldownSeconds: number;
  circuitFailureThreshold: number;
  circuitProbeSuccessThreshold: number;
  notifyOnFailure: boolean;
  notifyOnSuccess: boolean;
  notifyOnRecovery: boolean;
  notifyEmails: string | null;
  /** What of the destination's answer counts as success; null: any 2xx. */
  expectedResponse: RouteExpectedResponse | null;
  /** Only there when it is set for this route. */
  lane?: RouteLane;
  /** Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks. */
  allowOwnAddress: boolean;
  isActive: boolean;
  /** The first of `destinationSlugs`. */
  destinationSlug: string | null;
  /** The same as `circuitFailureThreshold`. */
  failureThreshold: number;
};

export type RouteFilter = {
  id: string;
  name: string;
};

export type RouteImportItem = {
  name: string;
  sourceSlug: string;
  destinationSlugs?: Array<string>;
  description?: string | null;
  transformSlug?: string | null;
  filterSlug?: string | null;
  schemaSlug?: string | null;
  /** Higher values run first. */
  priority?: number;
  filterConditions?: Array<FilterConditionInput> | null;
  filterLogic?: FilterLogic;
  failoverDestinationSlugs?: Array<string>;
  failoverAfterAttempts?: number;
  circuitCooldownSeconds?: number;
  circuitFailureThreshold?: number;
  circuitProbeSuccessThreshold?: number;
  notifyOnFailure?: boolean;
  notifyOnSuccess?: boolean;
  notifyOnRecovery?: boolean;
  notifyEmails?: string | null;
  /** What of the destination's answer counts as success; null: any 2xx. */
  expectedResponse?: RouteExpectedResponse | null;
  lane?: RouteLane | null;
  /** Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks. */
  allowOwnAddress?: boolean;
  isActive?: boolean;
  destinationSlug?: string | null;
  failureThreshold?: unknown;
};

export type RouteImportResult = {
  imported: number;
  skipped: number;
  overwritten: number;
  /** When there is one, nothing was imported. */
  errors: Array<string>;
  warnings: Array<string>;
  routes: Array<RouteImportResultRoute>;
};

export type RouteImportResultRoute = {
  /** Null when it was not stored. */
  id: string | null;
  name: string;
  status: RouteImportResultRouteStatus;
};

export type RouteImportResultRouteStatus = 'created' | 'skipped' | 'overwritten';

export type RouteLane = 'adaptive' | 'workflow' | 'express';

export type RoutePage = {
  data: Array<Route>;
  pagination: Pagination;
};

export type RoutePreview = {
  routeId: string;
  eventId: string;
  verdict: RoutePreviewVerdict;
  error: string | null;
  /** The first mismatches, when the payload does not match its schema. */
  schemaErrors: Array<RoutePreviewSchemaError>;
  /** What all destinations get; null when nothing would be sent, or the transform fails. */
  content: RoutePreviewContent | null;
  /** One for each destination, in their order; none when the event is not taken. */
  requests: Array<RoutePreviewRequest>;
};

export type RoutePreviewContent = {
  /** bytes */
  bodySize: number;
  /** Its first 64 KiB, as text if they are UTF-8, else in base64. */
  body: string;
  /** Only when the body is no text. */
  bodyEncoding?: 'base64';
  /** Whether there is more of it. */
  isCut: boolean;
};

export type RoutePreviewHttpRequest = {
  method: string;
  /** Only its origin for a key that may not read destinations. */
  url: string;
  /** Secrets masked. `Host`, `Content-Length` and `Connection` are added when it is sent. */
  headers: Record<string, string>;
  /** bytes */
  bodySize: number;
};

export type RoutePreviewRequest = {
  destinationId: string;
  destinationName: string;
  /** To a disabled destination nothing is sent. */
  enabled: boolean;
  /** Null: `problem` says why. */
  request: RoutePreviewHttpRequest | null;
  /** Why there is no request to show. */
  problem: DeliveryRequestProblem | null;
};

export type RoutePreviewSchemaError = {
  path: string;
  message: string;
};

/** Whether it takes the event, its filter refuses it, the payload does not match its schema, or the filter is too much work. */
export type RoutePreviewVerdict = 'taken' | 'filtered' | 'schema_failed' | 'filter_failed';

export type RouteSchema = {
  id: string;
  name: string;
};

export type RouteStatistics = {
  eventsRouted: number;
  /** Refused by the route's filter. */
  eventsFiltered: number;
  deliveriesSucceeded: number;
  deliveriesFailed: number;
  /** ms */
  avgLatency: number;
  period: RouteStatisticsPeriod;
};

export type RouteStatisticsPeriod = '1h' | '24h' | '7d' | '30d';

export type RouteTransform = {
  id: string;
  name: string;
};

export type S3Config = {
  bucket: string;
  region: string;
  credentials?: GcsConfigCredentials;
  accessKeyId?: string;
  secretAccessKey?: string;
  /** With identity: the role that is assumed, with the id of the organization as external ID. */
  roleArn?: string;
  endpoint?: string;
  forcePathStyle?: boolean | BooleanText;
  /** Files are refused by a bucket of another account. */
  bucketOwner?: string;
  /** Id, ARN or alias of the KMS key that files are encrypted with. */
  kmsKeyId?: string;
  storageClass?: S3ConfigStorageClass;
  /** Of each file: name=value&name=value, percent-encoded. */
  tags?: string;
  prefix?: string;
  fileFormat?: WarehouseFileFormat;
  /** Of the whole file; in a Parquet file of its pages. snappy is for Parquet only. */
  compression?: WarehouseCompression;
  payloadColumn?: WarehousePayloadColumn;
  partitionBy?: WarehousePartition;
  keyOrder?: AzureBlobConfigKeyOrder;
  /** Events. */
  batchSize?: number | string;
  /** Bytes of payloads. */
  batchBytes?: number | string;
  batchWindowSeconds?: number | string;
};

export type S3ConfigStorageClass = 'STANDARD' | 'STANDARD_IA' | 'ONEZONE_IA' | 'INTELLIGENT_TIERING' | 'GLACIER_IR';

export type S3DestinationInput = {
  name: string;
  type: 's3';
  enabled?: boolean;
  config: S3Config;
  fieldMapping?: Array<FieldMappingRuleInput> | null;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
};

export type Schema = {
  id: string;
  name: string;
  /** Unique in the organization; stands for the id in export files. */
  slug: string;
  description: string | null;
  /** A JSON Schema. */
  schema: JsonObject | boolean;
  /** Grows with every change. */
  version: number;
  /** Routes that use it. */
  routeCount: number;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type SchemaPage = {
  data: Array<Schema>;
  pagination: Pagination;
};

export type SchemaResult = {
  valid: boolean;
  errors: Array<SchemaResultError>;
};

export type SchemaResultError = {
  /** A JSON pointer into the payload; empty for the payload itself. */
  path: string;
  message: string;
};

export type SecretEncoding = 'text' | 'hex' | 'base64';

export type ServerState = 'ok' | 'away';

export type SignInRequest = {
  code: string;
};

export type SignSampleRequest = {
  /** Its `name`. */
  provider: string;
  /** As `verificationConfig.secret` of the source. It is not stored. */
  secret: string;
  /** The `webhookUrl` of the source, which some providers sign. */
  url: string;
  /** One of the `samples`; the first by default. */
  event?: string;
  /** Instead of the payload of the sample. */
  payload?: string;
};

export type SignatureEncoding = 'hex' | 'base64' | 'base64url';

export type SignedSample = {
  event: string;
  headers: Record<string, string>;
  /** To be sent byte by byte. */
  payload: string;
  /** The same before the provider adds to it what proves it. */
  sample: string;
  /** To be added to the address; usually empty. */
  query: string;
};

export type SlackChannel = {
  /** Of an incoming webhook. */
  url: string;
};

export type SlackVerification = {
  type: 'slack';
  secret: string;
};

export type Source = {
  id: string;
  name: string;
  /** Unique in the organization; stands for the id in export files. */
  slug: string;
  description: string | null;
  /** Where the provider sends its webhooks. */
  webhookUrl: string;
  /** Whose webhooks it receives: they are verified, and handshakes answered, as this provider does it. */
  provider: SourceProvider | null;
  verificationConfig: VerificationConfig;
  /** Until then webhooks signed with the secret before this one are taken too. */
  previousSecretUntil: Timestamp | null;
  /** By what a repeated webhook is known, and for how long. */
  idempotencyKey: SourceIdempotencyKey | null;
  ingestToken: SourceIngestToken;
  /** Until when the address before the last rotation is taken, too. */
  previousTokenUntil: Timestamp | null;
  /** Whether webhooks without a valid signature are answered as if there were no such source. */
  concealed: boolean;
  /** Whether it takes webhooks at any path below its address, too. The path is the `path` of the event. */
  allowPaths: boolean;
  answer: SourceAnswer | null;
  handshake: SourceHandshake | null;
  /** The last handshake of the provider that was answered. */
  lastHandshake: SourceLastHandshake | null;
  enabled: boolean;
  eventsCount: number;
  lastEventAt: Timestamp | null;
  /** What works, but should be changed, such as a secret so short that it can be guessed. */
  warnings: Array<string>;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type SourceAnswer = {
  status: number;
  body: string;
  contentType: string;
};

export type SourceAnswerInput = {
  status?: number;
  body?: string;
  contentType?: string;
};

export type SourceHandshake = {
  type: SourceHandshakeType;
  parameter?: string;
  member?: string;
  verifyToken?: string;
  echoMember?: string;
  algorithm?: HmacAlgorithm;
  encoding?: SignatureEncoding;
  prefix?: string;
};

export type SourceHandshakeType = 'ok' | 'echo' | 'hmac';

export type SourceIdempotencyKey = {
  header?: string;
  jsonPath?: string;
  query?: string;
  /** By the signature: a captured request that is sent again is a repeat. */
  signature?: true;
  windowSeconds: number;
};

/** Whether the address ends in an unguessable part: never, if the sender likes, or always. */
export type SourceIngestToken = 'none' | 'optional' | 'required';

export type SourceLastHandshake = {
  /** Which one. */
  kind: string;
  at: Timestamp;
  shown: string | null;
};

export type SourcePage = {
  data: Array<Source>;
  pagination: Pagination;
};

export type SourceProvider = 'adyen' | 'airtable' | 'asana' | 'auth0' | 'aws-sns' | 'azure-event-grid' | 'bitbucket' | 'braintree' | 'cal-com' | 'calendly' | 'chargebee' | 'clerk' | 'clickup' | 'coinbase' | 'coinbase-commerce' | 'datadog' | 'discord' | 'docusign' | 'dropbox' | 'elevenlabs' | 'github' | 'gitlab' | 'google-pubsub' | 'hubspot' | 'instagram' | 'intercom' | 'jira' | 'linear' | 'mailchimp' | 'mailgun' | 'mandrill' | 'meta' | 'microsoft-graph' | 'monday' | 'notion' | 'nylas' | 'okta' | 'openai' | 'paddle' | 'pagerduty' | 'paypal' | 'plaid' | 'postmark' | 'replicate' | 'resend' | 'salesforce' | 'sendgrid' | 'sentry' | 'shopify' | 'slack' | 'square' | 'standard-webhooks' | 'stripe' | 'telegram' | 'trello' | 'twilio' | 'twitch' | 'typeform' | 'vercel' | 'webflow' | 'websub' | 'whatsapp' | 'woocommerce' | 'x' | 'xero' | 'youtube' | 'zendesk' | 'zoom';

export type SourceReference = {
  id: string;
  name: string;
};

/** Of the latest attempt; `none`: it had no answer. */
export type StatusCodeClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'none';

export type StringMap = Record<string, string>;

export type StripeVerification = {
  type: 'stripe';
  secret: string;
};

export type TeamsChannel = {
  /** Of a workflow that posts to a channel when a webhook is received. */
  url: string;
};

export type TestAlert = {
  type: 'test';
  timestamp: Timestamp;
  data: TestAlertData;
};

export type TestAlertData = {
  /** One line for people. */
  title: string;
  organization: AlertOrganization;
  alertChannel: AlertChannelReference;
};

export type TestCodeRequest = {
  payload?: unknown;
  headers?: Record<string, string>;
  path?: string;
  query?: string;
  method?: DeliveryMethod;
  type: TransformType;
  code: string;
  outputContentType?: string | null;
};

export type TestConditionsRequest = {
  payload?: unknown;
  headers?: Record<string, string>;
  query?: StringMap | string;
  path?: string;
  method?: string;
  conditions: Array<FilterConditionInput>;
  logic?: FilterLogic;
};

export type TestDestinationRequest = {
  payload?: Record<string, unknown>;
  /** As below a source: added to `url` with `forwardPath`. */
  path?: string;
  /** Added to that of `url` with `forwardQuery`. */
  query?: string;
};

export type TestFilterRequest = {
  payload?: unknown;
  headers?: Record<string, string>;
  query?: StringMap | string;
  path?: string;
  method?: string;
};

export type TestResult = HttpTestSuccess | HttpTestFailure | WarehouseTestSuccess | WarehouseTestFailure;

export type TestSchemaRequest = {
  payload: unknown;
  headers?: Record<string, string>;
  /** A JSON Schema, draft-07 or 2020-12 (named by `$schema`; without it 2020-12). */
  schema: JsonObject | boolean;
};

export type TestTransformRequest = {
  payload?: unknown;
  headers?: Record<string, string>;
  path?: string;
  query?: string;
  method?: DeliveryMethod;
};

/** ISO 8601, UTC, with milliseconds. */
export type Timestamp = string;

export type TimestampUnit = 's' | 'ms' | 'rfc3339';

export type Transform = {
  id: string;
  name: string;
  /** Unique in the organization; stands for the id in export files. */
  slug: string;
  description: string | null;
  type: TransformType;
  code: string;
  outputContentType: string | null;
  /** Grows with every change. */
  version: number;
  /** Routes that use it. */
  routeCount: number;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type TransformPage = {
  data: Array<Transform>;
  pagination: Pagination;
};

export type TransformResult = TransformResultSuccess | TransformResultFailure;

export type TransformResultFailure = {
  success: false;
  error: TransformResultFailureError;
  outputContentType: string | null;
  durationMs: number;
};

export type TransformResultFailureError = {
  message: string;
  line: number | null;
  column: number | null;
};

export type TransformResultSuccess = {
  success: true;
  /** Parsed when it is JSON, else its text. */
  output: unknown;
  outputContentType: string | null;
  durationMs: number;
};

export type TransformType = 'jsonata' | 'javascript' | 'liquid';

export type UpdateAlertChannelRequest = {
  name?: string;
  type?: AlertChannelType;
  config?: Record<string, unknown>;
  enabled?: boolean;
  /** Of issues. Null: all. */
  kinds?: Array<IssueKind> | null;
  /** Only issues of these sources. Null: all. */
  sourceIds?: Array<string> | null;
  /** Only issues of these routes. Null: all. */
  routeIds?: Array<string> | null;
  /** Only issues of these destinations. Null: all. */
  destinationIds?: Array<string> | null;
  /** An issue is told from this count on. */
  afterCount?: number;
  /** Whether it is told that somebody acknowledged an issue. */
  onAcknowledged?: boolean;
  /** Whether it is told that an issue was resolved or ignored. */
  onResolved?: boolean;
  /** Between two messages about an issue. */
  throttleMinutes?: number;
  /** Every day. What changes meanwhile, and is not undone, is told afterwards. */
  quietHours?: QuietHours | null;
  /** One message with all changes, every so many minutes. Null: one each. */
  digestMinutes?: number | null;
};

export type UpdateDestinationRequest = HttpDestinationChanges | WarehouseDestinationChanges;

export type UpdateFilterRequest = {
  name?: string;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
  conditions?: Array<FilterConditionInput>;
  logic?: FilterLogic;
};

export type UpdateIssueRequest = {
  state: IssueState;
};

export type UpdateRouteRequest = {
  name?: string;
  description?: string | null;
  sourceId?: string;
  destinationIds?: Array<string>;
  transformId?: string | null;
  filterId?: string | null;
  schemaId?: string | null;
  /** Higher values run first. */
  priority?: number;
  filterConditions?: Array<FilterConditionInput> | null;
  filterLogic?: FilterLogic;
  failoverDestinationIds?: Array<string>;
  failoverAfterAttempts?: number;
  circuitCooldownSeconds?: number;
  circuitFailureThreshold?: number;
  circuitProbeSuccessThreshold?: number;
  notifyOnFailure?: boolean;
  notifyOnSuccess?: boolean;
  notifyOnRecovery?: boolean;
  notifyEmails?: string | null;
  /** What of the destination's answer counts as success; null: any 2xx. */
  expectedResponse?: RouteExpectedResponse | null;
  lane?: RouteLane | null;
  /** Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks. */
  allowOwnAddress?: boolean;
  enabled?: boolean;
};

export type UpdateSchemaRequest = {
  name?: string;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
  /** A JSON Schema, draft-07 or 2020-12 (named by `$schema`; without it 2020-12). */
  schema?: JsonObject | boolean;
};

export type UpdateSourceRequest = {
  name?: string;
  slug?: string;
  description?: string | null;
  /** Whose webhooks it receives: they are verified, and handshakes answered, as this provider does it. */
  provider?: SourceProvider | null;
  verificationConfig?: VerificationConfigInput | null;
  /** By what a repeated webhook is known, and for how long. */
  idempotencyKey?: SourceIdempotencyKey | null;
  ingestToken?: SourceIngestToken;
  /** Whether webhooks without a valid signature are answered as if there were no such source. */
  concealed?: boolean;
  /** Whether it takes webhooks at any path below its address, too. The path is the `path` of the event. */
  allowPaths?: boolean;
  /** What an accepted webhook is answered, instead of `success` and `eventId`. */
  answer?: SourceAnswerInput | null;
  /** What is answered to a `GET` or `HEAD` by which the sender checks the address: 200, a parameter of the query, or its HMAC. Null: 405, unless the provider has such checks. */
  handshake?: EchoHandshake | OkHandshake | HmacHandshake | null;
  enabled?: boolean;
};

export type UpdateTransformRequest = {
  name?: string;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
  type?: TransformType;
  code?: string;
  outputContentType?: string | null;
};

export type Usage = {
  plan: Plan;
  limits: UsageLimits;
  month: UsageMonth;
};

export type UsageLimits = {
  eventsPerSecond: LimitUse;
  eventsPerMonth: LimitUse;
  payloadBytes: LimitUse;
  deliveriesPerEvent: LimitUse;
  routesPerSource: LimitUse;
  destinations: LimitUse;
  sources: LimitUse;
  filters: LimitUse;
  transforms: LimitUse;
  schemas: LimitUse;
  alertChannels: LimitUse;
  apiKeys: LimitUse;
  waitingDeliveries: LimitUse;
  storedBytes: LimitUse;
  transformMsPerMinute: LimitUse;
  requestsPerMinute: LimitUse;
  runningReplays: LimitUse;
  replayedPerSecond: LimitUse;
  runningImports: LimitUse;
  runningSearches: LimitUse;
  runningTests: LimitUse;
  runningStreams: LimitUse;
};

/** The calendar month so far (UTC). */
export type UsageMonth = {
  from: string;
  events: number;
  payloadBytes: number;
};

export type ValidatePayloadRequest = {
  payload: unknown;
  headers?: Record<string, string>;
};

export type VerificationAlgorithm = 'sha1' | 'sha256' | 'sha512' | 'ecdsa' | 'ed25519' | 'rsa' | 'RS256' | 'ES256' | 'HS256';

/** How webhooks are verified; the secret is never shown. `provider` means as the provider of the source does, and `confirmSubscriptions` is of some providers; the other members are those of the type. */
export type VerificationConfig = {
  type: VerificationType;
  header?: string;
  algorithm?: VerificationAlgorithm;
  encoding?: SignatureEncoding;
  prefix?: string;
  timestampHeader?: string;
  timestampSeparator?: string;
  secretEncoding?: SecretEncoding;
  listSeparator?: string;
  signaturePart?: string;
  timestampPart?: string;
  partSeparator?: string;
  timestampUnit?: TimestampUnit;
  toleranceSeconds?: number;
  idHeader?: string;
  template?: string;
  jwksUrl?: string;
  issuer?: string;
  audience?: string;
  claims?: Record<string, string>;
  bodyHashClaim?: string;
  parameter?: string;
  path?: string;
  confirmSubscriptions?: boolean;
};

export type VerificationConfigInput = {
  type?: string;
  provider?: SourceProvider | null;
};

export type VerificationType = 'github' | 'stripe' | 'slack' | 'hmac' | 'none' | 'hmac_template' | 'public_key' | 'jwt' | 'header_token' | 'basic' | 'query_token' | 'body_token' | 'provider';

export type WarehouseCompression = 'none' | 'snappy' | 'gzip' | 'zstd';

/** The members of the type; its secret is shown as •••• and the last four. */
export type WarehouseConfig = {
  bucket?: string;
  region?: string;
  credentials?: AzureBlobConfigCredentials;
  accessKeyId?: string;
  /** Masked. */
  secretAccessKey?: string;
  /** With identity: the role that is assumed, with the id of the organization as external ID. */
  roleArn?: string;
  endpoint?: string;
  forcePathStyle?: boolean;
  /** Files are refused by a bucket of another account. */
  bucketOwner?: string;
  /** Id, ARN or alias of the KMS key that files are encrypted with. */
  kmsKeyId?: string;
  storageClass?: S3ConfigStorageClass;
  /** Of each file: name=value&name=value, percent-encoded. */
  tags?: string;
  prefix?: string;
  fileFormat?: WarehouseFileFormat;
  /** Of the whole file; in a Parquet file of its pages. snappy is for Parquet only. */
  compression?: WarehouseCompression;
  payloadColumn?: WarehousePayloadColumn;
  partitionBy?: WarehousePartition;
  keyOrder?: AzureBlobConfigKeyOrder;
  /** Events. */
  batchSize?: number;
  /** Bytes of payloads. */
  batchBytes?: number;
  batchWindowSeconds?: number;
  accountId?: string;
  projectId?: string;
  /** Masked. */
  serviceAccountKey?: string;
  accountName?: string;
  /** Masked. */
  accountKey?: string;
  /** Masked. */
  sasToken?: string;
  containerName?: string;
};

/** Members that are for HTTP only have their defaults. */
export type WarehouseDestination = {
  id: string;
  name: string;
  type: WarehouseType;
  url: '';
  enabled: boolean;
  /** Whether its deliveries wait until it is resumed. */
  paused: boolean;
  /** Null when it is not paused. */
  pausedSince: Timestamp | null;
  /** When the pause ends by itself; null: it does not. */
  pausedUntil: Timestamp | null;
  pauseReason: string | null;
  /** percent; null without a recent delivery */
  successRate: number | null;
  /** ms; null without a recent attempt that was answered */
  avgLatency: number | null;
  deliveriesCount: number;
  config: WarehouseConfig;
  fieldMapping: Array<FieldMappingRule>;
  /** Unique in the organization; stands for the id in export files. */
  slug: string;
  description: string | null;
  method: DeliveryMethod;
  /** Added to every delivery; replaced as a whole on update. */
  headers: Record<string, string>;
  /** Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never. */
  forwardHeaders: ForwardedHeaders | Array<string> | null;
  /** Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels. */
  forwardQuery: boolean;
  /** Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`. */
  forwardPath: boolean;
  authType: DestinationAuthType;
  /** Its secrets are shown as •••• and their last four characters. */
  authConfig: StringMap | null;
  signingSecret: string | null;
  /** Until then deliveries are signed with the secret before this one too. */
  previousSigningSecretUntil: Timestamp | null;
  /** ms */
  timeoutMs: number;
  /** Null: unlimited. */
  rateLimitPerMinute: number | null;
  /** Most attempts at a time. Null: as many as the destination copes with. */
  maxConcurrency: number | null;
  retryPolicy: RetryPolicy;
  lastDeliveryAt: Timestamp | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type WarehouseDestinationChanges = {
  name?: string;
  type?: string;
  enabled?: boolean;
  /** Members that are not sent stay, null removes one; a secret sent back masked is kept. */
  config?: Record<string, unknown>;
  fieldMapping?: Array<FieldMappingRuleInput> | null;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
};

export type WarehouseDestinationInput = {
  name: string;
  type: WarehouseType;
  enabled?: boolean;
  /** The whole config; a secret that is left out, or sent back masked, is kept. */
  config: Record<string, unknown>;
  fieldMapping?: Array<FieldMappingRuleInput> | null;
  /** Unique in the organization; stands for the id in export files. */
  slug?: string;
  description?: string | null;
};

export type WarehouseDestinationSummary = {
  id: string;
  name: string;
  type: WarehouseType;
  url: '';
  enabled: boolean;
  /** Whether its deliveries wait until it is resumed. */
  paused: boolean;
  /** When the pause ends by itself; null: it does not. */
  pausedUntil: Timestamp | null;
  config: WarehouseConfig;
  /** Unique in the organization; stands for the id in export files. */
  slug: string;
};

export type WarehouseFileFormat = 'jsonl' | 'json' | 'parquet';

export type WarehousePartition = 'date' | 'hour' | 'source';

/** What rows without a mapping hold: text in every column, or the payload as JSON. text in Parquet files. */
export type WarehousePayloadColumn = 'text' | 'json';

export type WarehouseTestFailure = {
  success: false;
  statusCode: number | null;
  /** ms */
  latency: number;
  error: string;
  message: string;
};

export type WarehouseTestSuccess = {
  success: true;
  result: WarehouseTestSuccessResult;
  /** ms */
  latency: number;
  message: string;
};

export type WarehouseTestSuccessResult = {
  key: string;
  /** bytes */
  size: number;
  /** rows */
  count: number;
  /** Values that did not fit, by column. */
  conversions: Array<Conversion>;
  /** The row as it was written; null when it is longer than 64 KiB. */
  row: JsonObject | null;
};

export type WarehouseType = 's3' | 'r2' | 'gcs' | 'azure_blob';

export type WebhookChannel = {
  url: string;
  /** `whsec_` and 24 to 64 bytes in base64. */
  secret: string;
};

export type Well = {
  status: 'ok';
};

export interface Operations {
  /** List sources */
  listSources(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    enabled?: boolean;
    /** A part of the name or slug, whatever its case. */
    search?: string;
    /** By default the organization of the key. */
    orgId?: string;
  }, options?: CallOptions): Promise<SourcePage>;
  /** Create a source */
  createSource(input: {
    /** By default the organization of the key. */
    orgId?: string;
    body: CreateSourceRequest;
  }, options?: CallOptions): Promise<Source>;
  /** Get a source */
  getSource(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
  }, options?: CallOptions): Promise<Source>;
  /** Update a source */
  updateSource(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
    body: UpdateSourceRequest;
  }, options?: CallOptions): Promise<Source>;
  /** Delete a source */
  deleteSource(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
  }, options?: CallOptions): Promise<void>;
  /** Create or replace the source of a slug */
  putSource(input: {
    /** By default the organization of the key. */
    orgId?: string;
    slug: string;
    body: PutSourceRequest;
  }, options?: CallOptions): Promise<Source>;
  /** Replace the token of a source's address */
  rotateIngestToken(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
    body?: RotateIngestTokenRequest;
  }, options?: CallOptions): Promise<Source>;
  /** List refused webhooks */
  listRefusals(input: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    cause?: RefusalCause;
    /** Of the counts; `24h` by default. */
    period?: RefusalCountsPeriod;
    /** Needs the scope `payloads:read`. */
    includePayload?: boolean;
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
  }, options?: CallOptions): Promise<RefusalPage>;
  /** List the providers that a source can be made for */
  listProviders(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
  }, options?: CallOptions): Promise<ProviderPage>;
  /** Make a sample webhook as a provider signs it */
  signSample(input: {
    body: SignSampleRequest;
  }, options?: CallOptions): Promise<SignedSample>;
  /** List destinations */
  listDestinations(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    enabled?: boolean;
    /** A part of the name or address, whatever its case. */
    search?: string;
  }, options?: CallOptions): Promise<DestinationSummaryPage>;
  /** Create a destination */
  createDestination(input: {
    body: CreateDestinationRequest;
  }, options?: CallOptions): Promise<Destination>;
  /** Get a destination */
  getDestination(input: {
    id: string;
  }, options?: CallOptions): Promise<Destination>;
  /** Update a destination */
  updateDestination(input: {
    id: string;
    body: UpdateDestinationRequest;
  }, options?: CallOptions): Promise<Destination>;
  /** Delete a destination */
  deleteDestination(input: {
    id: string;
  }, options?: CallOptions): Promise<void>;
  /** Get a destination's health */
  getDestinationHealth(input: {
    id: string;
  }, options?: CallOptions): Promise<DestinationHealth>;
  /** Create or replace the destination of a slug */
  putDestination(input: {
    slug: string;
    body: PutDestinationRequest;
  }, options?: CallOptions): Promise<Destination>;
  /** Send a test webhook, or upload a test file */
  testDestination(input: {
    id: string;
    body?: TestDestinationRequest;
  }, options?: CallOptions): Promise<TestResult>;
  /** List a warehouse's batches */
  listBatches(input: {
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    /** `first`, or the `nextCursor` of the answer before: what is new shifts nothing. Instead of `page`. */
    cursor: string;
    /** With `cursor`: whether to count too. */
    withTotal?: boolean;
    status?: BatchStatus;
    /** Only files whose `writtenAt` is later, in the order of writing. Not together with `status`. */
    writtenAfter?: string;
    id: string;
  }, options?: CallOptions): Promise<BatchCursorPage>;
  /** List a warehouse's batches */
  listBatches(input: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    status?: BatchStatus;
    /** Only files whose `writtenAt` is later, in the order of writing. Not together with `status`. */
    writtenAfter?: string;
    id: string;
  }, options?: CallOptions): Promise<BatchPage>;
  /** List HTTP destinations */
  listOrganizationDestinations(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    enabled?: boolean;
    /** A part of the name or address, whatever its case. */
    search?: string;
    /** By default the organization of the key. */
    orgId?: string;
  }, options?: CallOptions): Promise<HttpDestinationSummaryPage>;
  /** Create an HTTP destination */
  createOrganizationDestination(input: {
    /** By default the organization of the key. */
    orgId?: string;
    body: HttpDestinationInput;
  }, options?: CallOptions): Promise<HttpDestination>;
  /** Get an HTTP destination */
  getOrganizationDestination(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
  }, options?: CallOptions): Promise<HttpDestination>;
  /** Update an HTTP destination */
  updateOrganizationDestination(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
    body: HttpDestinationChanges;
  }, options?: CallOptions): Promise<HttpDestination>;
  /** Delete an HTTP destination */
  deleteOrganizationDestination(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
  }, options?: CallOptions): Promise<void>;
  /** Get an HTTP destination's health */
  getOrganizationDestinationHealth(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
  }, options?: CallOptions): Promise<DestinationHealth>;
  /** List routes */
  listRoutes(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    enabled?: boolean;
    sourceId?: string;
    destinationId?: string;
    circuitState?: CircuitState;
  }, options?: CallOptions): Promise<RoutePage>;
  /** Create a route */
  createRoute(input: {
    body: CreateRouteRequest;
  }, options?: CallOptions): Promise<Route>;
  /** Get a route */
  getRoute(input: {
    id: string;
  }, options?: CallOptions): Promise<Route>;
  /** Update a route */
  updateRoute(input: {
    id: string;
    body: UpdateRouteRequest;
  }, options?: CallOptions): Promise<Route>;
  /** Delete a route */
  deleteRoute(input: {
    id: string;
  }, options?: CallOptions): Promise<void>;
  /** Create or replace the route of a name */
  putRoute(input: {
    name: string;
    body: CreateRouteRequest;
  }, options?: CallOptions): Promise<Route>;
  /** Get a route's statistics */
  getRouteStatistics(input: {
    period?: RouteStatisticsPeriod;
    id: string;
  }, options?: CallOptions): Promise<RouteStatistics>;
  /** Get the state of a route's circuit breaker */
  getCircuitStatus(input: {
    id: string;
  }, options?: CallOptions): Promise<CircuitStatus>;
  /** Close a route's circuit breaker now */
  resetCircuit(input: {
    id: string;
  }, options?: CallOptions): Promise<ResetCircuitResult>;
  /** Change the settings of a route's circuit breaker */
  configureCircuit(input: {
    id: string;
    body: ConfigureCircuitRequest;
  }, options?: CallOptions): Promise<ConfigureCircuitResult>;
  /** See what a route would send for an event */
  previewRoute(input: {
    id: string;
    body: PreviewRouteRequest;
  }, options?: CallOptions): Promise<RoutePreview>;
  /** Pause a route */
  pauseRoute(input: {
    id: string;
    body?: PauseRequest;
  }, options?: CallOptions): Promise<Pause>;
  /** End the pause of a route */
  resumeRoute(input: {
    id: string;
    body?: ResumeRequest;
  }, options?: CallOptions): Promise<Pause>;
  /** Pause a destination */
  pauseDestination(input: {
    id: string;
    body?: PauseRequest;
  }, options?: CallOptions): Promise<Pause>;
  /** End the pause of a destination */
  resumeDestination(input: {
    id: string;
    body?: ResumeRequest;
  }, options?: CallOptions): Promise<Pause>;
  /** Delete many destinations */
  deleteDestinations(input: {
    body: DeleteDestinationsRequest;
  }, options?: CallOptions): Promise<DeleteDestinationsResult>;
  /** Disable or enable many routes */
  pauseRoutes(input: {
    body: PauseRoutesRequest;
  }, options?: CallOptions): Promise<PauseRoutesResult>;
  /** Delete many routes */
  deleteRoutes(input: {
    body: DeleteRoutesRequest;
  }, options?: CallOptions): Promise<DeleteRoutesResult>;
  /** Rotate a destination's signing secret */
  rotateSigningSecret(input: {
    id: string;
    body: RotateSigningSecretRequest;
  }, options?: CallOptions): Promise<HttpDestination>;
  /** Rotate a source's verification secret */
  rotateVerificationSecret(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
    body: RotateVerificationSecretRequest;
  }, options?: CallOptions): Promise<Source>;
  /** Export destinations */
  exportDestinations(input?: {
    /** At most 1000 ids separated by commas; all when it is left out. */
    ids?: string;
    includeSensitive?: boolean;
  }, options?: CallOptions): Promise<DestinationExport>;
  /** Import destinations */
  importDestinations(input: {
    body: ImportDestinationsRequest;
  }, options?: CallOptions): Promise<DestinationImportResult>;
  /** Export routes */
  exportRoutes(input?: {
    /** At most 1000 ids separated by commas; all when it is left out. */
    ids?: string;
  }, options?: CallOptions): Promise<RouteExport>;
  /** Import routes */
  importRoutes(input: {
    body: ImportRoutesRequest;
  }, options?: CallOptions): Promise<RouteImportResult>;
  /** List the addresses that routes and alert channels notify */
  listNotificationRecipients(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
  }, options?: CallOptions): Promise<NotificationRecipientPage>;
  /** Ask the owner of an address once more */
  resendConfirmation(input: {
    body: ResendConfirmationRequest;
  }, options?: CallOptions): Promise<NotificationRecipient>;
  /** List filters */
  listFilters(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    /** A part of the name or slug, whatever its case. */
    search?: string;
  }, options?: CallOptions): Promise<FilterPage>;
  /** Create a filter */
  createFilter(input: {
    body: CreateFilterRequest;
  }, options?: CallOptions): Promise<Filter>;
  /** Get a filter */
  getFilter(input: {
    id: string;
  }, options?: CallOptions): Promise<Filter>;
  /** Update a filter */
  updateFilter(input: {
    id: string;
    body: UpdateFilterRequest;
  }, options?: CallOptions): Promise<Filter>;
  /** Delete a filter */
  deleteFilter(input: {
    id: string;
  }, options?: CallOptions): Promise<void>;
  /** Create or replace the filter of a slug */
  putFilter(input: {
    slug: string;
    body: CreateFilterRequest;
  }, options?: CallOptions): Promise<Filter>;
  /** Try conditions that are not stored */
  testConditions(input: {
    body: TestConditionsRequest;
  }, options?: CallOptions): Promise<FilterResult>;
  /** Try a filter */
  testFilter(input: {
    id: string;
    body: TestFilterRequest;
  }, options?: CallOptions): Promise<FilterResult>;
  /** List transforms */
  listTransforms(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    /** A part of the name or slug, whatever its case. */
    search?: string;
  }, options?: CallOptions): Promise<TransformPage>;
  /** Create a transform */
  createTransform(input: {
    body: CreateTransformRequest;
  }, options?: CallOptions): Promise<Transform>;
  /** Get a transform */
  getTransform(input: {
    id: string;
  }, options?: CallOptions): Promise<Transform>;
  /** Update a transform */
  updateTransform(input: {
    id: string;
    body: UpdateTransformRequest;
  }, options?: CallOptions): Promise<Transform>;
  /** Delete a transform */
  deleteTransform(input: {
    id: string;
  }, options?: CallOptions): Promise<void>;
  /** Create or replace the transform of a slug */
  putTransform(input: {
    slug: string;
    body: CreateTransformRequest;
  }, options?: CallOptions): Promise<Transform>;
  /** Try code that is not stored */
  testCode(input: {
    body: TestCodeRequest;
  }, options?: CallOptions): Promise<TransformResult>;
  /** Try a transform */
  testTransform(input: {
    id: string;
    body?: TestTransformRequest;
  }, options?: CallOptions): Promise<TransformResult>;
  /** List schemas */
  listSchemas(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    /** A part of the name or slug, whatever its case. */
    search?: string;
  }, options?: CallOptions): Promise<SchemaPage>;
  /** Create a schema */
  createSchema(input: {
    body: CreateSchemaRequest;
  }, options?: CallOptions): Promise<Schema>;
  /** Get a schema */
  getSchema(input: {
    id: string;
  }, options?: CallOptions): Promise<Schema>;
  /** Update a schema */
  updateSchema(input: {
    id: string;
    body: UpdateSchemaRequest;
  }, options?: CallOptions): Promise<Schema>;
  /** Delete a schema */
  deleteSchema(input: {
    id: string;
  }, options?: CallOptions): Promise<void>;
  /** Create or replace the schema of a slug */
  putSchema(input: {
    slug: string;
    body: CreateSchemaRequest;
  }, options?: CallOptions): Promise<Schema>;
  /** Try a schema that is not stored */
  testSchema(input: {
    body: TestSchemaRequest;
  }, options?: CallOptions): Promise<SchemaResult>;
  /** Try a schema on a payload */
  validatePayload(input: {
    id: string;
    body: ValidatePayloadRequest;
  }, options?: CallOptions): Promise<SchemaResult>;
  /** List events */
  listEvents(input: {
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    /** `first`, or the `nextCursor` of the answer before: what is new shifts nothing. Instead of `page`. */
    cursor: string;
    /** With `cursor`: whether to count too. */
    withTotal?: boolean;
    sourceId?: string;
    status?: EventStatus | Array<EventStatus>;
    /** Whether a route took it. */
    routed?: boolean;
    /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
    from?: string;
    /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
    to?: string;
    search?: string;
    /** It has a delivery of the route. */
    routeId?: string;
    /** It has a delivery to the destination; of `routeId`, if given. */
    destinationId?: string;
    /** By default the organization of the key. */
    orgId?: string;
  }, options?: CallOptions): Promise<EventCursorPage>;
  /** List events */
  listEvents(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    sourceId?: string;
    status?: EventStatus | Array<EventStatus>;
    /** Whether a route took it. */
    routed?: boolean;
    /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
    from?: string;
    /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
    to?: string;
    search?: string;
    /** It has a delivery of the route. */
    routeId?: string;
    /** It has a delivery to the destination; of `routeId`, if given. */
    destinationId?: string;
    /** By default the organization of the key. */
    orgId?: string;
  }, options?: CallOptions): Promise<EventPage>;
  /** Get an event */
  getEvent(input: {
    includePayload?: boolean;
    includeDeliveries?: boolean;
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
  }, options?: CallOptions): Promise<EventInFull>;
  /** Delete an event */
  deleteEvent(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
  }, options?: CallOptions): Promise<void>;
  /** Get an event's payload as it was received */
  getEventPayload(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
  }, options?: CallOptions): Promise<RawAnswer>;
  /** Get an event's timeline */
  getEventTimeline(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
  }, options?: CallOptions): Promise<EventTimeline>;
  /** Follow events as they arrive */
  streamEvents(input?: {
    sourceId?: string;
    /** Whether a route took it. */
    routed?: boolean;
    /** By default the organization of the key. */
    orgId?: string;
  }, options?: StreamOptions): AsyncGenerator<Streamed, void>;
  /** Replay an event */
  replayEvent(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
    body?: ReplayEventRequest;
  }, options?: CallOptions): Promise<ReplayEventResult>;
  /** Replay up to 100 events */
  replayEvents(input: {
    /** By default the organization of the key. */
    orgId?: string;
    body: ReplayEventsRequest;
  }, options?: CallOptions): Promise<ReplayEventsResult>;
  /** Replay events chosen by a filter */
  createEventReplay(input: {
    /** By default the organization of the key. */
    orgId?: string;
    body: CreateEventReplayRequest;
  }, options?: CallOptions): Promise<EventReplay | EventReplayDryRun>;
  /** List replays */
  listEventReplays(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    /** By default the organization of the key. */
    orgId?: string;
  }, options?: CallOptions): Promise<EventReplayPage>;
  /** Get a replay */
  getEventReplay(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
  }, options?: CallOptions): Promise<EventReplay>;
  /** Cancel a replay */
  cancelEventReplay(input: {
    /** By default the organization of the key. */
    orgId?: string;
    id: string;
  }, options?: CallOptions): Promise<EventReplay>;
  /** List deliveries */
  listDeliveries(input: {
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    /** `first`, or the `nextCursor` of the answer before: what is new shifts nothing. Instead of `page`. */
    cursor: string;
    /** With `cursor`: whether to count too. */
    withTotal?: boolean;
    eventId?: string;
    sourceId?: string;
    routeId?: string;
    destinationId?: string;
    status?: DeliveryStatus | Array<DeliveryStatus>;
    /** Of the latest attempt. */
    statusCode?: number;
    codeClass?: StatusCodeClass;
    /** A part of the error of the latest attempt. */
    error?: string;
    /** Of the first attempt. */
    lane?: DeliveryLane;
    /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
    from?: string;
    /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
    to?: string;
  }, options?: CallOptions): Promise<DeliveryCursorPage>;
  /** List deliveries */
  listDeliveries(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    eventId?: string;
    sourceId?: string;
    routeId?: string;
    destinationId?: string;
    status?: DeliveryStatus | Array<DeliveryStatus>;
    /** Of the latest attempt. */
    statusCode?: number;
    codeClass?: StatusCodeClass;
    /** A part of the error of the latest attempt. */
    error?: string;
    /** Of the first attempt. */
    lane?: DeliveryLane;
    /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
    from?: string;
    /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
    to?: string;
  }, options?: CallOptions): Promise<DeliveryPage>;
  /** Get a delivery with its attempts */
  getDelivery(input: {
    id: string;
  }, options?: CallOptions): Promise<DeliveryWithAttempts>;
  /** Make the next attempt now */
  retryDelivery(input: {
    id: string;
  }, options?: CallOptions): Promise<RetryDeliveryResult>;
  /** Cancel a delivery that is under way */
  cancelDelivery(input: {
    id: string;
  }, options?: CallOptions): Promise<DeliveryWithAttempts>;
  /** Deliver the event to the same destination again */
  replayDelivery(input: {
    id: string;
  }, options?: CallOptions): Promise<ReplayDeliveryResult>;
  /** Retry, replay or cancel the deliveries that match a filter */
  actOnDeliveries(input: {
    body: ActOnDeliveriesRequest;
  }, options?: CallOptions): Promise<ActOnDeliveriesResult>;
  /** List issues */
  listIssues(input: {
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    /** `first`, or the `nextCursor` of the answer before: what is new shifts nothing. Instead of `page`. */
    cursor: string;
    /** With `cursor`: whether to count too. */
    withTotal?: boolean;
    state?: IssueState;
    kind?: IssueKind;
    /** Issues of the source, and of its routes. */
    sourceId?: string;
    routeId?: string;
    destinationId?: string;
  }, options?: CallOptions): Promise<IssueCursorPage>;
  /** List issues */
  listIssues(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    state?: IssueState;
    kind?: IssueKind;
    /** Issues of the source, and of its routes. */
    sourceId?: string;
    routeId?: string;
    destinationId?: string;
  }, options?: CallOptions): Promise<IssuePage>;
  /** Get an issue */
  getIssue(input: {
    id: string;
  }, options?: CallOptions): Promise<Issue>;
  /** Acknowledge, ignore, resolve or open an issue */
  updateIssue(input: {
    id: string;
    body: UpdateIssueRequest;
  }, options?: CallOptions): Promise<Issue>;
  /** Deliver again what failed because of an issue */
  retryIssue(input: {
    id: string;
    body?: RetryIssueRequest;
  }, options?: CallOptions): Promise<RetryIssueResult>;
  /** Get the organization's figures over time */
  getMetrics(input?: {
    /** What is counted. */
    metric?: MetricName;
    /** One series for each, at most 50 (of latencies 10), with 3000 steps in all: those with most. Without it there is one series, or none when there is nothing. */
    groupBy?: MetricGroup;
    /** At most 31 days ago; by default a day before `to`. */
    from?: string;
    /** By default now. */
    to?: string;
    /** Seconds. Steps begin at multiples of it since 1970 (UTC). */
    step?: number;
    sourceId?: string;
    routeId?: string;
    destinationId?: string;
  }, options?: CallOptions): Promise<Metrics>;
  /** Get the request as it was or will be sent */
  getDeliveryRequest(input: {
    /** Which attempt, from 1 on, the next one included. By default the latest that was made, else the first. */
    attempt?: number;
    /** Default true, which needs `payloads:read`. */
    includeBody?: boolean;
    id: string;
  }, options?: CallOptions): Promise<DeliveryRequest>;
  /** List alert channels */
  listAlertChannels(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    enabled?: boolean;
    /** A part of the name, whatever its case. */
    search?: string;
  }, options?: CallOptions): Promise<AlertChannelPage>;
  /** Create an alert channel */
  createAlertChannel(input: {
    body: CreateAlertChannelRequest;
  }, options?: CallOptions): Promise<AlertChannel>;
  /** Get an alert channel */
  getAlertChannel(input: {
    id: string;
  }, options?: CallOptions): Promise<AlertChannel>;
  /** Update an alert channel */
  updateAlertChannel(input: {
    id: string;
    body: UpdateAlertChannelRequest;
  }, options?: CallOptions): Promise<AlertChannel>;
  /** Delete an alert channel */
  deleteAlertChannel(input: {
    id: string;
  }, options?: CallOptions): Promise<void>;
  /** Send a test message */
  testAlertChannel(input: {
    id: string;
  }, options?: CallOptions): Promise<AlertTestResult>;
  /** Rotate the secret of a signed webhook */
  rotateAlertChannelSecret(input: {
    id: string;
    body: RotateSigningSecretRequest;
  }, options?: CallOptions): Promise<AlertChannel>;
  /** Get the limits and what is used of them */
  getUsage(input?: Record<never, never>, options?: CallOptions): Promise<Usage>;
  /** List the use by day */
  listDailyUsage(input?: {
    /** A day (UTC), such as 2026-11-21. */
    from?: string;
    /** A day (UTC), such as 2026-11-21. */
    to?: string;
  }, options?: CallOptions): Promise<DaysOfUse>;
  /** Get the organization and the key of the request */
  getCaller(input?: Record<never, never>, options?: CallOptions): Promise<Caller>;
  /** List API keys */
  listApiKeys(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
  }, options?: CallOptions): Promise<ApiKeyPage>;
  /** Create an API key */
  createApiKey(input: {
    body: CreateApiKeyRequest;
  }, options?: CallOptions): Promise<NewApiKey>;
  /** Revoke an API key */
  revokeApiKey(input: {
    id: string;
  }, options?: CallOptions): Promise<void>;
  /** List who did what */
  listAuditRecords(input: {
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    /** `first`, or the `nextCursor` of the answer before: what is new shifts nothing. Instead of `page`. */
    cursor: string;
    /** With `cursor`: whether to count too. */
    withTotal?: boolean;
    /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
    from?: string;
    /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
    to?: string;
    keyId?: string;
    /** The id of an operation of this description. */
    action?: string;
    /** The kind of records, as scopes name it. */
    resource?: string;
    /** The id of any record: what was done to it. */
    recordId?: string;
    outcome?: AuditRecordOutcome;
  }, options?: CallOptions): Promise<AuditRecordCursorPage>;
  /** List who did what */
  listAuditRecords(input?: {
    /** Which page, from 1 on. */
    page?: number;
    /** Items on a page; more than 100 are served as 100. */
    pageSize?: number;
    /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
    from?: string;
    /** An ISO 8601 date and time, or a date; UTC where no zone is given. */
    to?: string;
    keyId?: string;
    /** The id of an operation of this description. */
    action?: string;
    /** The kind of records, as scopes name it. */
    resource?: string;
    /** The id of any record: what was done to it. */
    recordId?: string;
    outcome?: AuditRecordOutcome;
  }, options?: CallOptions): Promise<AuditRecordPage>;
  /** Whether the process lives */
  isAlive(input?: Record<never, never>, options?: CallOptions): Promise<Well>;
  /** Whether webhooks should be sent to this process */
  isReady(input?: {
    deep?: IsReadyDeep;
  }, options?: CallOptions): Promise<Ready>;
  /** This description */
  getDescription(input?: Record<never, never>, options?: CallOptions): Promise<Description>;
  /** Exchange the code of a sign-in link for a key */
  signIn(input: {
    body: SignInRequest;
  }, options?: CallOptions): Promise<ConsoleKey>;
  /** Get the state of the installation */
  getStatus(input?: {
    /** Lists the organizations with most that waits, at most 100. */
    organizations?: boolean;
  }, options?: CallOptions): Promise<InstallationStatus>;
}

/** Where each operation is. */
export const operations: Readonly<Record<keyof Operations, string>> = {
  listSources: 'GET /api/organizations/{orgId}/sources',
  createSource: 'POST /api/organizations/{orgId}/sources',
  getSource: 'GET /api/organizations/{orgId}/sources/{id}',
  updateSource: 'PATCH /api/organizations/{orgId}/sources/{id}',
  deleteSource: 'DELETE /api/organizations/{orgId}/sources/{id}',
  putSource: 'PUT /api/organizations/{orgId}/sources/by-slug/{slug}',
  rotateIngestToken: 'POST /api/organizations/{orgId}/sources/{id}/rotate-token',
  listRefusals: 'GET /api/organizations/{orgId}/sources/{id}/refusals',
  listProviders: 'GET /api/providers',
  signSample: 'POST /api/providers/sample',
  listDestinations: 'GET /api/destinations',
  createDestination: 'POST /api/destinations',
  getDestination: 'GET /api/destinations/{id}',
  updateDestination: 'PATCH /api/destinations/{id}',
  deleteDestination: 'DELETE /api/destinations/{id}',
  getDestinationHealth: 'GET /api/destinations/{id}/health',
  putDestination: 'PUT /api/destinations/by-slug/{slug}',
  testDestination: 'POST /api/destinations/{id}/test',
  listBatches: 'GET /api/destinations/{id}/batches',
  listOrganizationDestinations: 'GET /api/organizations/{orgId}/destinations',
  createOrganizationDestination: 'POST /api/organizations/{orgId}/destinations',
  getOrganizationDestination: 'GET /api/organizations/{orgId}/destinations/{id}',
  updateOrganizationDestination: 'PATCH /api/organizations/{orgId}/destinations/{id}',
  deleteOrganizationDestination: 'DELETE /api/organizations/{orgId}/destinations/{id}',
  getOrganizationDestinationHealth: 'GET /api/organizations/{orgId}/destinations/{id}/health',
  listRoutes: 'GET /api/routes',
  createRoute: 'POST /api/routes',
  getRoute: 'GET /api/routes/{id}',
  updateRoute: 'PATCH /api/routes/{id}',
  deleteRoute: 'DELETE /api/routes/{id}',
  putRoute: 'PUT /api/routes/by-name/{name}',
  getRouteStatistics: 'GET /api/routes/{id}/stats',
  getCircuitStatus: 'GET /api/routes/{id}/circuit-status',
  resetCircuit: 'POST /api/routes/{id}/reset-circuit',
  configureCircuit: 'PATCH /api/routes/{id}/circuit-config',
  previewRoute: 'POST /api/routes/{id}/preview',
  pauseRoute: 'POST /api/routes/{id}/pause',
  resumeRoute: 'POST /api/routes/{id}/resume',
  pauseDestination: 'POST /api/destinations/{id}/pause',
  resumeDestination: 'POST /api/destinations/{id}/resume',
  deleteDestinations: 'DELETE /api/destinations/bulk',
  pauseRoutes: 'POST /api/routes/bulk-pause',
  deleteRoutes: 'POST /api/routes/bulk-delete',
  rotateSigningSecret: 'POST /api/destinations/{id}/rotate-secret',
  rotateVerificationSecret: 'POST /api/organizations/{orgId}/sources/{id}/rotate-secret',
  exportDestinations: 'GET /api/destinations/export',
  importDestinations: 'POST /api/destinations/import',
  exportRoutes: 'GET /api/routes/export',
  importRoutes: 'POST /api/routes/import',
  listNotificationRecipients: 'GET /api/notification-recipients',
  resendConfirmation: 'POST /api/notification-recipients/resend',
  listFilters: 'GET /api/filters',
  createFilter: 'POST /api/filters',
  getFilter: 'GET /api/filters/{id}',
  updateFilter: 'PATCH /api/filters/{id}',
  deleteFilter: 'DELETE /api/filters/{id}',
  putFilter: 'PUT /api/filters/by-slug/{slug}',
  testConditions: 'POST /api/filters/test',
  testFilter: 'POST /api/filters/{id}/test',
  listTransforms: 'GET /api/transforms',
  createTransform: 'POST /api/transforms',
  getTransform: 'GET /api/transforms/{id}',
  updateTransform: 'PATCH /api/transforms/{id}',
  deleteTransform: 'DELETE /api/transforms/{id}',
  putTransform: 'PUT /api/transforms/by-slug/{slug}',
  testCode: 'POST /api/transforms/test',
  testTransform: 'POST /api/transforms/{id}/test',
  listSchemas: 'GET /api/schemas',
  createSchema: 'POST /api/schemas',
  getSchema: 'GET /api/schemas/{id}',
  updateSchema: 'PATCH /api/schemas/{id}',
  deleteSchema: 'DELETE /api/schemas/{id}',
  putSchema: 'PUT /api/schemas/by-slug/{slug}',
  testSchema: 'POST /api/schemas/test',
  validatePayload: 'POST /api/schemas/{id}/validate',
  listEvents: 'GET /api/organizations/{orgId}/events',
  getEvent: 'GET /api/organizations/{orgId}/events/{id}',
  deleteEvent: 'DELETE /api/organizations/{orgId}/events/{id}',
  getEventPayload: 'GET /api/organizations/{orgId}/events/{id}/payload',
  getEventTimeline: 'GET /api/organizations/{orgId}/events/{id}/timeline',
  streamEvents: 'GET /api/organizations/{orgId}/events/stream',
  replayEvent: 'POST /api/organizations/{orgId}/events/{id}/replay',
  replayEvents: 'POST /api/organizations/{orgId}/events/bulk/replay',
  createEventReplay: 'POST /api/organizations/{orgId}/events/replay',
  listEventReplays: 'GET /api/organizations/{orgId}/events/replays',
  getEventReplay: 'GET /api/organizations/{orgId}/events/replays/{id}',
  cancelEventReplay: 'POST /api/organizations/{orgId}/events/replays/{id}/cancel',
  listDeliveries: 'GET /api/deliveries',
  getDelivery: 'GET /api/deliveries/{id}',
  retryDelivery: 'POST /api/deliveries/{id}/retry',
  cancelDelivery: 'POST /api/deliveries/{id}/cancel',
  replayDelivery: 'POST /api/deliveries/{id}/replay',
  actOnDeliveries: 'POST /api/deliveries/bulk',
  listIssues: 'GET /api/issues',
  getIssue: 'GET /api/issues/{id}',
  updateIssue: 'PATCH /api/issues/{id}',
  retryIssue: 'POST /api/issues/{id}/retry',
  getMetrics: 'GET /api/metrics',
  getDeliveryRequest: 'GET /api/deliveries/{id}/request',
  listAlertChannels: 'GET /api/alert-channels',
  createAlertChannel: 'POST /api/alert-channels',
  getAlertChannel: 'GET /api/alert-channels/{id}',
  updateAlertChannel: 'PATCH /api/alert-channels/{id}',
  deleteAlertChannel: 'DELETE /api/alert-channels/{id}',
  testAlertChannel: 'POST /api/alert-channels/{id}/test',
  rotateAlertChannelSecret: 'POST /api/alert-channels/{id}/rotate-secret',
  getUsage: 'GET /api/organization/usage',
  listDailyUsage: 'GET /api/organization/usage/daily',
  getCaller: 'GET /api/auth/me',
  listApiKeys: 'GET /api/api-keys',
  createApiKey: 'POST /api/api-keys',
  revokeApiKey: 'DELETE /api/api-keys/{id}',
  listAuditRecords: 'GET /api/audit',
  isAlive: 'GET /healthz',
  isReady: 'GET /readyz',
  getDescription: 'GET /openapi.json',
  signIn: 'POST /api/auth/sign-in',
  getStatus: 'GET /api/status',
};

/** The lists that also go by cursor. */
export const cursorLists: ReadonlySet<string> = new Set(["listBatches","listEvents","listDeliveries","listIssues","listAuditRecords"]);

/** The operations that answer with a stream. */
export const streams: ReadonlySet<string> = new Set(["streamEvents"]);

