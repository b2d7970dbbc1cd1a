import { z } from 'zod';
import { ISSUE_KINDS, ISSUE_STATES } from '../../../core/messages/issues.ts';
import { isUniqueViolation } from '../../../db/connections/database-errors.ts';
import { isId } from '../../../core/text/ids.ts';
import { plural } from '../../../core/text/words.ts';
import { heldDeliveries, holdsDeliveries } from '../../../db/issues/held.ts';
import { changeIssue, findIssue, listIssues, type NamedIssue } from '../../../db/issues/list-issues.ts';
import { inTransaction } from '../../../db/connections/pool.ts';
import { replayDeliveries } from '../../../db/replay/replay.ts';
import { type Context, organizationId } from '../../request/context.ts';
import { noteDryRun, noteRecords } from '../../auth/audit-trail.ts';
import { ApiError, conflict } from '../../request/errors.ts';
import { component, count, flag, idOf, partOfList, text, timestamp, withExample } from '../values.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { choiceParam, partAnswer, partOf, partParams, textParam } from '../../request/query.ts';
import { reader } from '../records.ts';
import { inRoom } from '../events/replays.ts';
import { requireScope } from '../../auth/scopes.ts';

const MAX_RETRIED = 1000;
const RETRIED_AT_ONCE = 100;

const changeSchema = z.strictObject({ state: z.enum(ISSUE_STATES) });

const NAME_NOW = 'The record that the issue concerns. Null if none. `name` is null if the record was deleted.';
const named = (id: z.ZodType, name: string) => z.object({ id, name: text(name).nullable() }).nullable();

const example = 'dlv_06f3k2v8q0e7x1c5b9m4n6p8qr';
const retrySchema = z.strictObject({
  before: withExample(
    z
      .string()
      .refine((id) => isId('dlv', id), 'must be a delivery ID')
      .optional(),
    example,
    'Replays only deliveries created before this delivery.',
  ),
  dryRun: z.boolean().optional().describe('Whether to count the deliveries without replaying them.'),
});

const issueAnswer = component('Issue', {
  id: idOf('iss'),
  kind: z.enum(ISSUE_KINDS),
  state: z.enum(ISSUE_STATES),
  cause: text('HTTP_500', 'A stable short code. `OTHER` combines rare causes.'),
  sourceId: withExample(idOf('src').nullable(), null),
  source: withExample(named(idOf('src'), 'Orders'), null, NAME_NOW),
  routeId: idOf('rte').nullable(),
  route: named(idOf('rte'), 'Orders to the CRM').describe(NAME_NOW),
  destinationId: idOf('dst', 'dst_wh').nullable(),
  destination: named(idOf('dst', 'dst_wh'), 'CRM').describe(NAME_NOW),
  count: withExample(count, 12, 'The number of failures, including the failures that opened the issue.'),
  firstSeenAt: timestamp,
  lastSeenAt: timestamp,
  sampleEventId: idOf('evt').nullable().describe('An event affected by a recent failure.'),
  sampleDeliveryId: idOf('dlv').nullable().describe('A delivery affected by a recent failure.'),
  openedAt: timestamp,
  resolvedAt: withExample(timestamp.nullable(), null),
  changedAt: timestamp.describe('When `state` last changed.'),
});

const base = '/api/issues';
const issueRecords = reader('issue', 'iss', findIssue);
const common = { tag: 'Issues', of: issueRecords } as const;

