// The configuration records. Events, deliveries and attempts are no entities: they are written and read in sets
// (hot-path/, history/).
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Scope } from '../../core/config/plans-and-scopes.ts';
import type { ChannelType, QuietHours } from '../../core/messages/channel.ts';
import type { AuthType } from '../../core/delivery/auth-config.ts';
import type { RetryPolicy } from '../../core/delivery/backoff.ts';
import type { EventReplayStatus } from '../../core/delivery/event-replay.ts';
import type { ForwardHeaders } from '../../core/ingest/forwarded-headers.ts';
import type { FilterCondition, FilterLogic } from '../../core/filters/filter.ts';
import type { IssueKind } from '../../core/messages/issues.ts';
import type { Ordering } from '../../core/delivery/ordering.ts';
import type { LaneSetting, DeliveryMethod } from '../../core/delivery/delivery.ts';
import type { ExpectedResponse } from '../../core/delivery/verdict.ts';
import type { JsonSchema } from '../../core/schemas/schema.ts';
import type { IngestTokenRule } from '../../core/ingest/ingest-url.ts';
import type { PublicVerificationConfig } from '../../core/verification/config.ts';
import type { SourceAnswer } from '../../core/ingest/source-answer.ts';
import type { SourceHandshake } from '../../core/verification/handshakes.ts';
import type { TransformType } from '../../core/config/transform-types.ts';
import type { DestinationType } from '../../core/warehouse/config.ts';
import type { FieldMappingRule } from '../../core/warehouse/field-mapping.ts';

const stamps = {
  createdAt: p.datetime(3).onCreate(() => new Date()),
  updatedAt: p
    .datetime(3)
    // The same instant: reading the clock twice may give two times.
    .onCreate((record: { createdAt?: Date }) => record.createdAt ?? new Date())
    .onUpdate(() => new Date()),
};

/** Of a record that is changed by whoever has seen its last version. */
const versioned = { version: p.integer().version(), ...stamps };

const owned = { id: p.string().primary(), organizationId: p.string() };
const named = { ...owned, name: p.string(), description: p.string().nullable() };
const slugged = { ...named, slug: p.string() };

/**
 * Every tenant entity carries this filter, on by default: a query without `organizationId` set on its EntityManager
 * throws.
 */
const tenant = {
  tenant: {
    name: 'tenant',
    cond: (args: { organizationId: string }) => ({ organizationId: args.organizationId }),
    default: true,
  },
};

function tenantEntity<
  const Name extends string,
  const Table extends string,
  const Properties extends Record<string, object>,
>(name: Name, tableName: Table, properties: Properties) {
  return defineEntity({ name, tableName, filters: tenant, properties });
}

export const ApiKey = tenantEntity('ApiKey', 'api_keys', {
  ...owned,
  name: p.string(),
  tokenHash: p.blob().lazy(),
  tokenHint: p.string(),
  scopes: p.array().$type<Scope[]>(),
  allowedAddresses: p.array().nullable(),
  expiresAt: p.datetime(3).nullable(),
  revokedAt: p.datetime(3).nullable(),
  lastUsedAt: p.datetime(3).nullable(),
  createdAt: p.datetime(3).onCreate(() => new Date()),
});
export type ApiKey = InferEntity<typeof ApiKey>;

/** Where an ingest idempotency key is read from (one of four), and how long a repeat counts as a duplicate. */
export interface IdempotencyKeyRule {
  header?: string;
  jsonPath?: string;
  query?: string;
  /** The signature itself: who sends a captured request again is told of the first one. */
  signature?: true;
  windowSeconds: number;
}

export const Source = tenantEntity('Source', 'sources', {
  ...slugged,
  provider: p.string().nullable(),
  verification: p.json<PublicVerificationConfig>(),
  verificationSecret: p.string().nullable(),
  previousVerificationSecret: p.string().nullable(),
  previousSecretUntil: p.datetime(3).nullable(),
  idempotencyKey: p.json<IdempotencyKeyRule>().nullable(),
  ingestToken: p.string().$type<IngestTokenRule>(),
  ingestTokenValue: p.string().nullable(),
  previousTokenValue: p.string().nullable(),
  previousTokenUntil: p.datetime(3).nullable(),
  concealed: p.boolean(),
  allowPaths: p.boolean(),
  answer: p.json<SourceAnswer>().nullable(),
  handshake: p.json<SourceHandshake>().nullable(),
  handshakeToken: p.string().nullable(),
  lastHandshakeKind: p.string().nullable(),
  lastHandshakeAt: p.datetime(3).nullable(),
  lastHandshakeShown: p.string().nullable(),
  enabled: p.boolean(),
  ...versioned,
});
export type Source = InferEntity<typeof Source>;

/**
 * An HTTP endpoint (id `dst_...`) or a warehouse (`dst_wh_...`). A warehouse has an empty url and the defaults in the
 * members that are for HTTP only. Its `config` is the checked config, defaults filled in, as JSON text that is
 * encrypted as a whole with the record's id as associated data, like `authConfig`: warehouse/config.ts opens it. It is
 * null, or lacks its secret, on a warehouse that was imported from a file without credentials; such a one is disabled.
 * `fieldMapping` holds the checked rules in clear; null: rows are whole events. An HTTP destination has null in both.
 */
