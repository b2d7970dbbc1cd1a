import pMap from 'p-map';
import { z } from 'zod';
import { DELIVERY_STATUSES, type DeliveryStatus, LANES, OPEN_STATUSES } from '../../../core/delivery/delivery.ts';
import { causeOf } from '../../../core/process/log-cause.ts';
import { openError, ownWords } from '../../../core/text/error-summary.ts';
import { isId } from '../../../core/text/ids.ts';
import { plural } from '../../../core/text/words.ts';
import { inTransaction } from '../../../db/connections/pool.ts';
import { cancelDeliveries, type EndSelection } from '../../../db/delivery/delivery-commands.ts';
import {
  attemptsOf,
  type DeliveryRecord,
  findDelivery,
  listDeliveries,
  CODE_CLASSES,
  isDeliverySearch,
} from '../../../db/history/deliveries.ts';
import type { Part } from '../../../db/sql/list-parts.ts';
import { CannotReplayError, replayDeliveries, replayDelivery } from '../../../db/replay/replay.ts';
import { noteDryRun, noteRecords, recordAhead } from '../../auth/audit-trail.ts';
import { type ApiDeps, type Context, organizationId } from '../../request/context.ts';
import { type ApiError, conflict, invalid, unavailable } from '../../request/errors.ts';
import { type Operation, operation } from '../../request/operation.ts';
import {
  booleanParam,
  choiceParam,
  choicesParam,
  containsPattern,
  FIRST,
  integerParam,
  partAnswer,
  partOf,
  partParams,
  textMember,
  textParam,
  timeParam,
} from '../../request/query.ts';
import { searched } from '../events/events.ts';
import { inRoom } from '../events/replays.ts';
import { reader } from '../records.ts';
import { count, idOf, partOfList, text, withExample } from '../values.ts';
import {
  deliveryAnswer,
  deliveryWithAttempts,
  holdsOf,
  showAttempt,
  showDeliveries,
  showDelivery,
} from './delivery-view.ts';

const CODES = { min: 100, max: 599 };

/** What is said of the filters, in a query and in a body. */
const SAID = {
  statusCode: 'The status code of the latest attempt.',
  codeClass: "The class of the latest attempt's status code, or `none` if there was no response.",
  error: "Matches part of the delivery's `error`. Case-insensitive.",
  lane: 'The lane of the first attempt.',
  isReplay: 'Whether the delivery is a replay.',
  replayed: 'Whether the delivery was replayed.',
};
const SEARCHED = Object.keys(SAID) as (keyof typeof SAID)[];

const deliveryFilterParams = {
  sourceId: textParam,
  routeId: textParam,
  destinationId: textParam,
  status: choicesParam(DELIVERY_STATUSES).describe('One or more statuses.'),
  statusCode: integerParam(CODES.min, CODES.max).describe(SAID.statusCode),
  codeClass: choiceParam(CODE_CLASSES).describe(SAID.codeClass),
  error: textParam.describe(SAID.error),
  lane: choiceParam(LANES).describe(SAID.lane),
  isReplay: booleanParam.describe(SAID.isReplay),
  replayed: booleanParam.describe(SAID.replayed),
  from: timeParam,
  to: timeParam,
};

const status = z.enum(DELIVERY_STATUSES);

const deliveryFilterMembers = {
  sourceId: textMember,
  routeId: textMember,
  destinationId: textMember,
  status: z.union([status.transform((one) => [one]), z.array(status).min(1).max(DELIVERY_STATUSES.length)]).optional(),
  statusCode: z.int().min(CODES.min).max(CODES.max).optional().describe(SAID.statusCode),
  codeClass: z.enum(CODE_CLASSES).optional().describe(SAID.codeClass),
  error: textMember.describe(SAID.error),
  lane: z.enum(LANES).optional().describe(SAID.lane),
  isReplay: z.boolean().optional().describe(SAID.isReplay),
  replayed: z.boolean().optional().describe(SAID.replayed),
  from: timeParam,
  to: timeParam,
};

const listSchema = z.object({ ...partParams, eventId: textParam, ...deliveryFilterParams });

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

const CANCELLED = { reason: openError(ownWords`Cancelled by a user`), notInBatch: true };

