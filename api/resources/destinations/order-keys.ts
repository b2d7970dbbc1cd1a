// Ordering keys of a destination: what waits behind what, and how a blocked key goes on.
import { z } from 'zod';
import { orderKeyOf, orderKeyOfRoute } from '../../../core/delivery/ordering.ts';
import { openError, ownWords } from '../../../core/text/error-summary.ts';
import {
  findOrderKey,
  type KeysOf,
  listOrderKeys,
  ORDER_KEY_FILTERS,
  ORDER_KEY_STATES,
  type OrderKeyRow,
  releaseKey,
  skipBlocked,
} from '../../../db/delivery/ordering.ts';
import { inTransaction } from '../../../db/connections/pool.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { type Context, organizationId, param } from '../../request/context.ts';
import { conflict, notFound } from '../../request/errors.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { choiceParam, partAnswer, partOf, partParams } from '../../request/query.ts';
import { cancelOpen } from '../deliveries/deliveries.ts';
import { findDestination } from '../records.ts';
import { component, count, idOf, partOfList, text, timestamp, withExample } from '../values.ts';

const IS_ID = /^[0-9a-f]{32}$/;

const orderKey = component('OrderKey', {
  id: text('5f0c8a52e1b94c37a0d6f2b84e91c7d3'),
  key: text('cus_1042', 'The first 64 characters of the ordering key, or the route ID for events without a key.'),
  state: withExample(
    z.enum(ORDER_KEY_STATES),
    'blocked',
    '`blocked`: a delivery has used up its retries. `waiting`: deliveries are waiting for an earlier one. `delivering`: a delivery is in progress. `idle`: no delivery is in progress.',
  ),
  headDeliveryId: idOf('dlv').nullable().describe('The first delivery, which later ones wait for. Null if `idle`.'),
  headSequence: count.nullable(),
  headSince: timestamp.nullable(),
  blockedSince: timestamp.nullable(),
  blockedUntil: timestamp
    .nullable()
    .describe('When the block ends and the next delivery is attempted. Null if not blocked.'),
  waiting: withExample(count, 12, 'The number of deliveries behind the first one.'),
  lastSequence: withExample(count, 57, 'The sequence number of the latest event.'),
});

const base = '/api/destinations/{id}/order-keys';
const common = { tag: 'Destinations', idOf: ['dst'] } as const;

export const orderKeyOperations: Operation[] = [
  operation('listOrderKeys', 'get', base, {
    ...common,
    summary: "List a destination's ordering keys",
    description: 'Ordering is configured on routes. Use `state` to find blocked or waiting keys.',
    query: z.object({ ...partParams, state: choiceParam(ORDER_KEY_FILTERS) }),
    answer: { description: 'One page, ordered by ID.', schema: partOfList(orderKey) },
    async run(ctx, { query }) {
      const part = partOf(ctx, query, (cursor) => IS_ID.test(cursor));
      const { keys, ...found } = await listOrderKeys(ctx.deps.pool, await keysOf(ctx), query.state, part);
      return partAnswer(keys, found, query);
    },
  }),
  operation('getOrderKey', 'get', `${base}/{key}`, {
    ...common,
    summary: 'Get an ordering key',
    description: '`key` is the ID or the full key, which responses truncate to 64 characters.',
    answer: { description: 'The ordering key.', schema: orderKey },
    run: async (ctx) => requireKey(ctx, await keysOf(ctx)),
  }),
  operation('skipOrderKey', 'post', `${base}/{key}/skip`, {
    ...common,
    summary: 'Skip the first delivery of an ordering key',
    description: 'Cancels the first delivery if it is still in progress, and attempts the next one.',
    answer: { description: 'The ordering key.', schema: orderKey },
    errors: { 409: ['INVALID_STATE'] },
    async run(ctx) {
      const keys = await keysOf(ctx);
      const { id, key, state, headDeliveryId } = await requireKey(ctx, keys);
      if (headDeliveryId === null) throw conflict(`The ordering key ${key} has no delivery to skip`);
      const isSkipped =
        state === 'blocked'
          ? await inTransaction(ctx.deps.pool, (db) => skipBlocked(db, keys, id, headDeliveryId))
          : (await cancelOpen(ctx, [headDeliveryId], { reason: openError(ownWords`Skipped by a user`) })).length > 0;
      if (!isSkipped)
        throw conflict(`The first delivery of the ordering key ${key} has just changed; get the key again`);
      return requireKey(ctx, keys);
    },
  }),
  operation('releaseOrderKey', 'post', `${base}/{key}/release`, {
    ...common,
    summary: 'Release an ordering key',
    description: 'Deliveries that are currently waiting are sent in order, and do not block the key if they fail.',
    answer: { description: 'The ordering key.', schema: orderKey },
    async run(ctx) {
      const keys = await keysOf(ctx);
      const { id } = await requireKey(ctx, keys);
      await inTransaction(ctx.deps.pool, (db) => releaseKey(db, keys, id));
      return requireKey(ctx, keys);
    },
  }),
];

async function keysOf(ctx: Context): Promise<KeysOf> {
  const { id } = await findDestination.ofPath(ctx);
  return { organizationId: organizationId(ctx), destinationId: id };
}

/** By its id, or by the key as the event has it. @throws ApiError 404 */
async function requireKey(ctx: Context, keys: KeysOf): Promise<OrderKeyRow> {
  const named = param(ctx, 'key');
  const ids = [IS_ID.test(named) ? named : undefined, orderKeyOf([named])?.hash, orderKeyOfRoute(named).hash];
  for (const id of ids) {
    const found = id === undefined ? null : await findOrderKey(ctx.deps.pool, keys, id);
    if (found === null) continue;
    noteRecords(ctx, [keys.destinationId, found.headDeliveryId]);
    return found;
  }
  throw notFound('ordering key', named);
}
