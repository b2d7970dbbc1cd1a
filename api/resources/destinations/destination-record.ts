// Shared code of both destination families, which use the same table.
// Rules: DEST-21, DEST-28, DEST-32, DEST-35, AUTH-25.

import { z } from 'zod';
import { type AuthType, authConfigSchemas } from '../../../core/delivery/auth-config.ts';
import { DEFAULT_RETRY_POLICY } from '../../../core/delivery/backoff.ts';
import { newId } from '../../../core/text/ids.ts';
import { originOf } from '../../../core/http/http-url.ts';
import {
  AUTH_SECRET_FIELD,
  isRedacted,
  keepRedacted,
  keepRedactedAuthConfig,
  keepsAuthSecret,
} from '../../../core/text/redaction.ts';
import { signingSecretProblem } from '../../../core/signatures/standard-webhooks.ts';
import { pausesOf } from '../../../db/circuits/pauses.ts';
import { deleteDestinations } from '../../../db/delivery/delivery-commands.ts';
import { Destination } from '../../../db/entities.ts';
import { destinationHealth, destinationTotals } from '../../../db/ledger/statistics.ts';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../../request/context.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { invalid, notFound } from '../../request/errors.ts';
import { requireRecordRoom } from '../../auth/limits.ts';
import { type DestinationInput, destinationDefaults } from './destination-members.ts';
import { count, latency, percent, timestamp } from '../values.ts';
import { listAnswer, newestFirst, pageParams } from '../../request/pagination.ts';
import { booleanParam, containsPattern, textParam } from '../../request/query.ts';
import { requireWanted } from '../../request/preconditions.ts';
import { type DestinationIds, findDestination, httpDestinations, isoTime, requireId } from '../records.ts';
import { secretOfAnotherHost } from '../../auth/scopes.ts';
import { check, parseQuery } from '../../request/validation.ts';
import { summarizeDestination } from './destination-view.ts';
import type { changedWarehouse, newWarehouse } from './destination-warehouse.ts';
import { refuseOwnUrl } from '../routes/own-addresses.ts';
import { despiteConflicts } from '../transactions.ts';
import { type SlugRules, storeWithSlug, updateWithSlug } from '../unique-slugs.ts';

export const listSchema = z.object({
  ...pageParams,
  enabled: booleanParam,
  search: textParam.meta({ description: 'A part of the name or address, whatever its case.' }),
});
export const slugRules: SlugRules = {
  kind: 'destination',
  constraint: 'destinations_slug_unique',
};

export const healthAnswer = z
  .object({
    successRate: percent,
    avgLatency: latency,
    p50Latency: latency,
    p95Latency: latency,
    p99Latency: latency,
    totalDeliveries: count,
    successfulDeliveries: count,
    failedDeliveries: count.meta({ examples: [0] }),
    lastDeliveryAt: timestamp.nullable(),
    lastSuccessAt: timestamp.nullable(),
    lastFailureAt: timestamp.nullable(),
    status: z.enum(['healthy', 'degraded', 'failing', 'unknown']),
  })
  .meta({ id: 'DestinationHealth', description: 'Of the last time (HOOKYARD_HEALTH_WINDOW_HOURS, 24 by default).' });

/** A destination's authentication, secrets in clear. */
interface Auth {
  authType: AuthType;
  authConfig: Record<string, string>;
}

/** A destination without its slug. */
export type NewDestination = ReturnType<typeof newDestination> | ReturnType<typeof newWarehouse>;

/** Stores a new destination; its slug is the given one or made of its name. @throws ApiError 409 DUPLICATE_SLUG, 429 */
export async function storeDestination(
  ctx: Context,
  deps: ApiDeps,
  slug: string | undefined,
  record: NewDestination,
): Promise<Destination> {
  noteRecords(ctx, [record.id]);
  return storeWithSlug(
    slugRules,
    { organizationId: organizationId(ctx), name: record.name, ...(slug !== undefined && { slug }) },
    () => entityManager(ctx, deps),
    (em, freeSlug) =>
      em.transactional(async (transaction) => {
        await requireRecordRoom(transaction, ctx, 'destinations');
        return transaction.create(Destination, { ...record, slug: freeSlug });
      }),
  );
}

/** The columns of a new HTTP destination, without its slug. @throws ApiError 400 when its credentials cannot be used */
export function newDestination(deps: ApiDeps, organizationId: string, input: DestinationInput) {
  const id = newId('dst');
  const { retryPolicy, authType = 'none', authConfig, signingSecret, slug: _slug, ...rest } = input;
  const auth = checkAuth(authType, authConfig ?? {}, null);
  return {
    ...destinationDefaults,
    ...rest,
    id,
    organizationId,
    type: 'http' as const,
    ...sealAuth(deps, id, auth),
    signingSecret: sealSigningSecret(deps, id, signingSecret ?? null, null),
    retryPolicy: { ...DEFAULT_RETRY_POLICY, ...retryPolicy },
  };
}