const base = '/api/deliveries';
export const deliveryRecords = reader('delivery', 'dlv', findDelivery);
const common = { tag: 'Deliveries', of: deliveryRecords } as const;

export const deliveryOperations: Operation[] = [
  operation('listDeliveries', 'get', base, {
    tag: 'Deliveries',
    summary: 'List deliveries',
    query: listSchema,
    answer: { description: 'One page, newest first.', schema: partOfList(deliveryAnswer) },
    errors: { 400: ['SEARCH_TOO_BROAD'] },
    async run(ctx, { query }) {
      const { deliveries, ...found } = await readDeliveries(ctx, query, partOf(ctx, query, 'dlv'));
      return partAnswer(await showDeliveries(ctx, deliveries), found, query);
    },
  }),
  operation('getDelivery', 'get', `${base}/{id}`, {
    ...common,
    summary: 'Get a delivery with its attempts',
    answer: { description: 'The delivery, with its attempts.', schema: deliveryWithAttempts },
    run: (ctx, { record }) => showWithAttempts(ctx, record),
  }),
  operation('retryDelivery', 'post', `${base}/{id}/retry`, {
    ...common,
    summary: 'Retry a delivery now',
    answer: {
      description: 'The next attempt starts now.',
      schema: z.object({ message: text('The next attempt starts now'), deliveryId: idOf('dlv') }),
    },
    errors: { 409: ['INVALID_STATE'] },
    async run(ctx, { record: delivery }) {
      const obstacle = await whyNotRetried(ctx, delivery);
      if (obstacle !== null) throw invalidState(delivery, obstacle);
      await recordAhead(ctx);
      if (!(await signalRetry(ctx.deps, organizationId(ctx), delivery)))
        throw invalidState(
          delivery,
          'its workflow has ended; get the delivery again, and replay it if it did not succeed',
        );
      return { message: 'The next attempt starts now', deliveryId: delivery.id };
    },
  }),
  operation('cancelDelivery', 'post', `${base}/{id}/cancel`, {
    ...common,
    summary: 'Cancel a delivery',
    answer: { description: 'The updated delivery.', schema: deliveryWithAttempts },
    errors: { 409: ['INVALID_STATE'] },
    /** PostgreSQL decides; the workflow is signalled afterwards. */
    async run(ctx, { record: delivery }) {
      const cancelled = await cancelOpen(ctx, [delivery.id], CANCELLED);
      const now = await deliveryRecords.ofPath(ctx);
      if (now.status === 'pending' && now.batchId !== null) {
        throw invalidState(now, `its batch ${now.batchId} is being written, so the delivery cannot be cancelled`);
      }
      if (!cancelled.includes(delivery.id)) throw invalidState(now, 'it has already ended');
      return await showWithAttempts(ctx, now);
    },
  }),
  operation('replayDelivery', 'post', `${base}/{id}/replay`, {
    ...common,
    summary: 'Replay a delivery',
    description:
      'Not possible while the delivery is in progress, if a later delivery has replaced it, or if its destination was deleted.',
    answer: {
      description: 'The new delivery.',
      schema: z.object({
        message: text('The delivery was replayed as a new delivery'),
        deliveriesCreated: withExample(count, 1),
        deliveryId: idOf('dlv'),
      }),
    },
    errors: { 409: ['INVALID_STATE'], 410: ['PAYLOAD_EXPIRED'] },
    async run(ctx, { record: delivery }) {
      if (delivery.destinationName === null) {
        throw invalidState(delivery, 'its destination has been deleted; replay the event to another destination');
      }
      try {
        const result = await inRoom(ctx, (...budget) =>
          replayDelivery(ctx.deps.pool, organizationId(ctx), delivery.id, ...budget),
        );
        const deliveryId = result?.deliveries[0]?.id;
        if (result === null || deliveryId === undefined) {
          throw invalidState(
            await deliveryRecords.ofPath(ctx),
            'a later delivery has replaced it, or its destination has been deleted',
          );
        }
        return {
          message: 'The delivery was replayed as a new delivery',
          deliveriesCreated: result.deliveriesCreated,
          deliveryId,
        };
      } catch (error) {
        if (!(error instanceof CannotReplayError) || error.why.is !== 'replaced') throw error;
        throw invalidState(delivery, whyNotReplayed(error.why.by));
      }
    },
  }),
  operation('actOnDeliveries', 'post', '/api/deliveries/bulk', {
    tag: 'Deliveries',
    summary: 'Retry, replay or cancel all deliveries that match the filters',
    description:
      'Accepts the same filters as the list and requires at least one. Each call changes up to `limit` deliveries, newest first. ' +
      "To continue, repeat the call with `cursor` set to the previous response's `nextCursor`. " +
      'Deliveries created after the first call do not match.',
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
            `must be "${FIRST}" or a nextCursor from a previous response`,
          )
          .default(FIRST)
          .describe(`\`${FIRST}\`, or the previous response's \`nextCursor\`.`),
        limit: z.int().min(1).max(MAX_STEP).default(MAX_STEP).describe('The maximum number of deliveries per call.'),
        dryRun: z.boolean().default(false).describe('Whether to count the matches without changing anything.'),
      }),
      examples: {
        count: { action: 'replay', status: ['failed'], from: '2026-11-21T00:00:00Z', dryRun: true },
        step: { action: 'cancel', status: ['retrying'], limit: 50 },
      },
    },
    answer: {
      description: 'The numbers of matching and changed deliveries in this call.',
      schema: z.object({
        message: text('Deliveries replayed: 98 of 100'),
        deliveriesFound: withExample(
          count,
          100,
          'The number of matches in this call. With `dryRun`, the number of all matches, estimated if above 100,000.',
        ),
        deliveriesChanged: withExample(
          count,
          98,
          'The number of deliveries that were retried, replayed or cancelled; 0 with `dryRun`. The other matches were skipped because their status had changed; for `cancel`, also because their batch was being written; for `replay`, also because they were in progress, had been replaced by a later delivery, or lacked their payload or destination.',
        ),
        nextCursor: idOf('dlv')
          .nullable()
          .describe('The value of `cursor` for the next call. Null if there are no more matches, or with `dryRun`.'),
      }),
    },
    errors: { 400: ['SEARCH_TOO_BROAD'] },
    async run(ctx, { body: { action, cursor, limit, dryRun, ...filter } }) {
      if (Object.values(filter).every((value) => value === undefined))
        throw invalid('status', 'or another filter of the list (for example routeId) is required');
      const status = applicable(action, filter.status);
      const after = cursor === FIRST ? null : cursor;
      const part = { limit: dryRun ? 1 : limit, after, withTotal: dryRun };
      // Nothing has a status of none.
      const { deliveries, total, totalIsExact, next } =
        status?.length === 0
          ? { deliveries: [], total: 0, totalIsExact: true, next: null }
          : await readDeliveries(ctx, { ...filter, status }, part);
      if (dryRun) {
        noteDryRun(ctx);
        const deliveriesFound = total ?? 0;
        // Of those that match, some cannot be replayed.
        const exact = action === 'replay' && deliveriesFound > 0 ? 'Up to ' : '';
        const message = `${totalIsExact ? exact : 'About '}${plural(deliveriesFound, 'delivery')} would be ${DONE[action]}`;
        return { message, deliveriesFound, deliveriesChanged: 0, nextCursor: null };
      }
      noteRecords(
        ctx,
        deliveries.map(({ id }) => id),
      );
      const deliveriesChanged = deliveries.length === 0 ? 0 : await STEPS[action](ctx, deliveries);
      const message = `Deliveries ${DONE[action]}: ${deliveriesChanged} of ${deliveries.length}`;
      return { message, deliveriesFound: deliveries.length, deliveriesChanged, nextCursor: next };
    },
  }),
];

