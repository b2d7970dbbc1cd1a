// Limits of organizations: the one at its limit is refused, by name and with Retry-After, and the other is served.
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { LIMIT_NAMES, type LimitName } from '../../core/limits.ts';
import { type LimitChanges, setLimits } from '../../db/organizations/limits.ts';
import { inTransaction, type Pool } from '../../db/pool.ts';
import { type Answer, expectError, type Json } from '../support/api-client.ts';
import { makeDestination, makePipeline, makeRoute, makeSource, type SourceRecord } from '../support/api-records.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { type HttpAnswer, send } from '../support/http-client.ts';
import { createOrganization, type Service, type TestOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openConnection } from './raw-connection.ts';

interface UsageAnswer {
  plan: string;
  limits: Record<LimitName, { limit: number | null; used: number | null; unit: string }>;
  month: { from: string; events: number; payloadBytes: number };
}

interface Tenant extends TestOrganization {
  source: SourceRecord;
}

const HOUR_SECONDS = 3600;

describe('Quotas', () => {
  let testInstance: OwnHookyard;
  let pool: Pool;
  let limited: Tenant;
  let other: Tenant;

  before(async () => {
    // Without a worker: nothing is delivered.
    testInstance = await startHookyard();
    pool = testInstance.pool;
  });
  after(() => testInstance?.close());
  beforeEach(async () => {
    [limited, other] = await Promise.all([tenant(), tenant()]);
  });

  async function tenant(): Promise<Tenant> {
    const organization = await createOrganization({ service: testInstance.api, pool });
    return { ...organization, source: (await makePipeline(organization)).source };
  }

  const limit = (changes: LimitChanges) => setLimits(pool, limited.id, changes);
  const webhook = (to: Tenant, body = '{}', { url }: Pick<Service, 'url'> = testInstance.api) =>
    send('POST', `${url}/ingest/${to.slug}/${to.source.slug}`, { 'content-type': 'application/json' }, body);
  const webhooks = (to: Tenant, count: number) => Promise.all(Array.from({ length: count }, () => webhook(to)));
  const usage = (of: TestOrganization) => of.api.get<UsageAnswer>('/api/organization/usage');
  const used = async (name: LimitName, of: TestOrganization = limited) => (await usage(of)).limits[name].used;
  const countOf = (answers: { status: number }[], status: number) =>
    answers.filter((answer) => answer.status === status).length;
  const storedEvents = async (of: TestOrganization) =>
    (await of.api.list(`${of.base}/events?pageSize=1`)).pagination.total;

  function expectLimited(answer: HttpAnswer | Answer, name: LimitName): void {
    expect(answer.status, JSON.stringify(answer.body)).to.equal(429);
    expect(answer.body).to.include({ code: 'LIMIT_EXCEEDED', limit: name });
    expect(answer.body.message).to.include(name);
    const header =
      answer.headers instanceof Headers ? answer.headers.get('retry-after') : answer.headers['retry-after'];
    expect(Number(header)).to.be.within(1, HOUR_SECONDS);
  }

  describe('of webhooks', () => {
    it('eventsPerSecond: a flood of one organization is cut, and all webhooks of the other are taken', async () => {
      await limit({ eventsPerSecond: 5 });
      const startedAt = performance.now();
      const [flood, others] = await Promise.all([webhooks(limited, 100), webhooks(other, 100)]);
      const seconds = (performance.now() - startedAt) / 1000;
      expect(countOf(others, 200)).to.equal(100);
      const accepted = countOf(flood, 200);
      expect(accepted).to.be.within(5, 5 + Math.ceil(5 * seconds));
      for (const answer of flood) if (answer.status !== 200) expectLimited(answer, 'eventsPerSecond');
      expect(await storedEvents(limited), 'what is refused is not stored').to.equal(accepted);
      await until('a webhook to be taken again', async () => (await webhook(limited)).status === 200);
    });

    it('eventsPerSecond is not used up by webhooks that are refused', async () => {
      const secret = 'shared with the provider';
      limited.source = await makeSource(limited, { verificationConfig: { type: 'github', secret } });
      await limit({ eventsPerSecond: 3 });
      for (const { status } of await webhooks(limited, 40)) expect(status).to.equal(401);
      const signature = createHmac('sha256', secret).update('{}').digest('hex');
      const headers = { 'x-hub-signature-256': `sha256=${signature}` };
      const url = `${testInstance.api.url}/ingest/${limited.slug}/${limited.source.slug}`;
      expect((await send('POST', url, headers, '{}')).status).to.equal(200);
    });

    it('hold at a source that asks for signatures, and only the signed webhook is told of them', async () => {
      const secret = 'shared with the provider';
      limited.source = await makeSource(limited, { verificationConfig: { type: 'github', secret } });
      const url = `${testInstance.api.url}/ingest/${limited.slug}/${limited.source.slug}`;
      const signed = (body: string) => {
        const signature = createHmac('sha256', secret).update(body).digest('hex');
        return send('POST', url, { 'x-hub-signature-256': `sha256=${signature}` }, body);
      };
      await limit({ payloadBytes: 10, eventsPerMonth: 1 });
      const large = await signed('x'.repeat(11));
      expect(large.status).to.equal(413);
      expect(large.body).to.include({ limit: 'payloadBytes' });
      expect((await signed('{}')).status).to.equal(200);
      expectLimited(await signed('{}'), 'eventsPerMonth');
      expect((await send('POST', url, { 'x-hub-signature-256': 'sha256=00' }, 'x'.repeat(11))).status).to.equal(401);
    });

    it('are refused before their bodies are read', async () => {
      await limit({ eventsPerMonth: 0 });
      await until('the limit to hold', async () => (await webhook(limited)).status === 429);
      const head = `POST /ingest/${limited.slug}/${limited.source.slug} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n`;
      const { socket, answers } = await openConnection(Number(new URL(testInstance.api.url).port));
      socket.write(head);
      const [answer] = await until('the refusal', () => answers().length > 0 && answers());
      socket.destroy();
      expect(answer?.status).to.equal(429);
      expect(answer?.body).to.include({ limit: 'eventsPerMonth' });
    });

    it('eventsPerMonth: as many as may be are taken, to the webhook, and more when it is raised', async () => {
      await limit({ eventsPerMonth: 7 });
      const answers = await webhooks(limited, 20);
      expect(countOf(answers, 200)).to.equal(7);
      for (const answer of answers) if (answer.status !== 200) expectLimited(answer, 'eventsPerMonth');
      expect(countOf(await webhooks(other, 20), 200)).to.equal(20);
      await limit({ eventsPerMonth: 9 });
      await until('the raised limit', async () => (await webhook(limited)).status === 200);
      expect(countOf(await webhooks(limited, 5), 200)).to.equal(1);
      await limit({ eventsPerMonth: null });
      await until('no limit', async () => countOf(await webhooks(limited, 5), 200) === 5);
    });

    it('storedBytes: a webhook that would not fit is refused, until something is deleted', async () => {
      await limit({ storedBytes: 10_000 });
      const body = JSON.stringify('x'.repeat(3998));
      const answers = [await webhook(limited, body), await webhook(limited, body), await webhook(limited, body)];
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 429]);
      for (const answer of answers.slice(2)) expectLimited(answer, 'storedBytes');
      expect((await webhook(limited)).status, 'a small one fits').to.equal(200);
      expect((await webhook(other, body)).status).to.equal(200);
      await until('it to be counted', async () => (await used('storedBytes')) === 8002);
      await limited.api.delete(`${limited.base}/events/${String(answers[0]?.body.eventId)}`);
      await until('room for another', async () => (await webhook(limited, body)).status === 200);
    });

    it('payloadBytes: a larger payload is 413, however it is sent', async () => {
      await limit({ payloadBytes: 1000 });
      expect((await webhook(limited, 'x'.repeat(1000))).status).to.equal(200);
      const chunked = { 'transfer-encoding': 'chunked' };
      const url = `${testInstance.api.url}/ingest/${limited.slug}/${limited.source.slug}`;
      for (const answer of [
        await webhook(limited, 'x'.repeat(1001)),
        await send('POST', url, chunked, 'x'.repeat(1001)),
      ]) {
        expect(answer.status).to.equal(413);
        expect(answer.body).to.include({ code: 'PAYLOAD_TOO_LARGE', limit: 'payloadBytes' });
        expect(answer.body.message).to.include('1000 bytes');
      }
      expect((await webhook(other, 'x'.repeat(1001))).status).to.equal(200);
    });

    it('deliveriesPerEvent: a webhook that fans out too far is refused whole', async () => {
      const fanOut = async (to: Tenant) => {
        const ids = await Promise.all([1, 2, 3].map(async () => (await makeDestination(to)).id));
        await makeRoute(to, to.source.id, ids);
      };
      await Promise.all([fanOut(limited), fanOut(other)]);
      await limit({ deliveriesPerEvent: 3 });
      expectLimited(await webhook(limited), 'deliveriesPerEvent');
      expect(await storedEvents(limited)).to.equal(0);
      expect((await webhook(other)).status).to.equal(200);
      await limit({ deliveriesPerEvent: 4 });
      expect((await webhook(limited)).status, 'a raised limit').to.equal(200);
    });

    it('are counted by all processes together', async () => {
      await limit({ eventsPerMonth: 30 });
      const second = await testInstance.startApi();
      const first = limited.api.url;
      const through = (url: string, count: number) =>
        Promise.all(Array.from({ length: count }, () => webhook(limited, '{}', { url })));
      expect(countOf(await through(first, 20), 200)).to.equal(20);
      await until('the other process to know of them', async () => (await used('eventsPerMonth')) === 20);
      expect(countOf(await through(second.url, 20), 200)).to.equal(10);
      await until('the rest to be counted', async () => (await used('eventsPerMonth')) === 30);
      // It learns of them with its next look, about a second later.
      await until('the first process to refuse', async () => countOf(await through(first, 1), 429) === 1);
      expect(await storedEvents(limited)).to.be.within(30, 60);
    });

    it('eventsPerSecond is shared by processes that both receive', async () => {
      const rate = 20;
      await limit({ eventsPerSecond: rate });
      const urls = [limited.api.url, (await testInstance.startApi()).url];
      const startedAt = performance.now();
      const seconds = () => (performance.now() - startedAt) / 1000;
      let accepted = 0;
      const flood = async (url: string) => {
        while (seconds() < 8) if ((await webhook(limited, '{}', { url })).status === 200) accepted += 1;
      };
      await Promise.all(urls.flatMap((url) => [flood(url), flood(url), flood(url), flood(url)]));
      // Two that did not know of each other would take twice the rate; these see what the other took a second later.
      expect(accepted).to.be.within(rate * 4, rate * seconds() * 1.75);
    });
  });

  describe('of records hold when many are created at once', () => {
    /** Requests that arrive at the same time; as many as may be succeed. */
    async function expectRoom(name: LimitName, room: number, create: (n: number) => Promise<Answer>): Promise<void> {
      const answers = await Promise.all(Array.from({ length: room + 6 }, (_, n) => create(n)));
      expect(countOf(answers, 201), JSON.stringify(answers.map(({ body }) => body))).to.equal(room);
      for (const answer of answers) if (answer.status !== 201) expectLimited(answer, name);
    }

    it('destinations', async () => {
      await limit({ destinations: 4 });
      const create = (to: Tenant) => (n: number) =>
        to.api.request('POST', '/api/destinations', { name: `D ${n}`, url: 'https://crm.example/' });
      await expectRoom('destinations', 3, create(limited));
      expect((await create(other)(0)).status).to.equal(201);
      const family = { name: 'By the other family', url: 'https://crm.example/' };
      expectLimited(await limited.api.request('POST', `${limited.base}/destinations`, family), 'destinations');
      const { data } = await limited.api.list<{ id: string }>('/api/destinations');
      await limited.api.delete(`/api/destinations/${data[0]?.id}`);
      expect((await create(limited)(9)).status, 'room again').to.equal(201);
    });

    it('sources', async () => {
      await limit({ sources: 4 });
      const create = (to: Tenant) => (n: number) =>
        to.api.request('POST', `${to.base}/sources`, { name: `S ${n}`, slug: `s-${n}` });
      await expectRoom('sources', 3, create(limited));
      expect((await create(other)(0)).status).to.equal(201);
    });

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
      const create = (n: number) =>
        limited.api.request('POST', '/api/routes', {
          name: `R ${n}`,
          sourceId: limited.source.id,
          destinationIds: [ids[n]],
        });
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
      const routes = (count: number) =>
        destinations(count).map(({ name, slug }) => ({
          ...{ name, destinationSlugs: [slug] },
          sourceSlug: limited.source.slug,
        }));
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