/**
 * Changes the stored destination of the path.
 * @param ids the kinds of ids that the family of the path accepts
 * @param change returns the columns to change, given the current record
 * @throws ApiError 404, 409 DUPLICATE_SLUG, and what `change` throws
 */
export async function updateDestination(
  ctx: Context,
  deps: ApiDeps,
  ids: DestinationIds,
  slug: string | undefined,
  change: (stored: Destination) => DestinationChange,
): Promise<Destination> {
  return updateWithSlug(slugRules, slug, () =>
    entityManager(ctx, deps).transactional(async (em) => {
      const stored = await findDestination(em, param(ctx, 'id'), ids, 'lock');
      requireWanted(ctx, 'destination', stored);
      em.assign(stored, change(stored));
      await refuseOwnUrl(em, deps, stored);
      return stored;
    }),
  );
}

export type DestinationChange = ReturnType<typeof changedDestination> | ReturnType<typeof changedWarehouse>;

/** What a change of a destination may do. */
export interface ChangeRights {
  /** Whether the key may see secrets: only then stored ones may go to another host (AUTH-25). */
  maySeeSecrets: boolean;
  /** Whether the destination may still lack its credentials (imports). */
  incomplete?: boolean;
}

/**
 * The columns that a patch of an HTTP destination changes.
 * @throws ApiError 400 when its credentials cannot be used, 403 when they would go to another host
 */
export function changedDestination(
  deps: ApiDeps,
  stored: Destination,
  patch: Partial<DestinationInput>,
  { maySeeSecrets, incomplete = false }: ChangeRights,
) {
  if (!maySeeSecrets) refuseOtherHost(stored, patch);
  const { retryPolicy, authType, authConfig, signingSecret, ...rest } = patch;
  const { id } = stored;
  const isAuthSent = authType !== undefined || authConfig !== undefined;
  if (patch.enabled === true && !isAuthSent && !incomplete && lacksCredentials(stored))
    throw invalid('authConfig', 'must be set before it is enabled');
  return {
    ...rest,
    ...(retryPolicy && { retryPolicy: { ...stored.retryPolicy, ...retryPolicy } }),
    ...(isAuthSent && sealAuth(deps, id, changedAuth(deps, stored, authType, authConfig))),
    ...(signingSecret !== undefined && {
      signingSecret: sealSigningSecret(deps, id, signingSecret, openSigningSecret(deps, stored)),
      // What is set by an update counts alone, and at once.
      ...(!(signingSecret !== null && isRedacted(signingSecret)) && {
        previousSigningSecret: null,
        previousSigningSecretUntil: null,
      }),
    }),
  };
}

/** The signing secret may go along: it is never sent, and signs what its owner would get anyway. @throws ApiError 403 */
function refuseOtherHost(stored: Destination, { url, authType, authConfig }: Partial<DestinationInput>): void {
  if (url === undefined || !stored.authConfig || originOf(url) === originOf(stored.url)) return;
  const isKept = authType === undefined || authType === stored.authType;
  if (!isKept || !keepsAuthSecret(stored.authType, authConfig ?? undefined)) return;
  throw secretOfAnotherHost('url', `authConfig with its ${AUTH_SECRET_FIELD[stored.authType]}`);
}

/** Whether it was imported without its credentials, and has had none since: every delivery would fail. */
export const lacksCredentials = ({ authType, authConfig }: Destination): boolean => authType !== 'none' && !authConfig;

/** Deletes the destination of the path and signals the workflows of its open deliveries. */
export async function removeDestination(ctx: Context, deps: ApiDeps, ids: DestinationIds): Promise<void> {
  const id = param(ctx, 'id');
  requireId('destination', ids, id);
  const { deleted, cancelled } = await despiteConflicts(() =>
    deleteDestinations(deps.pool, organizationId(ctx), [id], ([removed], routeIds) => {
      if (removed) requireWanted(ctx, 'destination', removed);
      // They lead there no longer.
      noteRecords(ctx, routeIds);
    }),
  );
  if (deleted.length === 0) throw notFound('destination', id);
  deps.signals.cancelAll(cancelled);
  ctx.status = 204;
}

