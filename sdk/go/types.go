// Made of docs/openapi.json by npm run prepare. DO NOT EDIT.

package hookyard

import "time"

// ActOnDeliveriesRequest
type ActOnDeliveriesRequest struct {
	EventID *string `json:"eventId,omitzero"`

	SourceID *string `json:"sourceId,omitzero"`

	RouteID *string `json:"routeId,omitzero"`

	DestinationID *string `json:"destinationId,omitzero"`

	Status any `json:"status,omitzero"`

	// Of the latest attempt.
	StatusCode *int64 `json:"statusCode,omitzero"`

	CodeClass *StatusCodeClass `json:"codeClass,omitzero"`

	// A part of the error of the latest attempt.
	Error *string `json:"error,omitzero"`

	// Of the first attempt.
	Lane *DeliveryLane `json:"lane,omitzero"`

	// An ISO 8601 date and time, or a date; UTC where no zone is given.
	From *string `json:"from,omitzero"`

	// An ISO 8601 date and time, or a date; UTC where no zone is given.
	To *string `json:"to,omitzero"`

	Action ActOnDeliveriesRequestAction `json:"action"`

	// `first`, or the `nextCursor` of the answer before.
	Cursor *string `json:"cursor,omitzero"`

	// Deliveries of this call, at most.
	Limit *int64 `json:"limit,omitzero"`

	// Counts all that match, and changes nothing.
	DryRun *bool `json:"dryRun,omitzero"`
}

// ActOnDeliveriesRequestAction
type ActOnDeliveriesRequestAction string

const ActOnDeliveriesRequestActionRetry ActOnDeliveriesRequestAction = "retry"

const ActOnDeliveriesRequestActionReplay ActOnDeliveriesRequestAction = "replay"

const ActOnDeliveriesRequestActionCancel ActOnDeliveriesRequestAction = "cancel"

// ActOnDeliveriesResult
type ActOnDeliveriesResult struct {
	Message string `json:"message"`

	// That match: in this call, or all of them with `dryRun`.
	DeliveriesFound int64 `json:"deliveriesFound"`

	// The others had changed meanwhile, or cannot be replayed: they are under way, or a later one has replaced them.
	DeliveriesChanged int64 `json:"deliveriesChanged"`

	// The `cursor` of the next call. Null: there is nothing more.
	NextCursor *string `json:"nextCursor"`
}

// AlertChannel
type AlertChannel struct {
	ID string `json:"id"`

	Name string `json:"name"`

	Type AlertChannelType `json:"type"`

	// Its secrets are shown as •••• and their last four characters: the addresses of Slack and Teams are secrets.
	Config map[string]string `json:"config"`

	Enabled bool `json:"enabled"`

	// Of issues. Null: all.
	Kinds []IssueKind `json:"kinds"`

	SourceIDs []string `json:"sourceIds"`

	RouteIDs []string `json:"routeIds"`

	DestinationIDs []string `json:"destinationIds"`

	// An issue is told from this count on.
	AfterCount int64 `json:"afterCount"`

	// Whether it is told that somebody acknowledged an issue.
	OnAcknowledged bool `json:"onAcknowledged"`

	// Whether it is told that an issue was resolved or ignored.
	OnResolved bool `json:"onResolved"`

	// Between two messages about an issue.
	ThrottleMinutes int64 `json:"throttleMinutes"`

	// Every day. What changes meanwhile, and is not undone, is told afterwards.
	QuietHours *QuietHours `json:"quietHours"`

	// One message with all changes, every so many minutes. Null: one each.
	DigestMinutes *int64 `json:"digestMinutes"`

	// Addresses that get no mail: their owners have not agreed, or the operator does not accept their domain.
	WithheldEmails []string `json:"withheldEmails"`

	// Until then webhooks are signed with the secret before this one too.
	PreviousSecretUntil *Timestamp `json:"previousSecretUntil"`

	// Since when its messages were given up; null after one that arrived.
	FailingSince *Timestamp `json:"failingSince"`

	LastError *string `json:"lastError"`

	LastSentAt *Timestamp `json:"lastSentAt"`

	CreatedAt Timestamp `json:"createdAt"`

	UpdatedAt Timestamp `json:"updatedAt"`
}

