// HTTP, LIST, ERR: what no other test shows.
import { expect } from 'chai';
import { expectError, expectInvalid, type Json } from '../../support/api-client.ts';
import { expectTakes, rowsOf } from '../world.ts';

const PATH = '/api/destinations';
const minimal = { name: 'CRM', url: 'https://crm.example/hooks' };

export const requestRows = rowsOf({
  'HTTP-02 there is no version in paths': async (w) => {
    expectError(await w.api.request('GET', '/api/v1/destinations'), 404, 'RESOURCE_NOT_FOUND');
  },
  'HTTP-14 names and descriptions have a length': async (w) => {
    await expectTakes(w.api, PATH, minimal, 'name', ['x', 'x'.repeat(255)], ['', ' ', 'x'.repeat(256), null]);
    await expectTakes(w.api, PATH, minimal, 'description', [null, '', 'x'.repeat(5000)], ['x'.repeat(5001)]);
  },
  'HTTP-18 a body has 1 MiB, an import 8 MiB': async (w) => {
    const headers = { 'Content-Type': 'application/json' };
    const status = async (path: string, bytes: number) => {
      const raw = JSON.stringify({ routes: [], conflictStrategy: 'skip' }).padEnd(bytes);
      return (await w.api.request('POST', path, undefined, { raw, headers })).status;
    };
    expect(await status(PATH, 1024 * 1024), 'read, and found to be no destination').to.equal(400);
    expect(await status(PATH, 1024 * 1024 + 1)).to.equal(413);
    expect(await status('/api/routes/import', 8 * 1024 * 1024)).to.equal(200);
    expect(await status('/api/routes/import', 8 * 1024 * 1024 + 1)).to.equal(413);
  },
  'HTTP-25 statuses of success': async (w) => {
    const { source, destination, eventId } = await w.deliver();
    const made = await w.api.request<Json>('POST', PATH, minimal);
    const one = `${PATH}/${String(made.body.id)}`;
    const requests: [string, string, unknown, number][] = [
      ['GET', one, undefined, 200],
      ['PATCH', one, { enabled: false }, 200],
      ['DELETE', one, undefined, 204],
      ['POST', `${PATH}/${destination.id}/test`, {}, 200],
      ['POST', `${PATH}/import`, { destinations: [], conflictStrategy: 'skip' }, 200],
      ['POST', `${w.base}/events/${eventId}/replay`, {}, 200],
      ['DELETE', `${PATH}/bulk`, { ids: [destination.id] }, 200],
      ['DELETE', `${w.base}/sources/${source.id}`, undefined, 204],
    ];
    expect(made.status).to.equal(201);
    for (const [method, path, body, status] of requests) {
      const answer = await w.api.request(method, path, body);
      expect(answer.status, `${method} ${path}`).to.equal(status);
      if (status === 204) expect(answer.body).to.deep.equal({});
    }
  },
  'LIST-06 booleans are words, and an empty filter is none': async (w) => {
    for (const wrong of ['yes', '1', 'TRUE', '']) {
      expectInvalid(await w.api.request('GET', `${PATH}?enabled=${wrong}`), 'enabled');
    }
    const { pagination } = await w.api.list(PATH);
    expect((await w.api.list(`${PATH}?search=`)).pagination.total).to.be.at.least(pagination.total);
  },
  'LIST-06 an empty filter of a request that acts is refused': async (w) => {
    const acting: [path: string, texts: string[]][] = [
      [
        '/api/deliveries/bulk',
        ['eventId', 'sourceId', 'routeId', 'destinationId', 'codeClass', 'error', 'lane', 'from'],
      ],
      [`${w.base}/events/replay`, ['sourceId', 'search', 'status', 'to']],
    ];
    for (const [path, texts] of acting) {
      const others = path.endsWith('bulk') ? { action: 'cancel', status: 'retrying' } : { routed: true };
      for (const name of texts) {
        const answer = await w.api.request('POST', path, { ...others, [name]: '', dryRun: true });
        expectInvalid(answer, name);
      }
    }
    const body = { action: 'cancel', status: 'retrying', routeId: '', dryRun: true };
    const { message } = (await w.api.request('POST', '/api/deliveries/bulk', body)).body;
    expect(message).to.equal('routeId must not be empty; leave it out');
  },
  'ERR-29 a kept answer that does not open': async (w) => {
    const { api, id } = await w.organization();
    const send = (key: string) => api.request('POST', PATH, minimal, { headers: { 'Idempotency-Key': key } });
    for (const key of ['a', 'b']) expect((await send(key)).status).to.equal(201);
    // Each is bound to its own row: exchanged, none opens.
    await w.testInstance.pool.query(
      `update idempotent_requests r set answer = o.answer from idempotent_requests o
       where r.organization_id = $1 and o.organization_id = $1 and o.id <> r.id`,
      [id],
    );
    expectError(await send('a'), 409, 'IDEMPOTENCY_ANSWER_LOST');
    expect((await api.list(PATH)).data, 'nothing was done again').to.have.length(2);
  },
});