/** Answers one page of the destinations of the path's family, newest first. */
export async function listDestinations(ctx: Context, deps: ApiDeps, ids: DestinationIds): Promise<void> {
  const query = parseQuery(ctx, listSchema);
  const pattern = query.search && containsPattern(query.search);
  const [destinations, total] = await entityManager(ctx, deps).findAndCount(
    Destination,
    {
      ...(ids === httpDestinations && { type: 'http' }),
      ...(query.enabled !== undefined && { enabled: query.enabled }),
      ...(pattern && { $or: [{ name: { $ilike: pattern } }, { url: { $ilike: pattern } }] }),
    },
    newestFirst(query),
  );
  const listed = destinations.map(({ id }) => id);
  const [totals, pauses] = await Promise.all([
    destinationTotals(deps.pool, listed, deps.settings.HOOKYARD_HEALTH_WINDOW_HOURS),
    pausesOf(deps.pool, organizationId(ctx), listed),
  ]);
  ctx.body = listAnswer(
    destinations.map((destination) => {
      const { id } = destination;
      return summarizeDestination(deps, destination, { totals: totals.get(id), pause: pauses.get(id) });
    }),
    total,
    query,
  );
}

/** Answers the health object of the destination of the path. */
export async function showHealth(ctx: Context, deps: ApiDeps, ids: DestinationIds): Promise<void> {
  const { id } = await findDestination(entityManager(ctx, deps), param(ctx, 'id'), ids);
  const health = await destinationHealth(deps.pool, id, deps.settings.HOOKYARD_HEALTH_WINDOW_HOURS);
  ctx.body = {
    ...health,
    lastDeliveryAt: isoTime(health.lastDeliveryAt),
    lastSuccessAt: isoTime(health.lastSuccessAt),
    lastFailureAt: isoTime(health.lastFailureAt),
  };
}

/** A stored authConfig in clear; null when the destination has none. */
export function openAuthConfig(
  deps: Pick<ApiDeps, 'secretBox'>,
  destination: Destination,
): Record<string, string> | null {
  const { authConfig, id } = destination;
  if (authConfig === null || authConfig === undefined) return null;
  return z.record(z.string(), z.string()).parse(JSON.parse(deps.secretBox.decrypt(authConfig, id)));
}

/** A stored signing secret in clear; null when deliveries are not signed. */
export function openSigningSecret(deps: Pick<ApiDeps, 'secretBox'>, destination: Destination): string | null {
  const { signingSecret, id } = destination;
  return signingSecret === null || signingSecret === undefined ? null : deps.secretBox.decrypt(signingSecret, id);
}

/** The secrets that deliveries are signed with, in clear: during a rotation two. */
export function openSigningSecrets(deps: Pick<ApiDeps, 'secretBox'>, destination: Destination) {
  const { previousSigningSecret: previous, previousSigningSecretUntil: until, id } = destination;
  return {
    signingSecret: openSigningSecret(deps, destination),
    previousSigningSecret: previous ? deps.secretBox.decrypt(previous, id) : null,
    previousSigningSecretUntil: until ? until.getTime() : null,
  };
}

// A masked secret keeps the stored one only if the type is unchanged.
function changedAuth(
  deps: ApiDeps,
  stored: Destination,
  authType: AuthType = stored.authType,
  authConfig?: Record<string, unknown> | null,
): Auth {
  const known = authType === stored.authType ? openAuthConfig(deps, stored) : null;
  return checkAuth(authType, authConfig ?? (authConfig === undefined ? known : null) ?? {}, known);
}

function checkAuth(
  authType: AuthType,
  authConfig: Record<string, unknown>,
  stored: Record<string, string> | null,
): Auth {
  // The masked secret is replaced first: the mask itself is not a valid header value.
  const texts = z.record(z.string(), z.string()).safeParse(authConfig);
  const kept = texts.success
    ? keepRedactedAuthConfig(authType, texts.data, stored)
    : { ok: true as const, config: authConfig };
  if (!kept.ok) throw invalid(`authConfig.${kept.field}`, 'must be the whole secret: there is none stored to keep');
  const checked = check(
    z.object({ authConfig: authConfigSchemas[authType] as z.ZodType<Record<string, string>> }),
    { authConfig: kept.config },
    'The body',
  );
  return { authType, authConfig: checked.authConfig };
}

function sealAuth(deps: ApiDeps, id: string, auth: Auth) {
  const sealed = auth.authType === 'none' ? null : deps.secretBox.encrypt(JSON.stringify(auth.authConfig), id);
  return { authType: auth.authType, authConfig: sealed };
}

function sealSigningSecret(deps: ApiDeps, id: string, incoming: string | null, stored: string | null): string | null {
  if (incoming === null) return null;
  const kept = keepRedacted(incoming, stored);
  if (!kept.ok) throw invalid('signingSecret', 'must be the whole secret: there is none stored to keep');
  const problem = signingSecretProblem(kept.value);
  if (problem !== null) throw invalid('signingSecret', problem);
  return deps.secretBox.encrypt(kept.value, id);
}
