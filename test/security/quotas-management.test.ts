// Limits of organizations on records and on requests of the management API, and what is shown of all limits.
import { expect } from 'chai';
import { LIMIT_NAMES, type LimitName } from '../../core/fairness/organization-limits.ts';
import { inTransaction } from '../../db/connections/pool.ts';
import { type Answer, expectError, type Json } from '../support/api-client.ts';
import { makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { send } from '../support/requests/http-client.ts';
import { countOf, expectLimited, quotaRequests, quotaTenant, type Tenant } from '../support/attacks/quotas.ts';
import { until } from '../support/until.ts';
import { late, useEach, useHookyard } from '../support/use-hookyard.ts';
import { inOpenTransaction, waitingForLocks } from '../support/database/row-lock.ts';

describe('Quotas of the management API', () => {
  // Without a worker: nothing is delivered.
  const { testInstance, receiver } = useHookyard({});
  const pool = late(() => testInstance.pool);
  const limited = useEach(() => quotaTenant(testInstance));
  const other = useEach(() => quotaTenant(testInstance));

  const { limit, webhook, webhooks, usage, used } = quotaRequests(() => ({ testInstance, limited }));

  it('of reads at a time let one that waits for PostgreSQL hold up no other', async () => {
    await inOpenTransaction(pool, async (holder) => {
      await holder.query('lock table transforms in access exclusive mode');
      const slow = [1, 2, 3].map(() => limited.api.request('GET', '/api/transforms'));
      await until('reads to wait for the lock', async () => (await waitingForLocks(pool)) > 0);
      expect((await limited.api.request('GET', '/api/auth/me')).status).to.equal(200);
      await holder.query('commit');
      for (const answer of await Promise.all(slow)) expect(answer.status).to.equal(200);
    });
  });

  describe('of records hold when many are created at once', () => {
    /** Requests that arrive at the same time; as many as may be succeed. */
    async function expectRoom(name: LimitName, room: number, create: (n: number) => Promise<Answer>): Promise<void> {
      const answers = await Promise.all(Array.from({ length: room + 6 }, (_, n) => create(n)));
      expect(countOf(answers, 201), JSON.stringify(answers.map(({ body }) => body))).to.equal(room);
      for (const answer of answers) if (answer.status !== 201) expectLimited(answer, name);
    }

    const NAMED = {
      destinations: { url: 'https://crm.example/' },
      sources: {},
      filters: { conditions: [{ field: 'payload.kind', operator: 'exists' }] },
      transforms: { type: 'jsonata', code: '$' },
      schemas: { schema: { type: 'object' } },
    };
    for (const [name, members] of Object.entries(NAMED) as [keyof typeof NAMED, object][]) {
      it(`${name}, by any way to create one`, async () => {
        // Each organization has a source with a destination.
        const most = ['destinations', 'sources'].includes(name) ? 4 : 3;
        await limit({ [name]: most });
        const body = (n: number) => ({ name: `N ${n}`, slug: `n-${n}`, ...members });
        const create = (to: Tenant) => (n: number) => to.api.request('POST', `/api/${name}`, body(n));
        await expectRoom(name, 3, create(limited));
        const put = limited.api.request('PUT', `/api/${name}/by-slug/n-0-new`, { name: 'N', ...members });
        expectLimited(await put, name);
        if (most === 4) expectLimited(await limited.api.request('POST', `${limited.base}/${name}`, body(10)), name);
        expect((await create(other)(0)).status).to.equal(201);
        expect(await used(name)).to.equal(most);
        const { data } = await limited.api.list<{ id: string }>(`/api/${name}`);
        await limited.api.delete(`/api/${name}/${data[0]?.id}`);
        expect((await create(limited)(9)).status, 'room again').to.equal(201);
      });
    }

    it('apiKeys; revoked and expired ones do not count', async () => {
      await limit({ apiKeys: 4 });
      const create = (to: Tenant) => (n: number) => to.api.request('POST', '/api/api-keys', { name: `K ${n}` });
      await expectRoom('apiKeys', 3, create(limited));
      expect((await create(other)(0)).status).to.equal(201);
      const { data } = await limited.api.list<{ id: string; name: string }>('/api/api-keys');
      const [one, two] = data.filter(({ name }) => name.startsWith('K '));
      await limited.api.delete(`/api/api-keys/${one?.id}`);
      await pool.query(`update api_keys set expires_at = now() - interval '1 minute' where id = $1`, [two?.id]);
      expect((await create(limited)(8)).status).to.equal(201);
      expect((await create(limited)(9)).status).to.equal(201);
      expectLimited(await create(limited)(10), 'apiKeys');
    });

    it('routesPerSource', async () => {
      const ids = await Promise.all(Array.from({ length: 10 }, async () => (await makeDestination(limited)).id));
      await limit({ routesPerSource: 4 });
      const sourceId = limited.source.id;
      const create = (n: number) =>
        limited.api.request('POST', '/api/routes', { name: `R ${n}`, sourceId, destinationIds: [ids[n]] });
      await expectRoom('routesPerSource', 3, create);
      const another = await makeSource(limited);
      await makeRoute(limited, another.id, [ids[0] ?? '']);
    });

    it('and when a file is imported: all of it, or nothing', async () => {
      await limit({ destinations: 4, routesPerSource: 3 });
      const destinations = (count: number) =>
        Array.from({ length: count }, (_, n) => ({ name: `I ${n}`, slug: `i-${n}`, url: 'https://crm.example/' }));
      const importOf = (to: Tenant, member: string, items: object[], validateOnly = false) =>
        to.api.request('POST', `/api/${member}/import`, { [member]: items, conflictStrategy: 'skip', validateOnly });
      expectLimited(await importOf(limited, 'destinations', destinations(4)), 'destinations');
      expectLimited(await importOf(limited, 'destinations', destinations(4), true), 'destinations');
      expect((await limited.api.list('/api/destinations')).pagination.total).to.equal(1);
      expect((await importOf(other, 'destinations', destinations(4))).status).to.equal(200);
      expect((await importOf(limited, 'destinations', destinations(3))).status).to.equal(200);
      expect((await importOf(limited, 'destinations', destinations(3))).status, 'nothing new').to.equal(200);
      const sourceSlug = limited.source.slug;
      const routes = (count: number) =>
        destinations(count).map(({ name, slug }) => ({ name, destinationSlugs: [slug], sourceSlug }));
      expectLimited(await importOf(limited, 'routes', routes(3)), 'routesPerSource');
      expect((await limited.api.list('/api/routes')).pagination.total).to.equal(1);
      expect((await importOf(limited, 'routes', routes(2))).body).to.include({ imported: 2 });
    });
  });

  describe('of the management API', () => {
    it('requestsPerMinute: the requests of all keys of an organization count, and those of others do not', async () => {
      await limit({ requestsPerMinute: 10 });
      const ask = async (of: Tenant) =>
        Promise.all(Array.from({ length: 40 }, () => of.api.request('GET', '/api/auth/me')));
      const [mine, others] = await Promise.all([ask(limited), ask(other)]);
      expect(countOf(others, 200)).to.equal(40);
      const refused = mine.filter(({ status }) => status !== 200);
      // Twice as many may pass where a minute ends in between.
      expect(refused.length).to.be.within(20, 40);
      for (const answer of refused) expectLimited(answer, 'requestsPerMinute');
      expect((await webhook(limited)).status, 'webhooks are no management requests').to.equal(200);
    });

    it('runningReplays', async () => {
      await limit({ runningReplays: 1 });
      for (const organization of [limited, other]) expect((await webhook(organization)).status).to.equal(200);
      const replay = (of: Tenant) => of.api.request('POST', `${of.base}/events/replay`, { all: true });
      const answers = await Promise.all([1, 2, 3].map(() => replay(limited)));
      expect(countOf(answers, 200)).to.equal(1);
      for (const answer of answers) if (answer.status !== 200) expectLimited(answer, 'runningReplays');
      expect((await replay(other)).status).to.equal(200);
      expect(await used('runningReplays')).to.equal(1);
    });

    it('runningImports: one that waits counts', async () => {
      await limit({ runningImports: 1 });
      const importNothing = (to: Tenant) =>
        to.api.request('POST', '/api/routes/import', { routes: [], conflictStrategy: 'skip' });
      const first = await inTransaction(pool, async (db) => {
        await db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`import:${limited.id}`]);
        const waiting = importNothing(limited);
        await until('the first to run', async () => (await used('runningImports')) === 1);
        expectLimited(await importNothing(limited), 'runningImports');
        expect((await importNothing(other)).status).to.equal(200);
        return { answer: waiting };
      });
      expect((await first.answer).status).to.equal(200);
      expect((await importNothing(limited)).status).to.equal(200);
    });

    it('runningSearches, in the list and in counts of a replay', async () => {
      await limit({ runningSearches: 0 });
      const search = (of: Tenant) => of.api.request('GET', `${of.base}/events?search=paid`);
      expectLimited(await search(limited), 'runningSearches');
      const count = { search: 'paid', dryRun: true };
      expectLimited(await limited.api.request('POST', `${limited.base}/events/replay`, count), 'runningSearches');
      expect((await limited.api.request('GET', `${limited.base}/events`)).status).to.equal(200);
      expect((await search(other)).status).to.equal(200);
      const deliveries = (query: string) => limited.api.request('GET', `/api/deliveries?${query}`);
      for (const query of ['isReplay=true', 'replayed=true', 'status=skipped&replayed=false'])
        expectLimited(await deliveries(query), 'runningSearches');
      expect((await deliveries('status=failed&replayed=false')).status).to.equal(200);
    });
  });

  describe('of tests', () => {
    it('runningTests: of destinations and of channels of alerts, each until it has its answer', async () => {
      const answer = Promise.withResolvers<void>();
      await limit({ runningTests: 1 });
      const endpoint = receiver.endpoint({ after: answer.promise }, 200);
      const tested = async (of: Tenant) => {
        const { id } = await makeDestination(of, { url: endpoint.url });
        return () => of.api.request('POST', `/api/destinations/${id}/test`);
      };
      const [mine, others] = [await tested(limited), await tested(other)];
      const config = { url: 'https://hooks.slack.com/services/x' };
      const { id } = await limited.api.create('/api/alert-channels', { name: 'Chat', type: 'slack', config });
      const first = mine();
      await until('the first to wait for its answer', () => endpoint.waiting === 1);
      expect(await used('runningTests')).to.equal(1);
      expectLimited(await mine(), 'runningTests');
      expectLimited(await limited.api.request('POST', `/api/alert-channels/${id}/test`), 'runningTests');
      expect(endpoint.requests, 'nothing was sent').to.have.length(1);
      expect((await others()).status).to.equal(200);
      answer.resolve();
      expect((await first).body).to.include({ success: true });
      expect((await mine()).body).to.include({ success: true });
    });
  });

  describe('are shown', () => {
    it('each with what is used of it, and the month', async () => {
      await limit({ eventsPerMonth: 1000, storedBytes: null });
      await webhooks(limited, 3);
      await until('the webhooks to be counted', async () => (await used('eventsPerMonth')) === 3);
      const { plan, limits, month } = await usage(limited);
      expect(plan).to.equal('business');
      expect(limits).to.have.all.keys(LIMIT_NAMES);
      expect(limits.eventsPerMonth).to.include({ limit: 1000, used: 3 });
      expect(limits.storedBytes).to.include({ limit: null, used: 6 });
      const { sources, destinations, apiKeys, routesPerSource, deliveriesPerEvent, waitingDeliveries } = limits;
      for (const one of [sources, destinations, apiKeys, routesPerSource, deliveriesPerEvent])
        expect(one.used).to.equal(1);
      expect(waitingDeliveries.used).to.equal(3);
      expect(limits.requestsPerMinute.used).to.be.at.least(1);
      expect(month).to.include({ events: 3, payloadBytes: 6 });
      expect(month.from).to.match(/^\d{4}-\d{2}-01$/);
      expect((await usage(other)).month.events, 'of the other').to.equal(0);
    });

    it('by day, as JSON and as a table, also when the events are gone', async () => {
      const [answer] = await webhooks(limited, 2);
      await limited.api.delete(`${limited.base}/events/${String(answer?.body.eventId)}`);
      const path = '/api/organization/usage/daily';
      const days = async (of: Tenant, query = '') => (await of.api.get<{ data: Json[] }>(path + query)).data;
      const [today] = await until('the day', async () => {
        const found = await days(limited);
        return found[0]?.events === 2 && found;
      });
      expect(today).to.include({ events: 2, payloadBytes: 4 });
      expect(await days(other)).to.deep.equal([]);
      expect(await days(limited, '?from=2020-01-01&to=2020-12-31')).to.deep.equal([]);
      const table = await send('GET', testInstance.api.url + path, {
        authorization: `Bearer ${limited.token}`,
        accept: 'text/csv',
      });
      expect(table.headers['content-type']).to.equal('text/csv; charset=utf-8');
      const rows = table.bytes.toString().split('\r\n');
      expect(rows.slice(0, 2)).to.deep.equal([
        'day,events,payloadBytes,deliveries,attempts',
        `${String(today?.day)},2,4,${String(today?.deliveries)},${String(today?.attempts)}`,
      ]);
      for (const query of ['?from=yesterday', '?to=2026-02-30', '?from=2020-01-01&to=2022-01-01']) {
        expectError(await limited.api.request('GET', path + query), 400, 'VALIDATION_ERROR');
      }
    });
  });
});