// AlertChannelPage
type AlertChannelPage struct {
	Data []AlertChannel `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// AlertChannelType
type AlertChannelType string

const AlertChannelTypeMail AlertChannelType = "mail"

const AlertChannelTypeWebhook AlertChannelType = "webhook"

const AlertChannelTypeSlack AlertChannelType = "slack"

const AlertChannelTypeTeams AlertChannelType = "teams"

const AlertChannelTypePagerduty AlertChannelType = "pagerduty"

// AlertTestResult
type AlertTestResult struct {
	Success bool `json:"success"`

	// Null for mails.
	StatusCode *int64 `json:"statusCode"`

	// ms
	Latency int64 `json:"latency"`

	ResponseBody *string `json:"responseBody"`

	Message string `json:"message"`

	Error *string `json:"error,omitzero"`
}

// AlertTestSuccess
type AlertTestSuccess struct {
	Success bool `json:"success"`

	// Null for mails.
	StatusCode *int64 `json:"statusCode"`

	// ms
	Latency int64 `json:"latency"`

	ResponseBody *string `json:"responseBody"`

	Message string `json:"message"`
}

// ApiKey
type ApiKey struct {
	ID string `json:"id"`

	Name string `json:"name"`

	Scopes []ApiKeyScope `json:"scopes"`

	// The ranges of addresses that it may be used from; null: every address.
	AllowedAddresses []string `json:"allowedAddresses"`

	// Its last four characters.
	TokenHint string `json:"tokenHint"`

	ExpiresAt *Timestamp `json:"expiresAt"`

	LastUsedAt *Timestamp `json:"lastUsedAt"`

	CreatedAt Timestamp `json:"createdAt"`
}

// ApiKeyAuth
type ApiKeyAuth struct {
	HeaderName string `json:"headerName"`

	Key string `json:"key"`
}

// ApiKeyPage
type ApiKeyPage struct {
	Data []ApiKey `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// ApiKeyScope
type ApiKeyScope string

const ApiKeyScopeRead ApiKeyScope = "read"

const ApiKeyScopeWrite ApiKeyScope = "write"

const ApiKeyScopeSourcesRead ApiKeyScope = "sources:read"

const ApiKeyScopeSourcesWrite ApiKeyScope = "sources:write"

const ApiKeyScopeDestinationsRead ApiKeyScope = "destinations:read"

const ApiKeyScopeDestinationsWrite ApiKeyScope = "destinations:write"

const ApiKeyScopeRoutesRead ApiKeyScope = "routes:read"

const ApiKeyScopeRoutesWrite ApiKeyScope = "routes:write"

const ApiKeyScopeFiltersRead ApiKeyScope = "filters:read"

const ApiKeyScopeFiltersWrite ApiKeyScope = "filters:write"

const ApiKeyScopeTransformsRead ApiKeyScope = "transforms:read"

const ApiKeyScopeTransformsWrite ApiKeyScope = "transforms:write"

const ApiKeyScopeSchemasRead ApiKeyScope = "schemas:read"

const ApiKeyScopeSchemasWrite ApiKeyScope = "schemas:write"

const ApiKeyScopeEventsRead ApiKeyScope = "events:read"

const ApiKeyScopeEventsWrite ApiKeyScope = "events:write"

const ApiKeyScopePayloadsRead ApiKeyScope = "payloads:read"

const ApiKeyScopeDeliveriesRead ApiKeyScope = "deliveries:read"

const ApiKeyScopeDeliveriesWrite ApiKeyScope = "deliveries:write"

const ApiKeyScopeIssuesRead ApiKeyScope = "issues:read"

const ApiKeyScopeIssuesWrite ApiKeyScope = "issues:write"

const ApiKeyScopeAlertsRead ApiKeyScope = "alerts:read"

const ApiKeyScopeAlertsWrite ApiKeyScope = "alerts:write"

const ApiKeyScopeKeysRead ApiKeyScope = "keys:read"

const ApiKeyScopeKeysWrite ApiKeyScope = "keys:write"

const ApiKeyScopeOrganizationRead ApiKeyScope = "organization:read"

const ApiKeyScopeAuditRead ApiKeyScope = "audit:read"

const ApiKeyScopeSecretsRead ApiKeyScope = "secrets:read"

// Attempt
type Attempt struct {
	AttemptNumber int64 `json:"attemptNumber"`

	StartedAt Timestamp `json:"startedAt"`

	CompletedAt Timestamp `json:"completedAt"`

	Status AttemptStatus `json:"status"`

	// Null when there was no response.
	StatusCode *int64 `json:"statusCode"`

	// ms
	Latency int64 `json:"latency"`

	// Null when none was tried, or it is not known.
	Connection *AttemptConnection `json:"connection"`

	// ms. A step that was not made, or not finished, is null; all is null when it is not known.
	Timings *AttemptTimings `json:"timings"`

	Error *string `json:"error"`

	// As they were sent, secrets masked.
	RequestHeaders *StringMap `json:"requestHeaders"`

	ResponseHeaders *StringMap `json:"responseHeaders"`

	ResponseBody *string `json:"responseBody"`
}

// AttemptConnection
type AttemptConnection struct {
	// The IP address that it went to, or was tried last.
	Address string `json:"address"`

	Port int64 `json:"port"`

	// Whether it was kept from an earlier attempt: then no step of it took time.
	Reused bool `json:"reused"`
}

// AttemptStatus
type AttemptStatus string

const AttemptStatusSuccess AttemptStatus = "success"

const AttemptStatusFailed AttemptStatus = "failed"

// AttemptTimings
type AttemptTimings struct {
	// Look-up of the name; null for an IP address.
	Dns *float64 `json:"dns"`

	// TCP connection, other addresses of the name that did not answer included.
	Connect *float64 `json:"connect"`

	// TLS handshake; null without TLS.
	Tls *float64 `json:"tls"`

	// From the request on the connection to the first byte of the answer.
	FirstByte *float64 `json:"firstByte"`

	// ms
	Total int64 `json:"total"`
}

// AuditRecord
type AuditRecord struct {
	ID string `json:"id"`

	At Timestamp `json:"at"`

	Actor AuditRecordActor `json:"actor"`

	KeyID *string `json:"keyId"`

	KeyName *string `json:"keyName"`

	Address *string `json:"address"`

	UserAgent *string `json:"userAgent"`

	RequestID *string `json:"requestId"`

	// The id of the operation, the command of an operator, or `rememberSecret` of a provider.
	Action string `json:"action"`

	// The kind of records, as scopes name it.
	Resource string `json:"resource"`

	// The first 100 of them.
	RecordIDs []string `json:"recordIds"`

	RecordCount int64 `json:"recordCount"`

	// The names of what was sent, never a value.
	Members []string `json:"members"`

	// `refused`: the request was wrong or not allowed; `failed`: the service could not do it.
	Outcome AuditRecordOutcome `json:"outcome"`

	// Of a request that was refused or failed.
	Status *int64 `json:"status"`

	Code *string `json:"code"`
}

// AuditRecordActor: An operator works on the database itself, or has given somebody a sign-in link; a provider has sent the secret of its source.
type AuditRecordActor string

const AuditRecordActorKey AuditRecordActor = "key"

const AuditRecordActorOperator AuditRecordActor = "operator"

const AuditRecordActorProvider AuditRecordActor = "provider"

// AuditRecordCursorPage
type AuditRecordCursorPage struct {
	Data []AuditRecord `json:"data"`

	Pagination CursorPagination `json:"pagination"`
}

// AuditRecordOutcome
type AuditRecordOutcome string

const AuditRecordOutcomeDone AuditRecordOutcome = "done"

const AuditRecordOutcomeRefused AuditRecordOutcome = "refused"

const AuditRecordOutcomeFailed AuditRecordOutcome = "failed"

// AuditRecordPage
type AuditRecordPage struct {
	Data []AuditRecord `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// AzureBlobConfig
type AzureBlobConfig struct {
	AccountName string `json:"accountName"`

	Credentials *AzureBlobConfigCredentials `json:"credentials,omitzero"`

	AccountKey *string `json:"accountKey,omitzero"`

	SasToken *string `json:"sasToken,omitzero"`

	ContainerName string `json:"containerName"`

	Endpoint *string `json:"endpoint,omitzero"`

	Prefix *string `json:"prefix,omitzero"`

	FileFormat *WarehouseFileFormat `json:"fileFormat,omitzero"`

	// Of the whole file; in a Parquet file of its pages. snappy is for Parquet only.
	Compression *WarehouseCompression `json:"compression,omitzero"`

	PayloadColumn *WarehousePayloadColumn `json:"payloadColumn,omitzero"`

	PartitionBy *WarehousePartition `json:"partitionBy,omitzero"`

	KeyOrder *AzureBlobConfigKeyOrder `json:"keyOrder,omitzero"`

	// Events.
	BatchSize any `json:"batchSize,omitzero"`

	// Bytes of payloads.
	BatchBytes any `json:"batchBytes,omitzero"`

	BatchWindowSeconds any `json:"batchWindowSeconds,omitzero"`
}

// AzureBlobConfigCredentials: Without it: keys. identity: that of this service, if its operator allows it.
type AzureBlobConfigCredentials string

const AzureBlobConfigCredentialsKeys AzureBlobConfigCredentials = "keys"

const AzureBlobConfigCredentialsSas AzureBlobConfigCredentials = "sas"

const AzureBlobConfigCredentialsIdentity AzureBlobConfigCredentials = "identity"

// AzureBlobConfigKeyOrder: How the keys of a folder sort: by the time of writing, or by that of the first event.
type AzureBlobConfigKeyOrder string

const AzureBlobConfigKeyOrderWritten AzureBlobConfigKeyOrder = "written"

const AzureBlobConfigKeyOrderReceived AzureBlobConfigKeyOrder = "received"

// AzureBlobDestinationInput
type AzureBlobDestinationInput struct {
	Name string `json:"name"`

	Type string `json:"type"`

	Enabled *bool `json:"enabled,omitzero"`

	Config AzureBlobConfig `json:"config"`

	FieldMapping Nullable[[]FieldMappingRuleInput] `json:"fieldMapping,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`
}

// BasicAuth
type BasicAuth struct {
	Username string `json:"username"`

	Password string `json:"password"`
}

// BasicVerification
type BasicVerification struct {
	Type string `json:"type"`

	Secret string `json:"secret"`
}

// Batch
type Batch struct {
	ID string `json:"id"`

	Status BatchStatus `json:"status"`

	Partition *string `json:"partition"`

	Key *string `json:"key"`

	FileFormat *WarehouseFileFormat `json:"fileFormat"`

	Compression *WarehouseCompression `json:"compression"`

	// Events; once it is written, rows.
	Count *int64 `json:"count"`

	Bytes *int64 `json:"bytes"`

	// Values that did not fit their column.
	ConvertedCount *int64 `json:"convertedCount"`

	Conversions []Conversion `json:"conversions"`

	Sha256 *string `json:"sha256"`

	// Of the events in its rows; null until it is written.
	FirstReceivedAt *Timestamp `json:"firstReceivedAt"`

	LastReceivedAt *Timestamp `json:"lastReceivedAt"`

	Attempts int64 `json:"attempts"`

	LastError *string `json:"lastError"`

	CreatedAt Timestamp `json:"createdAt"`

	FrozenAt *Timestamp `json:"frozenAt"`

	WrittenAt *Timestamp `json:"writtenAt"`

	FinishedAt *Timestamp `json:"finishedAt"`
}

// BatchCursorPage
type BatchCursorPage struct {
	Data []Batch `json:"data"`

	Pagination CursorPagination `json:"pagination"`
}

// BatchPage
type BatchPage struct {
	Data []Batch `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// BatchStatus
type BatchStatus string

const BatchStatusOpen BatchStatus = "open"

const BatchStatusFrozen BatchStatus = "frozen"

const BatchStatusUploading BatchStatus = "uploading"

const BatchStatusWritten BatchStatus = "written"

const BatchStatusFailed BatchStatus = "failed"

// BearerAuth
type BearerAuth struct {
	Token string `json:"token"`
}

// BodyTokenVerification
type BodyTokenVerification struct {
	Type string `json:"type"`

	Secret string `json:"secret"`

	Path string `json:"path"`
}

// BooleanText
type BooleanText string

const BooleanTextTrue BooleanText = "true"

const BooleanTextFalse BooleanText = "false"

// Caller
type Caller struct {
	Organization CallerOrganization `json:"organization"`

	// The same one: a key belongs to one organization. For clients that expect a list.
	Organizations []CallerOrganization `json:"organizations"`

	Key CallerKey `json:"key"`
}

// CallerKey
type CallerKey struct {
	ID string `json:"id"`

	Name string `json:"name"`

	Scopes []ApiKeyScope `json:"scopes"`

	// The ranges of addresses that it may be used from; null: every address.
	AllowedAddresses []string `json:"allowedAddresses"`

	ExpiresAt *Timestamp `json:"expiresAt"`
}

// CallerOrganization
type CallerOrganization struct {
	ID string `json:"id"`

	Name string `json:"name"`

	Slug string `json:"slug"`

	Plan Plan `json:"plan"`
}

// CircuitState
type CircuitState string

const CircuitStateClosed CircuitState = "closed"

const CircuitStateOpen CircuitState = "open"

const CircuitStateHalfOpen CircuitState = "half_open"

// CircuitStatus
type CircuitStatus struct {
	CircuitState CircuitState `json:"circuitState"`

	// Failed attempts in a row.
	FailureCount int64 `json:"failureCount"`

	FailureThreshold int64 `json:"failureThreshold"`

	CooldownSeconds int64 `json:"cooldownSeconds"`

	LastFailureAt *Timestamp `json:"lastFailureAt"`

	LastSuccessAt *Timestamp `json:"lastSuccessAt"`

	// Null when it is not open.
	OpenedAt *Timestamp `json:"openedAt"`

	ProbeSuccessCount int64 `json:"probeSuccessCount"`

	ProbeSuccessThreshold int64 `json:"probeSuccessThreshold"`

	// Whether its deliveries wait until it is resumed.
	Paused bool `json:"paused"`

	// Null when it is not paused.
	PausedSince *Timestamp `json:"pausedSince"`

	// When the pause ends by itself; null: it does not.
	PausedUntil *Timestamp `json:"pausedUntil"`

	PauseReason *string `json:"pauseReason"`
}

// ConfigureCircuitRequest
type ConfigureCircuitRequest struct {
	CircuitCooldownSeconds *int64 `json:"circuitCooldownSeconds,omitzero"`

	CircuitFailureThreshold *int64 `json:"circuitFailureThreshold,omitzero"`

	CircuitProbeSuccessThreshold *int64 `json:"circuitProbeSuccessThreshold,omitzero"`
}

// ConfigureCircuitResult
type ConfigureCircuitResult struct {
	CircuitCooldownSeconds int64 `json:"circuitCooldownSeconds"`

	CircuitFailureThreshold int64 `json:"circuitFailureThreshold"`

	CircuitProbeSuccessThreshold int64 `json:"circuitProbeSuccessThreshold"`

	Message string `json:"message"`
}

// ConflictStrategy: What happens to an item that is there already.
type ConflictStrategy string

const ConflictStrategySkip ConflictStrategy = "skip"

const ConflictStrategyRename ConflictStrategy = "rename"

const ConflictStrategyOverwrite ConflictStrategy = "overwrite"

// ConsoleKey
type ConsoleKey struct {
	// A key with the scopes `read` and `write`.
	Token string `json:"token"`

	ExpiresAt Timestamp `json:"expiresAt"`
}

// Conversion: A column, how many values did not fit it, and the event of the first.
type Conversion struct {
	Target string `json:"target"`

	Count int64 `json:"count"`

	EventID string `json:"eventId"`
}

// CreateAlertChannelRequest
type CreateAlertChannelRequest struct {
	Name string `json:"name"`

	Type AlertChannelType `json:"type"`

	// What it holds depends on `type`.
	Config CreateAlertChannelRequestConfig `json:"config"`

	Enabled *bool `json:"enabled,omitzero"`

	// Of issues. Null: all.
	Kinds Nullable[[]IssueKind] `json:"kinds,omitzero"`

	// Only issues of these sources. Null: all.
	SourceIDs Nullable[[]string] `json:"sourceIds,omitzero"`

	// Only issues of these routes. Null: all.
	RouteIDs Nullable[[]string] `json:"routeIds,omitzero"`

	// Only issues of these destinations. Null: all.
	DestinationIDs Nullable[[]string] `json:"destinationIds,omitzero"`

	// An issue is told from this count on.
	AfterCount *int64 `json:"afterCount,omitzero"`

	// Whether it is told that somebody acknowledged an issue.
	OnAcknowledged *bool `json:"onAcknowledged,omitzero"`

	// Whether it is told that an issue was resolved or ignored.
	OnResolved *bool `json:"onResolved,omitzero"`

	// Between two messages about an issue.
	ThrottleMinutes *int64 `json:"throttleMinutes,omitzero"`

	// Every day. What changes meanwhile, and is not undone, is told afterwards.
	QuietHours Nullable[QuietHours] `json:"quietHours,omitzero"`

	// One message with all changes, every so many minutes. Null: one each.
	DigestMinutes Nullable[int64] `json:"digestMinutes,omitzero"`
}

// CreateAlertChannelRequestConfig
type CreateAlertChannelRequestConfig struct {
	// Separated by commas.
	Emails *string `json:"emails,omitzero"`

	// Of an incoming webhook.
	URL *string `json:"url,omitzero"`

	// `whsec_` and 24 to 64 bytes in base64.
	Secret *string `json:"secret,omitzero"`

	RoutingKey *string `json:"routingKey,omitzero"`

	Severity *PagerDutyChannelSeverity `json:"severity,omitzero"`

	Region *PagerDutyChannelRegion `json:"region,omitzero"`
}

// CreateApiKeyRequest
type CreateApiKeyRequest struct {
	Name string `json:"name"`

	Scopes []ApiKeyScope `json:"scopes,omitzero"`

	// Addresses or ranges that it may be used from; null: every address. Left out: as the request's own key.
	AllowedAddresses Nullable[[]string] `json:"allowedAddresses,omitzero"`

	ExpiresAt Nullable[string] `json:"expiresAt,omitzero"`
}

// CreateDestinationRequest
type CreateDestinationRequest struct {
	Name string `json:"name"`

	// An http:// or https:// address without credentials; HTTPS is recommended.
	URL *string `json:"url,omitzero"`

	Type *string `json:"type,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	Method *DeliveryMethod `json:"method,omitzero"`

	// Added to every delivery; replaced as a whole on update.
	Headers map[string]string `json:"headers,omitzero"`

	// Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never.
	ForwardHeaders any `json:"forwardHeaders,omitzero"`

	// Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels.
	ForwardQuery *bool `json:"forwardQuery,omitzero"`

	// Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`.
	ForwardPath *bool `json:"forwardPath,omitzero"`

	AuthType *DestinationAuthType `json:"authType,omitzero"`

	// What it holds depends on `authType`.
	AuthConfig Nullable[CreateDestinationRequestAuthConfig] `json:"authConfig,omitzero"`

	SigningSecret Nullable[string] `json:"signingSecret,omitzero"`

	// ms
	TimeoutMs *int64 `json:"timeoutMs,omitzero"`

	// Null: unlimited.
	RateLimitPerMinute Nullable[int64] `json:"rateLimitPerMinute,omitzero"`

	// Most attempts at a time. Null: as many as the destination copes with.
	MaxConcurrency Nullable[int64] `json:"maxConcurrency,omitzero"`

	RetryPolicy *RetryPolicyInput `json:"retryPolicy,omitzero"`

	Config any `json:"config,omitzero"`

	FieldMapping Nullable[[]FieldMappingRuleInput] `json:"fieldMapping,omitzero"`
}

// CreateDestinationRequestAuthConfig
type CreateDestinationRequestAuthConfig struct {
	Username *string `json:"username,omitzero"`

	Password *string `json:"password,omitzero"`

	Token *string `json:"token,omitzero"`

	HeaderName *string `json:"headerName,omitzero"`

	Key *string `json:"key,omitzero"`

	HeaderValue *string `json:"headerValue,omitzero"`
}

// CreateEventReplayRequest
type CreateEventReplayRequest struct {
	SourceID *string `json:"sourceId,omitzero"`

	Status *EventStatus `json:"status,omitzero"`

	Routed *bool `json:"routed,omitzero"`

	// An ISO 8601 date and time, or a date; UTC where no zone is given.
	From *string `json:"from,omitzero"`

	// An ISO 8601 date and time, or a date; UTC where no zone is given.
	To *string `json:"to,omitzero"`

	Search *string `json:"search,omitzero"`

	All *bool `json:"all,omitzero"`

	DestinationIDs []string `json:"destinationIds,omitzero"`

	RatePerSecond *int64 `json:"ratePerSecond,omitzero"`

	DryRun *bool `json:"dryRun,omitzero"`
}

// CreateEventReplayResult
type CreateEventReplayResult struct {
	ID *string `json:"id,omitzero"`

	Status *EventReplayStatus `json:"status,omitzero"`

	Filter EventFilter `json:"filter"`

	DestinationIDs Nullable[[]string] `json:"destinationIds,omitzero"`

	// Events a second.
	RatePerSecond *int64 `json:"ratePerSecond,omitzero"`

	// Null when counting them took too long.
	EventsTotal *int64 `json:"eventsTotal"`

	EventsReplayed *int64 `json:"eventsReplayed,omitzero"`

	// Their payload was gone.
	EventsExpired int64 `json:"eventsExpired"`

	// They go nowhere now.
	EventsUnroutable *int64 `json:"eventsUnroutable,omitzero"`

	DeliveriesCreated *int64 `json:"deliveriesCreated,omitzero"`

	// Events received before it have been judged.
	ReplayedUntil Nullable[Timestamp] `json:"replayedUntil,omitzero"`

	// Why no page can be made at the moment, such as a full backlog.
	WaitsFor Nullable[string] `json:"waitsFor,omitzero"`

	Error Nullable[string] `json:"error,omitzero"`

	CreatedAt *Timestamp `json:"createdAt,omitzero"`

	StartedAt Nullable[Timestamp] `json:"startedAt,omitzero"`

	FinishedAt Nullable[Timestamp] `json:"finishedAt,omitzero"`

	WorkflowID *string `json:"workflowId,omitzero"`

	TemporalURL Nullable[string] `json:"temporalUrl,omitzero"`

	DryRun *bool `json:"dryRun,omitzero"`
}

// CreateFilterRequest
type CreateFilterRequest struct {
	Name string `json:"name"`

	Conditions []FilterConditionInput `json:"conditions"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	Logic *FilterLogic `json:"logic,omitzero"`
}

// CreateRouteRequest
type CreateRouteRequest struct {
	Name string `json:"name"`

	SourceID string `json:"sourceId"`

	DestinationIDs []string `json:"destinationIds"`

	Description Nullable[string] `json:"description,omitzero"`

	TransformID Nullable[string] `json:"transformId,omitzero"`

	FilterID Nullable[string] `json:"filterId,omitzero"`

	SchemaID Nullable[string] `json:"schemaId,omitzero"`

	// Higher values run first.
	Priority *int64 `json:"priority,omitzero"`

	FilterConditions Nullable[[]FilterConditionInput] `json:"filterConditions,omitzero"`

	FilterLogic *FilterLogic `json:"filterLogic,omitzero"`

	FailoverDestinationIDs []string `json:"failoverDestinationIds,omitzero"`

	FailoverAfterAttempts *int64 `json:"failoverAfterAttempts,omitzero"`

	CircuitCooldownSeconds *int64 `json:"circuitCooldownSeconds,omitzero"`

	CircuitFailureThreshold *int64 `json:"circuitFailureThreshold,omitzero"`

	CircuitProbeSuccessThreshold *int64 `json:"circuitProbeSuccessThreshold,omitzero"`

	NotifyOnFailure *bool `json:"notifyOnFailure,omitzero"`

	NotifyOnSuccess *bool `json:"notifyOnSuccess,omitzero"`

	NotifyOnRecovery *bool `json:"notifyOnRecovery,omitzero"`

	NotifyEmails Nullable[string] `json:"notifyEmails,omitzero"`

	// What of the destination's answer counts as success; null: any 2xx.
	ExpectedResponse Nullable[RouteExpectedResponse] `json:"expectedResponse,omitzero"`

	Lane Nullable[RouteLane] `json:"lane,omitzero"`

	// Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks.
	AllowOwnAddress *bool `json:"allowOwnAddress,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`
}

// CreateSchemaRequest
type CreateSchemaRequest struct {
	Name string `json:"name"`

	// A JSON Schema, draft-07 or 2020-12 (named by `$schema`; without it 2020-12).
	Schema any `json:"schema"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`
}

// CreateSourceRequest
type CreateSourceRequest struct {
	Name string `json:"name"`

	// Unique in the organization; stands for the id in export files.
	Slug string `json:"slug"`

	Description Nullable[string] `json:"description,omitzero"`

	// Whose webhooks it receives: they are verified, and handshakes answered, as this provider does it.
	Provider Nullable[SourceProvider] `json:"provider,omitzero"`

	VerificationConfig Nullable[CreateSourceRequestVerificationConfig] `json:"verificationConfig,omitzero"`

	// By what a repeated webhook is known, and for how long.
	IdempotencyKey Nullable[SourceIdempotencyKey] `json:"idempotencyKey,omitzero"`

	IngestToken *SourceIngestToken `json:"ingestToken,omitzero"`

	// Whether webhooks without a valid signature are answered as if there were no such source.
	Concealed *bool `json:"concealed,omitzero"`

	// Whether it takes webhooks at any path below its address, too. The path is the `path` of the event.
	AllowPaths *bool `json:"allowPaths,omitzero"`

	// What an accepted webhook is answered, instead of `success` and `eventId`.
	Answer Nullable[SourceAnswerInput] `json:"answer,omitzero"`

	// What is answered to a `GET` or `HEAD` by which the sender checks the address: 200, a parameter of the query, or its HMAC. Null: 405, unless the provider has such checks.
	Handshake Nullable[CreateSourceRequestHandshake] `json:"handshake,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`
}

// CreateSourceRequestHandshake
type CreateSourceRequestHandshake struct {
	Type string `json:"type"`

	Parameter *string `json:"parameter,omitzero"`

	Member *string `json:"member,omitzero"`

	VerifyToken Nullable[string] `json:"verifyToken,omitzero"`

	EchoMember *string `json:"echoMember,omitzero"`

	Algorithm *HmacAlgorithm `json:"algorithm,omitzero"`

	Encoding *SignatureEncoding `json:"encoding,omitzero"`

	Prefix *string `json:"prefix,omitzero"`
}

// CreateSourceRequestVerificationConfig
type CreateSourceRequestVerificationConfig struct {
	Type *string `json:"type,omitzero"`

	// What it is, `GET /api/providers` says. Null forgets one that the provider has sent in its handshake.
	Secret Nullable[string] `json:"secret,omitzero"`

	Header *string `json:"header,omitzero"`

	Algorithm *string `json:"algorithm,omitzero"`

	Encoding *SignatureEncoding `json:"encoding,omitzero"`

	Prefix *string `json:"prefix,omitzero"`

	TimestampHeader *string `json:"timestampHeader,omitzero"`

	TimestampSeparator *string `json:"timestampSeparator,omitzero"`

	SecretEncoding *SecretEncoding `json:"secretEncoding,omitzero"`

	ListSeparator *string `json:"listSeparator,omitzero"`

	SignaturePart *string `json:"signaturePart,omitzero"`

	TimestampPart *string `json:"timestampPart,omitzero"`

	PartSeparator *string `json:"partSeparator,omitzero"`

	TimestampUnit *TimestampUnit `json:"timestampUnit,omitzero"`

	ToleranceSeconds *int64 `json:"toleranceSeconds,omitzero"`

	IDHeader *string `json:"idHeader,omitzero"`

	Template *string `json:"template,omitzero"`

	JwksURL *string `json:"jwksUrl,omitzero"`

	Issuer *string `json:"issuer,omitzero"`

	Audience *string `json:"audience,omitzero"`

	Claims map[string]string `json:"claims,omitzero"`

	BodyHashClaim *string `json:"bodyHashClaim,omitzero"`

	Parameter *string `json:"parameter,omitzero"`

	Path *string `json:"path,omitzero"`

	// The same as the `provider` of the source.
	Provider *SourceProvider `json:"provider,omitzero"`

	// The second secret of providers that have one.
	VerifyToken *string `json:"verifyToken,omitzero"`

	// Of Amazon SNS: whether the address that confirms a subscription is visited; by default it is shown.
	ConfirmSubscriptions *bool `json:"confirmSubscriptions,omitzero"`
}

// CreateTransformRequest
type CreateTransformRequest struct {
	Name string `json:"name"`

	Type TransformType `json:"type"`

	Code string `json:"code"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	OutputContentType Nullable[string] `json:"outputContentType,omitzero"`
}

// CursorPagination
type CursorPagination struct {
	PageSize int64 `json:"pageSize"`

	NextCursor *string `json:"nextCursor"`

	// A search was cut by time, so there may be fewer items than `pageSize`, or none: all since then was looked at, and `nextCursor` continues. Else null.
	SearchedUntil *Timestamp `json:"searchedUntil"`

	// Items in all. Only when asked for.
	Total *int64 `json:"total,omitzero"`

	// False if `total` is an estimate, because more than 100,000 rows would have to be read. Else missing.
	TotalIsExact *bool `json:"totalIsExact,omitzero"`
}

// CustomHeaderAuth
type CustomHeaderAuth struct {
	HeaderName string `json:"headerName"`

	HeaderValue string `json:"headerValue"`
}

// DayOfUse
type DayOfUse struct {
	// UTC
	Day string `json:"day"`

	// Webhooks that were stored.
	Events int64 `json:"events"`

	// Of their payloads.
	PayloadBytes int64 `json:"payloadBytes"`

	// Deliveries that were made, with replays and failovers.
	Deliveries int64 `json:"deliveries"`

	// Attempts that ended on this day.
	Attempts int64 `json:"attempts"`
}

// DaysOfUse
type DaysOfUse struct {
	Data []DayOfUse `json:"data"`
}

// DeleteDestinationsRequest
type DeleteDestinationsRequest struct {
	IDs []string `json:"ids"`
}

// DeleteDestinationsResult
type DeleteDestinationsResult struct {
	Success bool `json:"success"`

	Deleted int64 `json:"deleted"`
}

// DeleteRoutesRequest
type DeleteRoutesRequest struct {
	RouteIDs []string `json:"routeIds"`
}

// DeleteRoutesResult
type DeleteRoutesResult struct {
	Deleted int64 `json:"deleted"`

	Routes []DeleteRoutesResultRoute `json:"routes"`
}

// DeleteRoutesResultRoute
type DeleteRoutesResultRoute struct {
	ID string `json:"id"`

	Name string `json:"name"`
}

// Delivery
type Delivery struct {
	ID string `json:"id"`

	EventID string `json:"eventId"`

	SourceID string `json:"sourceId"`

	Source SourceReference `json:"source"`

	RouteID *string `json:"routeId"`

	// Null only with `routeId`.
	Route *DeliveryRoute `json:"route"`

	DestinationID string `json:"destinationId"`

	Destination DeliveryDestination `json:"destination"`

	Status DeliveryStatus `json:"status"`

	AttemptCount int64 `json:"attemptCount"`

	// Of the latest attempt, ms.
	Latency *int64 `json:"latency"`

	// Null when there was no response.
	StatusCode *int64 `json:"statusCode"`

	Error *string `json:"error"`

	NextAttemptAt *Timestamp `json:"nextAttemptAt"`

	DeliveredAt *Timestamp `json:"deliveredAt"`

	FinishedAt *Timestamp `json:"finishedAt"`

	CreatedAt Timestamp `json:"createdAt"`

	// The delivery that was given up for this one.
	FailoverOf *string `json:"failoverOf"`

	// The delivery that this one repeats.
	ReplayOf *string `json:"replayOf"`

	// In which lane the first attempt was made; null before it.
	Lane *DeliveryLane `json:"lane"`

	// Why it is held, while it is `circuit_open`; else null.
	HoldReason *string `json:"holdReason"`

	// The file of the warehouse that it is in.
	BatchID *string `json:"batchId"`

	// Of its workflow in Temporal, if there is one.
	WorkflowID *string `json:"workflowId"`

	TemporalURL *string `json:"temporalUrl"`
}

// DeliveryCursorPage
type DeliveryCursorPage struct {
	Data []Delivery `json:"data"`

	Pagination CursorPagination `json:"pagination"`
}

// DeliveryDestination
type DeliveryDestination struct {
	ID string `json:"id"`

	Name *string `json:"name"`
}

// DeliveryHttpRequest
type DeliveryHttpRequest struct {
	Method string `json:"method"`

	// Only its origin for a key that may not read destinations.
	URL string `json:"url"`

	// Secrets masked. `Host`, `Content-Length` and `Connection` are added when it is sent.
	Headers map[string]string `json:"headers"`

	// bytes
	BodySize int64 `json:"bodySize"`

	// As text if it is UTF-8, else in base64.
	Body *string `json:"body,omitzero"`

	// Only when the body is no text.
	BodyEncoding *string `json:"bodyEncoding,omitzero"`
}

// DeliveryLane
type DeliveryLane string

const DeliveryLaneWorkflow DeliveryLane = "workflow"

const DeliveryLaneExpress DeliveryLane = "express"

// DeliveryMethod
type DeliveryMethod string

const DeliveryMethodPOST DeliveryMethod = "POST"

const DeliveryMethodPUT DeliveryMethod = "PUT"

const DeliveryMethodPATCH DeliveryMethod = "PATCH"

// DeliveryPage
type DeliveryPage struct {
	Data []Delivery `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// DeliveryRequest
type DeliveryRequest struct {
	DeliveryID string `json:"deliveryId"`

	AttemptNumber int64 `json:"attemptNumber"`

	State DeliveryRequestState `json:"state"`

	// Null: `problem` says why.
	Request *DeliveryHttpRequest `json:"request"`

	// Why there is no request to show.
	Problem *DeliveryRequestProblem `json:"problem"`

	// Why it may have been, or may become, another one.
	Doubts []DeliveryRequestDoubt `json:"doubts"`
}

// DeliveryRequestDoubt
type DeliveryRequestDoubt struct {
	Code DeliveryRequestDoubtCode `json:"code"`

	Message string `json:"message"`

	// When the record was changed last.
	ChangedAt *Timestamp `json:"changedAt"`
}

// DeliveryRequestDoubtCode
type DeliveryRequestDoubtCode string

const DeliveryRequestDoubtCodeDESTINATIONCHANGED DeliveryRequestDoubtCode = "DESTINATION_CHANGED"

const DeliveryRequestDoubtCodeHEADERSNOTKEPT DeliveryRequestDoubtCode = "HEADERS_NOT_KEPT"

const DeliveryRequestDoubtCodeSIGNEDLATER DeliveryRequestDoubtCode = "SIGNED_LATER"

const DeliveryRequestDoubtCodeDESTINATIONDISABLED DeliveryRequestDoubtCode = "DESTINATION_DISABLED"

// DeliveryRequestProblem
type DeliveryRequestProblem struct {
	Code DeliveryRequestProblemCode `json:"code"`

	Message string `json:"message"`
}

// DeliveryRequestProblemCode
type DeliveryRequestProblemCode string

const DeliveryRequestProblemCodeWAREHOUSE DeliveryRequestProblemCode = "WAREHOUSE"

const DeliveryRequestProblemCodeDESTINATIONDELETED DeliveryRequestProblemCode = "DESTINATION_DELETED"

const DeliveryRequestProblemCodeEVENTDELETED DeliveryRequestProblemCode = "EVENT_DELETED"

const DeliveryRequestProblemCodePAYLOADEXPIRED DeliveryRequestProblemCode = "PAYLOAD_EXPIRED"

const DeliveryRequestProblemCodeTRANSFORMDELETED DeliveryRequestProblemCode = "TRANSFORM_DELETED"

const DeliveryRequestProblemCodeTRANSFORMFAILED DeliveryRequestProblemCode = "TRANSFORM_FAILED"

const DeliveryRequestProblemCodeCANNOTBEMADE DeliveryRequestProblemCode = "CANNOT_BE_MADE"

// DeliveryRequestState: Whether the attempt was made, is the next one, or was never made because the delivery ended before: then it is what a replay would send.
type DeliveryRequestState string

const DeliveryRequestStateMade DeliveryRequestState = "made"

const DeliveryRequestStateNext DeliveryRequestState = "next"

const DeliveryRequestStateNever DeliveryRequestState = "never"

// DeliveryRoute
type DeliveryRoute struct {
	ID string `json:"id"`

	Name *string `json:"name"`
}

// DeliveryStatus
type DeliveryStatus string

const DeliveryStatusPending DeliveryStatus = "pending"

const DeliveryStatusRetrying DeliveryStatus = "retrying"

const DeliveryStatusCircuitOpen DeliveryStatus = "circuit_open"

const DeliveryStatusDelivered DeliveryStatus = "delivered"

const DeliveryStatusFailed DeliveryStatus = "failed"

const DeliveryStatusFailedOver DeliveryStatus = "failed_over"

const DeliveryStatusSchemaFailed DeliveryStatus = "schema_failed"

const DeliveryStatusFilterFailed DeliveryStatus = "filter_failed"

const DeliveryStatusSkipped DeliveryStatus = "skipped"

const DeliveryStatusCancelled DeliveryStatus = "cancelled"

// DeliveryWithAttempts
type DeliveryWithAttempts struct {
	ID string `json:"id"`

	EventID string `json:"eventId"`

	SourceID string `json:"sourceId"`

	Source SourceReference `json:"source"`

	RouteID *string `json:"routeId"`

	// Null only with `routeId`.
	Route *DeliveryRoute `json:"route"`

	DestinationID string `json:"destinationId"`

	Destination DeliveryDestination `json:"destination"`

	Status DeliveryStatus `json:"status"`

	AttemptCount int64 `json:"attemptCount"`

	// Of the latest attempt, ms.
	Latency *int64 `json:"latency"`

	// Null when there was no response.
	StatusCode *int64 `json:"statusCode"`

	Error *string `json:"error"`

	NextAttemptAt *Timestamp `json:"nextAttemptAt"`

	DeliveredAt *Timestamp `json:"deliveredAt"`

	FinishedAt *Timestamp `json:"finishedAt"`

	CreatedAt Timestamp `json:"createdAt"`

	// The delivery that was given up for this one.
	FailoverOf *string `json:"failoverOf"`

	// The delivery that this one repeats.
	ReplayOf *string `json:"replayOf"`

	// In which lane the first attempt was made; null before it.
	Lane *DeliveryLane `json:"lane"`

	// Why it is held, while it is `circuit_open`; else null.
	HoldReason *string `json:"holdReason"`

	// The file of the warehouse that it is in.
	BatchID *string `json:"batchId"`

	// Of its workflow in Temporal, if there is one.
	WorkflowID *string `json:"workflowId"`

	TemporalURL *string `json:"temporalUrl"`

	Attempts []Attempt `json:"attempts"`
}

// Description
type Description struct {
	Openapi string `json:"openapi"`
}

// Destination
type Destination struct {
	ID string `json:"id"`

	Name string `json:"name"`

	Type string `json:"type"`

	URL string `json:"url"`

	Enabled bool `json:"enabled"`

	// Whether its deliveries wait until it is resumed.
	Paused bool `json:"paused"`

	// Null when it is not paused.
	PausedSince *Timestamp `json:"pausedSince"`

	// When the pause ends by itself; null: it does not.
	PausedUntil *Timestamp `json:"pausedUntil"`

	PauseReason *string `json:"pauseReason"`

	// percent; null without a recent delivery
	SuccessRate *float64 `json:"successRate"`

	// ms; null without a recent attempt that was answered
	AvgLatency *int64 `json:"avgLatency"`

	DeliveriesCount int64 `json:"deliveriesCount"`

	// Unique in the organization; stands for the id in export files.
	Slug string `json:"slug"`

	Description *string `json:"description"`

	Method DeliveryMethod `json:"method"`

	// Added to every delivery; replaced as a whole on update.
	Headers map[string]string `json:"headers"`

	// Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never.
	ForwardHeaders any `json:"forwardHeaders"`

	// Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels.
	ForwardQuery bool `json:"forwardQuery"`

	// Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`.
	ForwardPath bool `json:"forwardPath"`

	AuthType DestinationAuthType `json:"authType"`

	// Its secrets are shown as •••• and their last four characters.
	AuthConfig *StringMap `json:"authConfig"`

	SigningSecret *string `json:"signingSecret"`

	// Until then deliveries are signed with the secret before this one too.
	PreviousSigningSecretUntil *Timestamp `json:"previousSigningSecretUntil"`

	// ms
	TimeoutMs int64 `json:"timeoutMs"`

	// Null: unlimited.
	RateLimitPerMinute *int64 `json:"rateLimitPerMinute"`

	// Most attempts at a time. Null: as many as the destination copes with.
	MaxConcurrency *int64 `json:"maxConcurrency"`

	RetryPolicy RetryPolicy `json:"retryPolicy"`

	LastDeliveryAt *Timestamp `json:"lastDeliveryAt"`

	CreatedAt Timestamp `json:"createdAt"`

	UpdatedAt Timestamp `json:"updatedAt"`

	Config *WarehouseConfig `json:"config,omitzero"`

	FieldMapping []FieldMappingRule `json:"fieldMapping,omitzero"`
}

// DestinationAuthType
type DestinationAuthType string

const DestinationAuthTypeNone DestinationAuthType = "none"

const DestinationAuthTypeBasic DestinationAuthType = "basic"

const DestinationAuthTypeBearer DestinationAuthType = "bearer"

const DestinationAuthTypeApiKey DestinationAuthType = "api_key"

const DestinationAuthTypeCustomHeader DestinationAuthType = "custom_header"

// DestinationExport
type DestinationExport struct {
	Version string `json:"version"`

	ExportedAt Timestamp `json:"exportedAt"`

	OrganizationSlug string `json:"organizationSlug"`

	Destinations []DestinationExportItem `json:"destinations"`
}

// DestinationExportItem
type DestinationExportItem struct {
	Name string `json:"name"`

	Type DestinationType `json:"type"`

	URL string `json:"url"`

	IsActive bool `json:"isActive"`

	// Unique in the organization; stands for the id in export files.
	Slug string `json:"slug"`

	Description *string `json:"description"`

	Method DeliveryMethod `json:"method"`

	// Added to every delivery; replaced as a whole on update.
	Headers map[string]string `json:"headers"`

	// Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never.
	ForwardHeaders any `json:"forwardHeaders"`

	// Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels.
	ForwardQuery bool `json:"forwardQuery"`

	// Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`.
	ForwardPath bool `json:"forwardPath"`

	AuthType DestinationAuthType `json:"authType"`

	// In clear only with `includeSensitive=true`.
	AuthConfig any `json:"authConfig"`

	SigningSecret *string `json:"signingSecret"`

	// ms
	TimeoutMs int64 `json:"timeoutMs"`

	// Null: unlimited.
	RateLimitPerMinute *int64 `json:"rateLimitPerMinute"`

	// Most attempts at a time. Null: as many as the destination copes with.
	MaxConcurrency *int64 `json:"maxConcurrency"`

	RetryPolicy RetryPolicy `json:"retryPolicy"`

	// Of warehouses only.
	Config any `json:"config,omitzero"`

	FieldMapping []FieldMappingRule `json:"fieldMapping,omitzero"`
}

// DestinationHealth: Of the last time (HOOKYARD_HEALTH_WINDOW_HOURS, 24 by default).
type DestinationHealth struct {
	// percent
	SuccessRate float64 `json:"successRate"`

	// ms
	AvgLatency int64 `json:"avgLatency"`

	// ms
	P50Latency int64 `json:"p50Latency"`

	// ms
	P95Latency int64 `json:"p95Latency"`

	// ms
	P99Latency int64 `json:"p99Latency"`

	TotalDeliveries int64 `json:"totalDeliveries"`

	SuccessfulDeliveries int64 `json:"successfulDeliveries"`

	FailedDeliveries int64 `json:"failedDeliveries"`

	LastDeliveryAt *Timestamp `json:"lastDeliveryAt"`

	LastSuccessAt *Timestamp `json:"lastSuccessAt"`

	LastFailureAt *Timestamp `json:"lastFailureAt"`

	Status DestinationHealthStatus `json:"status"`
}

// DestinationHealthStatus: By the success rate: `healthy` above 95 %, `degraded` from 80 % on, `failing` below; `unknown` when no delivery ended.
type DestinationHealthStatus string

const DestinationHealthStatusHealthy DestinationHealthStatus = "healthy"

const DestinationHealthStatusDegraded DestinationHealthStatus = "degraded"

const DestinationHealthStatusFailing DestinationHealthStatus = "failing"

const DestinationHealthStatusUnknown DestinationHealthStatus = "unknown"

// DestinationImportItem
type DestinationImportItem struct {
	Name string `json:"name"`

	// An http:// or https:// address without credentials; HTTPS is recommended.
	URL *string `json:"url,omitzero"`

	Type *string `json:"type,omitzero"`

	IsActive *bool `json:"isActive,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	Method *DeliveryMethod `json:"method,omitzero"`

	// Added to every delivery; replaced as a whole on update.
	Headers map[string]string `json:"headers,omitzero"`

	// Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never.
	ForwardHeaders any `json:"forwardHeaders,omitzero"`

	// Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels.
	ForwardQuery *bool `json:"forwardQuery,omitzero"`

	// Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`.
	ForwardPath *bool `json:"forwardPath,omitzero"`

	AuthType *DestinationAuthType `json:"authType,omitzero"`

	AuthConfig any `json:"authConfig,omitzero"`

	SigningSecret Nullable[string] `json:"signingSecret,omitzero"`

	// ms
	TimeoutMs *int64 `json:"timeoutMs,omitzero"`

	// Null: unlimited.
	RateLimitPerMinute Nullable[int64] `json:"rateLimitPerMinute,omitzero"`

	// Most attempts at a time. Null: as many as the destination copes with.
	MaxConcurrency Nullable[int64] `json:"maxConcurrency,omitzero"`

	RetryPolicy *RetryPolicyInput `json:"retryPolicy,omitzero"`

	Config any `json:"config,omitzero"`

	FieldMapping any `json:"fieldMapping,omitzero"`
}

// DestinationImportItemHttp
type DestinationImportItemHttp struct {
	Name string `json:"name"`

	// An http:// or https:// address without credentials; HTTPS is recommended.
	URL string `json:"url"`

	Type *string `json:"type,omitzero"`

	IsActive *bool `json:"isActive,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	Method *DeliveryMethod `json:"method,omitzero"`

	// Added to every delivery; replaced as a whole on update.
	Headers map[string]string `json:"headers,omitzero"`

	// Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never.
	ForwardHeaders any `json:"forwardHeaders,omitzero"`

	// Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels.
	ForwardQuery *bool `json:"forwardQuery,omitzero"`

	// Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`.
	ForwardPath *bool `json:"forwardPath,omitzero"`

	AuthType *DestinationAuthType `json:"authType,omitzero"`

	AuthConfig any `json:"authConfig,omitzero"`

	SigningSecret Nullable[string] `json:"signingSecret,omitzero"`

	// ms
	TimeoutMs *int64 `json:"timeoutMs,omitzero"`

	// Null: unlimited.
	RateLimitPerMinute Nullable[int64] `json:"rateLimitPerMinute,omitzero"`

	// Most attempts at a time. Null: as many as the destination copes with.
	MaxConcurrency Nullable[int64] `json:"maxConcurrency,omitzero"`

	RetryPolicy *RetryPolicyInput `json:"retryPolicy,omitzero"`
}

// DestinationImportItemWarehouse
type DestinationImportItemWarehouse struct {
	Name string `json:"name"`

	Type WarehouseType `json:"type"`

	IsActive *bool `json:"isActive,omitzero"`

	Config any `json:"config,omitzero"`

	FieldMapping any `json:"fieldMapping,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`
}

// DestinationImportResult
type DestinationImportResult struct {
	Success bool `json:"success"`

	Summary DestinationImportResultSummary `json:"summary"`

	Details DestinationImportResultDetails `json:"details"`

	Errors []string `json:"errors"`

	Warnings []string `json:"warnings"`

	Destinations []DestinationImportResultDestination `json:"destinations"`
}

// DestinationImportResultDestination
type DestinationImportResultDestination struct {
	// Null when it was not stored.
	ID *string `json:"id"`

	Name string `json:"name"`

	Slug *string `json:"slug"`

	Status DestinationImportResultDestinationStatus `json:"status"`
}

// DestinationImportResultDestinationStatus
type DestinationImportResultDestinationStatus string

const DestinationImportResultDestinationStatusCreated DestinationImportResultDestinationStatus = "created"

const DestinationImportResultDestinationStatusSkipped DestinationImportResultDestinationStatus = "skipped"

const DestinationImportResultDestinationStatusOverwritten DestinationImportResultDestinationStatus = "overwritten"

const DestinationImportResultDestinationStatusFailed DestinationImportResultDestinationStatus = "failed"

// DestinationImportResultDetails
type DestinationImportResultDetails struct {
	Imported []string `json:"imported"`

	Skipped []string `json:"skipped"`

	Overwritten []string `json:"overwritten"`

	Failed []string `json:"failed"`
}

// DestinationImportResultSummary
type DestinationImportResultSummary struct {
	Imported int64 `json:"imported"`

	Skipped int64 `json:"skipped"`

	Overwritten int64 `json:"overwritten"`

	Failed int64 `json:"failed"`
}

// DestinationSummary
type DestinationSummary struct {
	ID string `json:"id"`

	Name string `json:"name"`

	Type string `json:"type"`

	URL string `json:"url"`

	Enabled bool `json:"enabled"`

	// Whether its deliveries wait until it is resumed.
	Paused bool `json:"paused"`

	// When the pause ends by itself; null: it does not.
	PausedUntil *Timestamp `json:"pausedUntil"`

	// percent; null without a recent delivery
	SuccessRate Nullable[float64] `json:"successRate,omitzero"`

	// ms; null without a recent attempt that was answered
	AvgLatency Nullable[int64] `json:"avgLatency,omitzero"`

	DeliveriesCount *int64 `json:"deliveriesCount,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug string `json:"slug"`

	Config *WarehouseConfig `json:"config,omitzero"`
}

// DestinationSummaryPage
type DestinationSummaryPage struct {
	Data []DestinationSummary `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// DestinationType
type DestinationType string

const DestinationTypeHttp DestinationType = "http"

const DestinationTypeS3 DestinationType = "s3"

const DestinationTypeR2 DestinationType = "r2"

const DestinationTypeGcs DestinationType = "gcs"

const DestinationTypeAzureBlob DestinationType = "azure_blob"

// EchoHandshake
type EchoHandshake struct {
	Type string `json:"type"`

	Parameter string `json:"parameter"`

	Member *string `json:"member,omitzero"`

	VerifyToken Nullable[string] `json:"verifyToken,omitzero"`
}

// Event
type Event struct {
	ID string `json:"id"`

	SourceID string `json:"sourceId"`

	Source SourceReference `json:"source"`

	Status EventStatus `json:"status"`

	// Whether a route took it. One that no route took is `delivered`, with no delivery, and went nowhere.
	Routed bool `json:"routed"`

	Method DeliveryMethod `json:"method"`

	// Below the address of the source, as it was received; empty without one.
	Path string `json:"path"`

	// Of the address it was sent to.
	Query string `json:"query"`

	Headers map[string]string `json:"headers"`

	// Of the sender, behind proxies that the operator trusts.
	ClientAddress string `json:"clientAddress"`

	TraceID *string `json:"traceId"`

	// bytes
	PayloadSize int64 `json:"payloadSize"`

	PayloadHash string `json:"payloadHash"`

	DeliveriesCount int64 `json:"deliveriesCount"`

	DeliveriesSucceeded int64 `json:"deliveriesSucceeded"`

	DeliveriesFailed int64 `json:"deliveriesFailed"`

	ReceivedAt Timestamp `json:"receivedAt"`

	CreatedAt Timestamp `json:"createdAt"`
}

// EventCursorPage
type EventCursorPage struct {
	Data []Event `json:"data"`

	Pagination CursorPagination `json:"pagination"`
}

// EventFilter: The filters as they were understood.
type EventFilter struct {
	SourceID *string `json:"sourceId,omitzero"`

	Status *EventStatus `json:"status,omitzero"`

	Routed *bool `json:"routed,omitzero"`

	From *Timestamp `json:"from,omitzero"`

	To *Timestamp `json:"to,omitzero"`

	Search *string `json:"search,omitzero"`
}

// EventInFull
type EventInFull struct {
	ID string `json:"id"`

	SourceID string `json:"sourceId"`

	Source SourceReference `json:"source"`

	Status EventStatus `json:"status"`

	// Whether a route took it. One that no route took is `delivered`, with no delivery, and went nowhere.
	Routed bool `json:"routed"`

	Method DeliveryMethod `json:"method"`

	// Below the address of the source, as it was received; empty without one.
	Path string `json:"path"`

	// Of the address it was sent to.
	Query string `json:"query"`

	Headers map[string]string `json:"headers"`

	// Of the sender, behind proxies that the operator trusts.
	ClientAddress string `json:"clientAddress"`

	TraceID *string `json:"traceId"`

	// bytes
	PayloadSize int64 `json:"payloadSize"`

	PayloadHash string `json:"payloadHash"`

	DeliveriesCount int64 `json:"deliveriesCount"`

	DeliveriesSucceeded int64 `json:"deliveriesSucceeded"`

	DeliveriesFailed int64 `json:"deliveriesFailed"`

	ReceivedAt Timestamp `json:"receivedAt"`

	CreatedAt Timestamp `json:"createdAt"`

	// Parsed when it is JSON, else its text, else base64. Only when asked for.
	Payload any `json:"payload,omitzero"`

	// Only when the payload is no text.
	PayloadEncoding *string `json:"payloadEncoding,omitzero"`

	// The newest 1,000, only when asked for.
	Deliveries []Delivery `json:"deliveries,omitzero"`

	// The `cursor` of the older ones in `GET /api/deliveries?eventId=`. Null: there are none.
	DeliveriesNextCursor Nullable[string] `json:"deliveriesNextCursor,omitzero"`
}

// EventPage
type EventPage struct {
	Data []Event `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// EventReplay
type EventReplay struct {
	ID string `json:"id"`

	Status EventReplayStatus `json:"status"`

	Filter EventFilter `json:"filter"`

	DestinationIDs []string `json:"destinationIds"`

	// Events a second.
	RatePerSecond int64 `json:"ratePerSecond"`

	// Null when counting them took too long.
	EventsTotal *int64 `json:"eventsTotal"`

	EventsReplayed int64 `json:"eventsReplayed"`

	// Their payload was gone.
	EventsExpired int64 `json:"eventsExpired"`

	// They go nowhere now.
	EventsUnroutable int64 `json:"eventsUnroutable"`

	DeliveriesCreated int64 `json:"deliveriesCreated"`

	// Events received before it have been judged.
	ReplayedUntil *Timestamp `json:"replayedUntil"`

	// Why no page can be made at the moment, such as a full backlog.
	WaitsFor *string `json:"waitsFor"`

	Error *string `json:"error"`

	CreatedAt Timestamp `json:"createdAt"`

	StartedAt *Timestamp `json:"startedAt"`

	FinishedAt *Timestamp `json:"finishedAt"`

	WorkflowID string `json:"workflowId"`

	TemporalURL *string `json:"temporalUrl"`
}

// EventReplayDryRun
type EventReplayDryRun struct {
	DryRun bool `json:"dryRun"`

	Filter EventFilter `json:"filter"`

	EventsTotal int64 `json:"eventsTotal"`

	EventsExpired int64 `json:"eventsExpired"`
}

// EventReplayPage
type EventReplayPage struct {
	Data []EventReplay `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// EventReplayStatus
type EventReplayStatus string

const EventReplayStatusPending EventReplayStatus = "pending"

const EventReplayStatusRunning EventReplayStatus = "running"

const EventReplayStatusCompleted EventReplayStatus = "completed"

const EventReplayStatusCancelled EventReplayStatus = "cancelled"

const EventReplayStatusFailed EventReplayStatus = "failed"

// EventStatus
type EventStatus string

const EventStatusPending EventStatus = "pending"

const EventStatusDelivered EventStatus = "delivered"

const EventStatusPartial EventStatus = "partial"

const EventStatusFailed EventStatus = "failed"

// EventTimeline
type EventTimeline struct {
	Received Timestamp `json:"received"`

	Validated Timestamp `json:"validated"`

	Queued Timestamp `json:"queued"`

	Deliveries []EventTimelineDelivery `json:"deliveries"`

	// The `cursor` of the older ones in `GET /api/deliveries?eventId=`. Null: there are none.
	DeliveriesNextCursor *string `json:"deliveriesNextCursor"`

	// ms
	TotalDuration int64 `json:"totalDuration"`
}

// EventTimelineDelivery
type EventTimelineDelivery struct {
	DeliveryID string `json:"deliveryId"`

	DestinationID string `json:"destinationId"`

	DestinationName string `json:"destinationName"`

	Status DeliveryStatus `json:"status"`

	Attempts []EventTimelineDeliveryAttempt `json:"attempts"`
}

// EventTimelineDeliveryAttempt
type EventTimelineDeliveryAttempt struct {
	AttemptNumber int64 `json:"attemptNumber"`

	StartedAt Timestamp `json:"startedAt"`

	CompletedAt Timestamp `json:"completedAt"`

	Status AttemptStatus `json:"status"`

	// Null when there was no response.
	StatusCode *int64 `json:"statusCode"`

	// ms
	Latency int64 `json:"latency"`
}

// FieldMappingRule
type FieldMappingRule struct {
	Source string `json:"source"`

	Target string `json:"target"`

	Type FieldMappingRuleType `json:"type"`

	// Of a decimal: its digits.
	Precision *int64 `json:"precision,omitzero"`

	// Of a decimal: its digits behind the point.
	Scale *int64 `json:"scale,omitzero"`

	Default *string `json:"default,omitzero"`
}

// FieldMappingRuleInput
type FieldMappingRuleInput struct {
	Source string `json:"source"`

	Target string `json:"target"`

	Type FieldMappingRuleType `json:"type"`

	Precision *int64 `json:"precision,omitzero"`

	Scale *int64 `json:"scale,omitzero"`

	Default *string `json:"default,omitzero"`
}

// FieldMappingRuleType
type FieldMappingRuleType string

const FieldMappingRuleTypeString FieldMappingRuleType = "string"

const FieldMappingRuleTypeNumber FieldMappingRuleType = "number"

const FieldMappingRuleTypeDecimal FieldMappingRuleType = "decimal"

const FieldMappingRuleTypeBoolean FieldMappingRuleType = "boolean"

const FieldMappingRuleTypeTimestamp FieldMappingRuleType = "timestamp"

const FieldMappingRuleTypeJson FieldMappingRuleType = "json"

// Filter
type Filter struct {
	ID string `json:"id"`

	Name string `json:"name"`

	// Unique in the organization; stands for the id in export files.
	Slug string `json:"slug"`

	Description *string `json:"description"`

	Conditions FilterConditions `json:"conditions"`

	Logic FilterLogic `json:"logic"`

	// Routes that use it.
	RouteCount int64 `json:"routeCount"`

	CreatedAt Timestamp `json:"createdAt"`

	UpdatedAt Timestamp `json:"updatedAt"`
}

// FilterCondition
type FilterCondition struct {
	// `payload.<path>`, `headers.<name>`, `query.<name>`, `request.path` or `method`
	Field string `json:"field"`

	Operator FilterConditionOperator `json:"operator"`

	Value any `json:"value,omitzero"`
}

// FilterConditionInput
type FilterConditionInput struct {
	// `payload.<path>`, `headers.<name>`, `query.<name>`, `request.path` or `method`
	Field string `json:"field"`

	Operator FilterConditionOperator `json:"operator"`

	Value any `json:"value,omitzero"`
}

// FilterConditionOperator
type FilterConditionOperator string

const FilterConditionOperatorEquals FilterConditionOperator = "equals"

const FilterConditionOperatorNotEquals FilterConditionOperator = "not_equals"

const FilterConditionOperatorContains FilterConditionOperator = "contains"

const FilterConditionOperatorNotContains FilterConditionOperator = "not_contains"

const FilterConditionOperatorStartsWith FilterConditionOperator = "starts_with"

const FilterConditionOperatorEndsWith FilterConditionOperator = "ends_with"

const FilterConditionOperatorMatches FilterConditionOperator = "matches"

const FilterConditionOperatorExists FilterConditionOperator = "exists"

const FilterConditionOperatorNotExists FilterConditionOperator = "not_exists"

const FilterConditionOperatorGt FilterConditionOperator = "gt"

const FilterConditionOperatorGte FilterConditionOperator = "gte"

const FilterConditionOperatorLt FilterConditionOperator = "lt"

const FilterConditionOperatorLte FilterConditionOperator = "lte"

const FilterConditionOperatorIn FilterConditionOperator = "in"

const FilterConditionOperatorNotIn FilterConditionOperator = "not_in"

const FilterConditionOperatorRegex FilterConditionOperator = "regex"

const FilterConditionOperatorGreaterThan FilterConditionOperator = "greater_than"

const FilterConditionOperatorLessThan FilterConditionOperator = "less_than"

// FilterConditions
type FilterConditions = []FilterCondition

// FilterLogic: Whether all conditions must be met, or one.
type FilterLogic string

const FilterLogicAND FilterLogic = "AND"

const FilterLogicOR FilterLogic = "OR"

// FilterPage
type FilterPage struct {
	Data []Filter `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// FilterResult
type FilterResult struct {
	// Whether a route with this filter takes the sample.
	Matches bool `json:"matches"`

	Conditions []FilterResultCondition `json:"conditions"`
}

// FilterResultCondition
type FilterResultCondition struct {
	Field string `json:"field"`

	Operator FilterConditionOperator `json:"operator"`

	Matches bool `json:"matches"`
}

// ForwardedHeaders
type ForwardedHeaders string

const ForwardedHeadersAll ForwardedHeaders = "all"

const ForwardedHeadersNone ForwardedHeaders = "none"

// GcsConfig
type GcsConfig struct {
	Bucket string `json:"bucket"`

	ProjectID string `json:"projectId"`

	Credentials *GcsConfigCredentials `json:"credentials,omitzero"`

	ServiceAccountKey *string `json:"serviceAccountKey,omitzero"`

	Endpoint *string `json:"endpoint,omitzero"`

	Prefix *string `json:"prefix,omitzero"`

	FileFormat *WarehouseFileFormat `json:"fileFormat,omitzero"`

	// Of the whole file; in a Parquet file of its pages. snappy is for Parquet only.
	Compression *WarehouseCompression `json:"compression,omitzero"`

	PayloadColumn *WarehousePayloadColumn `json:"payloadColumn,omitzero"`

	PartitionBy *WarehousePartition `json:"partitionBy,omitzero"`

	KeyOrder *AzureBlobConfigKeyOrder `json:"keyOrder,omitzero"`

	// Events.
	BatchSize any `json:"batchSize,omitzero"`

	// Bytes of payloads.
	BatchBytes any `json:"batchBytes,omitzero"`

	BatchWindowSeconds any `json:"batchWindowSeconds,omitzero"`
}

// GcsConfigCredentials: Without it: keys. identity: that of this service, if its operator allows it.
type GcsConfigCredentials string

const GcsConfigCredentialsKeys GcsConfigCredentials = "keys"

const GcsConfigCredentialsIdentity GcsConfigCredentials = "identity"

// GcsDestinationInput
type GcsDestinationInput struct {
	Name string `json:"name"`

	Type string `json:"type"`

	Enabled *bool `json:"enabled,omitzero"`

	Config GcsConfig `json:"config"`

	FieldMapping Nullable[[]FieldMappingRuleInput] `json:"fieldMapping,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`
}

// GithubVerification
type GithubVerification struct {
	Type string `json:"type"`

	Secret string `json:"secret"`
}

// HeaderTokenVerification
type HeaderTokenVerification struct {
	Type string `json:"type"`

	Secret string `json:"secret"`

	Header string `json:"header"`

	Prefix *string `json:"prefix,omitzero"`
}

// HmacAlgorithm
type HmacAlgorithm string

const HmacAlgorithmSha1 HmacAlgorithm = "sha1"

const HmacAlgorithmSha256 HmacAlgorithm = "sha256"

const HmacAlgorithmSha512 HmacAlgorithm = "sha512"

// HmacHandshake
type HmacHandshake struct {
	Type string `json:"type"`

	Parameter string `json:"parameter"`

	Member *string `json:"member,omitzero"`

	EchoMember *string `json:"echoMember,omitzero"`

	Algorithm *HmacAlgorithm `json:"algorithm,omitzero"`

	Encoding *SignatureEncoding `json:"encoding,omitzero"`

	Prefix *string `json:"prefix,omitzero"`
}

// HmacTemplateVerification
type HmacTemplateVerification struct {
	Type string `json:"type"`

	Secret string `json:"secret"`

	SecretEncoding *SecretEncoding `json:"secretEncoding,omitzero"`

	Algorithm *HmacAlgorithm `json:"algorithm,omitzero"`

	Encoding *SignatureEncoding `json:"encoding,omitzero"`

	Header string `json:"header"`

	Prefix *string `json:"prefix,omitzero"`

	ListSeparator *string `json:"listSeparator,omitzero"`

	SignaturePart *string `json:"signaturePart,omitzero"`

	TimestampPart *string `json:"timestampPart,omitzero"`

	PartSeparator *string `json:"partSeparator,omitzero"`

	TimestampHeader *string `json:"timestampHeader,omitzero"`

	TimestampUnit *TimestampUnit `json:"timestampUnit,omitzero"`

	ToleranceSeconds *int64 `json:"toleranceSeconds,omitzero"`

	IDHeader *string `json:"idHeader,omitzero"`

	Template *string `json:"template,omitzero"`
}

// HmacVerification
type HmacVerification struct {
	Type string `json:"type"`

	Secret string `json:"secret"`

	Header string `json:"header"`

	Algorithm *HmacAlgorithm `json:"algorithm,omitzero"`

	Encoding *SignatureEncoding `json:"encoding,omitzero"`

	Prefix *string `json:"prefix,omitzero"`

	TimestampHeader *string `json:"timestampHeader,omitzero"`

	TimestampSeparator *string `json:"timestampSeparator,omitzero"`
}

// HttpDestination
type HttpDestination struct {
	ID string `json:"id"`

	Name string `json:"name"`

	Type string `json:"type"`

	URL string `json:"url"`

	Enabled bool `json:"enabled"`

	// Whether its deliveries wait until it is resumed.
	Paused bool `json:"paused"`

	// Null when it is not paused.
	PausedSince *Timestamp `json:"pausedSince"`

	// When the pause ends by itself; null: it does not.
	PausedUntil *Timestamp `json:"pausedUntil"`

	PauseReason *string `json:"pauseReason"`

	// percent; null without a recent delivery
	SuccessRate *float64 `json:"successRate"`

	// ms; null without a recent attempt that was answered
	AvgLatency *int64 `json:"avgLatency"`

	DeliveriesCount int64 `json:"deliveriesCount"`

	// Unique in the organization; stands for the id in export files.
	Slug string `json:"slug"`

	Description *string `json:"description"`

	Method DeliveryMethod `json:"method"`

	// Added to every delivery; replaced as a whole on update.
	Headers map[string]string `json:"headers"`

	// Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never.
	ForwardHeaders any `json:"forwardHeaders"`

	// Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels.
	ForwardQuery bool `json:"forwardQuery"`

	// Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`.
	ForwardPath bool `json:"forwardPath"`

	AuthType DestinationAuthType `json:"authType"`

	// Its secrets are shown as •••• and their last four characters.
	AuthConfig *StringMap `json:"authConfig"`

	SigningSecret *string `json:"signingSecret"`

	// Until then deliveries are signed with the secret before this one too.
	PreviousSigningSecretUntil *Timestamp `json:"previousSigningSecretUntil"`

	// ms
	TimeoutMs int64 `json:"timeoutMs"`

	// Null: unlimited.
	RateLimitPerMinute *int64 `json:"rateLimitPerMinute"`

	// Most attempts at a time. Null: as many as the destination copes with.
	MaxConcurrency *int64 `json:"maxConcurrency"`

	RetryPolicy RetryPolicy `json:"retryPolicy"`

	LastDeliveryAt *Timestamp `json:"lastDeliveryAt"`

	CreatedAt Timestamp `json:"createdAt"`

	UpdatedAt Timestamp `json:"updatedAt"`
}

// HttpDestinationChanges
type HttpDestinationChanges struct {
	Name *string `json:"name,omitzero"`

	Type *string `json:"type,omitzero"`

	// An http:// or https:// address without credentials; HTTPS is recommended.
	URL *string `json:"url,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	Method *DeliveryMethod `json:"method,omitzero"`

	// Added to every delivery; replaced as a whole on update.
	Headers map[string]string `json:"headers,omitzero"`

	// Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never.
	ForwardHeaders any `json:"forwardHeaders,omitzero"`

	// Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels.
	ForwardQuery *bool `json:"forwardQuery,omitzero"`

	// Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`.
	ForwardPath *bool `json:"forwardPath,omitzero"`

	AuthType *DestinationAuthType `json:"authType,omitzero"`

	AuthConfig Nullable[JsonObject] `json:"authConfig,omitzero"`

	SigningSecret Nullable[string] `json:"signingSecret,omitzero"`

	// ms
	TimeoutMs *int64 `json:"timeoutMs,omitzero"`

	// Null: unlimited.
	RateLimitPerMinute Nullable[int64] `json:"rateLimitPerMinute,omitzero"`

	// Most attempts at a time. Null: as many as the destination copes with.
	MaxConcurrency Nullable[int64] `json:"maxConcurrency,omitzero"`

	RetryPolicy *RetryPolicyInput `json:"retryPolicy,omitzero"`
}

// HttpDestinationInput
type HttpDestinationInput struct {
	Name string `json:"name"`

	// An http:// or https:// address without credentials; HTTPS is recommended.
	URL string `json:"url"`

	Type *string `json:"type,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	Method *DeliveryMethod `json:"method,omitzero"`

	// Added to every delivery; replaced as a whole on update.
	Headers map[string]string `json:"headers,omitzero"`

	// Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never.
	ForwardHeaders any `json:"forwardHeaders,omitzero"`

	// Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels.
	ForwardQuery *bool `json:"forwardQuery,omitzero"`

	// Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`.
	ForwardPath *bool `json:"forwardPath,omitzero"`

	AuthType *DestinationAuthType `json:"authType,omitzero"`

	// What it holds depends on `authType`.
	AuthConfig Nullable[HttpDestinationInputAuthConfig] `json:"authConfig,omitzero"`

	SigningSecret Nullable[string] `json:"signingSecret,omitzero"`

	// ms
	TimeoutMs *int64 `json:"timeoutMs,omitzero"`

	// Null: unlimited.
	RateLimitPerMinute Nullable[int64] `json:"rateLimitPerMinute,omitzero"`

	// Most attempts at a time. Null: as many as the destination copes with.
	MaxConcurrency Nullable[int64] `json:"maxConcurrency,omitzero"`

	RetryPolicy *RetryPolicyInput `json:"retryPolicy,omitzero"`
}

// HttpDestinationInputAuthConfig
type HttpDestinationInputAuthConfig struct {
	Username *string `json:"username,omitzero"`

	Password *string `json:"password,omitzero"`

	Token *string `json:"token,omitzero"`

	HeaderName *string `json:"headerName,omitzero"`

	Key *string `json:"key,omitzero"`

	HeaderValue *string `json:"headerValue,omitzero"`
}

// HttpDestinationSummary
type HttpDestinationSummary struct {
	ID string `json:"id"`

	Name string `json:"name"`

	Type string `json:"type"`

	URL string `json:"url"`

	Enabled bool `json:"enabled"`

	// Whether its deliveries wait until it is resumed.
	Paused bool `json:"paused"`

	// When the pause ends by itself; null: it does not.
	PausedUntil *Timestamp `json:"pausedUntil"`

	// percent; null without a recent delivery
	SuccessRate *float64 `json:"successRate"`

	// ms; null without a recent attempt that was answered
	AvgLatency *int64 `json:"avgLatency"`

	DeliveriesCount int64 `json:"deliveriesCount"`

	// Unique in the organization; stands for the id in export files.
	Slug string `json:"slug"`
}

// HttpDestinationSummaryPage
type HttpDestinationSummaryPage struct {
	Data []HttpDestinationSummary `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// HttpTestFailure
type HttpTestFailure struct {
	Success bool `json:"success"`

	StatusCode *int64 `json:"statusCode"`

	// ms
	Latency int64 `json:"latency"`

	ResponseBody *string `json:"responseBody"`

	Error string `json:"error"`

	Message string `json:"message"`
}

// HttpTestSuccess
type HttpTestSuccess struct {
	Success bool `json:"success"`

	StatusCode int64 `json:"statusCode"`

	// ms
	Latency int64 `json:"latency"`

	ResponseBody string `json:"responseBody"`

	Message string `json:"message"`
}

// ImportDestinationsRequest
type ImportDestinationsRequest struct {
	ConflictStrategy ConflictStrategy `json:"conflictStrategy"`

	// Says what would happen, and changes nothing.
	ValidateOnly *bool `json:"validateOnly,omitzero"`

	// The file's own; a newer major version is refused.
	Version any `json:"version,omitzero"`

	Destinations []DestinationImportItem `json:"destinations"`
}

// ImportRoutesRequest
type ImportRoutesRequest struct {
	ConflictStrategy ConflictStrategy `json:"conflictStrategy"`

	// Says what would happen, and changes nothing.
	ValidateOnly *bool `json:"validateOnly,omitzero"`

	// The file's own; a newer major version is refused.
	Version any `json:"version,omitzero"`

	Routes []RouteImportItem `json:"routes"`
}

// IngestState
type IngestState string

const IngestStateOpen IngestState = "open"

const IngestStatePartlyFull IngestState = "partly_full"

const IngestStateFull IngestState = "full"

// InstallationStatus
type InstallationStatus struct {
	// Of the process that answers.
	Version string `json:"version"`

	At Timestamp `json:"at"`

	// Of the process that answers.
	Ingest IngestState `json:"ingest"`

	Temporal ServerState `json:"temporal"`

	// Whether the namespace in Temporal has the search attributes by which its UI finds deliveries. Null: not known.
	SearchAttributes *bool `json:"searchAttributes"`

	// `away`: what it would say is null.
	Database ServerState `json:"database"`

	Limits InstallationStatusLimits `json:"limits"`

	DatabaseBytes *int64 `json:"databaseBytes"`

	Backlog *InstallationStatusBacklog `json:"backlog"`

	// Those seen in the last seconds, at most 1,000.
	Workers []InstallationStatusWorker `json:"workers"`

	// Above 0 for seconds when a worker dies.
	ShardsWithoutOwner *int64 `json:"shardsWithoutOwner"`

	Circuits *InstallationStatusCircuits `json:"circuits"`

	Retention *InstallationStatusRetention `json:"retention"`

	Housekeeping *InstallationStatusHousekeeping `json:"housekeeping"`

	Organizations []InstallationStatusOrganization `json:"organizations,omitzero"`
}

// InstallationStatusBacklog
type InstallationStatusBacklog struct {
	// Wait for a worker.
	Due int64 `json:"due"`

	// Wait for a retry.
	Retrying int64 `json:"retrying"`

	// Wait for a circuit, or the end of a pause.
	Held int64 `json:"held"`

	// Wait for the file of a warehouse.
	InFiles int64 `json:"inFiles"`

	// When the oldest of `due` was made.
	OldestDueAt *Timestamp `json:"oldestDueAt"`

	// Of `due`, those of suspended organizations.
	Suspended int64 `json:"suspended"`

	// The age of `oldestDueAt`.
	OldestDueSeconds *int64 `json:"oldestDueSeconds"`
}

// InstallationStatusCircuits
type InstallationStatusCircuits struct {
	Open int64 `json:"open"`

	HalfOpen int64 `json:"halfOpen"`
}

// InstallationStatusHousekeeping
type InstallationStatusHousekeeping struct {
	// Of the last day.
	Failures []InstallationStatusHousekeepingFailure `json:"failures"`
}

// InstallationStatusHousekeepingFailure
type InstallationStatusHousekeepingFailure struct {
	Part string `json:"part"`

	Total int64 `json:"total"`

	LastAt Timestamp `json:"lastAt"`
}

// InstallationStatusLimits: Of the installation: `HOOKYARD_MAX_BACKLOG`, `HOOKYARD_MAX_DATABASE_BYTES`. Null: none.
type InstallationStatusLimits struct {
	WaitingDeliveries *int64 `json:"waitingDeliveries"`

	DatabaseBytes *int64 `json:"databaseBytes"`
}

// InstallationStatusOrganization
type InstallationStatusOrganization struct {
	ID string `json:"id"`

	Slug string `json:"slug"`

	IsSuspended bool `json:"isSuspended"`

	// Wait for a worker.
	Due int64 `json:"due"`

	// Wait for a retry.
	Retrying int64 `json:"retrying"`

	// Wait for a circuit, or the end of a pause.
	Held int64 `json:"held"`

	// Wait for the file of a warehouse.
	InFiles int64 `json:"inFiles"`

	// When the oldest of `due` was made.
	OldestDueAt *Timestamp `json:"oldestDueAt"`

	OpenCircuits int64 `json:"openCircuits"`
}

// InstallationStatusRetention
type InstallationStatusRetention struct {
	Payloads RetentionLag `json:"payloads"`

	Events RetentionLag `json:"events"`
}

// InstallationStatusWorker
type InstallationStatusWorker struct {
	Name string `json:"name"`

	Version *string `json:"version"`

	Lane *DeliveryLane `json:"lane"`

	SeenAt Timestamp `json:"seenAt"`

	// Parts of the outbox (of 64) that it claims from.
	Shards int64 `json:"shards"`

	IsLeaving bool `json:"isLeaving"`
}

// IsReadyDeep: Requires all that a webhook needs to be accepted and delivered: Temporal too, and room in the backlog.
type IsReadyDeep string

const IsReadyDeepEmpty IsReadyDeep = ""

const IsReadyDeepTrue IsReadyDeep = "true"

const IsReadyDeepFalse IsReadyDeep = "false"

// Issue
type Issue struct {
	ID string `json:"id"`

	Kind IssueKind `json:"kind"`

	State IssueState `json:"state"`

	// A short code that stays the same; `OTHER` counts together what is too much to tell apart.
	Cause string `json:"cause"`

	SourceID *string `json:"sourceId"`

	// With the name of now, null when it was deleted; null without an id.
	Source *IssueSource `json:"source"`

	RouteID *string `json:"routeId"`

	// With the name of now, null when it was deleted; null without an id.
	Route *IssueRoute `json:"route"`

	DestinationID *string `json:"destinationId"`

	// With the name of now, null when it was deleted; null without an id.
	Destination *IssueDestination `json:"destination"`

	// Failures, with those in a row that opened it.
	Count int64 `json:"count"`

	FirstSeenAt Timestamp `json:"firstSeenAt"`

	LastSeenAt Timestamp `json:"lastSeenAt"`

	// Of a late failure.
	SampleEventID *string `json:"sampleEventId"`

	// Of a late failure.
	SampleDeliveryID *string `json:"sampleDeliveryId"`

	OpenedAt Timestamp `json:"openedAt"`

	ResolvedAt *Timestamp `json:"resolvedAt"`

	// When `state` changed last.
	ChangedAt Timestamp `json:"changedAt"`
}

// IssueCursorPage
type IssueCursorPage struct {
	Data []Issue `json:"data"`

	Pagination CursorPagination `json:"pagination"`
}

// IssueDestination
type IssueDestination struct {
	ID string `json:"id"`

	Name *string `json:"name"`
}

// IssueKind
type IssueKind string

const IssueKindDeliveryFailing IssueKind = "delivery_failing"

const IssueKindCircuitOpen IssueKind = "circuit_open"

const IssueKindTransformFailing IssueKind = "transform_failing"

const IssueKindSchemaRefusing IssueKind = "schema_refusing"

const IssueKindSignatureFailing IssueKind = "signature_failing"

const IssueKindWarehouseNotWritable IssueKind = "warehouse_not_writable"

const IssueKindQuotaReached IssueKind = "quota_reached"

const IssueKindIngestRefused IssueKind = "ingest_refused"

const IssueKindNotificationFailing IssueKind = "notification_failing"

// IssuePage
type IssuePage struct {
	Data []Issue `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// IssueRoute
type IssueRoute struct {
	ID string `json:"id"`

	Name *string `json:"name"`
}

// IssueSource
type IssueSource struct {
	ID string `json:"id"`

	Name *string `json:"name"`
}

// IssueState
type IssueState string

const IssueStateOpen IssueState = "open"

const IssueStateAcknowledged IssueState = "acknowledged"

const IssueStateResolved IssueState = "resolved"

const IssueStateIgnored IssueState = "ignored"

// JsonObject
type JsonObject = map[string]any

// JwtAlgorithm
type JwtAlgorithm string

const JwtAlgorithmRS256 JwtAlgorithm = "RS256"

const JwtAlgorithmES256 JwtAlgorithm = "ES256"

const JwtAlgorithmHS256 JwtAlgorithm = "HS256"

// JwtVerification
type JwtVerification struct {
	Type string `json:"type"`

	Secret *string `json:"secret,omitzero"`

	Header *string `json:"header,omitzero"`

	Algorithm *JwtAlgorithm `json:"algorithm,omitzero"`

	JwksURL *string `json:"jwksUrl,omitzero"`

	Issuer *string `json:"issuer,omitzero"`

	Audience *string `json:"audience,omitzero"`

	Claims map[string]string `json:"claims,omitzero"`

	BodyHashClaim *string `json:"bodyHashClaim,omitzero"`

	ToleranceSeconds *int64 `json:"toleranceSeconds,omitzero"`
}

// KeyAlgorithm
type KeyAlgorithm string

const KeyAlgorithmEcdsa KeyAlgorithm = "ecdsa"

const KeyAlgorithmEd25519 KeyAlgorithm = "ed25519"

const KeyAlgorithmRsa KeyAlgorithm = "rsa"

// LimitName: A limit of the organization.
type LimitName string

const LimitNameEventsPerSecond LimitName = "eventsPerSecond"

const LimitNameEventsPerMonth LimitName = "eventsPerMonth"

const LimitNamePayloadBytes LimitName = "payloadBytes"

const LimitNameDeliveriesPerEvent LimitName = "deliveriesPerEvent"

const LimitNameRoutesPerSource LimitName = "routesPerSource"

const LimitNameDestinations LimitName = "destinations"

const LimitNameSources LimitName = "sources"

const LimitNameFilters LimitName = "filters"

const LimitNameTransforms LimitName = "transforms"

const LimitNameSchemas LimitName = "schemas"

const LimitNameAlertChannels LimitName = "alertChannels"

const LimitNameApiKeys LimitName = "apiKeys"

const LimitNameWaitingDeliveries LimitName = "waitingDeliveries"

const LimitNameStoredBytes LimitName = "storedBytes"

const LimitNameTransformMsPerMinute LimitName = "transformMsPerMinute"

const LimitNameRequestsPerMinute LimitName = "requestsPerMinute"

const LimitNameRunningReplays LimitName = "runningReplays"

const LimitNameReplayedPerSecond LimitName = "replayedPerSecond"

const LimitNameRunningImports LimitName = "runningImports"

const LimitNameRunningSearches LimitName = "runningSearches"

const LimitNameRunningTests LimitName = "runningTests"

const LimitNameRunningStreams LimitName = "runningStreams"

// LimitUse
type LimitUse struct {
	// Null: no limit.
	Limit *int64 `json:"limit"`

	// Null where there is nothing to count.
	Used *int64 `json:"used"`

	Unit string `json:"unit"`
}

// MailChannel
type MailChannel struct {
	// Separated by commas.
	Emails string `json:"emails"`
}

// MetricGroup
type MetricGroup string

const MetricGroupSource MetricGroup = "source"

const MetricGroupRoute MetricGroup = "route"

const MetricGroupDestination MetricGroup = "destination"

const MetricGroupStatusCode MetricGroup = "statusCode"

// MetricName
type MetricName string

const MetricNameEvents MetricName = "events"

const MetricNameFiltered MetricName = "filtered"

const MetricNameRefused MetricName = "refused"

const MetricNameDeliveries MetricName = "deliveries"

const MetricNameAttempts MetricName = "attempts"

const MetricNameLatency MetricName = "latency"

// MetricPoint: Of one step; `at` is its beginning.
type MetricPoint struct {
	At Timestamp `json:"at"`

	// `events`
	Events *int64 `json:"events,omitzero"`

	// `filtered`
	Filtered *int64 `json:"filtered,omitzero"`

	// `refused`
	Refused *int64 `json:"refused,omitzero"`

	// `refused`: by cause, as the refused webhooks of a source have it
	Causes map[string]int64 `json:"causes,omitzero"`

	// `deliveries`
	Delivered *int64 `json:"delivered,omitzero"`

	// `deliveries`: after an attempt
	Failed *int64 `json:"failed,omitzero"`

	// `deliveries`: another destination took over
	FailedOver *int64 `json:"failedOver,omitzero"`

	// `deliveries`: failed without an attempt, such as by a schema
	NotSent *int64 `json:"notSent,omitzero"`

	// `deliveries`
	Cancelled *int64 `json:"cancelled,omitzero"`

	// `attempts`, and those with an answer of `latency`
	Attempts *int64 `json:"attempts,omitzero"`

	// `attempts`: ms; null without an answer
	AvgLatency Nullable[int64] `json:"avgLatency,omitzero"`

	// `attempts`: by `1xx` to `5xx`, `other` codes, and `none` (no answer)
	Classes map[string]int64 `json:"classes,omitzero"`

	P50 Nullable[int64] `json:"p50,omitzero"`

	P95 Nullable[int64] `json:"p95,omitzero"`

	P99 Nullable[int64] `json:"p99,omitzero"`
}

// MetricSeries
type MetricSeries struct {
	ID *string `json:"id"`

	Name *string `json:"name"`

	Total MetricTotal `json:"total"`

	// Steps in which nothing was counted are left out.
	Points []MetricPoint `json:"points"`
}

// MetricTotal: Of the whole time; the members that the metric has.
type MetricTotal struct {
	// `events`
	Events *int64 `json:"events,omitzero"`

	// `filtered`
	Filtered *int64 `json:"filtered,omitzero"`

	// `refused`
	Refused *int64 `json:"refused,omitzero"`

	// `refused`: by cause, as the refused webhooks of a source have it
	Causes map[string]int64 `json:"causes,omitzero"`

	// `deliveries`
	Delivered *int64 `json:"delivered,omitzero"`

	// `deliveries`: after an attempt
	Failed *int64 `json:"failed,omitzero"`

	// `deliveries`: another destination took over
	FailedOver *int64 `json:"failedOver,omitzero"`

	// `deliveries`: failed without an attempt, such as by a schema
	NotSent *int64 `json:"notSent,omitzero"`

	// `deliveries`
	Cancelled *int64 `json:"cancelled,omitzero"`

	// `attempts`, and those with an answer of `latency`
	Attempts *int64 `json:"attempts,omitzero"`

	// `attempts`: ms; null without an answer
	AvgLatency Nullable[int64] `json:"avgLatency,omitzero"`

	// `attempts`: by `1xx` to `5xx`, `other` codes, and `none` (no answer)
	Classes map[string]int64 `json:"classes,omitzero"`

	P50 Nullable[int64] `json:"p50,omitzero"`

	P95 Nullable[int64] `json:"p95,omitzero"`

	P99 Nullable[int64] `json:"p99,omitzero"`

	// `attempts`: by status code
	Codes map[string]int64 `json:"codes,omitzero"`
}

// Metrics
type Metrics struct {
	Metric MetricName `json:"metric"`

	GroupBy *MetricGroup `json:"groupBy"`

	From Timestamp `json:"from"`

	To Timestamp `json:"to"`

	// Seconds.
	Step int64 `json:"step"`

	// What happened before is counted, but for results that a worker could not record yet because the database was away. Later figures still grow.
	CompleteUntil Timestamp `json:"completeUntil"`

	// How many there are, shown or not.
	Groups int64 `json:"groups"`

	Series []MetricSeries `json:"series"`
}

// NewApiKey
type NewApiKey struct {
	ID string `json:"id"`

	Name string `json:"name"`

	Scopes []ApiKeyScope `json:"scopes"`

	// The ranges of addresses that it may be used from; null: every address.
	AllowedAddresses []string `json:"allowedAddresses"`

	// Its last four characters.
	TokenHint string `json:"tokenHint"`

	ExpiresAt *Timestamp `json:"expiresAt"`

	LastUsedAt *Timestamp `json:"lastUsedAt"`

	CreatedAt Timestamp `json:"createdAt"`

	Token string `json:"token"`
}

// NoAuth
type NoAuth struct{}

// NoVerification
type NoVerification struct {
	Type string `json:"type"`
}

// NotificationRecipient
type NotificationRecipient struct {
	// In lower case.
	Address string `json:"address"`

	// When its owner has agreed.
	ConfirmedAt *Timestamp `json:"confirmedAt"`

	// When a mail asked its owner for the last time.
	AskedAt *Timestamp `json:"askedAt"`

	// Whether its owner wants no more mails, and may not be asked again.
	Refused bool `json:"refused"`
}

// NotificationRecipientPage
type NotificationRecipientPage struct {
	Data []NotificationRecipient `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// OkHandshake
type OkHandshake struct {
	Type string `json:"type"`
}

// PagerDutyChannel
type PagerDutyChannel struct {
	RoutingKey string `json:"routingKey"`

	Severity *PagerDutyChannelSeverity `json:"severity,omitzero"`

	Region *PagerDutyChannelRegion `json:"region,omitzero"`
}

// PagerDutyChannelRegion: Where the account is.
type PagerDutyChannelRegion string

const PagerDutyChannelRegionUs PagerDutyChannelRegion = "us"

const PagerDutyChannelRegionEu PagerDutyChannelRegion = "eu"

// PagerDutyChannelSeverity
type PagerDutyChannelSeverity string

const PagerDutyChannelSeverityCritical PagerDutyChannelSeverity = "critical"

const PagerDutyChannelSeverityError PagerDutyChannelSeverity = "error"

const PagerDutyChannelSeverityWarning PagerDutyChannelSeverity = "warning"

const PagerDutyChannelSeverityInfo PagerDutyChannelSeverity = "info"

// Pagination
type Pagination struct {
	// Items on all pages.
	Total int64 `json:"total"`

	// False if `total` is an estimate, because more than 100,000 rows would have to be read. Else missing.
	TotalIsExact *bool `json:"totalIsExact,omitzero"`

	Page int64 `json:"page"`

	PageSize int64 `json:"pageSize"`
}

// Pause
type Pause struct {
	ID string `json:"id"`

	// Whether its deliveries wait until it is resumed.
	Paused bool `json:"paused"`

	// Null when it is not paused.
	PausedSince *Timestamp `json:"pausedSince"`

	// When the pause ends by itself; null: it does not.
	PausedUntil *Timestamp `json:"pausedUntil"`

	PauseReason *string `json:"pauseReason"`
}

// PauseRequest
type PauseRequest struct {
	// Shown wherever the pause is.
	Reason Nullable[string] `json:"reason,omitzero"`

	// When it ends by itself, in the future. Left out, or null: it lasts until somebody ends it.
	Until Nullable[string] `json:"until,omitzero"`
}

// PauseRoutesRequest
type PauseRoutesRequest struct {
	RouteIDs []string `json:"routeIds"`

	IsActive bool `json:"isActive"`
}

// PauseRoutesResult
type PauseRoutesResult struct {
	Updated int64 `json:"updated"`

	Routes []PauseRoutesResultRoute `json:"routes"`
}

// PauseRoutesResultRoute
type PauseRoutesResultRoute struct {
	ID string `json:"id"`

	Name string `json:"name"`

	IsActive bool `json:"isActive"`
}

// Plan
type Plan string

const PlanFree Plan = "free"

const PlanPro Plan = "pro"

const PlanBusiness Plan = "business"

// PreviewRouteRequest
type PreviewRouteRequest struct {
	EventID string `json:"eventId"`
}

// Provider
type Provider struct {
	// The `provider` of a source.
	Name string `json:"name"`

	Title string `json:"title"`

	// The provider's page about its webhooks.
	Docs string `json:"docs"`

	Secret *string `json:"secret"`

	VerifyToken *string `json:"verifyToken"`

	EventType *ProviderPlace `json:"eventType"`

	EventID *ProviderPlace `json:"eventId"`

	// What tells a repeat; to be set as the `idempotencyKey` of the source, with a window.
	Dedup *ProviderDedup `json:"dedup"`

	// The handshakes that are answered.
	Handshakes []string `json:"handshakes"`

	Answer *SourceAnswer `json:"answer"`

	// How to connect it.
	Instructions string `json:"instructions"`

	// The events that there are samples of.
	Samples []string `json:"samples"`
}

// ProviderConfig: With a `provider`, here or beside it.
type ProviderConfig struct {
	Type *string `json:"type,omitzero"`

	// The same as the `provider` of the source.
	Provider *SourceProvider `json:"provider,omitzero"`

	// What it is, `GET /api/providers` says. Null forgets one that the provider has sent in its handshake.
	Secret Nullable[string] `json:"secret,omitzero"`

	// The second secret of providers that have one.
	VerifyToken *string `json:"verifyToken,omitzero"`

	// Of Amazon SNS: whether the address that confirms a subscription is visited; by default it is shown.
	ConfirmSubscriptions *bool `json:"confirmSubscriptions,omitzero"`
}

// ProviderDedup
type ProviderDedup struct {
	Header *string `json:"header,omitzero"`

	JSONPath *string `json:"jsonPath,omitzero"`

	Signature *bool `json:"signature,omitzero"`
}

// ProviderPage
type ProviderPage struct {
	Data []Provider `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// ProviderPlace: A header, or a path of the payload.
type ProviderPlace struct {
	Header *string `json:"header,omitzero"`

	Payload *string `json:"payload,omitzero"`
}

// PublicKeyVerification
type PublicKeyVerification struct {
	Type string `json:"type"`

	Secret string `json:"secret"`

	Algorithm KeyAlgorithm `json:"algorithm"`

	Encoding *SignatureEncoding `json:"encoding,omitzero"`

	Header string `json:"header"`

	Prefix *string `json:"prefix,omitzero"`

	ListSeparator *string `json:"listSeparator,omitzero"`

	SignaturePart *string `json:"signaturePart,omitzero"`

	TimestampPart *string `json:"timestampPart,omitzero"`

	PartSeparator *string `json:"partSeparator,omitzero"`

	TimestampHeader *string `json:"timestampHeader,omitzero"`

	TimestampUnit *TimestampUnit `json:"timestampUnit,omitzero"`

	ToleranceSeconds *int64 `json:"toleranceSeconds,omitzero"`

	IDHeader *string `json:"idHeader,omitzero"`

	Template *string `json:"template,omitzero"`
}

// PutDestinationRequest
type PutDestinationRequest struct {
	Name string `json:"name"`

	// An http:// or https:// address without credentials; HTTPS is recommended.
	URL *string `json:"url,omitzero"`

	Type *string `json:"type,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	Method *DeliveryMethod `json:"method,omitzero"`

	// Added to every delivery; replaced as a whole on update.
	Headers map[string]string `json:"headers,omitzero"`

	// Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never.
	ForwardHeaders any `json:"forwardHeaders,omitzero"`

	// Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels.
	ForwardQuery *bool `json:"forwardQuery,omitzero"`

	// Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`.
	ForwardPath *bool `json:"forwardPath,omitzero"`

	AuthType *DestinationAuthType `json:"authType,omitzero"`

	// What it holds depends on `authType`.
	AuthConfig Nullable[PutDestinationRequestAuthConfig] `json:"authConfig,omitzero"`

	SigningSecret Nullable[string] `json:"signingSecret,omitzero"`

	// ms
	TimeoutMs *int64 `json:"timeoutMs,omitzero"`

	// Null: unlimited.
	RateLimitPerMinute Nullable[int64] `json:"rateLimitPerMinute,omitzero"`

	// Most attempts at a time. Null: as many as the destination copes with.
	MaxConcurrency Nullable[int64] `json:"maxConcurrency,omitzero"`

	RetryPolicy *RetryPolicyInput `json:"retryPolicy,omitzero"`

	// The whole config; a secret that is left out, or sent back masked, is kept.
	Config map[string]any `json:"config,omitzero"`

	FieldMapping Nullable[[]FieldMappingRuleInput] `json:"fieldMapping,omitzero"`
}

// PutDestinationRequestAuthConfig
type PutDestinationRequestAuthConfig struct {
	Username *string `json:"username,omitzero"`

	Password *string `json:"password,omitzero"`

	Token *string `json:"token,omitzero"`

	HeaderName *string `json:"headerName,omitzero"`

	Key *string `json:"key,omitzero"`

	HeaderValue *string `json:"headerValue,omitzero"`
}

// PutSourceRequest
type PutSourceRequest struct {
	Name string `json:"name"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	// Whose webhooks it receives: they are verified, and handshakes answered, as this provider does it.
	Provider Nullable[SourceProvider] `json:"provider,omitzero"`

	VerificationConfig Nullable[VerificationConfigInput] `json:"verificationConfig,omitzero"`

	// By what a repeated webhook is known, and for how long.
	IdempotencyKey Nullable[SourceIdempotencyKey] `json:"idempotencyKey,omitzero"`

	IngestToken *SourceIngestToken `json:"ingestToken,omitzero"`

	// Whether webhooks without a valid signature are answered as if there were no such source.
	Concealed *bool `json:"concealed,omitzero"`

	// Whether it takes webhooks at any path below its address, too. The path is the `path` of the event.
	AllowPaths *bool `json:"allowPaths,omitzero"`

	// What an accepted webhook is answered, instead of `success` and `eventId`.
	Answer Nullable[SourceAnswerInput] `json:"answer,omitzero"`

	// What is answered to a `GET` or `HEAD` by which the sender checks the address: 200, a parameter of the query, or its HMAC. Null: 405, unless the provider has such checks.
	Handshake Nullable[PutSourceRequestHandshake] `json:"handshake,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`
}

// PutSourceRequestHandshake
type PutSourceRequestHandshake struct {
	Type string `json:"type"`

	Parameter *string `json:"parameter,omitzero"`

	Member *string `json:"member,omitzero"`

	VerifyToken Nullable[string] `json:"verifyToken,omitzero"`

	EchoMember *string `json:"echoMember,omitzero"`

	Algorithm *HmacAlgorithm `json:"algorithm,omitzero"`

	Encoding *SignatureEncoding `json:"encoding,omitzero"`

	Prefix *string `json:"prefix,omitzero"`
}

// QueryTokenVerification
type QueryTokenVerification struct {
	Type string `json:"type"`

	Secret string `json:"secret"`

	Parameter string `json:"parameter"`
}

// QuietHours
type QuietHours struct {
	From string `json:"from"`

	To string `json:"to"`

	TimeZone string `json:"timeZone"`
}

// R2Config
type R2Config struct {
	Bucket string `json:"bucket"`

	AccountID *string `json:"accountId,omitzero"`

	Endpoint *string `json:"endpoint,omitzero"`

	Region *string `json:"region,omitzero"`

	AccessKeyID *string `json:"accessKeyId,omitzero"`

	SecretAccessKey *string `json:"secretAccessKey,omitzero"`

	Prefix *string `json:"prefix,omitzero"`

	FileFormat *WarehouseFileFormat `json:"fileFormat,omitzero"`

	// Of the whole file; in a Parquet file of its pages. snappy is for Parquet only.
	Compression *WarehouseCompression `json:"compression,omitzero"`

	PayloadColumn *WarehousePayloadColumn `json:"payloadColumn,omitzero"`

	PartitionBy *WarehousePartition `json:"partitionBy,omitzero"`

	KeyOrder *AzureBlobConfigKeyOrder `json:"keyOrder,omitzero"`

	// Events.
	BatchSize any `json:"batchSize,omitzero"`

	// Bytes of payloads.
	BatchBytes any `json:"batchBytes,omitzero"`

	BatchWindowSeconds any `json:"batchWindowSeconds,omitzero"`
}

// R2DestinationInput
type R2DestinationInput struct {
	Name string `json:"name"`

	Type string `json:"type"`

	Enabled *bool `json:"enabled,omitzero"`

	Config R2Config `json:"config"`

	FieldMapping Nullable[[]FieldMappingRuleInput] `json:"fieldMapping,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`
}

// Ready
type Ready struct {
	Status string `json:"status"`

	// Whether webhooks are accepted: `full` refuses all with 503, `partly_full` those for destinations that have most of the backlog.
	Ingest IngestState `json:"ingest"`

	// Whether Temporal can be reached. While it is away, webhooks are accepted and wait for it.
	Temporal ServerState `json:"temporal"`

	Lanes *ReadyLanes `json:"lanes,omitzero"`
}

// ReadyLanes: Only with `deep`: how many workers take deliveries in each lane now, where the route names none. With `HOOKYARD_LANE=adaptive`, `express` are those whose workflows fall behind.
type ReadyLanes struct {
	Workflow int64 `json:"workflow"`

	Express int64 `json:"express"`
}

// Refusal
type Refusal struct {
	ID string `json:"id"`

	RefusedAt Timestamp `json:"refusedAt"`

	Cause RefusalCause `json:"cause"`

	// The limit of the organization that it was about.
	Limit *LimitName `json:"limit"`

	// That the sender was answered.
	Status int64 `json:"status"`

	// What the sender was told.
	Message string `json:"message"`

	Method DeliveryMethod `json:"method"`

	// Of the sender, behind proxies that the operator trusts.
	ClientAddress string `json:"clientAddress"`

	// Secrets masked, long values cut; at most 4 KiB.
	Headers map[string]string `json:"headers"`

	// bytes; null when it was neither read nor announced.
	PayloadSize *int64 `json:"payloadSize"`

	// The first 1024 bytes; null when it was refused before the body was read. Only when asked for.
	PayloadStart Nullable[string] `json:"payloadStart,omitzero"`

	// Only when the payload is no text.
	PayloadEncoding *string `json:"payloadEncoding,omitzero"`
}

// RefusalCause
type RefusalCause string

const RefusalCauseSignature RefusalCause = "signature"

const RefusalCauseToken RefusalCause = "token"

const RefusalCausePath RefusalCause = "path"

const RefusalCauseDisabled RefusalCause = "disabled"

const RefusalCauseSuspended RefusalCause = "suspended"

const RefusalCauseTooLarge RefusalCause = "too_large"

const RefusalCauseIncomplete RefusalCause = "incomplete"

const RefusalCauseTooSlow RefusalCause = "too_slow"

const RefusalCauseLimit RefusalCause = "limit"

const RefusalCauseUnavailable RefusalCause = "unavailable"

const RefusalCauseError RefusalCause = "error"

// RefusalCauseCount
type RefusalCauseCount struct {
	Cause RefusalCause `json:"cause"`

	// The limit of the organization that it was about.
	Limit *LimitName `json:"limit"`

	Count int64 `json:"count"`

	LastAt Timestamp `json:"lastAt"`
}

// RefusalCounts
type RefusalCounts struct {
	Period RefusalCountsPeriod `json:"period"`

	Since Timestamp `json:"since"`

	Total int64 `json:"total"`

	// The most frequent first.
	Causes []RefusalCauseCount `json:"causes"`

	// By hour, or in longer periods by day (UTC), oldest first; without those in which there was none.
	Steps []RefusalStep `json:"steps"`
}

// RefusalCountsPeriod
type RefusalCountsPeriod string

const RefusalCountsPeriod24h RefusalCountsPeriod = "24h"

const RefusalCountsPeriod7d RefusalCountsPeriod = "7d"

const RefusalCountsPeriod30d RefusalCountsPeriod = "30d"

// RefusalPage
type RefusalPage struct {
	Data []Refusal `json:"data"`

	Pagination Pagination `json:"pagination"`

	Counts RefusalCounts `json:"counts"`
}

// RefusalStep
type RefusalStep struct {
	Start Timestamp `json:"start"`

	Cause RefusalCause `json:"cause"`

	// The limit of the organization that it was about.
	Limit *LimitName `json:"limit"`

	Count int64 `json:"count"`
}

// ReplayDeliveryResult
type ReplayDeliveryResult struct {
	Message string `json:"message"`

	DeliveriesCreated int64 `json:"deliveriesCreated"`

	DeliveryID string `json:"deliveryId"`
}

// ReplayEventRequest
type ReplayEventRequest struct {
	DestinationIDs []string `json:"destinationIds,omitzero"`
}

// ReplayEventResult
type ReplayEventResult struct {
	Message string `json:"message"`

	DeliveriesCreated int64 `json:"deliveriesCreated"`
}

// ReplayEventsRequest
type ReplayEventsRequest struct {
	EventIDs []string `json:"eventIds"`

	DestinationIDs []string `json:"destinationIds,omitzero"`
}

// ReplayEventsResult
type ReplayEventsResult struct {
	Message string `json:"message"`

	DeliveriesCreated int64 `json:"deliveriesCreated"`

	EventsQueued int64 `json:"eventsQueued"`
}

// ResendConfirmationRequest
type ResendConfirmationRequest struct {
	Address string `json:"address"`
}

// ResetCircuitResult
type ResetCircuitResult struct {
	Message string `json:"message"`

	CircuitState string `json:"circuitState"`
}

// ResumeRequest
type ResumeRequest struct {
	// How many of the deliveries that wait go out per second at most. Left out: as the server is set (50).
	ReleasePerSecond *int64 `json:"releasePerSecond,omitzero"`
}

// RetentionLag
type RetentionLag struct {
	// Null: for ever.
	KeptDays *int64 `json:"keptDays"`

	// Days that should be gone.
	LagDays int64 `json:"lagDays"`
}

// RetryDeliveryResult
type RetryDeliveryResult struct {
	Message string `json:"message"`

	DeliveryID string `json:"deliveryId"`
}

// RetryIssueRequest
type RetryIssueRequest struct {
	// Only deliveries made before this one.
	Before *string `json:"before,omitzero"`

	// Counts, and creates nothing.
	DryRun *bool `json:"dryRun,omitzero"`
}

// RetryIssueResult
type RetryIssueResult struct {
	Message string `json:"message"`

	// That failed and were not replayed, in this call.
	DeliveriesFound int64 `json:"deliveriesFound"`

	// Fewer, when a later delivery has replaced one, or a payload or destination is gone; 0 with `dryRun`.
	DeliveriesCreated int64 `json:"deliveriesCreated"`

	// Whether there may be more to retry: call it again, with `before`.
	More bool `json:"more"`

	// The `before` of the next call; null when nothing is left.
	Next *string `json:"next"`
}

// RetryPolicy
type RetryPolicy struct {
	// After the first attempt.
	MaxRetries int64 `json:"maxRetries"`

	// ms
	InitialDelay int64 `json:"initialDelay"`

	// ms
	MaxDelay int64 `json:"maxDelay"`

	BackoffMultiplier float64 `json:"backoffMultiplier"`
}

// RetryPolicyInput: A part of it is merged over the defaults, or over what is stored.
type RetryPolicyInput struct {
	// After the first attempt.
	MaxRetries *int64 `json:"maxRetries,omitzero"`

	// ms
	InitialDelay *int64 `json:"initialDelay,omitzero"`

	// ms
	MaxDelay *int64 `json:"maxDelay,omitzero"`

	BackoffMultiplier *float64 `json:"backoffMultiplier,omitzero"`
}

// RotateIngestTokenRequest
type RotateIngestTokenRequest struct {
	// How long the address before it stays valid; a day by default.
	OverlapSeconds *int64 `json:"overlapSeconds,omitzero"`
}

// RotateSigningSecretRequest
type RotateSigningSecretRequest struct {
	// The new one: `whsec_` and 24 to 64 bytes in base64.
	Secret string `json:"secret"`

	// How long the secret before this one stays valid; 0: it ends now.
	OverlapSeconds *int64 `json:"overlapSeconds,omitzero"`
}

// RotateVerificationSecretRequest
type RotateVerificationSecretRequest struct {
	// The new one.
	Secret string `json:"secret"`

	// How long the secret before this one stays valid; 0: it ends now.
	OverlapSeconds *int64 `json:"overlapSeconds,omitzero"`
}

// Route
type Route struct {
	ID string `json:"id"`

	Name string `json:"name"`

	Description *string `json:"description"`

	SourceID string `json:"sourceId"`

	DestinationIDs []string `json:"destinationIds"`

	TransformID *string `json:"transformId"`

	FilterID *string `json:"filterId"`

	SchemaID *string `json:"schemaId"`

	// Higher values run first.
	Priority int64 `json:"priority"`

	FilterConditions *FilterConditions `json:"filterConditions"`

	FilterLogic FilterLogic `json:"filterLogic"`

	FailoverDestinationIDs []string `json:"failoverDestinationIds"`

	FailoverAfterAttempts int64 `json:"failoverAfterAttempts"`

	CircuitState CircuitState `json:"circuitState"`

	CircuitCooldownSeconds int64 `json:"circuitCooldownSeconds"`

	CircuitFailureThreshold int64 `json:"circuitFailureThreshold"`

	CircuitProbeSuccessThreshold int64 `json:"circuitProbeSuccessThreshold"`

	NotifyOnFailure bool `json:"notifyOnFailure"`

	NotifyOnSuccess bool `json:"notifyOnSuccess"`

	NotifyOnRecovery bool `json:"notifyOnRecovery"`

	NotifyEmails *string `json:"notifyEmails"`

	// Addresses in `notifyEmails` that get no mail: their owners have not agreed, or the operator does not accept their domain.
	WithheldEmails []string `json:"withheldEmails"`

	// What of the destination's answer counts as success; null: any 2xx.
	ExpectedResponse *RouteExpectedResponse `json:"expectedResponse"`

	// Only there when it is set for this route.
	Lane *RouteLane `json:"lane,omitzero"`

	// Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks.
	AllowOwnAddress bool `json:"allowOwnAddress"`

	Enabled bool `json:"enabled"`

	// Whether its deliveries wait until it is resumed.
	Paused bool `json:"paused"`

	// Null when it is not paused.
	PausedSince *Timestamp `json:"pausedSince"`

	// When the pause ends by itself; null: it does not.
	PausedUntil *Timestamp `json:"pausedUntil"`

	PauseReason *string `json:"pauseReason"`

	Source SourceReference `json:"source"`

	Destinations []RouteDestination `json:"destinations"`

	Transform *RouteTransform `json:"transform"`

	Filter *RouteFilter `json:"filter"`

	Schema *RouteSchema `json:"schema"`

	EventsRouted int64 `json:"eventsRouted"`

	LastEventAt *Timestamp `json:"lastEventAt"`

	CreatedAt Timestamp `json:"createdAt"`

	UpdatedAt Timestamp `json:"updatedAt"`
}

// RouteDestination
type RouteDestination struct {
	ID string `json:"id"`

	Name string `json:"name"`
}

// RouteExpectedResponse
type RouteExpectedResponse struct {
	StatusCodes []int64 `json:"statusCodes,omitzero"`

	BodyContains *string `json:"bodyContains,omitzero"`
}

// RouteExport
type RouteExport struct {
	Version string `json:"version"`

	ExportedAt Timestamp `json:"exportedAt"`

	OrganizationSlug string `json:"organizationSlug"`

	Routes []RouteExportItem `json:"routes"`
}

// RouteExportItem
type RouteExportItem struct {
	Name string `json:"name"`

	Description *string `json:"description"`

	SourceSlug *string `json:"sourceSlug"`

	DestinationSlugs []string `json:"destinationSlugs"`

	TransformSlug *string `json:"transformSlug"`

	FilterSlug *string `json:"filterSlug"`

	SchemaSlug *string `json:"schemaSlug"`

	// Higher values run first.
	Priority int64 `json:"priority"`

	FilterConditions *FilterConditions `json:"filterConditions"`

	FilterLogic FilterLogic `json:"filterLogic"`

	FailoverDestinationSlugs []string `json:"failoverDestinationSlugs"`

	FailoverAfterAttempts int64 `json:"failoverAfterAttempts"`

	CircuitCooldownSeconds int64 `json:"circuitCooldownSeconds"`

	CircuitFailureThreshold int64 `json:"circuitFailureThreshold"`

	CircuitProbeSuccessThreshold int64 `json:"circuitProbeSuccessThreshold"`

	NotifyOnFailure bool `json:"notifyOnFailure"`

	NotifyOnSuccess bool `json:"notifyOnSuccess"`

	NotifyOnRecovery bool `json:"notifyOnRecovery"`

	NotifyEmails *string `json:"notifyEmails"`

	// What of the destination's answer counts as success; null: any 2xx.
	ExpectedResponse *RouteExpectedResponse `json:"expectedResponse"`

	// Only there when it is set for this route.
	Lane *RouteLane `json:"lane,omitzero"`

	// Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks.
	AllowOwnAddress bool `json:"allowOwnAddress"`

	IsActive bool `json:"isActive"`

	// The first of `destinationSlugs`.
	DestinationSlug *string `json:"destinationSlug"`

	// The same as `circuitFailureThreshold`.
	FailureThreshold int64 `json:"failureThreshold"`
}

// RouteFilter
type RouteFilter struct {
	ID string `json:"id"`

	Name string `json:"name"`
}

// RouteImportItem
type RouteImportItem struct {
	Name string `json:"name"`

	SourceSlug string `json:"sourceSlug"`

	DestinationSlugs []string `json:"destinationSlugs,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	TransformSlug Nullable[string] `json:"transformSlug,omitzero"`

	FilterSlug Nullable[string] `json:"filterSlug,omitzero"`

	SchemaSlug Nullable[string] `json:"schemaSlug,omitzero"`

	// Higher values run first.
	Priority *int64 `json:"priority,omitzero"`

	FilterConditions Nullable[[]FilterConditionInput] `json:"filterConditions,omitzero"`

	FilterLogic *FilterLogic `json:"filterLogic,omitzero"`

	FailoverDestinationSlugs []string `json:"failoverDestinationSlugs,omitzero"`

	FailoverAfterAttempts *int64 `json:"failoverAfterAttempts,omitzero"`

	CircuitCooldownSeconds *int64 `json:"circuitCooldownSeconds,omitzero"`

	CircuitFailureThreshold *int64 `json:"circuitFailureThreshold,omitzero"`

	CircuitProbeSuccessThreshold *int64 `json:"circuitProbeSuccessThreshold,omitzero"`

	NotifyOnFailure *bool `json:"notifyOnFailure,omitzero"`

	NotifyOnSuccess *bool `json:"notifyOnSuccess,omitzero"`

	NotifyOnRecovery *bool `json:"notifyOnRecovery,omitzero"`

	NotifyEmails Nullable[string] `json:"notifyEmails,omitzero"`

	// What of the destination's answer counts as success; null: any 2xx.
	ExpectedResponse Nullable[RouteExpectedResponse] `json:"expectedResponse,omitzero"`

	Lane Nullable[RouteLane] `json:"lane,omitzero"`

	// Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks.
	AllowOwnAddress *bool `json:"allowOwnAddress,omitzero"`

	IsActive *bool `json:"isActive,omitzero"`

	DestinationSlug Nullable[string] `json:"destinationSlug,omitzero"`

	FailureThreshold any `json:"failureThreshold,omitzero"`
}

// RouteImportResult
type RouteImportResult struct {
	Imported int64 `json:"imported"`

	Skipped int64 `json:"skipped"`

	Overwritten int64 `json:"overwritten"`

	// When there is one, nothing was imported.
	Errors []string `json:"errors"`

	Warnings []string `json:"warnings"`

	Routes []RouteImportResultRoute `json:"routes"`
}

// RouteImportResultRoute
type RouteImportResultRoute struct {
	// Null when it was not stored.
	ID *string `json:"id"`

	Name string `json:"name"`

	Status RouteImportResultRouteStatus `json:"status"`
}

// RouteImportResultRouteStatus
type RouteImportResultRouteStatus string

const RouteImportResultRouteStatusCreated RouteImportResultRouteStatus = "created"

const RouteImportResultRouteStatusSkipped RouteImportResultRouteStatus = "skipped"

const RouteImportResultRouteStatusOverwritten RouteImportResultRouteStatus = "overwritten"

// RouteLane
type RouteLane string

const RouteLaneAdaptive RouteLane = "adaptive"

const RouteLaneWorkflow RouteLane = "workflow"

const RouteLaneExpress RouteLane = "express"

// RoutePage
type RoutePage struct {
	Data []Route `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// RoutePreview
type RoutePreview struct {
	RouteID string `json:"routeId"`

	EventID string `json:"eventId"`

	Verdict RoutePreviewVerdict `json:"verdict"`

	Error *string `json:"error"`

	// The first mismatches, when the payload does not match its schema.
	SchemaErrors []RoutePreviewSchemaError `json:"schemaErrors"`

	// What all destinations get; null when nothing would be sent, or the transform fails.
	Content *RoutePreviewContent `json:"content"`

	// One for each destination, in their order; none when the event is not taken.
	Requests []RoutePreviewRequest `json:"requests"`
}

// RoutePreviewContent
type RoutePreviewContent struct {
	// bytes
	BodySize int64 `json:"bodySize"`

	// Its first 64 KiB, as text if they are UTF-8, else in base64.
	Body string `json:"body"`

	// Only when the body is no text.
	BodyEncoding *string `json:"bodyEncoding,omitzero"`

	// Whether there is more of it.
	IsCut bool `json:"isCut"`
}

// RoutePreviewHttpRequest
type RoutePreviewHttpRequest struct {
	Method string `json:"method"`

	// Only its origin for a key that may not read destinations.
	URL string `json:"url"`

	// Secrets masked. `Host`, `Content-Length` and `Connection` are added when it is sent.
	Headers map[string]string `json:"headers"`

	// bytes
	BodySize int64 `json:"bodySize"`
}

// RoutePreviewRequest
type RoutePreviewRequest struct {
	DestinationID string `json:"destinationId"`

	DestinationName string `json:"destinationName"`

	// To a disabled destination nothing is sent.
	Enabled bool `json:"enabled"`

	// Null: `problem` says why.
	Request *RoutePreviewHttpRequest `json:"request"`

	// Why there is no request to show.
	Problem *DeliveryRequestProblem `json:"problem"`
}

// RoutePreviewSchemaError
type RoutePreviewSchemaError struct {
	Path string `json:"path"`

	Message string `json:"message"`
}

// RoutePreviewVerdict: Whether it takes the event, its filter refuses it, the payload does not match its schema, or the filter is too much work.
type RoutePreviewVerdict string

const RoutePreviewVerdictTaken RoutePreviewVerdict = "taken"

const RoutePreviewVerdictFiltered RoutePreviewVerdict = "filtered"

const RoutePreviewVerdictSchemaFailed RoutePreviewVerdict = "schema_failed"

const RoutePreviewVerdictFilterFailed RoutePreviewVerdict = "filter_failed"

// RouteSchema
type RouteSchema struct {
	ID string `json:"id"`

	Name string `json:"name"`
}

// RouteStatistics
type RouteStatistics struct {
	EventsRouted int64 `json:"eventsRouted"`

	// Refused by the route's filter.
	EventsFiltered int64 `json:"eventsFiltered"`

	DeliveriesSucceeded int64 `json:"deliveriesSucceeded"`

	DeliveriesFailed int64 `json:"deliveriesFailed"`

	// ms
	AvgLatency int64 `json:"avgLatency"`

	Period RouteStatisticsPeriod `json:"period"`
}

// RouteStatisticsPeriod
type RouteStatisticsPeriod string

const RouteStatisticsPeriod1h RouteStatisticsPeriod = "1h"

const RouteStatisticsPeriod24h RouteStatisticsPeriod = "24h"

const RouteStatisticsPeriod7d RouteStatisticsPeriod = "7d"

const RouteStatisticsPeriod30d RouteStatisticsPeriod = "30d"

// RouteTransform
type RouteTransform struct {
	ID string `json:"id"`

	Name string `json:"name"`
}

// S3Config
type S3Config struct {
	Bucket string `json:"bucket"`

	Region string `json:"region"`

	Credentials *GcsConfigCredentials `json:"credentials,omitzero"`

	AccessKeyID *string `json:"accessKeyId,omitzero"`

	SecretAccessKey *string `json:"secretAccessKey,omitzero"`

	// With identity: the role that is assumed, with the id of the organization as external ID.
	RoleArn *string `json:"roleArn,omitzero"`

	Endpoint *string `json:"endpoint,omitzero"`

	ForcePathStyle any `json:"forcePathStyle,omitzero"`

	// Files are refused by a bucket of another account.
	BucketOwner *string `json:"bucketOwner,omitzero"`

	// Id, ARN or alias of the KMS key that files are encrypted with.
	KmsKeyID *string `json:"kmsKeyId,omitzero"`

	StorageClass *S3ConfigStorageClass `json:"storageClass,omitzero"`

	// Of each file: name=value&name=value, percent-encoded.
	Tags *string `json:"tags,omitzero"`

	Prefix *string `json:"prefix,omitzero"`

	FileFormat *WarehouseFileFormat `json:"fileFormat,omitzero"`

	// Of the whole file; in a Parquet file of its pages. snappy is for Parquet only.
	Compression *WarehouseCompression `json:"compression,omitzero"`

	PayloadColumn *WarehousePayloadColumn `json:"payloadColumn,omitzero"`

	PartitionBy *WarehousePartition `json:"partitionBy,omitzero"`

	KeyOrder *AzureBlobConfigKeyOrder `json:"keyOrder,omitzero"`

	// Events.
	BatchSize any `json:"batchSize,omitzero"`

	// Bytes of payloads.
	BatchBytes any `json:"batchBytes,omitzero"`

	BatchWindowSeconds any `json:"batchWindowSeconds,omitzero"`
}

// S3ConfigStorageClass
type S3ConfigStorageClass string

const S3ConfigStorageClassSTANDARD S3ConfigStorageClass = "STANDARD"

const S3ConfigStorageClassSTANDARDIA S3ConfigStorageClass = "STANDARD_IA"

const S3ConfigStorageClassONEZONEIA S3ConfigStorageClass = "ONEZONE_IA"

const S3ConfigStorageClassINTELLIGENTTIERING S3ConfigStorageClass = "INTELLIGENT_TIERING"

const S3ConfigStorageClassGLACIERIR S3ConfigStorageClass = "GLACIER_IR"

// S3DestinationInput
type S3DestinationInput struct {
	Name string `json:"name"`

	Type string `json:"type"`

	Enabled *bool `json:"enabled,omitzero"`

	Config S3Config `json:"config"`

	FieldMapping Nullable[[]FieldMappingRuleInput] `json:"fieldMapping,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`
}

// Schema
type Schema struct {
	ID string `json:"id"`

	Name string `json:"name"`

	// Unique in the organization; stands for the id in export files.
	Slug string `json:"slug"`

	Description *string `json:"description"`

	// A JSON Schema.
	Schema any `json:"schema"`

	// Grows with every change.
	Version int64 `json:"version"`

	// Routes that use it.
	RouteCount int64 `json:"routeCount"`

	CreatedAt Timestamp `json:"createdAt"`

	UpdatedAt Timestamp `json:"updatedAt"`
}

// SchemaPage
type SchemaPage struct {
	Data []Schema `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// SchemaResult
type SchemaResult struct {
	Valid bool `json:"valid"`

	Errors []SchemaResultError `json:"errors"`
}

// SchemaResultError
type SchemaResultError struct {
	// A JSON pointer into the payload; empty for the payload itself.
	Path string `json:"path"`

	Message string `json:"message"`
}

// SecretEncoding
type SecretEncoding string

const SecretEncodingText SecretEncoding = "text"

const SecretEncodingHex SecretEncoding = "hex"

const SecretEncodingBase64 SecretEncoding = "base64"

// ServerState
type ServerState string

const ServerStateOk ServerState = "ok"

const ServerStateAway ServerState = "away"

// SignInRequest
type SignInRequest struct {
	Code string `json:"code"`
}

// SignSampleRequest
type SignSampleRequest struct {
	// Its `name`.
	Provider string `json:"provider"`

	// As `verificationConfig.secret` of the source. It is not stored.
	Secret string `json:"secret"`

	// The `webhookUrl` of the source, which some providers sign.
	URL string `json:"url"`

	// One of the `samples`; the first by default.
	Event *string `json:"event,omitzero"`

	// Instead of the payload of the sample.
	Payload *string `json:"payload,omitzero"`
}

// SignatureEncoding
type SignatureEncoding string

const SignatureEncodingHex SignatureEncoding = "hex"

const SignatureEncodingBase64 SignatureEncoding = "base64"

const SignatureEncodingBase64url SignatureEncoding = "base64url"

// SignedSample
type SignedSample struct {
	Event string `json:"event"`

	Headers map[string]string `json:"headers"`

	// To be sent byte by byte.
	Payload string `json:"payload"`

	// The same before the provider adds to it what proves it.
	Sample string `json:"sample"`

	// To be added to the address; usually empty.
	Query string `json:"query"`
}

// SlackChannel
type SlackChannel struct {
	// Of an incoming webhook.
	URL string `json:"url"`
}

// SlackVerification
type SlackVerification struct {
	Type string `json:"type"`

	Secret string `json:"secret"`
}

// Source
type Source struct {
	ID string `json:"id"`

	Name string `json:"name"`

	// Unique in the organization; stands for the id in export files.
	Slug string `json:"slug"`

	Description *string `json:"description"`

	// Where the provider sends its webhooks.
	WebhookURL string `json:"webhookUrl"`

	// Whose webhooks it receives: they are verified, and handshakes answered, as this provider does it.
	Provider *SourceProvider `json:"provider"`

	VerificationConfig VerificationConfig `json:"verificationConfig"`

	// Until then webhooks signed with the secret before this one are taken too.
	PreviousSecretUntil *Timestamp `json:"previousSecretUntil"`

	// By what a repeated webhook is known, and for how long.
	IdempotencyKey *SourceIdempotencyKey `json:"idempotencyKey"`

	IngestToken SourceIngestToken `json:"ingestToken"`

	// Until when the address before the last rotation is taken, too.
	PreviousTokenUntil *Timestamp `json:"previousTokenUntil"`

	// Whether webhooks without a valid signature are answered as if there were no such source.
	Concealed bool `json:"concealed"`

	// Whether it takes webhooks at any path below its address, too. The path is the `path` of the event.
	AllowPaths bool `json:"allowPaths"`

	Answer *SourceAnswer `json:"answer"`

	Handshake *SourceHandshake `json:"handshake"`

	// The last handshake of the provider that was answered.
	LastHandshake *SourceLastHandshake `json:"lastHandshake"`

	Enabled bool `json:"enabled"`

	EventsCount int64 `json:"eventsCount"`

	LastEventAt *Timestamp `json:"lastEventAt"`

	// What works, but should be changed, such as a secret so short that it can be guessed.
	Warnings []string `json:"warnings"`

	CreatedAt Timestamp `json:"createdAt"`

	UpdatedAt Timestamp `json:"updatedAt"`
}

// SourceAnswer
type SourceAnswer struct {
	Status int64 `json:"status"`

	Body string `json:"body"`

	ContentType string `json:"contentType"`
}

// SourceAnswerInput
type SourceAnswerInput struct {
	Status *int64 `json:"status,omitzero"`

	Body *string `json:"body,omitzero"`

	ContentType *string `json:"contentType,omitzero"`
}

// SourceHandshake
type SourceHandshake struct {
	Type SourceHandshakeType `json:"type"`

	Parameter *string `json:"parameter,omitzero"`

	Member *string `json:"member,omitzero"`

	VerifyToken *string `json:"verifyToken,omitzero"`

	EchoMember *string `json:"echoMember,omitzero"`

	Algorithm *HmacAlgorithm `json:"algorithm,omitzero"`

	Encoding *SignatureEncoding `json:"encoding,omitzero"`

	Prefix *string `json:"prefix,omitzero"`
}

// SourceHandshakeType
type SourceHandshakeType string

const SourceHandshakeTypeOk SourceHandshakeType = "ok"

const SourceHandshakeTypeEcho SourceHandshakeType = "echo"

const SourceHandshakeTypeHmac SourceHandshakeType = "hmac"

// SourceIdempotencyKey
type SourceIdempotencyKey struct {
	Header *string `json:"header,omitzero"`

	JSONPath *string `json:"jsonPath,omitzero"`

	Query *string `json:"query,omitzero"`

	// By the signature: a captured request that is sent again is a repeat.
	Signature *bool `json:"signature,omitzero"`

	WindowSeconds int64 `json:"windowSeconds"`
}

// SourceIngestToken: Whether the address ends in an unguessable part: never, if the sender likes, or always.
type SourceIngestToken string

const SourceIngestTokenNone SourceIngestToken = "none"

const SourceIngestTokenOptional SourceIngestToken = "optional"

const SourceIngestTokenRequired SourceIngestToken = "required"

// SourceLastHandshake
type SourceLastHandshake struct {
	// Which one.
	Kind string `json:"kind"`

	At Timestamp `json:"at"`

	Shown *string `json:"shown"`
}

// SourcePage
type SourcePage struct {
	Data []Source `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// SourceProvider
type SourceProvider string

const SourceProviderAdyen SourceProvider = "adyen"

const SourceProviderAirtable SourceProvider = "airtable"

const SourceProviderAsana SourceProvider = "asana"

const SourceProviderAuth0 SourceProvider = "auth0"

const SourceProviderAwsSns SourceProvider = "aws-sns"

const SourceProviderAzureEventGrid SourceProvider = "azure-event-grid"

const SourceProviderBitbucket SourceProvider = "bitbucket"

const SourceProviderBraintree SourceProvider = "braintree"

const SourceProviderCalCom SourceProvider = "cal-com"

const SourceProviderCalendly SourceProvider = "calendly"

const SourceProviderChargebee SourceProvider = "chargebee"

const SourceProviderClerk SourceProvider = "clerk"

const SourceProviderClickup SourceProvider = "clickup"

const SourceProviderCoinbase SourceProvider = "coinbase"

const SourceProviderCoinbaseCommerce SourceProvider = "coinbase-commerce"

const SourceProviderDatadog SourceProvider = "datadog"

const SourceProviderDiscord SourceProvider = "discord"

const SourceProviderDocusign SourceProvider = "docusign"

const SourceProviderDropbox SourceProvider = "dropbox"

const SourceProviderElevenlabs SourceProvider = "elevenlabs"

const SourceProviderGithub SourceProvider = "github"

const SourceProviderGitlab SourceProvider = "gitlab"

const SourceProviderGooglePubsub SourceProvider = "google-pubsub"

const SourceProviderHubspot SourceProvider = "hubspot"

const SourceProviderInstagram SourceProvider = "instagram"

const SourceProviderIntercom SourceProvider = "intercom"

const SourceProviderJira SourceProvider = "jira"

const SourceProviderLinear SourceProvider = "linear"

const SourceProviderMailchimp SourceProvider = "mailchimp"

const SourceProviderMailgun SourceProvider = "mailgun"

const SourceProviderMandrill SourceProvider = "mandrill"

const SourceProviderMeta SourceProvider = "meta"

const SourceProviderMicrosoftGraph SourceProvider = "microsoft-graph"

const SourceProviderMonday SourceProvider = "monday"

const SourceProviderNotion SourceProvider = "notion"

const SourceProviderNylas SourceProvider = "nylas"

const SourceProviderOkta SourceProvider = "okta"

const SourceProviderOpenai SourceProvider = "openai"

const SourceProviderPaddle SourceProvider = "paddle"

const SourceProviderPagerduty SourceProvider = "pagerduty"

const SourceProviderPaypal SourceProvider = "paypal"

const SourceProviderPlaid SourceProvider = "plaid"

const SourceProviderPostmark SourceProvider = "postmark"

const SourceProviderReplicate SourceProvider = "replicate"

const SourceProviderResend SourceProvider = "resend"

const SourceProviderSalesforce SourceProvider = "salesforce"

const SourceProviderSendgrid SourceProvider = "sendgrid"

const SourceProviderSentry SourceProvider = "sentry"

const SourceProviderShopify SourceProvider = "shopify"

const SourceProviderSlack SourceProvider = "slack"

const SourceProviderSquare SourceProvider = "square"

const SourceProviderStandardWebhooks SourceProvider = "standard-webhooks"

const SourceProviderStripe SourceProvider = "stripe"

const SourceProviderTelegram SourceProvider = "telegram"

const SourceProviderTrello SourceProvider = "trello"

const SourceProviderTwilio SourceProvider = "twilio"

const SourceProviderTwitch SourceProvider = "twitch"

const SourceProviderTypeform SourceProvider = "typeform"

const SourceProviderVercel SourceProvider = "vercel"

const SourceProviderWebflow SourceProvider = "webflow"

const SourceProviderWebsub SourceProvider = "websub"

const SourceProviderWhatsapp SourceProvider = "whatsapp"

const SourceProviderWoocommerce SourceProvider = "woocommerce"

const SourceProviderX SourceProvider = "x"

const SourceProviderXero SourceProvider = "xero"

const SourceProviderYoutube SourceProvider = "youtube"

const SourceProviderZendesk SourceProvider = "zendesk"

const SourceProviderZoom SourceProvider = "zoom"

// SourceReference
type SourceReference struct {
	ID string `json:"id"`

	Name string `json:"name"`
}

// StatusCodeClass: Of the latest attempt; `none`: it had no answer.
type StatusCodeClass string

const StatusCodeClass1xx StatusCodeClass = "1xx"

const StatusCodeClass2xx StatusCodeClass = "2xx"

const StatusCodeClass3xx StatusCodeClass = "3xx"

const StatusCodeClass4xx StatusCodeClass = "4xx"

const StatusCodeClass5xx StatusCodeClass = "5xx"

const StatusCodeClassNone StatusCodeClass = "none"

// StringMap
type StringMap = map[string]string

// StripeVerification
type StripeVerification struct {
	Type string `json:"type"`

	Secret string `json:"secret"`
}

// TeamsChannel
type TeamsChannel struct {
	// Of a workflow that posts to a channel when a webhook is received.
	URL string `json:"url"`
}

// TestCodeRequest
type TestCodeRequest struct {
	Payload any `json:"payload,omitzero"`

	Headers map[string]string `json:"headers,omitzero"`

	Path *string `json:"path,omitzero"`

	Query *string `json:"query,omitzero"`

	Method *DeliveryMethod `json:"method,omitzero"`

	Type TransformType `json:"type"`

	Code string `json:"code"`

	OutputContentType Nullable[string] `json:"outputContentType,omitzero"`
}

// TestConditionsRequest
type TestConditionsRequest struct {
	Payload any `json:"payload,omitzero"`

	Headers map[string]string `json:"headers,omitzero"`

	Query any `json:"query,omitzero"`

	Path *string `json:"path,omitzero"`

	Method *string `json:"method,omitzero"`

	Conditions []FilterConditionInput `json:"conditions"`

	Logic *FilterLogic `json:"logic,omitzero"`
}

// TestDestinationRequest
type TestDestinationRequest struct {
	Payload map[string]any `json:"payload,omitzero"`

	// As below a source: added to `url` with `forwardPath`.
	Path *string `json:"path,omitzero"`

	// Added to that of `url` with `forwardQuery`.
	Query *string `json:"query,omitzero"`
}

// TestFilterRequest
type TestFilterRequest struct {
	Payload any `json:"payload,omitzero"`

	Headers map[string]string `json:"headers,omitzero"`

	Query any `json:"query,omitzero"`

	Path *string `json:"path,omitzero"`

	Method *string `json:"method,omitzero"`
}

// TestResult
type TestResult struct {
	Success bool `json:"success"`

	StatusCode Nullable[int64] `json:"statusCode,omitzero"`

	// ms
	Latency int64 `json:"latency"`

	ResponseBody Nullable[string] `json:"responseBody,omitzero"`

	Message string `json:"message"`

	Error *string `json:"error,omitzero"`

	Result *WarehouseTestSuccessResult `json:"result,omitzero"`
}

// TestSchemaRequest
type TestSchemaRequest struct {
	Payload any `json:"payload"`

	Headers map[string]string `json:"headers,omitzero"`

	// A JSON Schema, draft-07 or 2020-12 (named by `$schema`; without it 2020-12).
	Schema any `json:"schema"`
}

// TestTransformRequest
type TestTransformRequest struct {
	Payload any `json:"payload,omitzero"`

	Headers map[string]string `json:"headers,omitzero"`

	Path *string `json:"path,omitzero"`

	Query *string `json:"query,omitzero"`

	Method *DeliveryMethod `json:"method,omitzero"`
}

// Timestamp: ISO 8601, UTC, with milliseconds.
type Timestamp = time.Time

// TimestampUnit
type TimestampUnit string

const TimestampUnitS TimestampUnit = "s"

const TimestampUnitMs TimestampUnit = "ms"

const TimestampUnitRfc3339 TimestampUnit = "rfc3339"

// Transform
type Transform struct {
	ID string `json:"id"`

	Name string `json:"name"`

	// Unique in the organization; stands for the id in export files.
	Slug string `json:"slug"`

	Description *string `json:"description"`

	Type TransformType `json:"type"`

	Code string `json:"code"`

	OutputContentType *string `json:"outputContentType"`

	// Grows with every change.
	Version int64 `json:"version"`

	// Routes that use it.
	RouteCount int64 `json:"routeCount"`

	CreatedAt Timestamp `json:"createdAt"`

	UpdatedAt Timestamp `json:"updatedAt"`
}

// TransformPage
type TransformPage struct {
	Data []Transform `json:"data"`

	Pagination Pagination `json:"pagination"`
}

// TransformResult
type TransformResult struct {
	Success bool `json:"success"`

	// Parsed when it is JSON, else its text.
	Output any `json:"output,omitzero"`

	OutputContentType *string `json:"outputContentType"`

	DurationMs float64 `json:"durationMs"`

	Error *TransformResultFailureError `json:"error,omitzero"`
}

// TransformResultFailure
type TransformResultFailure struct {
	Success bool `json:"success"`

	Error TransformResultFailureError `json:"error"`

	OutputContentType *string `json:"outputContentType"`

	DurationMs float64 `json:"durationMs"`
}

// TransformResultFailureError
type TransformResultFailureError struct {
	Message string `json:"message"`

	Line *int64 `json:"line"`

	Column *int64 `json:"column"`
}

// TransformResultSuccess
type TransformResultSuccess struct {
	Success bool `json:"success"`

	// Parsed when it is JSON, else its text.
	Output any `json:"output"`

	OutputContentType *string `json:"outputContentType"`

	DurationMs float64 `json:"durationMs"`
}

// TransformType
type TransformType string

const TransformTypeJsonata TransformType = "jsonata"

const TransformTypeJavascript TransformType = "javascript"

const TransformTypeLiquid TransformType = "liquid"

// UpdateAlertChannelRequest
type UpdateAlertChannelRequest struct {
	Name *string `json:"name,omitzero"`

	Type *AlertChannelType `json:"type,omitzero"`

	Config map[string]any `json:"config,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`

	// Of issues. Null: all.
	Kinds Nullable[[]IssueKind] `json:"kinds,omitzero"`

	// Only issues of these sources. Null: all.
	SourceIDs Nullable[[]string] `json:"sourceIds,omitzero"`

	// Only issues of these routes. Null: all.
	RouteIDs Nullable[[]string] `json:"routeIds,omitzero"`

	// Only issues of these destinations. Null: all.
	DestinationIDs Nullable[[]string] `json:"destinationIds,omitzero"`

	// An issue is told from this count on.
	AfterCount *int64 `json:"afterCount,omitzero"`

	// Whether it is told that somebody acknowledged an issue.
	OnAcknowledged *bool `json:"onAcknowledged,omitzero"`

	// Whether it is told that an issue was resolved or ignored.
	OnResolved *bool `json:"onResolved,omitzero"`

	// Between two messages about an issue.
	ThrottleMinutes *int64 `json:"throttleMinutes,omitzero"`

	// Every day. What changes meanwhile, and is not undone, is told afterwards.
	QuietHours Nullable[QuietHours] `json:"quietHours,omitzero"`

	// One message with all changes, every so many minutes. Null: one each.
	DigestMinutes Nullable[int64] `json:"digestMinutes,omitzero"`
}

// UpdateDestinationRequest
type UpdateDestinationRequest struct {
	Name *string `json:"name,omitzero"`

	Type *string `json:"type,omitzero"`

	// An http:// or https:// address without credentials; HTTPS is recommended.
	URL *string `json:"url,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	Method *DeliveryMethod `json:"method,omitzero"`

	// Added to every delivery; replaced as a whole on update.
	Headers map[string]string `json:"headers,omitzero"`

	// Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never.
	ForwardHeaders any `json:"forwardHeaders,omitzero"`

	// Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels.
	ForwardQuery *bool `json:"forwardQuery,omitzero"`

	// Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`.
	ForwardPath *bool `json:"forwardPath,omitzero"`

	AuthType *DestinationAuthType `json:"authType,omitzero"`

	AuthConfig Nullable[JsonObject] `json:"authConfig,omitzero"`

	SigningSecret Nullable[string] `json:"signingSecret,omitzero"`

	// ms
	TimeoutMs *int64 `json:"timeoutMs,omitzero"`

	// Null: unlimited.
	RateLimitPerMinute Nullable[int64] `json:"rateLimitPerMinute,omitzero"`

	// Most attempts at a time. Null: as many as the destination copes with.
	MaxConcurrency Nullable[int64] `json:"maxConcurrency,omitzero"`

	RetryPolicy *RetryPolicyInput `json:"retryPolicy,omitzero"`

	// Members that are not sent stay, null removes one; a secret sent back masked is kept.
	Config map[string]any `json:"config,omitzero"`

	FieldMapping Nullable[[]FieldMappingRuleInput] `json:"fieldMapping,omitzero"`
}

// UpdateFilterRequest
type UpdateFilterRequest struct {
	Name *string `json:"name,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	Conditions []FilterConditionInput `json:"conditions,omitzero"`

	Logic *FilterLogic `json:"logic,omitzero"`
}

// UpdateIssueRequest
type UpdateIssueRequest struct {
	State IssueState `json:"state"`
}

// UpdateRouteRequest
type UpdateRouteRequest struct {
	Name *string `json:"name,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	SourceID *string `json:"sourceId,omitzero"`

	DestinationIDs []string `json:"destinationIds,omitzero"`

	TransformID Nullable[string] `json:"transformId,omitzero"`

	FilterID Nullable[string] `json:"filterId,omitzero"`

	SchemaID Nullable[string] `json:"schemaId,omitzero"`

	// Higher values run first.
	Priority *int64 `json:"priority,omitzero"`

	FilterConditions Nullable[[]FilterConditionInput] `json:"filterConditions,omitzero"`

	FilterLogic *FilterLogic `json:"filterLogic,omitzero"`

	FailoverDestinationIDs []string `json:"failoverDestinationIds,omitzero"`

	FailoverAfterAttempts *int64 `json:"failoverAfterAttempts,omitzero"`

	CircuitCooldownSeconds *int64 `json:"circuitCooldownSeconds,omitzero"`

	CircuitFailureThreshold *int64 `json:"circuitFailureThreshold,omitzero"`

	CircuitProbeSuccessThreshold *int64 `json:"circuitProbeSuccessThreshold,omitzero"`

	NotifyOnFailure *bool `json:"notifyOnFailure,omitzero"`

	NotifyOnSuccess *bool `json:"notifyOnSuccess,omitzero"`

	NotifyOnRecovery *bool `json:"notifyOnRecovery,omitzero"`

	NotifyEmails Nullable[string] `json:"notifyEmails,omitzero"`

	// What of the destination's answer counts as success; null: any 2xx.
	ExpectedResponse Nullable[RouteExpectedResponse] `json:"expectedResponse,omitzero"`

	Lane Nullable[RouteLane] `json:"lane,omitzero"`

	// Whether it may deliver to addresses under HOOKYARD_PUBLIC_URL, where deliveries come in as webhooks.
	AllowOwnAddress *bool `json:"allowOwnAddress,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`
}

// UpdateSchemaRequest
type UpdateSchemaRequest struct {
	Name *string `json:"name,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	// A JSON Schema, draft-07 or 2020-12 (named by `$schema`; without it 2020-12).
	Schema any `json:"schema,omitzero"`
}

// UpdateSourceRequest
type UpdateSourceRequest struct {
	Name *string `json:"name,omitzero"`

	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	// Whose webhooks it receives: they are verified, and handshakes answered, as this provider does it.
	Provider Nullable[SourceProvider] `json:"provider,omitzero"`

	VerificationConfig Nullable[VerificationConfigInput] `json:"verificationConfig,omitzero"`

	// By what a repeated webhook is known, and for how long.
	IdempotencyKey Nullable[SourceIdempotencyKey] `json:"idempotencyKey,omitzero"`

	IngestToken *SourceIngestToken `json:"ingestToken,omitzero"`

	// Whether webhooks without a valid signature are answered as if there were no such source.
	Concealed *bool `json:"concealed,omitzero"`

	// Whether it takes webhooks at any path below its address, too. The path is the `path` of the event.
	AllowPaths *bool `json:"allowPaths,omitzero"`

	// What an accepted webhook is answered, instead of `success` and `eventId`.
	Answer Nullable[SourceAnswerInput] `json:"answer,omitzero"`

	// What is answered to a `GET` or `HEAD` by which the sender checks the address: 200, a parameter of the query, or its HMAC. Null: 405, unless the provider has such checks.
	Handshake Nullable[UpdateSourceRequestHandshake] `json:"handshake,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`
}

// UpdateSourceRequestHandshake
type UpdateSourceRequestHandshake struct {
	Type string `json:"type"`

	Parameter *string `json:"parameter,omitzero"`

	Member *string `json:"member,omitzero"`

	VerifyToken Nullable[string] `json:"verifyToken,omitzero"`

	EchoMember *string `json:"echoMember,omitzero"`

	Algorithm *HmacAlgorithm `json:"algorithm,omitzero"`

	Encoding *SignatureEncoding `json:"encoding,omitzero"`

	Prefix *string `json:"prefix,omitzero"`
}

// UpdateTransformRequest
type UpdateTransformRequest struct {
	Name *string `json:"name,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`

	Type *TransformType `json:"type,omitzero"`

	Code *string `json:"code,omitzero"`

	OutputContentType Nullable[string] `json:"outputContentType,omitzero"`
}

// Usage
type Usage struct {
	Plan Plan `json:"plan"`

	Limits UsageLimits `json:"limits"`

	Month UsageMonth `json:"month"`
}

// UsageLimits
type UsageLimits struct {
	EventsPerSecond LimitUse `json:"eventsPerSecond"`

	EventsPerMonth LimitUse `json:"eventsPerMonth"`

	PayloadBytes LimitUse `json:"payloadBytes"`

	DeliveriesPerEvent LimitUse `json:"deliveriesPerEvent"`

	RoutesPerSource LimitUse `json:"routesPerSource"`

	Destinations LimitUse `json:"destinations"`

	Sources LimitUse `json:"sources"`

	Filters LimitUse `json:"filters"`

	Transforms LimitUse `json:"transforms"`

	Schemas LimitUse `json:"schemas"`

	AlertChannels LimitUse `json:"alertChannels"`

	APIKeys LimitUse `json:"apiKeys"`

	WaitingDeliveries LimitUse `json:"waitingDeliveries"`

	StoredBytes LimitUse `json:"storedBytes"`

	TransformMsPerMinute LimitUse `json:"transformMsPerMinute"`

	RequestsPerMinute LimitUse `json:"requestsPerMinute"`

	RunningReplays LimitUse `json:"runningReplays"`

	ReplayedPerSecond LimitUse `json:"replayedPerSecond"`

	RunningImports LimitUse `json:"runningImports"`

	RunningSearches LimitUse `json:"runningSearches"`

	RunningTests LimitUse `json:"runningTests"`

	RunningStreams LimitUse `json:"runningStreams"`
}

// UsageMonth: The calendar month so far (UTC).
type UsageMonth struct {
	From string `json:"from"`

	Events int64 `json:"events"`

	PayloadBytes int64 `json:"payloadBytes"`
}

// ValidatePayloadRequest
type ValidatePayloadRequest struct {
	Payload any `json:"payload"`

	Headers map[string]string `json:"headers,omitzero"`
}

// VerificationAlgorithm
type VerificationAlgorithm string

const VerificationAlgorithmSha1 VerificationAlgorithm = "sha1"

const VerificationAlgorithmSha256 VerificationAlgorithm = "sha256"

const VerificationAlgorithmSha512 VerificationAlgorithm = "sha512"

const VerificationAlgorithmEcdsa VerificationAlgorithm = "ecdsa"

const VerificationAlgorithmEd25519 VerificationAlgorithm = "ed25519"

const VerificationAlgorithmRsa VerificationAlgorithm = "rsa"

const VerificationAlgorithmRS256 VerificationAlgorithm = "RS256"

const VerificationAlgorithmES256 VerificationAlgorithm = "ES256"

const VerificationAlgorithmHS256 VerificationAlgorithm = "HS256"

// VerificationConfig: How webhooks are verified; the secret is never shown. `provider` means as the provider of the source does, and `confirmSubscriptions` is of some providers; the other members are those of the type.
type VerificationConfig struct {
	Type VerificationType `json:"type"`

	Header *string `json:"header,omitzero"`

	Algorithm *VerificationAlgorithm `json:"algorithm,omitzero"`

	Encoding *SignatureEncoding `json:"encoding,omitzero"`

	Prefix *string `json:"prefix,omitzero"`

	TimestampHeader *string `json:"timestampHeader,omitzero"`

	TimestampSeparator *string `json:"timestampSeparator,omitzero"`

	SecretEncoding *SecretEncoding `json:"secretEncoding,omitzero"`

	ListSeparator *string `json:"listSeparator,omitzero"`

	SignaturePart *string `json:"signaturePart,omitzero"`

	TimestampPart *string `json:"timestampPart,omitzero"`

	PartSeparator *string `json:"partSeparator,omitzero"`

	TimestampUnit *TimestampUnit `json:"timestampUnit,omitzero"`

	ToleranceSeconds *int64 `json:"toleranceSeconds,omitzero"`

	IDHeader *string `json:"idHeader,omitzero"`

	Template *string `json:"template,omitzero"`

	JwksURL *string `json:"jwksUrl,omitzero"`

	Issuer *string `json:"issuer,omitzero"`

	Audience *string `json:"audience,omitzero"`

	Claims map[string]string `json:"claims,omitzero"`

	BodyHashClaim *string `json:"bodyHashClaim,omitzero"`

	Parameter *string `json:"parameter,omitzero"`

	Path *string `json:"path,omitzero"`

	ConfirmSubscriptions *bool `json:"confirmSubscriptions,omitzero"`
}

// VerificationConfigInput
type VerificationConfigInput struct {
	Type *string `json:"type,omitzero"`

	Provider Nullable[SourceProvider] `json:"provider,omitzero"`
}

// VerificationType
type VerificationType string

const VerificationTypeGithub VerificationType = "github"

const VerificationTypeStripe VerificationType = "stripe"

const VerificationTypeSlack VerificationType = "slack"

const VerificationTypeHmac VerificationType = "hmac"

const VerificationTypeNone VerificationType = "none"

const VerificationTypeHmacTemplate VerificationType = "hmac_template"

const VerificationTypePublicKey VerificationType = "public_key"

const VerificationTypeJwt VerificationType = "jwt"

const VerificationTypeHeaderToken VerificationType = "header_token"

const VerificationTypeBasic VerificationType = "basic"

const VerificationTypeQueryToken VerificationType = "query_token"

const VerificationTypeBodyToken VerificationType = "body_token"

const VerificationTypeProvider VerificationType = "provider"

// WarehouseCompression
type WarehouseCompression string

const WarehouseCompressionNone WarehouseCompression = "none"

const WarehouseCompressionSnappy WarehouseCompression = "snappy"

const WarehouseCompressionGzip WarehouseCompression = "gzip"

const WarehouseCompressionZstd WarehouseCompression = "zstd"

// WarehouseConfig: The members of the type; its secret is shown as •••• and the last four.
type WarehouseConfig struct {
	Bucket *string `json:"bucket,omitzero"`

	Region *string `json:"region,omitzero"`

	Credentials *AzureBlobConfigCredentials `json:"credentials,omitzero"`

	AccessKeyID *string `json:"accessKeyId,omitzero"`

	// Masked.
	SecretAccessKey *string `json:"secretAccessKey,omitzero"`

	// With identity: the role that is assumed, with the id of the organization as external ID.
	RoleArn *string `json:"roleArn,omitzero"`

	Endpoint *string `json:"endpoint,omitzero"`

	ForcePathStyle *bool `json:"forcePathStyle,omitzero"`

	// Files are refused by a bucket of another account.
	BucketOwner *string `json:"bucketOwner,omitzero"`

	// Id, ARN or alias of the KMS key that files are encrypted with.
	KmsKeyID *string `json:"kmsKeyId,omitzero"`

	StorageClass *S3ConfigStorageClass `json:"storageClass,omitzero"`

	// Of each file: name=value&name=value, percent-encoded.
	Tags *string `json:"tags,omitzero"`

	Prefix *string `json:"prefix,omitzero"`

	FileFormat *WarehouseFileFormat `json:"fileFormat,omitzero"`

	// Of the whole file; in a Parquet file of its pages. snappy is for Parquet only.
	Compression *WarehouseCompression `json:"compression,omitzero"`

	PayloadColumn *WarehousePayloadColumn `json:"payloadColumn,omitzero"`

	PartitionBy *WarehousePartition `json:"partitionBy,omitzero"`

	KeyOrder *AzureBlobConfigKeyOrder `json:"keyOrder,omitzero"`

	// Events.
	BatchSize *int64 `json:"batchSize,omitzero"`

	// Bytes of payloads.
	BatchBytes *int64 `json:"batchBytes,omitzero"`

	BatchWindowSeconds *int64 `json:"batchWindowSeconds,omitzero"`

	AccountID *string `json:"accountId,omitzero"`

	ProjectID *string `json:"projectId,omitzero"`

	// Masked.
	ServiceAccountKey *string `json:"serviceAccountKey,omitzero"`

	AccountName *string `json:"accountName,omitzero"`

	// Masked.
	AccountKey *string `json:"accountKey,omitzero"`

	// Masked.
	SasToken *string `json:"sasToken,omitzero"`

	ContainerName *string `json:"containerName,omitzero"`
}

// WarehouseDestination: Members that are for HTTP only have their defaults.
type WarehouseDestination struct {
	ID string `json:"id"`

	Name string `json:"name"`

	Type WarehouseType `json:"type"`

	URL string `json:"url"`

	Enabled bool `json:"enabled"`

	// Whether its deliveries wait until it is resumed.
	Paused bool `json:"paused"`

	// Null when it is not paused.
	PausedSince *Timestamp `json:"pausedSince"`

	// When the pause ends by itself; null: it does not.
	PausedUntil *Timestamp `json:"pausedUntil"`

	PauseReason *string `json:"pauseReason"`

	// percent; null without a recent delivery
	SuccessRate *float64 `json:"successRate"`

	// ms; null without a recent attempt that was answered
	AvgLatency *int64 `json:"avgLatency"`

	DeliveriesCount int64 `json:"deliveriesCount"`

	Config WarehouseConfig `json:"config"`

	FieldMapping []FieldMappingRule `json:"fieldMapping"`

	// Unique in the organization; stands for the id in export files.
	Slug string `json:"slug"`

	Description *string `json:"description"`

	Method DeliveryMethod `json:"method"`

	// Added to every delivery; replaced as a whole on update.
	Headers map[string]string `json:"headers"`

	// Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never.
	ForwardHeaders any `json:"forwardHeaders"`

	// Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels.
	ForwardQuery bool `json:"forwardQuery"`

	// Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`.
	ForwardPath bool `json:"forwardPath"`

	AuthType DestinationAuthType `json:"authType"`

	// Its secrets are shown as •••• and their last four characters.
	AuthConfig *StringMap `json:"authConfig"`

	SigningSecret *string `json:"signingSecret"`

	// Until then deliveries are signed with the secret before this one too.
	PreviousSigningSecretUntil *Timestamp `json:"previousSigningSecretUntil"`

	// ms
	TimeoutMs int64 `json:"timeoutMs"`

	// Null: unlimited.
	RateLimitPerMinute *int64 `json:"rateLimitPerMinute"`

	// Most attempts at a time. Null: as many as the destination copes with.
	MaxConcurrency *int64 `json:"maxConcurrency"`

	RetryPolicy RetryPolicy `json:"retryPolicy"`

	LastDeliveryAt *Timestamp `json:"lastDeliveryAt"`

	CreatedAt Timestamp `json:"createdAt"`

	UpdatedAt Timestamp `json:"updatedAt"`
}

// WarehouseDestinationChanges
type WarehouseDestinationChanges struct {
	Name *string `json:"name,omitzero"`

	Type *string `json:"type,omitzero"`

	Enabled *bool `json:"enabled,omitzero"`

	// Members that are not sent stay, null removes one; a secret sent back masked is kept.
	Config map[string]any `json:"config,omitzero"`

	FieldMapping Nullable[[]FieldMappingRuleInput] `json:"fieldMapping,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`
}

// WarehouseDestinationInput
type WarehouseDestinationInput struct {
	Name string `json:"name"`

	Type WarehouseType `json:"type"`

	Enabled *bool `json:"enabled,omitzero"`

	// The whole config; a secret that is left out, or sent back masked, is kept.
	Config map[string]any `json:"config"`

	FieldMapping Nullable[[]FieldMappingRuleInput] `json:"fieldMapping,omitzero"`

	// Unique in the organization; stands for the id in export files.
	Slug *string `json:"slug,omitzero"`

	Description Nullable[string] `json:"description,omitzero"`
}

// WarehouseDestinationSummary
type WarehouseDestinationSummary struct {
	ID string `json:"id"`

	Name string `json:"name"`

	Type WarehouseType `json:"type"`

	URL string `json:"url"`

	Enabled bool `json:"enabled"`

	// Whether its deliveries wait until it is resumed.
	Paused bool `json:"paused"`

	// When the pause ends by itself; null: it does not.
	PausedUntil *Timestamp `json:"pausedUntil"`

	Config WarehouseConfig `json:"config"`

	// Unique in the organization; stands for the id in export files.
	Slug string `json:"slug"`
}

// WarehouseFileFormat
type WarehouseFileFormat string

const WarehouseFileFormatJsonl WarehouseFileFormat = "jsonl"

const WarehouseFileFormatJson WarehouseFileFormat = "json"

const WarehouseFileFormatParquet WarehouseFileFormat = "parquet"

// WarehousePartition
type WarehousePartition string

const WarehousePartitionDate WarehousePartition = "date"

const WarehousePartitionHour WarehousePartition = "hour"

const WarehousePartitionSource WarehousePartition = "source"

// WarehousePayloadColumn: What rows without a mapping hold: text in every column, or the payload as JSON. text in Parquet files.
type WarehousePayloadColumn string

const WarehousePayloadColumnText WarehousePayloadColumn = "text"

const WarehousePayloadColumnJson WarehousePayloadColumn = "json"

// WarehouseTestFailure
type WarehouseTestFailure struct {
	Success bool `json:"success"`

	StatusCode *int64 `json:"statusCode"`

	// ms
	Latency int64 `json:"latency"`

	Error string `json:"error"`

	Message string `json:"message"`
}

// WarehouseTestSuccess
type WarehouseTestSuccess struct {
	Success bool `json:"success"`

	Result WarehouseTestSuccessResult `json:"result"`

	// ms
	Latency int64 `json:"latency"`

	Message string `json:"message"`
}

// WarehouseTestSuccessResult
type WarehouseTestSuccessResult struct {
	Key string `json:"key"`

	// bytes
	Size int64 `json:"size"`

	// rows
	Count int64 `json:"count"`

	// Values that did not fit, by column.
	Conversions []Conversion `json:"conversions"`

	// The row as it was written; null when it is longer than 64 KiB.
	Row *JsonObject `json:"row"`
}

// WarehouseType
type WarehouseType string

const WarehouseTypeS3 WarehouseType = "s3"

const WarehouseTypeR2 WarehouseType = "r2"

const WarehouseTypeGcs WarehouseType = "gcs"

const WarehouseTypeAzureBlob WarehouseType = "azure_blob"

// WebhookChannel
type WebhookChannel struct {
	URL string `json:"url"`

	// `whsec_` and 24 to 64 bytes in base64.
	Secret string `json:"secret"`
}

// Well
type Well struct {
	Status string `json:"status"`
}
