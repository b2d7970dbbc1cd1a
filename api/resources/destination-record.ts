// What both destination families do to the one store behind them.
// Rules: DEST-21, DEST-28, DEST-32, DEST-35.
import { type AuthType, authConfigSchemas } from '../../core/auth-config.ts';
import type { RetryPolicy } from '../../core/backoff.ts';
import { newId } from '../../core/ids.ts';
import { keepRedactedAuthConfig, keepRedacted } from '../../core/redaction.ts';
import { signingSecretProblem } from '../../core/signatures/standard-webhooks.ts';
import { deleteDestinations } from '../../db/delivery/delivery-commands.ts';
import { Destination } from '../../db/entities.ts';
import { destinationHealth, destinationTotals } from '../../db/history/statistics.ts';
import { z } from 'zod';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../context.ts';
import { invalid, notFound } from '../errors.ts';
import { listAnswer, newestFirst, pageParams } from '../pagination.ts';
import { booleanParam, containsPattern, textParam } from '../query.ts';
import { type DestinationIds, findDestination, httpDestinations, isoTime, requireId } from '../records.ts';
import { check, parseQuery } from '../validation.ts';
import { summarizeDestination } from './destination-view.ts';
import { type changedWarehouse, httpDefaults, type newWarehouse } from './destination-warehouse.ts';
import { type SlugRules, storeWithSlug, updateWithSlug } from './unique-slugs.ts';

export const listSchema = z.object({
  ...pageParams,
  enabled: booleanParam,
  search: textParam.meta({ description: 'A part of the name or address, whatever its case.' }),
});
export const slugRules: SlugRules = {
  kind: 'destination',
  entity: Destination,
  constraint: 'destinations_slug_unique',
};

/** A destination's authentication, secrets in clear. */
interface Auth {
  authType: AuthType;
  authConfig: Record<string, string>;
}

/** The members of a new destination as a client sends them; what is absent takes its default. */
export interface DestinationInput {
  name: string;
  url: string;
  slug?: string;
  description?: string | null;
  method?: Destination['method'];
  headers?: Record<string, string>;
  authType?: AuthType;
  authConfig?: Record<string, unknown> | null;
  signingSecret?: string | null;
  timeoutMs?: number;
  rateLimitPerMinute?: number | null;
  retryPolicy?: Partial<RetryPolicy>;
  enabled?: boolean;
}

/** A destination that is complete but for its slug. */
export type NewDestination = ReturnType<typeof newDestination> | ReturnType<typeof newWarehouse>;

/** Stores a new destination; its slug is the given one or made of its name. @throws ApiError 409 DUPLICATE_SLUG */
export async function storeDestination(
  ctx: Context,
  deps: ApiDeps,
  slug: string | undefined,
  record: NewDestination,
): Promise<Destination> {
  return storeWithSlug(
    slugRules,
    { name: record.name, ...(slug !== undefined && { slug }) },
    () => entityManager(ctx, deps),
    async (em, freeSlug) => {
      const destination = em.create(Destination, { ...record, slug: freeSlug });
      await em.persist(destination).flush();
      return destination;
    },
  );
}

/** A new HTTP destination as it is stored, all but its slug. @throws ApiError 400 when its credentials cannot be used */
export function newDestination(deps: ApiDeps, organizationId: string, input: DestinationInput) {
  const id = newId('dst');
  const { retryPolicy, authType = 'none', authConfig, signingSecret, slug: _slug, ...rest } = input;
  const auth = checkAuth(authType, authConfig ?? {}, null);
  return {
    ...httpDefaults,
    description: null,
    enabled: true,
    ...rest,
    id,
    organizationId,
    type: 'http' as const,
    ...sealAuth(deps, id, auth),
    signingSecret: sealSigningSecret(deps, id, signingSecret ?? null, null),
    retryPolicy: { ...httpDefaults.retryPolicy, ...retryPolicy },
  };
}

/**
 * Changes the stored destination of the path.
 * @param ids those that the family of the path knows
 * @param change what is to be stored anew, given the record as it is
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
      em.assign(stored, change(stored));
      return stored;
    }),
  );
}

export type DestinationChange = ReturnType<typeof changedDestination> | ReturnType<typeof changedWarehouse>;

/** What a patch makes of a stored HTTP destination. @throws ApiError 400 when its credentials cannot be used */
export function changedDestination(deps: ApiDeps, stored: Destination, patch: Partial<DestinationInput>) {
  const { retryPolicy, authType, authConfig, signingSecret, ...rest } = patch;
  const { id } = stored;
  return {
    ...rest,
    ...(retryPolicy && { retryPolicy: { ...stored.retryPolicy, ...retryPolicy } }),
    ...((authType !== undefined || authConfig !== undefined) &&
      sealAuth(deps, id, changedAuth(deps, stored, authType, authConfig))),
    ...(signingSecret !== undefined && {
      signingSecret: sealSigningSecret(deps, id, signingSecret, openSigningSecret(deps, stored)),
    }),
  };
}

/** Deletes the destination of the path and tells the workflows of its open deliveries. */
export async function removeDestination(ctx: Context, deps: ApiDeps, ids: DestinationIds): Promise<void> {
  const id = param(ctx, 'id');
  requireId('destination', ids, id);
  const { deleted, cancelled } = await deleteDestinations(deps.pool, organizationId(ctx), [id]);
  if (deleted.length === 0) throw notFound('destination', id);
  deps.signals.cancelAll(cancelled);
  ctx.status = 204;
}

/** Answers one page of the destinations that the family of the path knows, newest first. */
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
  const totals = await destinationTotals(deps.pool, listed, deps.settings.HOOKYARD_HEALTH_WINDOW_HOURS);
  ctx.body = listAnswer(
    destinations.map((destination) => summarizeDestination(deps, destination, totals.get(destination.id))),
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

// A masked secret is kept only while the type stays: with another type there is nothing it could stand for.
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
  // The masked secret is put back first: it would not pass as a header value itself.
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
