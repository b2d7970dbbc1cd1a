import { expect } from 'chai';
import { createClient, expectError, expectInvalid } from '../support/api-client.ts';
import { managementEndpoints, pathOf } from '../support/requests/endpoints.ts';
import { createOrganization, sharedService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useMade, useOrganization, useService } from '../support/use-hookyard.ts';

describe('HTTP conventions', () => {
  const organization = useOrganization();
  const service = useMade('the API', () => sharedService('api'));

  describe('credentials', () => {
    const ask = (headers: Record<string, string>) =>
      createClient(service.url, null).request('GET', '/api/auth/me', undefined, { headers });
    const refused: [string, string | undefined][] = [
      ['no Authorization header', undefined],
      ['an unknown key', 'Bearer whr_unknown_unknown_unknown_unknown'],
      ['another scheme', 'Basic dXNlcjpwYXNz'],
      ['no token', 'Bearer '],
    ];
    for (const [what, authorization] of refused) {
      it(`answers 401 to ${what}`, async () => {
        const answer = await ask(authorization === undefined ? {} : { Authorization: authorization });
        expectError(answer, 401, 'UNAUTHORIZED');
        expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
      });
    }

    it('takes the word Bearer in any letter case', async () => {
      expect((await ask({ Authorization: `bearer ${organization.token}` })).status).to.equal(200);
    });

    it('takes the key as X-API-Key too, also beside what a proxy has put into Authorization', async () => {
      const own: Record<string, string> = { 'X-API-Key': organization.token };
      expect((await ask(own)).status).to.equal(200);
      expect((await ask({ ...own, Authorization: 'Basic dXNlcjpwYXNz' })).status).to.equal(200);
      expectError(await ask({ 'X-API-Key': 'whr_unknown_unknown_unknown_unknown' }), 401, 'UNAUTHORIZED');
      const unknown = { Authorization: 'Bearer whr_unknown_unknown_unknown_unknown' };
      expectError(await ask({ ...own, ...unknown }), 401, 'UNAUTHORIZED');
    });

    it('tells who the caller is', async () => {
      const me = await organization.api.get('/api/auth/me');
      expect(me.organization).to.include({ id: organization.id, slug: organization.slug, plan: 'business' });
      expect(me.organizations).to.deep.equal([me.organization]);
      expect(me.key).to.deep.include({ name: 'test', scopes: ['read', 'write'] });
    });
  });

  describe('paths and methods', () => {
    it('answers 404 to an unknown path', async () => {
      expectError(await organization.api.request('GET', '/api/unknown'), 404, 'RESOURCE_NOT_FOUND');
      expectError(await organization.api.request('GET', '/'), 404, 'RESOURCE_NOT_FOUND');
    });

    const wrong: [string, string, string][] = [
      ['PUT', '/api/destinations', 'GET, HEAD, OPTIONS, POST'],
      ['POST', '/api/routes/rte_1', 'DELETE, GET, HEAD, OPTIONS, PATCH'],
      ['GET', '/api/routes/rte_1/reset-circuit', 'OPTIONS, POST'],
      ['DELETE', '/healthz', 'GET, HEAD, OPTIONS'],
      ['GET', '/ingest/a/b', 'POST, PUT, PATCH'],
    ];
    for (const [method, path, allow] of wrong) {
      it(`answers 405 to ${method} ${path} and names what is allowed`, async () => {
        const answer = await organization.api.request(method, path);
        expectError(answer, 405, 'METHOD_NOT_ALLOWED');
        expect(answer.headers.get('allow')).to.equal(allow);
      });
    }

    it('answers OPTIONS with what a path allows, without credentials', async () => {
      const client = createClient(service.url, null);
      const answer = await client.request('OPTIONS', '/api/routes/rte_1');
      expect(answer.status).to.equal(204);
      expect(answer.body).to.deep.equal({});
      expect(answer.headers.get('allow')).to.equal('DELETE, GET, HEAD, OPTIONS, PATCH');
      expect(answer.headers.get('x-request-id')).to.match(/^req_/);
      expectError(await client.request('OPTIONS', '/api/unknown'), 404, 'RESOURCE_NOT_FOUND');
    });

    // The first use of a key is noted a little later, and changes what is said of it.
    before('the key is known to be used', () =>
      until('the use of the key', async () => {
        const keys = await organization.api.get<{ data: { lastUsedAt: string | null }[] }>('/api/api-keys');
        return keys.data.every(({ lastUsedAt }) => lastUsedAt !== null);
      }),
    );

    for (const endpoint of managementEndpoints().filter(({ method }) => method === 'GET')) {
      it(`answers HEAD ${endpoint.path} like GET, without a body`, async () => {
        const path = pathOf(endpoint, { orgId: organization.id });
        const [get, head] = [await organization.api.request('GET', path), await organization.api.request('HEAD', path)];
        expect(head.status).to.equal(get.status);
        expect(head.body).to.deep.equal({});
        for (const name of ['content-type', 'content-length', 'allow']) {
          expect(head.headers.get(name), name).to.equal(get.headers.get(name));
        }
      });
    }

    it('answers 404 to an id that cannot exist', async () => {
      for (const id of ['x', 'src_1', '%00', '%F0%9F%92%A9', "'or'1'='1", 'dst_'.padEnd(5000, '0')]) {
        expectError(await organization.api.request('GET', `/api/destinations/${id}`), 404, 'RESOURCE_NOT_FOUND');
      }
    });
  });

  describe('bodies', () => {
    const post = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
      organization.api.request('POST', '/api/destinations', undefined, { raw, headers });
    const json = { 'Content-Type': 'application/json' };

    const deep = `${'['.repeat(300_000)}${']'.repeat(300_000)}`;
    const refused: [string, ...Parameters<typeof post>, status: number, code: string][] = [
      ['malformed JSON', '{"name":', json, 400, 'INVALID_JSON'],
      ['bytes that are no UTF-8', new Uint8Array([0x22, 0xff, 0x22]), json, 400, 'INVALID_JSON'],
      ['another content type', 'name=x', { 'Content-Type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      ['a compressed body', 'x', { ...json, 'Content-Encoding': 'gzip' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      ['JSON that is nested too deeply', `{"name":${deep}}`, json, 400, 'VALIDATION_ERROR'],
    ];
    for (const [what, raw, headers, status, code] of refused) {
      it(`answers ${status} ${code} to ${what}`, async () => expectError(await post(raw, headers), status, code));
    }
    for (const body of [[], 'text', 5, null, true]) {
      it(`answers 400 to ${JSON.stringify(body)} where an object is wanted`, async () => {
        expectError(await organization.api.request('POST', '/api/destinations', body), 400, 'VALIDATION_ERROR');
      });
    }
    it('answers 400 to no body where one is needed', async () => {
      expectError(await organization.api.request('POST', '/api/routes'), 400, 'VALIDATION_ERROR');
    });
    it('answers 400 to text that PostgreSQL cannot hold', async () => {
      const url = 'https://receiver.example';
      for (const name of ['a\u0000b', '\ud800']) {
        const answer = await organization.api.request('POST', '/api/destinations', { name, url });
        expectInvalid(answer, 'name');
      }
      expectInvalid(await organization.api.request('GET', '/api/destinations?search=%00'), 'search');
    });
    it('names every offending member, the first one in the message', async () => {
      const body = { url: 'https://x.example', enabled: 'yes', timeoutMs: 0 };
      const answer = await organization.api.request('POST', '/api/destinations', body);
      expectInvalid(answer, 'name');
      const paths = (answer.body.details as { path: string }[]).map(({ path }) => path);
      expect(paths).to.have.members(['name', 'enabled', 'timeoutMs']);
    });
  });

  describe('request ids', () => {
    const idOf = async (path: string, id: string) => {
      const answer = await organization.api.request('GET', path, undefined, { headers: { 'X-Request-Id': id } });
      return answer.headers.get('x-request-id');
    };
    it('returns the id of the request', async () => {
      expect(await idOf('/healthz', 'abc-123')).to.equal('abc-123');
    });
    it('makes one when there is none, or one that is not sane', async () => {
      for (const id of ['', 'with space', 'x'.repeat(129)]) expect(await idOf('/api/unknown', id)).to.match(/^req_/);
    });
  });

  describe('probes', () => {
    it('answers /healthz and /readyz without credentials', async () => {
      const client = createClient(service.url, null);
      expect(await client.get('/healthz')).to.deep.equal({ status: 'ok' });
      const ready = { status: 'ok', ingest: 'open', temporal: 'ok' };
      const { lanes, ...deep } = await client.get<{ lanes: object }>('/readyz?deep');
      expect(deep).to.deep.equal(ready);
      expect(lanes).to.have.all.keys('workflow', 'express');
      expect(await client.get('/readyz')).to.deep.equal(ready);
      expect(await client.get('/readyz?deep=false')).to.deep.equal(ready);
    });
  });

  describe('pagination', () => {
    for (const query of [
      'page=0',
      'page=-1',
      'page=1.5',
      'page=x',
      'page=',
      'pageSize=0',
      'pageSize=-5',
      'page=1&page=2',
    ]) {
      it(`answers 400 to ${query}`, async () => {
        expectInvalid(await organization.api.request('GET', `/api/destinations?${query}`), query.split('=')[0] ?? '');
      });
    }
  });
});

describe('Management rate limit', () => {
  const service = useService('api', { HOOKYARD_API_RATE_LIMIT_PER_MINUTE: '3' });

  it('is off by default', async () => {
    const { api } = await createOrganization();
    const answer = await api.request('GET', '/api/auth/me');
    expect(answer.headers.has('x-ratelimit-limit')).to.equal(false);
  });

  it('answers 429 beyond the limit of a key, and leaves other keys alone', async () => {
    const first = await createOrganization({ service });
    const second = await createOrganization({ service });
    const answers = [];
    // The window may end in between, which resets the count: of eight requests at least two are beyond three.
    for (let n = 0; n < 8; n += 1) answers.push(await first.api.request('GET', '/api/auth/me'));
    const limited = answers.find((answer) => answer.status === 429);
    if (!limited) throw new Error('no request was limited');
    expectError(limited, 429, 'RATE_LIMITED');
    expect(limited.headers.get('x-ratelimit-remaining')).to.equal('0');
    expect(Number(limited.headers.get('retry-after'))).to.be.within(1, 60);
    expect(answers[0]?.headers.get('x-ratelimit-limit')).to.equal('3');
    expect(answers[0]?.headers.get('x-ratelimit-remaining')).to.equal('2');
    expect(Number(answers[0]?.headers.get('x-ratelimit-reset'))).to.be.greaterThan(1_700_000_000);
    expect((await second.api.request('GET', '/api/auth/me')).status).to.equal(200);
  });
});
