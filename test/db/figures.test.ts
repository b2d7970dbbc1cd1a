import { expect } from 'chai';
import { type Steps, stepsOf } from '../../core/metrics/figure-steps.ts';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { cancelDeliveries, endDeliveries } from '../../db/delivery/delivery-commands.ts';
import { deleteDestinations, deleteSource } from '../../db/delivery/deletions.ts';
import { type FigureQuestion, type Grouping, type Metric, readFigures } from '../../db/ledger/figures.ts';
import { purgeStep } from '../../db/operations/source-purges.ts';
import { mergeAll, rollUpAll } from '../support/database/roll-up.ts';
import { recount, type Refusal, told } from '../support/database/figure-recount.ts';
import {
  type HistoryOwner,
  makeOwner,
  type RecordedOutcome,
  recordOutcome,
  type StoredEvent,
  storeEvent,
} from '../support/database/history.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';
import { execute, selectRows } from '../support/database/sql.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAYS = 12;
const REASON = openError(ownWords`a test`);

/** Refused webhooks have a history of their own, below. */
const GROUPINGS: Record<Exclude<Metric, 'refused'>, (Grouping | null)[]> = {
  events: [null, 'source', 'route'],
  filtered: [null, 'source', 'route'],
  deliveries: [null, 'source', 'route', 'destination'],
  attempts: [null, 'source', 'route', 'destination', 'statusCode'],
  latency: ['destination'],
};

/**
 * As the API cuts them: of the last day in 5 minutes, of a week in hours, of all in days; and in steps that divide no
 * day.
 */
function timesOf(nowMs: number): Steps[] {
  const to = new Date(nowMs + MINUTE);
  return [
    [new Date(nowMs - 23 * HOUR), 300],
    [new Date(nowMs - 23 * HOUR), 2100],
    [new Date(nowMs - 6 * DAY), 3600],
    [new Date(nowMs - 6 * DAY), 5 * 3600],
    [new Date(nowMs - 11 * DAY), 86_400],
  ].map(([from, step]) => {
    const steps = stepsOf({ from: from as Date, to }, step as number, nowMs);
    if ('member' in steps) throw new Error(`${steps.member} ${steps.message}`);
    return steps;
  });
}