export const Destination = tenantEntity('Destination', 'destinations', {
  ...slugged,
  type: p.string().$type<DestinationType>(),
  url: p.string(),
  method: p.string().$type<DeliveryMethod>(),
  headers: p.json<Record<string, string>>(),
  forwardHeaders: p.json<ForwardHeaders>().nullable(),
  forwardQuery: p.boolean(),
  forwardPath: p.boolean(),
  authType: p.string().$type<AuthType>(),
  authConfig: p.string().nullable(),
  signingSecret: p.string().nullable(),
  previousSigningSecret: p.string().nullable(),
  previousSigningSecretUntil: p.datetime(3).nullable(),
  timeoutMs: p.integer(),
  rateLimitPerMinute: p.integer().nullable(),
  maxConcurrency: p.integer().nullable(),
  retryPolicy: p.json<RetryPolicy>(),
  config: p.string().nullable(),
  fieldMapping: p.json<FieldMappingRule[]>().nullable(),
  enabled: p.boolean(),
  ...versioned,
});
export type Destination = InferEntity<typeof Destination>;

export const Route = tenantEntity('Route', 'routes', {
  ...named,
  sourceId: p.string(),
  destinationIds: p.array(),
  transformId: p.string().nullable(),
  filterId: p.string().nullable(),
  schemaId: p.string().nullable(),
  priority: p.integer(),
  filterConditions: p.json<FilterCondition[]>().nullable(),
  filterLogic: p.string().$type<FilterLogic>(),
  failoverDestinationIds: p.array(),
  failoverAfterAttempts: p.integer(),
  circuitCooldownSeconds: p.integer(),
  circuitFailureThreshold: p.integer(),
  circuitProbeSuccessThreshold: p.integer(),
  notifyOnFailure: p.boolean(),
  notifyOnSuccess: p.boolean(),
  notifyOnRecovery: p.boolean(),
  notifyEmails: p.string().nullable(),
  expectedResponse: p.json<ExpectedResponse>().nullable(),
  ordering: p.json<Ordering>().nullable(),
  lane: p.string().$type<LaneSetting>().nullable(),
  allowOwnAddress: p.boolean(),
  enabled: p.boolean(),
  ...versioned,
});
export type Route = InferEntity<typeof Route>;

export const Filter = tenantEntity('Filter', 'filters', {
  ...slugged,
  conditions: p.json<FilterCondition[]>(),
  logic: p.string().$type<FilterLogic>(),
  ...versioned,
});
export type Filter = InferEntity<typeof Filter>;

export const Schema = tenantEntity('Schema', 'schemas', {
  ...slugged,
  schema: p.json<JsonSchema>(),
  ...versioned,
});
export type Schema = InferEntity<typeof Schema>;

export const Transform = tenantEntity('Transform', 'transforms', {
  ...slugged,
  type: p.string().$type<TransformType>(),
  code: p.string(),
  outputContentType: p.string().nullable(),
  ...versioned,
});
export type Transform = InferEntity<typeof Transform>;

/** A replay of events chosen by a filter, as the API shows it; event-replays.ts and event-replay-pages.ts write it. */
export const EventReplay = tenantEntity('EventReplay', 'event_replays', {
  ...owned,
  sourceId: p.string().nullable(),
  eventStatus: p.string().nullable(),
  eventRouted: p.boolean().nullable(),
  receivedFrom: p.datetime(3).nullable(),
  receivedTo: p.datetime(3).nullable(),
  search: p.string().nullable(),
  destinationIds: p.array().nullable(),
  ratePerSecond: p.integer(),
  nextId: p.string(),
  endId: p.string(),
  status: p.string().$type<EventReplayStatus>(),
  eventsTotal: p.integer().nullable(),
  eventsReplayed: p.integer(),
  eventsExpired: p.integer(),
  eventsUnroutable: p.integer(),
  deliveriesCreated: p.integer(),
  waitsFor: p.string().nullable(),
  error: p.string().nullable(),
  createdAt: p.datetime(3),
  startedAt: p.datetime(3).nullable(),
  finishedAt: p.datetime(3).nullable(),
});
export type EventReplay = InferEntity<typeof EventReplay>;

/**
 * A channel of alerts. `config` is the checked config as JSON text that is encrypted as a whole; that of mail is null,
 * its addresses are `notifyEmails`. What became of its messages is written by db/messages/outbox.ts.
 */
export const AlertChannel = tenantEntity('AlertChannel', 'alert_channels', {
  ...owned,
  name: p.string(),
  type: p.string().$type<ChannelType>(),
  config: p.string().nullable(),
  previousSecret: p.string().nullable(),
  previousSecretUntil: p.datetime(3).nullable(),
  notifyEmails: p.string().nullable(),
  kinds: p.array().$type<IssueKind[]>().nullable(),
  sourceIds: p.array().nullable(),
  routeIds: p.array().nullable(),
  destinationIds: p.array().nullable(),
  afterCount: p.integer(),
  onAcknowledged: p.boolean(),
  onResolved: p.boolean(),
  throttleMinutes: p.integer(),
  quietHours: p.json<QuietHours>().nullable(),
  digestMinutes: p.integer().nullable(),
  enabled: p.boolean(),
  failingSince: p.datetime(3).nullable(),
  failedAt: p.datetime(3).nullable(),
  lastError: p.string().nullable(),
  lastSentAt: p.datetime(3).nullable(),
  ...versioned,
});
export type AlertChannel = InferEntity<typeof AlertChannel>;

export const entities = [ApiKey, Source, Destination, Route, Filter, Schema, Transform, EventReplay, AlertChannel];
