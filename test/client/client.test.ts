import type { IncomingHttpHeaders } from 'node:http';
import { expect } from 'chai';
import { type Client, type ClientOptions, createClient, HookyardError, type Ignored } from '../../client/index.ts';
import { closeAll, httpServer } from '../http/servers.ts';
import { ingest, makePipeline } from '../support/api-records.ts';
import { late, useOrganization } from '../support/use-hookyard.ts';

type Reply = { status: number; headers?: Record<string, string>; body?: unknown } | 'break' | 'hang';
interface Scripted {
  client: Client;
  requests: { method: string; url: string; headers: IncomingHttpHeaders }[];
}

const unavailable = (retryAfter: string): Reply => ({
  status: 503,
  headers: { 'Retry-After': retryAfter },
  body: { error: 'Service Unavailable', message: 'PostgreSQL is away', code: 'UNAVAILABLE' },
});
const fine: Reply = { status: 200, body: { status: 'ok' } };
const body = { name: 'Key' };

describe('The client', () => {
  afterEach(closeAll);

  /** Answers in turn, the last answer for ever. */
  async function scripted(replies: Reply[], options: Partial<ClientOptions> = {}): Promise<Scripted> {
    const requests: Scripted['requests'] = [];
    const port = await httpServer((request, response) => {
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
      const reply = (replies.length > 1 ? replies.shift() : replies[0]) ?? 'hang';
      if (reply === 'break') request.socket.destroy();
      else if (reply !== 'hang') {
        response.writeHead(reply.status, { 'Content-Type': 'application/json', ...reply.headers });
        response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
      }
    });
    return { client: createClient({ url: `http://127.0.0.1:${port}`, apiKey: 'whr_test', ...options }), requests };
  }

  async function failure(call: Promise<unknown>): Promise<HookyardError> {
    const error: unknown = await call.catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(HookyardError);
    return error as HookyardError;
  }

  describe('when it is asked to wait', () => {
    for (const status of [429, 503]) {
      it(`repeats after a ${status}, as long as Retry-After says`, async () => {
        const asked = { ...(unavailable('1') as object), status };
        const patient = await scripted([asked, fine], { maxWaitMs: 1000 });
        expect(await patient.client.isAlive()).to.deep.equal({ status: 'ok' });
        expect(patient.requests).to.have.lengthOf(2);
        const hasty = await scripted([asked, fine], { maxWaitMs: 999 });
        expect(await failure(hasty.client.isAlive())).to.include({ status, retryAfterMs: 1000 });
        expect(hasty.requests).to.have.lengthOf(1);
      });
    }

    it('sends a POST with the same Idempotency-Key each time, and the next one with another', async () => {
      const running = { message: 'It runs', code: 'IDEMPOTENCY_KEY_IN_USE' };
      const inUse: Reply = { status: 409, headers: { 'Retry-After': '0' }, body: running };
      const made: Reply = { status: 201, body: { id: 'key_1' } };
      const { client, requests } = await scripted([unavailable('0'), 'break', inUse, made]);
      await client.createApiKey({ body });
      await client.createApiKey({ body });
      const keys = requests.map(({ headers }) => headers['idempotency-key']);
      expect(keys).to.have.lengthOf(5);
      expect(keys[0]).to.match(/^[\x21-\x7e]{1,255}$/);
      expect(new Set(keys.slice(0, 4)).size).to.equal(1);
      expect(keys[4]).not.to.equal(keys[0]);
      await client.createApiKey({ body }, { idempotencyKey: 'mine' });
      expect(requests.at(-1)?.headers['idempotency-key']).to.equal('mine');
    });

    it('gives up after maxRetries', async () => {
      const { client, requests } = await scripted([unavailable('0')], { maxRetries: 2 });
      const error = await failure(client.isAlive());
      expect(error).to.include({ status: 503, code: 'UNAVAILABLE', message: 'PostgreSQL is away', retryAfterMs: 0 });
      expect(requests).to.have.lengthOf(3);
    });

    it('is ended by its signal while it waits', async () => {
      const { client, requests } = await scripted([unavailable('30')]);
      const controller = new AbortController();
      const call = client.isAlive({}, { signal: controller.signal });
      const outcome = call.catch((reason: unknown) => reason);
      while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
      controller.abort(new Error('enough'));
      expect(await outcome).to.have.property('message', 'enough');
    });
  });

  describe('when something fails', () => {
    it('tells what the API tells', async () => {
      const details = [{ path: 'name', message: 'must be given' }];
      const told = { message: 'name must be given', code: 'VALIDATION_ERROR', details };
      const answer = { status: 400, headers: { 'X-Request-Id': 'req_1' }, body: { error: 'Bad Request', ...told } };
      const { client } = await scripted([answer]);
      const error = await failure(client.createApiKey({ body }));
      expect(error).to.deep.include({ status: 400, ...told, requestId: 'req_1' });
    });

    it('repeats a GET whose connection broke, but no DELETE', async () => {
      const get = await scripted(['break', fine]);
      await get.client.isAlive();
      expect(get.requests).to.have.lengthOf(2);
      const remove = await scripted(['break', { status: 204 }]);
      const unreachable = await failure(remove.client.deleteRoute({ id: 'rte_1' }));
      expect(unreachable).to.include({ status: null, code: 'UNREACHABLE' });
      expect(remove.requests).to.have.lengthOf(1);
    });

    it('repeats a PUT whose connection broke, unless it was for one version', async () => {
      const filter = { name: 'Paid', conditions: [] };
      const put = await scripted(['break', fine]);
      await put.client.putFilter({ slug: 'paid', body: filter });
      expect(put.requests).to.have.lengthOf(2);
      const conditional = await scripted(['break', fine]);
      const failed = await failure(conditional.client.putFilter({ slug: 'paid', body: filter }, { ifMatch: '"1"' }));
      expect([failed.code, conditional.requests.length]).to.deep.equal(['UNREACHABLE', 1]);
    });

    it('ends at its deadline, and says with which key a POST can be repeated', async () => {
      const { client, requests } = await scripted(['hang'], { timeoutMs: 50 });
      const error = await failure(client.createApiKey({ body }));
      expect(error).to.include({ status: null, code: 'TIMEOUT' });
      expect(error.idempotencyKey).to.equal(requests[0]?.headers['idempotency-key']);
      expect(error.message)
        .to.match(/got no response within 0\.05 s$/)
        .and.not.to.include('whr_test');
      expect(requests).to.have.lengthOf(1);
    });

    it('says so when something else answers, and follows nobody', async () => {
      const html: Reply = { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<h1>Welcome</h1>' };
      const elsewhere: Reply = { status: 301, headers: { Location: 'https://elsewhere.example/' }, body: '' };
      const others: Reply[] = [html, elsewhere, { status: 200, body: 'no {json' }, { status: 404, body: 'null' }];
      for (const reply of others) {
        const { client, requests } = await scripted([reply]);
        expect(await failure(client.isAlive())).to.include({ code: 'NOT_HOOKYARD' });
        expect(requests).to.have.lengthOf(1);
      }
    });

    it('refuses what cannot be sent before it sends anything', async () => {
      const { client, requests } = await scripted([fine]);
      expect(await client.getRoute({ id: '' }).catch((error: unknown) => error)).to.be.instanceOf(TypeError);
      expect(requests).to.deep.equal([]);
      for (const url of ['localhost:3000', 'ftp://x', '']) expect(() => createClient({ url })).to.throw(TypeError);
    });
  });

  it('puts every parameter in its place', async () => {
    const { client, requests } = await scripted([fine]);
    await client.listEvents({ orgId: 'org/1', search: 'a&b', page: 2, status: undefined });
    const [request] = requests;
    expect(request).to.include({ method: 'GET', url: '/api/organizations/org%2F1/events?search=a%26b&page=2' });
    expect(request?.headers).to.include({ authorization: 'Bearer whr_test' });
    expect(request?.headers).not.to.have.any.keys('content-type', 'idempotency-key');
  });

  describe('with the service', () => {
    const organization = useOrganization();
    const access = () => ({ url: organization.api.url, apiKey: organization.token });
    const client = late(() => createClient({ ...access(), url: `${organization.api.url}/` }));

    it('knows the organization of its key', async () => {
      const source = await client.createSource({ body: { name: 'Orders', slug: 'orders' } });
      expect(source.webhookUrl).to.include(`/ingest/${organization.slug}/orders`);
      expect(await client.getSource({ id: source.id })).to.deep.equal(source);
      expect(await client.deleteSource({ id: source.id })).to.equal(undefined);
      const gone = await failure(client.getSource({ id: source.id }));
      expect(gone).to.include({ status: 404, code: 'RESOURCE_NOT_FOUND' });
    });

    it('goes through all pages of a list, and no further than it is asked', async () => {
      const conditions = [{ field: 'payload.n', operator: 'exists' as const }];
      for (let n = 1; n <= 7; n++) await client.createFilter({ body: { name: `Filter ${n}`, conditions } });
      const names: string[] = [];
      for await (const filter of client.each('listFilters', { pageSize: 3 })) names.push(filter.name);
      expect(names).to.deep.equal([7, 6, 5, 4, 3, 2, 1].map((n) => `Filter ${n}`));
      let seen = 0;
      const fetched: string[] = [];
      const counted: typeof fetch = (...args) => {
        fetched.push(String(args[0]));
        return fetch(...args);
      };
      const counting = createClient({ ...access(), fetch: counted });
      for await (const _ of counting.each('listFilters', { pageSize: 3 })) if (++seen === 4) break;
      expect(fetched).to.have.lengthOf(2);
    });

    it('goes by cursor through a list that has one, whatever arrives meanwhile', async () => {
      const source = await client.createSource({ body: { name: 'Arriving', slug: 'arriving' } });
      const send = async () => {
        const answer = await fetch(source.webhookUrl, { method: 'POST', body: '{}' });
        return ((await answer.json()) as { eventId: string }).eventId;
      };
      const sent: string[] = [];
      for (let n = 0; n < 5; n++) sent.unshift(await send());
      const found: string[] = [];
      for await (const event of client.each('listEvents', { sourceId: source.id, pageSize: 2 })) {
        found.push(event.id);
        await send();
      }
      expect(found).to.deep.equal(sent);
      const part = await client.listEvents({ sourceId: source.id, cursor: 'first', pageSize: 3, withTotal: true });
      expect(part.data).to.have.lengthOf(3);
      expect(part.pagination).to.include({ total: 10, nextCursor: part.data[2]?.id });
      const { id: sourceId } = source;
      const page = await client.listEvents({ sourceId, status: ['delivered', 'failed'], page: 2, pageSize: 4 });
      expect(page.pagination).to.deep.equal({ total: 10, page: 2, pageSize: 4 });
    });

    it('tells what the service ignored, and leaves to the caller what its function throws', async () => {
      const told: Ignored[] = [];
      const telling = createClient({ ...access(), onIgnored: (ignored) => void told.push(ignored) });
      const misspelt = { destnationId: 'dst_1', 'grün "x"': 1 } as object;
      expect((await telling.listFilters({ ...misspelt, pageSize: 1 })).data).to.have.lengthOf(1);
      const refused = failure(telling.createFilter({ body: { name: 'F', condtions: [] } as never }));
      expect((await refused).status).to.equal(400);
      const unknown = (name: string) => ({ name, in: 'query', nearest: null });
      expect(told).to.deep.equal([
        { request: 'GET /api/filters', names: ['destnationId', 'grün "x"'].map(unknown), more: 0 },
        { request: 'POST /api/filters', names: [{ name: 'condtions', in: 'body', nearest: 'conditions' }], more: 0 },
      ]);
      const onIgnored = () => {
        throw new RangeError('misspelt');
      };
      const throwing = createClient({ ...access(), onIgnored }).listFilters(misspelt);
      expect(await throwing.catch((error: unknown) => error)).to.be.instanceOf(RangeError);
    });

    it('gets a payload byte by byte', async () => {
      const { source } = await makePipeline(organization);
      const id = await ingest(organization, source, '{"broken": ');
      const { contentType, bytes } = await client.getEventPayload({ id });
      expect([contentType, new TextDecoder().decode(bytes)]).to.deep.equal(['application/json', '{"broken": ']);
    });
  });
});
