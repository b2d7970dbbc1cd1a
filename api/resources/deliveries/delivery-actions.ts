// Retry, replay or cancel every delivery that a filter selects: a bounded step for each call, the newest first.
import pMap from 'p-map';
import { z } from 'zod';
import { type DeliveryStatus, OPEN_STATUSES } from '../../../core/delivery/delivery.ts';
import { openError, ownWords } from '../../../core/text/error-summary.ts';
import { isId } from '../../../core/text/ids.ts';
import { plural } from '../../../core/text/plural.ts';
import { cancelDeliveries } from '../../../db/delivery/delivery-commands.ts';
import type { DeliveryRecord } from '../../../db/history/deliveries.ts';
import { inTransaction } from '../../../db/connections/pool.ts';
import { replayDeliveries } from '../../../db/replay/replay.ts';
import { type ApiDeps, type Context, organizationId } from '../../request/context.ts';
import { noteDryRun, noteRecords, recordAhead } from '../../auth/audit-trail.ts';
import { invalid } from '../../request/errors.ts';
import { count, idOf, text, withExample } from '../values.ts';
import { operation } from '../../request/operation.ts';
import { FIRST, textMember } from '../../request/query.ts';
import { inRoom } from '../events/replays.ts';
import { deliveryFilterMembers, readDeliveries, signalRetry } from './deliveries.ts';

const ACTIONS = ['retry', 'replay', 'cancel'] as const;
type Action = (typeof ACTIONS)[number];
const MAX_STEP = 100;
const SIGNALS_AT_ONCE = 10;

/** The statuses to which an action applies; null: all. */
const APPLIES: Record<Action, readonly DeliveryStatus[] | null> = {
  retry: ['retrying'],
  replay: null,
  cancel: OPEN_STATUSES,
};

export const deliveryActionOperation = operation('actOnDeliveries', 'post', '/api/deliveries/bulk', {
  tag: 'Deliveries',
  summary: 'Retry, replay or cancel the deliveries that match a filter',
  description:
    'Accepts the filters of the list, at least one. Each call acts on a limited number, newest first; repeat it with ' +
    '`nextCursor` until it is null. Deliveries created after the first call do not match.',
  body: {
    selects: true,
    schema: z.strictObject({
      eventId: textMember,
      ...deliveryFilterMembers,
      action: z.enum(ACTIONS),
      cursor: z
        .string()
        .refine(
          (cursor) => cursor === FIRST || isId('dlv', cursor),
          `must be ${FIRST}, or the nextCursor of a response`,
        )
        .default(FIRST)
        .describe(`\`${FIRST}\`, or the \`nextCursor\` of the previous page.`),
      limit: z.int().min(1).max(MAX_STEP).default(MAX_STEP).describe('The maximum number of deliveries per call.'),
      dryRun: z.boolean().default(false).describe('Counts the matches without changing anything.'),
    }),
    examples: {
      count: { action: 'replay', status: ['failed'], from: '2026-11-21T00:00:00Z', dryRun: true },
      step: { action: 'cancel', status: ['retrying'], limit: 50 },
    },
  },
  answer: {
    description: 'The number of matches and of changed deliveries in this call.',
    schema: z.object({
      message: text('98 of 100 deliveries were replayed'),
      deliveriesFound: withExample(count, 100, 'The number of matches in this call, or with `dryRun`, of all matches.'),
      deliveriesChanged: withExample(
        count,
        98,
        'The number of changed deliveries. The other matches have changed or cannot be replayed: they are in progress, or a later delivery has replaced them.',
      ),
      nextCursor: idOf('dlv').nullable().describe('The `cursor` of the next call. Null if there are no more matches.'),
    }),
  },
  errors: { 400: ['SEARCH_TOO_BROAD'] },
  async run(ctx, deps, { body: { action, cursor, limit, dryRun, ...filter } }) {
    if (Object.values(filter).every((value) => value === undefined))
      throw invalid('status', 'or another filter of the list is required, such as routeId or from');
    const status = applicable(action, filter.status);
    const after = cursor === FIRST ? null : cursor;
    const part = { limit: dryRun ? 1 : limit, after, withTotal: dryRun };
    // Nothing has a status of none.
    const { deliveries, total, totalIsExact, next } =
      status?.length === 0
        ? { deliveries: [], total: 0, totalIsExact: true, next: null }
        : await readDeliveries(ctx, deps, { ...filter, status }, part);
    if (dryRun) {
      noteDryRun(ctx);
      const deliveriesFound = total ?? 0;
      const message = `${totalIsExact ? '' : 'About '}${plural(deliveriesFound, 'delivery')} would be ${DONE[action]}`;
      return { message, deliveriesFound, deliveriesChanged: 0, nextCursor: null };
    }
    noteRecords(
      ctx,
      deliveries.map(({ id }) => id),
    );
    const deliveriesChanged = deliveries.length === 0 ? 0 : await STEPS[action](ctx, deps, deliveries);
    const message = `${deliveriesChanged} of ${plural(deliveries.length, 'delivery was', 'deliveries were')} ${DONE[action]}`;
    return { message, deliveriesFound: deliveries.length, deliveriesChanged, nextCursor: next };
  },
});

const DONE: Record<Action, string> = { retry: 'retried', replay: 'replayed', cancel: 'cancelled' };

/** The statuses that are asked for and to which the action applies; undefined: all. */
function applicable(action: Action, asked: DeliveryStatus[] | undefined): DeliveryStatus[] | undefined {
  const applies = APPLIES[action];
  if (applies === null) return asked;
  return asked === undefined ? [...applies] : asked.filter((status) => applies.includes(status));
}

const STEPS: Record<Action, (ctx: Context, deps: ApiDeps, deliveries: DeliveryRecord[]) => Promise<number>> = {
  async retry(ctx, deps, deliveries) {
    await recordAhead(ctx);
    const organization = organizationId(ctx);
    const signal = (delivery: DeliveryRecord) => signalRetry(deps, organization, delivery);
    const done = await pMap(deliveries, signal, { concurrency: SIGNALS_AT_ONCE });
    return done.filter(Boolean).length;
  },
  async replay(ctx, deps, deliveries) {
    const ids = deliveries.map(({ id }) => id);
    const replay = inRoom(ctx, deps, (...budget) => replayDeliveries(deps.pool, organizationId(ctx), ids, ...budget));
    return (await replay).deliveriesCreated;
  },
  async cancel(ctx, deps, deliveries) {
    const selection = {
      organizationId: organizationId(ctx),
      deliveryIds: deliveries.map(({ id }) => id),
      reason: openError(ownWords`Cancelled by a user`),
      notInBatch: true,
    };
    const cancelled = await inTransaction(deps.pool, (db) => cancelDeliveries(db, selection));
    deps.signals.cancelAll(cancelled);
    return cancelled.length;
  },
};
