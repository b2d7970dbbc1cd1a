// A destination as answers show it, the same in both families.
// Rules: DEST-16 to DEST-20, DEST-28.
import { redactAuthConfig, redactSecret } from '../../../core/text/redaction.ts';
import { type Pause, pausesOf } from '../../../db/circuits/pauses.ts';
import type { Destination } from '../../../db/entities.ts';
import { type DestinationTotals, destinationTotals } from '../../../db/ledger/statistics.ts';
import type { ApiDeps, Context } from '../../request/context.ts';
import { destinationMembers, summaryMembers } from './destination-members.ts';
import { showPause } from '../routes/pause-members.ts';
import { toAnswer } from '../table.ts';
import { warehouseMembers, warehouseSummaryMembers } from './warehouse-members.ts';
import { tell } from '../../request/preconditions.ts';
import { stillValid } from '../records.ts';
import { openAuthConfig, openSigningSecret } from './destination-record.ts';
import { isWarehouse, showWarehouse } from './destination-warehouse.ts';

/** All members, secrets masked, for answers with one destination, which carry its `ETag`. */
export async function showDestination(ctx: Context, deps: ApiDeps, destination: Destination) {
  const { id, organizationId } = destination;
  tell(ctx, destination);
  const [allTotals, pauses] = await Promise.all([
    destinationTotals(deps.pool, [id], deps.settings.HOOKYARD_HEALTH_WINDOW_HOURS),
    pausesOf(deps.pool, organizationId, [id]),
  ]);
  const totals = allTotals.get(id);
  const signingSecret = openSigningSecret(deps, destination);
  const others = {
    ...recentTotals(totals),
    ...showPause(pauses.get(id)),
    lastDeliveryAt: totals.lastDeliveryAt,
    authConfig: redactAuthConfig(destination.authType, openAuthConfig(deps, destination)),
    signingSecret: signingSecret === null ? null : redactSecret(signingSecret),
    previousSigningSecretUntil: stillValid(destination.previousSigningSecretUntil),
  };
  return isWarehouse(destination)
    ? toAnswer(warehouseMembers, destination, { ...others, ...showWarehouse(deps, destination) })
    : toAnswer(destinationMembers, destination, others);
}

/** As lists show it (DEST-28). */
export function summarizeDestination(
  deps: ApiDeps,
  destination: Destination,
  { totals, pause }: { totals: DestinationTotals; pause: Pause | undefined },
) {
  const { paused, pausedUntil } = showPause(pause);
  return isWarehouse(destination)
    ? toAnswer(warehouseSummaryMembers, destination, { ...showWarehouse(deps, destination), paused, pausedUntil })
    : toAnswer(summaryMembers, destination, { ...recentTotals(totals), paused, pausedUntil });
}

function recentTotals({ successRate, avgLatency, deliveriesCount }: DestinationTotals) {
  return { successRate, avgLatency, deliveriesCount };
}