describe('Figures of organizations', () => {
  const { pool } = useHistoryDatabase(DAYS);

  /**
   * All that can become of deliveries, at some age; what ends without an attempt ends now.
   * @returns what filters refused
   */
  async function happen(owner: HistoryOwner, route: HistoryOwner['routes'][number], ageMs: number): Promise<Refusal[]> {
    const { organizationId } = owner;
    const receivedAt = new Date(Date.now() - ageMs);
    const completedAt = new Date(receivedAt.getTime() + (ageMs > 0 ? 7 * MINUTE : 0));
    const store = async (...statuses: Parameters<typeof storeEvent>[3]['statuses']) => {
      const event = await storeEvent(pool, owner, route, { receivedAt, statuses, filtered: [route.id] });
      const [first, second] = event.deliveries;
      if (!first || !second) throw new Error('two deliveries were asked for');
      return { event, first, second };
    };
    const record = (to: StoredEvent, delivery: StoredEvent['deliveries'][number], outcome: RecordedOutcome) =>
      recordOutcome(pool, to, delivery, { completedAt, ...outcome });
    const retried = await store('pending', 'skipped');
    const again = { status: 'retrying', statusCode: 503, latency: 900, completedAt: receivedAt } as const;
    await record(retried.event, retried.first, again);
    for (let times = 0; times < 2; times += 1)
      await record(retried.event, retried.first, { status: 'delivered', attempt: 2 });
    const failed = await store('pending', 'schema_failed');
    await record(failed.event, failed.first, { status: 'failed', statusCode: 404, latency: 3 });
    const taken = await store('pending', 'pending');
    const { failoverId } = route;
    const id = (await record(taken.event, taken.first, { status: 'failed', failoverId, latency: 40 })) ?? '';
    const successor = { ...taken.first, id, destinationId: failoverId };
    await record(taken.event, successor, { status: 'delivered', statusCode: 204, latency: 70 });
    await endDeliveries(pool, 'failed', { organizationId, deliveryIds: [taken.second.id], reason: REASON });
    const odd = await store('pending', 'pending');
    await record(odd.event, odd.first, { status: 'failed', statusCode: 700, latency: 5000 });
    await record(odd.event, odd.second, { status: 'failed', statusCode: null, latency: 30_000 });
    const cancelled = await store('pending', 'filter_failed');
    await cancelDeliveries(pool, { organizationId, deliveryIds: [cancelled.first.id], reason: REASON });
    // It was under way, and is part of the history only.
    await record(cancelled.event, cancelled.first, { status: 'delivered' });
    const open = await store('pending', 'pending');
    await record(open.event, open.second, { status: 'delivered', latency: 150 });
    return Array.from({ length: 6 }, () => ({ at: receivedAt, source: route.sourceId, route: route.id }));
  }

  async function makeHistory(): Promise<{ owner: HistoryOwner; refusals: Refusal[] }> {
    const owner = await makeOwner(pool, 2, 2);
    const ages = [0, 3 * HOUR, 26 * HOUR, 26 * HOUR + 20 * MINUTE, 4 * DAY, 10 * DAY, 10 * DAY + 2 * HOUR];
    const refusals: Refusal[] = [];
    for (const route of owner.routes) for (const age of ages) refusals.push(...(await happen(owner, route, age)));
    return { owner, refusals };
  }

  const asked = (owner: HistoryOwner, steps: Steps, metric: Metric, groupBy: Grouping | null): FigureQuestion => ({
    ...{ organizationId: owner.organizationId, metric, groupBy, where: {}, mostGroups: 100 },
    ...steps,
  });

  function everyQuestion(owner: HistoryOwner): FigureQuestion[] {
    const [route] = owner.routes;
    const narrowed: [Metric, FigureQuestion['where']][] = [
      ['events', { sourceId: route?.sourceId ?? '' }],
      ['events', { routeId: route?.id ?? '' }],
      ['filtered', { routeId: route?.id ?? '' }],
      ['deliveries', { destinationId: route?.failoverId ?? '' }],
      ['deliveries', { sourceId: route?.sourceId ?? '', destinationId: route?.destinationIds[0] ?? '' }],
      ['attempts', { routeId: route?.id ?? '' }],
      ['latency', { destinationId: route?.destinationIds[0] ?? '' }],
    ];
    return timesOf(Date.now()).flatMap((steps) => [
      ...Object.entries(GROUPINGS).flatMap(([metric, groupings]) =>
        groupings.map((groupBy) => asked(owner, steps, metric as Metric, groupBy)),
      ),
      ...narrowed.map(([metric, where]) => ({ ...asked(owner, steps, metric, null), where })),
    ]);
  }

  async function expectExact({ owner, refusals }: { owner: HistoryOwner; refusals: Refusal[] }): Promise<void> {
    for (const question of everyQuestion(owner)) {
      const what = JSON.stringify(question);
      const expected = await recount(pool, question, refusals);
      expect(expected, what).to.not.deep.equal({});
      expect(told(await readFigures(pool, question)), what).to.deep.equal(expected);
    }
  }

  it('equal the rows after all that happens to deliveries, and so they do when they are rolled up and merged', async () => {
    // Two, of which neither counts for the other.
    const histories = [await makeHistory(), await makeHistory()];
    const exact = async () => {
      for (const history of histories) await expectExact(history);
    };
    const count = async (table: string, condition = 'true') => {
      const { rows } = await pool.query<{ count: number }>(
        `select count(*)::int as count from ${table} where ${condition}`,
      );
      return rows[0]?.count ?? 0;
    };
    await exact();
    expect(await count('ledger_entries')).to.be.above(0);
    // At once, as workers may do it.
    await Promise.all([rollUpAll(pool), rollUpAll(pool)]);
    expect(await count('ledger_entries')).to.equal(0);
    await exact();
    for (const step of [0, 300, 3600, 86_400]) expect(await count('rollups', `step = ${step}`)).to.be.above(0);
    // As if they had been young when they were counted.
    await pool.query('update rollups set step = 300 where step = 3600');
    await exact();
    await Promise.all([mergeAll(pool), mergeAll(pool)]);
    await exact();
    expect(await count('rollups', `step = 300 and bucket < now() - interval '27 hours'`)).to.equal(0);
    // Results that come for days, hours and minutes that are rolled up already.
    const [late] = histories;
    const [route] = late?.owner.routes ?? [];
    if (!late || !route) throw new Error('there is no history');
    for (const age of [3 * HOUR, 26 * HOUR, 10 * DAY + HOUR])
      late.refusals.push(...(await happen(late.owner, route, age)));
    await exact();
    const before = await count('rollups');
    await rollUpAll(pool);
    await exact();
    // Of the merged hours there are the rows of before; the others are of an hour and of five minutes in which nothing
    // had happened.
    expect(await count('rollups', `step = 86400`)).to.be.below(before);
  });

  it('are forgotten after a month, but for the use of each day and the totals of all time', async () => {
    const owner = await makeOwner(pool, 1, 1);
    const [route] = owner.routes;
    for (const daysAgo of [30, 40]) {
      await execute(pool)`
        insert into ledger_entries (organization_id, bucket, destination_id, route_id, source_id, code, attempts,
        delivered)
        values (${owner.organizationId}, date_bin('1 day', now(), 'epoch') - make_interval(days => ${daysAgo}),
        'dst_gone', ${route?.id}, ${route?.sourceId}, 200, 1, 1)`;
    }
    await rollUpAll(pool);
    await mergeAll(pool);
    const rows = await selectRows(pool)`select step, sum(delivered)::int as delivered from rollups
      where organization_id = ${owner.organizationId} group by 1 order by 1`;
    expect(rows).to.deep.equal([
      { step: 0, delivered: 2 },
      { step: 3600, delivered: 1 },
      { step: 86_400, delivered: 2 },
    ]);
  });

  it('keep what went to a deleted destination, and lose what came from a deleted source', async () => {
    const { owner, refusals } = await makeHistory();
    const [route, other] = owner.routes;
    if (!route || !other) throw new Error('there are no routes');
    const [gone = ''] = route.destinationIds;
    await deleteDestinations(pool, owner.organizationId, [gone]);
    for (const steps of timesOf(Date.now())) {
      for (const metric of ['deliveries', 'attempts', 'latency'] as const) {
        const question = asked(owner, steps, metric, 'destination');
        const answer = await readFigures(pool, question);
        expect(told(answer), metric).to.deep.equal(await recount(pool, question, refusals));
        const its = answer.series.find(({ id }) => id === gone);
        if (metric === 'latency') expect(its).to.equal(undefined);
        else expect(its?.name, metric).to.equal(null);
        expect(answer.series.filter(({ name }) => name !== null).length).to.be.greaterThan(1);
      }
    }
    await deleteSource(pool, owner.organizationId, route.sourceId);
    const left = refusals.filter(({ source }) => source === other.sourceId);
    const exact = async () => {
      for (const metric of ['events', 'filtered', 'deliveries', 'attempts'] as const) {
        for (const steps of timesOf(Date.now())) {
          const question = asked(owner, steps, metric, 'source');
          const expected = await recount(pool, question, left);
          expect(Object.keys(expected)).to.deep.equal([other.sourceId]);
          expect(told(await readFigures(pool, question)), metric).to.deep.equal(expected);
        }
      }
    };
    await exact();
    await rollUpAll(pool);
    await exact();
    while ((await purgeStep(pool, route.sourceId)) !== null);
    await exact();
    const rows = await selectRows(pool)`
      select from rollups where source_id = ${route.sourceId} and destination_id = ''`;
    expect(rows).to.deep.equal([]);
  });
});