export const issueOperations: Operation[] = [
  operation('listIssues', 'get', base, {
    tag: 'Issues',
    summary: 'List issues',
    description:
      'Ongoing and resolved failures, with at most one unresolved issue per kind, source, route, destination and cause. The list lags by a few seconds.',
    query: z.object({
      ...partParams,
      state: choiceParam(ISSUE_STATES),
      kind: choiceParam(ISSUE_KINDS),
      sourceId: textParam.describe('Issues that concern this source or its routes.'),
      routeId: textParam,
      destinationId: textParam,
    }),
    answer: { description: 'One page, most recently opened first.', schema: partOfList(issueAnswer) },
    async run(ctx, { query }) {
      const { issues, ...found } = await listIssues(
        ctx.deps.pool,
        organizationId(ctx),
        query,
        partOf(ctx, query, 'iss'),
      );
      return partAnswer(issues.map(show), found, query);
    },
  }),
  operation('getIssue', 'get', `${base}/{id}`, {
    ...common,
    summary: 'Get an issue',
    answer: { description: 'The issue.', schema: issueAnswer },
    run: (_ctx, { record }) => show(record),
  }),
  operation('updateIssue', 'patch', `${base}/{id}`, {
    ...common,
    summary: "Update an issue's state",
    body: {
      schema: changeSchema,
      examples: { acknowledge: { state: 'acknowledged' }, ignore: { state: 'ignored' } },
    },
    answer: { description: 'The updated issue.', schema: issueAnswer },
    errors: { 409: ['INVALID_STATE'] },
    async run(ctx, { body: { state }, record: { id } }) {
      try {
        const changed = await inTransaction(ctx.deps.pool, (db) => changeIssue(db, organizationId(ctx), id, state));
        if (changed === null) {
          await issueRecords.ofPath(ctx);
          throw superseded(id);
        }
        return show(changed);
      } catch (error) {
        throw isUniqueViolation(error) ? superseded(id) : error;
      }
    },
  }),
  operation('retryIssue', 'post', `${base}/{id}/retry`, {
    ...common,
    alsoScope: 'deliveries:write',
    summary: "Replay an issue's failed deliveries",
    description:
      `Replays up to ${MAX_RETRIED} deliveries that have failed since \`firstSeenAt\`, newest first. To continue, repeat the call with ` +
      "`before` set to the previous response's `next`.",
    body: {
      selects: true,
      schema: retrySchema,
      optional: true,
      examples: { 'the rest': { before: example }, count: { dryRun: true } },
    },
    answer: {
      description: 'The numbers of failed and new deliveries in this call.',
      schema: z.object({
        message: text('12 deliveries were created'),
        deliveriesFound: withExample(
          count,
          12,
          'The number of failed deliveries in this call that had not been replayed yet.',
        ),
        deliveriesCreated: withExample(
          count,
          12,
          'The number of new deliveries. Lower than `deliveriesFound` if deliveries were replaced, payloads removed or destinations deleted. 0 with `dryRun`.',
        ),
        more: flag(false, 'Whether there may be more deliveries. If so, repeat the call with `before`.'),
        next: withExample(
          idOf('dlv').nullable(),
          null,
          'The value of `before` for the next call. Null if there are no more deliveries.',
        ),
      }),
    },
    errors: { 409: ['INVALID_STATE'] },
    /**
     * In steps, each of one transaction: what was created stays when a later step fails, and is not created again by
     * another call.
     */
    async run(ctx, { body: { before = null, dryRun = false }, record: issue }) {
      requireScope(ctx, 'deliveries:write', 'replaying an issue');
      if (!holdsDeliveries(issue))
        throw invalidState(issue.id, `is of kind ${issue.kind}, which has no failed deliveries to replay`);
      const { ids: retried, next } = await heldDeliveries(ctx.deps.pool, issue, MAX_RETRIED, before);
      const found = { deliveriesFound: retried.length, more: next !== null, next };
      if (dryRun) {
        noteDryRun(ctx);
        return { message: counted(retried.length), ...found, deliveriesCreated: 0 };
      }
      noteRecords(ctx, [issue.id]);
      const { created, done } = await replayInSteps(ctx, retried);
      const rest =
        done < retried.length ? { deliveriesFound: done, more: true, next: retried[done - 1] ?? null } : found;
      return { message: describe(created), ...rest, deliveriesCreated: created };
    },
  }),
];

const superseded = (id: string) =>
  invalidState(id, 'is resolved, and there is a newer issue for the same failure; update that issue instead');

/** @returns how many of them were tried: fewer, when a step was refused that is not the first */
async function replayInSteps(ctx: Context, ids: string[]): Promise<{ created: number; done: number }> {
  let created = 0;
  for (let done = 0; done < ids.length; done += RETRIED_AT_ONCE) {
    const some = ids.slice(done, done + RETRIED_AT_ONCE);
    try {
      const result = await inRoom(ctx, (...budget) =>
        replayDeliveries(ctx.deps.pool, organizationId(ctx), some, ...budget),
      );
      created += result.deliveriesCreated;
    } catch (error) {
      // An error would say that nothing was done; the next call is told why.
      if (done === 0 || !(error instanceof ApiError)) throw error;
      return { created, done };
    }
  }
  return { created, done: ids.length };
}

const counted = (found: number): string =>
  `${plural(found, 'delivery')} would be replayed, provided that ${found === 1 ? 'its payload and destination' : 'their payloads and destinations'} still exist`;

function describe(created: number): string {
  if (created === 0) return 'Nothing was created: this call found no deliveries that can be replayed';
  return `${plural(created, 'delivery was', 'deliveries were')} created`;
}

const show = ({ organizationId: _owner, ...issue }: NamedIssue) => issue;

const invalidState = (id: string, reason: string) => conflict(`The issue ${id} ${reason}`);
