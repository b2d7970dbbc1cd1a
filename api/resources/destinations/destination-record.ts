import { z } from 'zod';
import { authConfigSchemas, type AuthType } from '../../../core/delivery/auth-config.ts';
import { DEFAULT_RETRY_POLICY } from '../../../core/delivery/backoff.ts';
import { originOf } from '../../../core/http/urls.ts';
import { signingSecretProblem } from '../../../core/verification/standard-webhooks.ts';
import { newId } from '../../../core/text/ids.ts';
import {
  AUTH_SECRET_FIELD,
  isRedacted,
  keepRedacted,
  keepRedactedAuthConfig,
  keepsAuthSecret,
  NEEDS_FULL_SECRET,
  redactAuthConfig,
  redactSecret,
} from '../../../core/text/redaction.ts';
import { type Pause, pausesOf } from '../../../db/circuits/pauses.ts';
import { Destination } from '../../../db/records/entities.ts';
import { destinationTotals, type DestinationTotals } from '../../../db/ledger/statistics.ts';
import { refusedUrl } from '../../../outbound/http/address-guard.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { requireRecordRoom } from '../../auth/request-and-record-limits.ts';
import { maySeeSecrets, secretOfAnotherHost } from '../../auth/scopes.ts';
import { type ApiDeps, callerOf, type Context } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { check, checkMember } from '../../request/validation.ts';
import * as field from '../fields.ts';
import { stillValid, storeWithSlug, tell } from '../records.ts';
import { showPause } from '../routes/pauses.ts';
import { toAnswer } from '../table.ts';
import {
  createDestinationSchema,
  createWarehouseSchema,
  destinationDefaults,
  type DestinationInput,
  destinationMembers,
  summaryMembers,
  warehouseMembers,
  warehouseSummaryMembers,
} from './destination-members.ts';
import {
  type changedWarehouse,
  type ChangeRights,
  isWarehouse,
  type newWarehouse,
  refuseConfig,
  replacedWarehouse,
  requireAccess,
  showWarehouse,
} from './destination-warehouse.ts';

interface Auth {
  authType: AuthType;
  authConfig: Record<string, string>;
}

export type NewDestination = ReturnType<typeof newDestination> | ReturnType<typeof newWarehouse>;

/** Stores a new destination; its slug is the given one or made of its name. @throws ApiError 409 DUPLICATE_SLUG, 429 */
export async function storeDestination(
  ctx: Context,
  slug: string | undefined,
  record: NewDestination,
): Promise<Destination> {
  noteRecords(ctx, [record.id]);
  return storeWithSlug(ctx, 'destination', { name: record.name, slug }, async (em, freeSlug) => {
    await requireRecordRoom(em, ctx, 'destinations');
    return em.create(Destination, { ...record, slug: freeSlug });
  });
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

type DestinationChange = ReturnType<typeof changedDestination> | ReturnType<typeof changedWarehouse>;

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
    throw invalid('authConfig', 'must be set before you enable the destination');
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

/**
 * The signing secret may go along: it is never sent, and signs what its owner would get anyway.
 * @throws ApiError 403
 */
function refuseOtherHost(stored: Destination, { url, authType, authConfig }: Partial<DestinationInput>): void {
  if (url === undefined || !stored.authConfig || originOf(url) === originOf(stored.url)) return;
  const isKept = authType === undefined || authType === stored.authType;
  if (!isKept || !keepsAuthSecret(stored.authType, authConfig ?? undefined)) return;
  throw secretOfAnotherHost('url', `authConfig with its ${AUTH_SECRET_FIELD[stored.authType]}`);
}

/** Whether it was imported without its credentials, and has had none since: every delivery would fail. */
export const lacksCredentials = ({ authType, authConfig }: Destination): boolean => authType !== 'none' && !authConfig;

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
  if (!kept.ok) throw invalid(`authConfig.${kept.field}`, NEEDS_FULL_SECRET);
  const schema = authConfigSchemas[authType] as z.ZodType<Record<string, string>>;
  return { authType, authConfig: checkMember('authConfig', schema, kept.config) };
}

function sealAuth(deps: ApiDeps, id: string, auth: Auth) {
  const sealed = auth.authType === 'none' ? null : deps.secretBox.encrypt(JSON.stringify(auth.authConfig), id);
  return { authType: auth.authType, authConfig: sealed };
}

