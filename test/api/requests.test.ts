import { expect } from 'chai';
import { expectError, expectInvalid } from '../support/api-client.ts';
import { deliveriesOf, forgetQueued, ingest, makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { createOrganization, testPool } from '../support/service.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const PATH = '/api/destinations';
const minimal = { name: 'CRM', url: 'https://crm.example/hooks' };

describe('Requests', () => {
  const own = useOrganization();
  after(() => forgetQueued(own));

  it('may have a body of 1 MiB, an import one of 8 MiB', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const status = async (path: string, bytes: number) => {
      const raw = JSON.stringify({ routes: [], conflictStrategy: 'skip' }).padEnd(bytes);
      return (await own.api.request('POST', path, undefined, { raw, headers })).status;
    };
    expect(await status(PATH, 1024 * 1024), 'read, and found to be no destination').to.equal(400);
    expect(await status(PATH, 1024 * 1024 + 1)).to.equal(413);
    expect(await status('/api/routes/import', 8 * 1024 * 1024)).to.equal(200);
    expect(await status('/api/routes/import', 8 * 1024 * 1024 + 1)).to.equal(413);
  });

  it('take times with and without a zone, and refuse days that do not exist', async () => {
    const source = await makeSource(own);
    const eventId = await ingest(own, source, '{}');
    const matching = async (query: string) =>
      (await own.api.list(`${own.base}/events?sourceId=${source.id}&${query}`)).data.map(({ id }) => id);
    expect(await matching('from=2020-01-01T00:00:00Z')).to.deep.equal([eventId]);
    expect(await matching('to=2020-01-01T00:00:00%2B02:00')).to.deep.equal([]);
    for (const same of ['2999-12-31', '2999-12-31 00:00', '2999-12-31T02:00:00+02', '2999-12-31T00:00Z']) {
      expect(await matching(`from=2020-01-01&to=${encodeURIComponent(same)}`), same).to.deep.equal([eventId]);
    }
    for (const wrong of ['yesterday', '2026-02-30', '2026-04-31T10:00:00Z', '2026-13-01', '2026-11-21T25:00:00Z']) {
      expectInvalid(await own.api.request('GET', `${own.base}/events?from=${wrong}`), 'from');
      expectInvalid(await own.api.request('POST', `${own.base}/events/replay`, { from: wrong, dryRun: true }), 'from');
    }
    const expired = { name: 'CI', expiresAt: '2999-02-30' };
    expectInvalid(await own.api.request('POST', '/api/api-keys', expired), 'expiresAt');
  });

  it('that act on what a filter selects refuse an empty one', async () => {
    const bulk = ['eventId', 'sourceId', 'routeId', 'destinationId', 'codeClass', 'error', 'lane', 'from'];
    for (const name of bulk) {
      const body = { action: 'cancel', status: 'retrying', [name]: '', dryRun: true };
      expectInvalid(await own.api.request('POST', '/api/deliveries/bulk', body), name);
    }
    for (const name of ['sourceId', 'search', 'status', 'to']) {
      const body = { routed: true, [name]: '', dryRun: true };
      expectInvalid(await own.api.request('POST', `${own.base}/events/replay`, body), name);
    }
  });

  it('are told which value of a list is wrong, and which bound whole numbers have', async () => {
    const told = async (path: string, body: object) => String((await own.api.request('POST', path, body)).body.message);
    const bulk = (status: unknown) => told('/api/deliveries/bulk', { action: 'retry', status, dryRun: true });
    expect(await bulk(['retrying', 'bogus'])).to.match(/^status has an invalid value at 1: it must be pending, /);
    expect(await bulk('bogus')).to.match(/^status must be pending, .* or cancelled$/);
    expect(await bulk(5)).to.match(/^status must be pending, .* or cancelled$/);
    for (const [timeoutMs, message] of [
      [1e20, 'timeoutMs must be at most 60000'],
      [-1e20, 'timeoutMs must be at least 1'],
      [60_001, 'timeoutMs must be at most 60000'],
    ] as const)
      expect(await told(PATH, { ...minimal, timeoutMs })).to.equal(message);
  });

  it('with an Idempotency-Key are 409 when their kept answer does not open', async () => {
    const { api, id } = await createOrganization();
    const send = (key: string) => api.request('POST', PATH, minimal, { headers: { 'Idempotency-Key': key } });
    for (const key of ['a', 'b']) expect((await send(key)).status).to.equal(201);
    // Each is bound to its own row: exchanged, none opens.
    await testPool().query(
      `update idempotent_requests r set answer = o.answer from idempotent_requests o
       where r.organization_id = $1 and o.organization_id = $1 and o.id <> r.id`,
      [id],
    );
    expectError(await send('a'), 409, 'IDEMPOTENCY_ANSWER_LOST');
    expect((await api.list(PATH)).data, 'nothing was done again').to.have.length(2);
  });
});

describe('Routes of a source', () => {
  it('run by priority, the highest first', async () => {
    const own = await createOrganization();
    const source = await makeSource(own);
    const made = [];
    for (const priority of [1, 9, 5]) {
      made.push(await makeRoute(own, source.id, [(await makeDestination(own)).id], { priority }));
    }
    const deliveries = await deliveriesOf(own, await ingest(own, source, '{}'));
    expect(deliveries.map(({ routeId }) => routeId)).to.deep.equal([made[1]?.id, made[2]?.id, made[0]?.id]);
    await forgetQueued(own);
  });
});
