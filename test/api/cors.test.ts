// Cross-origin requests of browsers (docs/operate/configuration.md, HOOKYARD_CORS_ORIGINS).
import { expect } from 'chai';
import { createClient } from '../support/api-client.ts';
import { makeSource } from '../support/api-records.ts';
import { useOrganization, useService } from '../support/use-hookyard.ts';

const ORIGIN = 'https://console.example.com';
const SECOND = 'http://localhost:5173';

describe('CORS', () => {
  const service = useService('api', { HOOKYARD_CORS_ORIGINS: `${ORIGIN}, ${SECOND}` });
  const organization = useOrganization(() => ({ service }));
  const usual = useOrganization();

  const preflight = (path: string, origin: string) =>
    createClient(service.url, null).request('OPTIONS', path, undefined, {
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization',
      },
    });
  const corsHeaders = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith('access-control-'));

  for (const origin of [ORIGIN, SECOND]) {
    it(`answers a preflight of ${origin} without credentials`, async () => {
      const answer = await preflight('/api/destinations', origin);
      expect(answer.status).to.equal(204);
      expect(Object.fromEntries(answer.headers)).to.include({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers':
          'Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-API-Key, X-Request-Id',
        'access-control-max-age': '600',
        vary: 'Origin',
      });
      expect(answer.headers.has('access-control-allow-credentials')).to.equal(false);
    });
  }

  it("lets a page read an answer, its errors, and the headers that are Hookyard's own", async () => {
    for (const path of ['/api/destinations', '/api/destinations/x', '/api/unknown']) {
      const answer = await organization.api.request('GET', path, undefined, { headers: { Origin: ORIGIN } });
      expect(answer.headers.get('access-control-allow-origin')).to.equal(ORIGIN);
      expect(answer.headers.get('access-control-expose-headers'))
        .to.include('X-Request-Id')
        .and.include('Retry-After')
        .and.include('X-Ignored');
    }
    const refused = await createClient(service.url, null).request('GET', '/api/routes', undefined, {
      headers: { Origin: ORIGIN },
    });
    expect(refused.status).to.equal(401);
    expect(refused.headers.get('access-control-allow-origin')).to.equal(ORIGIN);
  });

  for (const origin of [
    'https://console.example.com.evil.example',
    'https://console.example.com:8443',
    'http://console.example.com',
    'https://CONSOLE.example.com',
    'null',
    '*',
  ]) {
    it(`gives ${origin} nothing`, async () => {
      expect(corsHeaders((await preflight('/api/destinations', origin)).headers)).to.deep.equal([]);
      const answer = await organization.api.request('GET', '/api/destinations', undefined, {
        headers: { Origin: origin },
      });
      expect(answer.status).to.equal(200);
      expect(corsHeaders(answer.headers)).to.deep.equal([]);
      expect(answer.headers.get('vary')).to.equal('Origin');
    });
  }

  it('says that answers differ by origin also when a request has none', async () => {
    expect((await organization.api.request('GET', '/api/destinations')).headers.get('vary')).to.equal('Origin');
  });

  it('leaves ingest out', async () => {
    const source = await makeSource(organization);
    const path = `/ingest/${organization.slug}/${source.slug}`;
    expect((await preflight(path, ORIGIN)).status).to.equal(405);
    const answer = await organization.api.request('POST', path, { a: 1 }, { headers: { Origin: ORIGIN } });
    expect(answer.status).to.equal(200);
    expect(corsHeaders(answer.headers)).to.deep.equal([]);
    expect(answer.headers.has('vary')).to.equal(false);
  });

  it('is off by default', async () => {
    const answer = await usual.api.request('GET', '/api/destinations', undefined, { headers: { Origin: ORIGIN } });
    expect(corsHeaders(answer.headers)).to.deep.equal([]);
    expect(answer.headers.has('vary')).to.equal(false);
  });
});