type Filters = Omit<z.output<typeof listSchema>, keyof typeof partParams>;

/**
 * The newest first.
 * @throws ApiError 400 SEARCH_TOO_BROAD, 429 where the organization runs too many searches that read many rows
 */
async function readDeliveries(ctx: Context, query: Filters, part: Part) {
  const { eventId, error } = query;
  const filter = { ...query, ...(error !== undefined && { errorPattern: containsPattern(error) }) };
  // What follows a cursor is found quickly, and so are the deliveries of one event.
  const isQuick = eventId !== undefined || !isDeliverySearch(filter) || ('after' in part && !part.withTotal);
  const name = SEARCHED.find((member) => query[member] !== undefined) ?? 'status';
  return searched(ctx, { name, isQuick }, () => listDeliveries(ctx.deps.pool, organizationId(ctx), filter, part));
}

/** Cancels those that are still open; their workflows are signalled afterwards. @returns their ids */
export async function cancelOpen(
  ctx: Context,
  deliveryIds: string[],
  how: Pick<EndSelection, 'reason' | 'notInBatch'>,
): Promise<string[]> {
  const selection = { organizationId: organizationId(ctx), deliveryIds, ...how };
  const cancelled = await inTransaction(ctx.deps.pool, (db) => cancelDeliveries(db, selection));
  ctx.deps.signals.cancelAll(cancelled);
  return cancelled;
}

