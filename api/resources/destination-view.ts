// A destination as answers show it, the same in both families.
// Rules: DEST-16 to DEST-20, DEST-28.
import { redactAuthConfig, redactSecret } from '../../core/redaction.ts';
import type { Destination } from '../../db/entities.ts';
import { type DestinationTotals, destinationTotals } from '../../db/history/statistics.ts';
import type { ApiDeps } from '../context.ts';
import { isoTime } from '../records.ts';
import { openAuthConfig, openSigningSecret } from './destination-record.ts';
import { isWarehouse, showWarehouse } from './destination-warehouse.ts';

/** All members, secrets masked. */
export async function showDestination(deps: ApiDeps, destination: Destination) {
  const { id } = destination;
  const totals = (await destinationTotals(deps.pool, [id], deps.settings.HOOKYARD_HEALTH_WINDOW_HOURS)).get(id);
  const signingSecret = openSigningSecret(deps, destination);
  return {
    ...identity(destination),
    ...recentTotals(totals),
    ...(isWarehouse(destination) && showWarehouse(deps, destination)),
    slug: destination.slug,
    description: destination.description ?? null,
    method: destination.method,
    headers: destination.headers,
    authType: destination.authType,
    authConfig: redactAuthConfig(destination.authType, openAuthConfig(deps, destination)),
    signingSecret: signingSecret === null ? null : redactSecret(signingSecret),
    timeoutMs: destination.timeoutMs,
    rateLimitPerMinute: destination.rateLimitPerMinute ?? null,
    retryPolicy: destination.retryPolicy,
    lastDeliveryAt: isoTime(totals.lastDeliveryAt),
    createdAt: isoTime(destination.createdAt),
    updatedAt: isoTime(destination.updatedAt),
  };
}

/** As lists show it (DEST-28). */
export function summarizeDestination(deps: ApiDeps, destination: Destination, totals: DestinationTotals) {
  return {
    ...identity(destination),
    ...(isWarehouse(destination) ? { config: showWarehouse(deps, destination).config } : recentTotals(totals)),
  };
}

function identity({ id, name, type, url, enabled }: Destination) {
  return { id, name, type, url, enabled };
}

function recentTotals({ successRate, avgLatency, deliveriesCount }: DestinationTotals) {
  return { successRate, avgLatency, deliveriesCount };
}