function sealSigningSecret(deps: ApiDeps, id: string, incoming: string | null, stored: string | null): string | null {
  if (incoming === null) return null;
  const kept = keepRedacted(incoming, stored);
  if (!kept.ok) throw invalid('signingSecret', NEEDS_FULL_SECRET);
  const problem = signingSecretProblem(kept.value);
  if (problem !== null) throw invalid('signingSecret', problem);
  return deps.secretBox.encrypt(kept.value, id);
}

export async function showDestination(ctx: Context, destination: Destination) {
  const { id, organizationId } = destination;
  tell(ctx, destination);
  const [allTotals, pauses] = await Promise.all([
    destinationTotals(ctx.deps.pool, [id], ctx.deps.settings.HOOKYARD_HEALTH_WINDOW_HOURS),
    pausesOf(ctx.deps.pool, organizationId, [id]),
  ]);
  const totals = allTotals.get(id);
  const signingSecret = openSigningSecret(ctx.deps, destination);
  const others = {
    ...recentTotals(totals),
    ...showPause(pauses.get(id)),
    lastDeliveryAt: totals.lastDeliveryAt,
    authConfig: redactAuthConfig(destination.authType, openAuthConfig(ctx.deps, destination)),
    signingSecret: signingSecret === null ? null : redactSecret(signingSecret),
    previousSigningSecretUntil: stillValid(destination.previousSigningSecretUntil),
  };
  return isWarehouse(destination)
    ? toAnswer(warehouseMembers, destination, { ...others, ...showWarehouse(ctx.deps, destination) })
    : toAnswer(destinationMembers, destination, { ...others, warnings: urlWarnings(ctx.deps, destination.url) });
}

function urlWarnings({ allowList }: ApiDeps, url: string): string[] {
  const refused = refusedUrl(url, allowList());
  if (refused === null) return [];
  return [
    `url points to ${refused}, so no requests are sent to it; use a public URL, or ask the operator to allow the address in HOOKYARD_DELIVERY_ALLOW`,
  ];
}

export function summarizeDestination(
  deps: ApiDeps,
  destination: Destination,
  totals: DestinationTotals,
  pause: Pause | undefined,
) {
  const { paused, pausedUntil } = showPause(pause);
  return isWarehouse(destination)
    ? toAnswer(warehouseSummaryMembers, destination, { ...showWarehouse(deps, destination), paused, pausedUntil })
    : toAnswer(summaryMembers, destination, { ...recentTotals(totals), paused, pausedUntil });
}

function recentTotals({ successRate, avgLatency, deliveriesCount }: DestinationTotals) {
  return { successRate, avgLatency, deliveriesCount };
}

/** The columns of a destination that a `PUT` replaces. @throws ApiError 400, 403 */
export function replacedDestination(ctx: Context, stored: Destination, body: unknown): DestinationChange {
  const rights = { maySeeSecrets: maySeeSecrets(ctx) };
  if (isWarehouse(stored)) {
    const changed = replacedWarehouse(ctx.deps, stored, check(createWarehouseSchema, body), rights);
    const { id, type, config } = stored;
    requireAccess(ctx.deps, callerOf(ctx).organization, { id, type, config: changed.config ?? config ?? null });
    return changed;
  }
  const input = check(createDestinationSchema, body);
  refuseConfig(body);
  return replacedHttp(ctx.deps, stored, input, rights);
}

function replacedHttp(
  deps: ApiDeps,
  stored: Destination,
  { slug: _slug, retryPolicy, ...rest }: DestinationInput,
  rights: ChangeRights,
): DestinationChange {
  // A script that leaves credentials out does not mean to remove them: they stay.
  const { authType: _none, ...defaults } = destinationDefaults;
  const { authConfig: auth = stored.authConfig, ...changed } = changedDestination(
    deps,
    stored,
    { ...defaults, ...field.sent(rest), retryPolicy: { ...DEFAULT_RETRY_POLICY, ...retryPolicy } },
    rights,
  );
  const after = { ...stored, ...changed, authConfig: auth };
  // Encrypted again, what is the same would look changed, and a rotation would end.
  const isSameAuth = JSON.stringify(openAuthConfig(deps, after)) === JSON.stringify(openAuthConfig(deps, stored));
  const { signingSecret: sealed, previousSigningSecret, previousSigningSecretUntil, ...others } = changed;
  const isSameSecret = openSigningSecret(deps, after) === openSigningSecret(deps, stored);
  return {
    ...others,
    ...(!isSameAuth && { authConfig: auth }),
    ...(!isSameSecret && { signingSecret: sealed, previousSigningSecret, previousSigningSecretUntil }),
  };
}