/** @returns false when the workflow of the delivery has ended meanwhile @throws ApiError 503 */
async function signalRetry(
  deps: ApiDeps,
  organization: string,
  { id: deliveryId, destinationId }: DeliveryRecord,
): Promise<boolean> {
  try {
    return await deps.signals.retryNow({ organizationId: organization, deliveryId, destinationId });
  } catch (error) {
    deps.log.warn({ deliveryId, cause: causeOf(error) }, 'failed to send the retryNow signal');
    throw unavailable('Temporal cannot be reached');
  }
}

async function whyNotRetried(ctx: Context, delivery: DeliveryRecord): Promise<string | null> {
  const { id, status, destinationId, waitsFor } = delivery;
  if (status === 'pending' && isId('dst_wh', destinationId))
    return `it is waiting for a warehouse batch; GET /api/destinations/${destinationId}/batches shows the batch's status`;
  if (waitsFor !== null) return `it is waiting for ${waitsFor}, an earlier delivery with the same ordering key`;
  if (status === 'pending')
    return 'its first attempt is in progress or about to start, so the delivery is not waiting for a retry';
  const hold = (await holdsOf(ctx.deps.pool, organizationId(ctx), [delivery])).get(id);
  if (hold) return `${hold.reason}; ${hold.advice}`;
  return status === 'retrying' ? null : 'it is not waiting for a retry; replay it instead';
}

const whyNotReplayed = (replacedBy: string | null): string =>
  replacedBy === null
    ? 'it has not ended; retry or cancel it instead'
    : `${replacedBy} has replaced it; replay that delivery instead`;

async function showWithAttempts(ctx: Context, delivery: DeliveryRecord) {
  const [attempts, holds] = await Promise.all([
    attemptsOf(ctx.deps.pool, delivery.id),
    holdsOf(ctx.deps.pool, organizationId(ctx), [delivery]),
  ]);
  const shown = showDelivery(delivery, holds.get(delivery.id), ctx.deps.workflowLink);
  return { ...shown, attempts: attempts.map(showAttempt) };
}

function invalidState(delivery: DeliveryRecord, reason: string): ApiError {
  return conflict(`The delivery ${delivery.id} has the status ${delivery.status}: ${reason}`);
}

const DONE: Record<Action, string> = { retry: 'retried', replay: 'replayed', cancel: 'cancelled' };

/** The statuses that are asked for and to which the action applies; undefined: all. */
function applicable(action: Action, asked: DeliveryStatus[] | undefined): DeliveryStatus[] | undefined {
  const applies = APPLIES[action];
  if (applies === null) return asked;
  return asked === undefined ? [...applies] : asked.filter((status) => applies.includes(status));
}

const STEPS: Record<Action, (ctx: Context, deliveries: DeliveryRecord[]) => Promise<number>> = {
  async retry(ctx, deliveries) {
    await recordAhead(ctx);
    const organization = organizationId(ctx);
    const signal = (delivery: DeliveryRecord) => signalRetry(ctx.deps, organization, delivery);
    const done = await pMap(deliveries, signal, { concurrency: SIGNALS_AT_ONCE });
    return done.filter(Boolean).length;
  },
  async replay(ctx, deliveries) {
    const ids = deliveries.map(({ id }) => id);
    const replay = inRoom(ctx, (...budget) => replayDeliveries(ctx.deps.pool, organizationId(ctx), ids, ...budget));
    return (await replay).deliveriesCreated;
  },
  async cancel(ctx, deliveries) {
    const ids = deliveries.map(({ id }) => id);
    return (await cancelOpen(ctx, ids, CANCELLED)).length;
  },
};
