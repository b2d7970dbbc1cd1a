// What of a request is not known is ignored and named in the answer, or refused where it would choose what is acted on.
import { expect } from 'chai';
import { readIgnored } from '../../client/errors.ts';
import { type Answer, expectInvalid, type Json } from '../support/api-client.ts';
import { makePipeline, makeSource } from '../support/api-records.ts';
import { managementEndpoints, pathOf } from '../support/requests/endpoints.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { makeWarehouse } from '../support/warehouse/warehouse-records.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const header = (answer: Answer): string | null => answer.headers.get('x-ignored');
const url = 'https://receiver.example/hooks';

describe('What a request holds that is not known', () => {
  const organization = useOrganization();
  const request = (...args: Parameters<TestOrganization['api']['request']>) => organization.api.request(...args);
  /** The ignored names and their nearest known names in an answer. */
  async function namesOf(asked: Promise<Answer>): Promise<Record<string, string | null>> {
    const ignored = readIgnored('', header(await asked));
    return Object.fromEntries(
      (ignored?.names ?? []).map(({ name, in: place, nearest }) => [`${place} ${name}`, nearest]),
    );
  }

  it('is named for every GET that answers', async () => {
    let answered = 0;
    for (const endpoint of managementEndpoints().filter(({ method }) => method === 'GET')) {
      const path = pathOf(endpoint, { orgId: organization.id });
      const answer = await request('GET', `${path}?colour=blue`);
      const expected = answer.status === 200 ? '"colour";in=query' : null;
      expect(header(answer), `${path} answered ${answer.status}`).to.equal(expected);
      if (answer.status === 200) answered += 1;
      expect(header(await request('GET', path)), path).to.equal(null);
    }
    expect(answered).to.be.at.least(12);
  });

  it('is named at any depth of a body, whichever schema checks it', async () => {
    const destination = { name: 'CRM', url, retryPolicy: { maxRetry: 1 }, authType: 'bearer', signingsecret: 'x' };
    const auth = { authConfig: { token: 'the token', tokn: 'x' } };
    const base = `${organization.base}/destinations`;
    for (const path of ['/api/destinations', base]) {
      expect(await namesOf(request('POST', path, { ...destination, ...auth }))).to.deep.equal({
        'body retryPolicy.maxRetry': 'retryPolicy.maxRetries',
        'body signingsecret': 'signingSecret',
        'body authConfig.tokn': 'authConfig.token',
      });
    }
    const { config } = await makeWarehouse(organization, 's3');
    const lake = { name: 'Lake', type: 'r2', timeoutMs: 5, config: { bucket: config.bucket } };
    expect(await namesOf(request('POST', '/api/destinations', lake))).to.deep.equal({ 'body timeoutMs': null });
    const source = await makeSource(organization);
    const verificationConfig = { type: 'github', secret: 'whispered to both', algoritm: 'sha1' };
    const patch = { verificationConfig, nmae: 'Shop', id: source.id };
    const expected = { 'body verificationConfig.algoritm': null, 'body nmae': 'name', 'body id': null };
    expect(await namesOf(request('PATCH', `${organization.base}/sources/${source.id}`, patch))).to.deep.equal(expected);
  });

  it('is named for items of an import by their place; a file as it was exported holds nothing of it', async () => {
    const from = await createOrganization();
    await makePipeline(from);
    await makeWarehouse(from, 'gcs');
    for (const member of ['destinations', 'routes'] as const) {
      const file = await from.api.get<Json>(`/api/${member}/export`);
      const items = file[member] as Json[];
      const body = { ...file, conflictStrategy: 'overwrite', validateOnly: true };
      expect(header(await from.api.request('POST', `/api/${member}/import`, body)), member).to.equal(null);
      const misspelt = { ...body, validateonly: true, [member]: [...items, { ...items[0], nmae: 'x' }] };
      expect(await namesOf(from.api.request('POST', `/api/${member}/import`, misspelt))).to.deep.equal({
        'body validateonly': 'validateOnly',
        [`body ${member}.${items.length}.nmae`]: `${member}.${items.length}.name`,
      });
    }
  });

  it('is named with a 400, which it often explains, and with no other refusal', async () => {
    const refused = await request('POST', '/api/destinations', { name: 'CRM', ulr: url });
    expectInvalid(refused, 'url');
    expect(header(refused)).to.equal('"ulr";in=body;nearest="url"');
    expect(header(await request('GET', '/api/routes?page=0&pagesize=3'))).to.equal(
      '"pagesize";in=query;nearest="pageSize"',
    );
    expect(header(await request('GET', '/api/routes/rte_1?colour=blue'))).to.equal(null);
  });

  it('cannot break out of the header, nor make it long', async () => {
    const nasty = [
      'a\r\nSet-Cookie: x=1',
      'quo"te;in=body',
      'back\\slash',
      'per%cent',
      'grün 💩',
      'comma, more;count=9',
    ];
    const body = Object.fromEntries([...nasty, ...Array(5000).keys()].map((name) => [String(name), 1]));
    const answer = await request('POST', '/api/destinations', { name: 'CRM', url, ...body });
    expect(answer.headers.get('set-cookie')).to.equal(null);
    // Names of digits come first in an object.
    expect(header(answer)).to.match(/^("\d";in=body, ){8}more;count=4998$/);
    const query = nasty.map((name) => `${encodeURIComponent(name)}=1`).join('&');
    const named = await request('GET', `/api/destinations?${query}`);
    expect(readIgnored('', header(named))?.names.map(({ name }) => name)).to.deep.equal(nasty);
    expect(named.headers.get('set-cookie')).to.equal(null);
    const long = Object.fromEntries(['💩', 'x', 'ü', '"'].map((letter) => [letter.repeat(50_000), 1]));
    const cut = header(await request('POST', '/api/destinations', { name: 'CRM', url, ...long })) ?? '';
    expect(cut)
      .to.match(/^[\x20-\x7e]+$/)
      .and.to.have.length.below(600);
    const names = readIgnored('', cut)?.names.map(({ name }) => name) ?? [];
    expect(names)
      .to.include(`${'x'.repeat(100)}...`)
      .and.to.have.lengthOf(4);
  });

  describe('is refused where the body chooses what is acted on:', () => {
    const id = 'evt_00000000000000000000000000';
    const endpoints: [method: string, path: string, body: Json, misspelt: string, nearest: string][] = [
      ['POST', '{org}/events/replay', { status: 'failed' }, 'destnationIds', 'destinationIds'],
      ['POST', `{org}/events/${id}/replay`, {}, 'destinationId', 'destinationIds'],
      ['POST', '{org}/events/bulk/replay', { eventIds: [id] }, 'destinations', 'destinationIds'],
      ['POST', '/api/routes/bulk-pause', { routeIds: ['x'], isActive: true }, 'isactive', 'isActive'],
      ['POST', '/api/routes/bulk-delete', { routeIds: ['x'] }, 'routes', 'routeIds'],
      ['DELETE', '/api/destinations/bulk', { ids: ['x'] }, 'id', 'ids'],
      ['POST', '/api/deliveries/bulk', { action: 'retry', status: 'retrying', dryRun: true }, 'routeid', 'routeId'],
      ['POST', '/api/issues/iss_00000000000000000000000000/retry', { dryRun: true }, 'befor', 'before'],
    ];
    for (const [method, template, body, misspelt, nearest] of endpoints) {
      it(`${method} ${template}`, async () => {
        const path = template.replace('{org}', organization.base);
        const answer = await request(method, path, { ...body, [misspelt]: ['dst_1'] });
        expectInvalid(answer, misspelt);
        expect(answer.body.message).to.equal(`${misspelt} is unknown; did you mean ${nearest}?`);
        expectInvalid(await request(method, `${path}?sourceId=src_1`, body), 'sourceId');
      });
    }
  });
});
