// What providers answer in cases that no emulator produces: status and body as their references show them, read by the
// SDKs.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { expect } from 'chai';
import { operatorAccess } from '../../core/warehouse/operator-access.ts';
import { createWarehouses, type Warehouses } from '../../outbound/warehouses/index.ts';
import { type Listening, listen } from '../support/servers/listen.ts';
import { until } from '../support/until.ts';
import { type Answer, answers, gcs } from '../support/warehouse/warehouse-answers.ts';
import { caseOf, failed, type ProviderCase, providerCases, targetOf } from '../support/warehouse/warehouse-targets.ts';

describe('errors of object stores', () => {
  let warehouses: Warehouses;
  let server: Server;
  let listening: Listening;
  let url: string;
  let answer: (request: IncomingMessage) => Answer;
  let requests: string[];

  beforeEach(async () => {
    requests = [];
    warehouses = createWarehouses({ allow: ['127.0.0.1'] });
    server = createServer((request, response) => {
      requests.push(`${request.method} ${request.headers.authorization ?? ''}`);
      request.resume().on('end', () => {
        const { status, headers, body } = answer(request);
        response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body);
      });
    });
    listening = await listen(server);
    url = listening.url;
  });

  afterEach(async () => {
    await warehouses.close();
    await listening.close();
  });

  const r2 = (config: object) => ({ ...caseOf('r2'), config: () => ({ ...config }) });
  const object = { key: 'a.jsonl', body: Buffer.from('{}\n'), contentType: 'application/x-ndjson', metadata: {} };
  const put = (type: ProviderCase['type'], id?: string) =>
    warehouses.put({ ...targetOf(caseOf(type), url), ...(id === undefined ? {} : { id }) }, object, 30_000);
  const connections = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));

  for (const [type, given, kind, words] of answers) {
    const retryable = given.status >= 500 || given.status === 429;
    const code =
      /<Code>(\w+)|"reason":"(\w+)/
        .exec(given.body ?? '')
        ?.slice(1)
        .find(Boolean) ?? 'no code';
    it(`${type}, status ${given.status}, ${code}: ${kind}${retryable ? ', worth another try' : ''}`, async () => {
      answer = () => given;
      const problem = failed(await put(type));
      expect(problem).to.include({ kind, retryable });
      expect(problem.detail).to.match(words).and.not.to.contain('\n');
      // What a store says is for the API only.
      const said = /<Message>([^<]{12,})|"message":"([^"]{12,})|<html>(.*)/
        .exec(given.body ?? '')
        ?.slice(1)
        .find(Boolean);
      if (said) expect(problem.summary).to.not.contain(said.slice(0, 12));
      if (problem.detail !== problem.summary) expect(problem.summary).to.match(/; see the details in the API$/);
      // Trying again is the caller's affair.
      expect(requests).to.have.length(1);
    });
  }

  for (const provider of providerCases) {
    it(`${provider.name}: follows no redirect`, async () => {
      let elsewhere = 0;
      const other = createServer((_request, response) => {
        elsewhere++;
        response.end();
      });
      const { url: location, close } = await listen(other);
      // Elsewhere, and to another path of the same server, where signatures would be repeated.
      for (const to of [location, `${url}/elsewhere`]) {
        for (const status of [301, 302, 303, 307, 308]) {
          requests = [];
          answer = () => ({ status, headers: { location: to } });
          const target = targetOf(provider, url);
          expect(failed(await warehouses.put(target, object, 30_000)).retryable).to.equal(false);
          expect(failed(await warehouses.head(target, 'a.jsonl', 30_000)).retryable).to.equal(false);
          expect(requests).to.have.length(2);
        }
      }
      expect(elsewhere).to.equal(0);
      await close();
    });
  }

  it('sends no Google token to other endpoints', async () => {
    answer = () => gcs(401, 'authError', 'Invalid Credentials');
    await put('gcs');
    expect(requests).to.deep.equal(['POST ']);
  });

  it('ends an answer that is longer than any of an object store', async () => {
    answer = () => ({ status: 403, body: 'x'.repeat(3 * 1024 * 1024) });
    expect(failed(await put('s3')).detail).to.match(/more than 1048576 bytes/);
  });

  it('names what R2 lacks, in the config and in the environment', async () => {
    const target = targetOf(r2({ bucket: 'events' }));
    expect(failed(await warehouses.put(target, object, 30_000))).to.deep.include({
      kind: 'settings',
      retryable: false,
      detail:
        'R2 is not configured: set accountId (or R2_ACCOUNT_ID), accessKeyId (or R2_ACCESS_KEY_ID) and secretAccessKey (or R2_SECRET_ACCESS_KEY)',
    });
  });

  it("takes what R2 lacks from the environment, and does not use the operator's key for an endpoint of the config", async () => {
    answer = () => ({ status: 200 });
    const env = { R2_ENDPOINT: url, R2_ACCESS_KEY_ID: 'operator', R2_SECRET_ACCESS_KEY: 'operators-secret' };
    const access = operatorAccess({ HOOKYARD_WAREHOUSE_IDENTITY: ['acme:r2:events'] }, env);
    const others = createWarehouses({ allow: ['127.0.0.1'], access });
    try {
      const own = targetOf(r2({ bucket: 'events' }));
      expect(await others.put(own, object, 30_000)).to.deep.include({ ok: true });
      expect(requests[0]).to.match(/^PUT AWS4-HMAC-SHA256 Credential=operator\/\d{8}\/auto\//);
      const foreign = targetOf(r2({ bucket: 'events', endpoint: 'http://127.0.0.1:1' }));
      const elsewhere = targetOf(r2({ bucket: 'archive' }));
      for (const target of [foreign, elsewhere])
        for (const call of [others.put(target, object, 30_000), others.begin(target, object, 30_000)])
          expect(failed(await call)).to.deep.include({ kind: 'settings', retryable: false });
    } finally {
      await others.close();
    }
  });

  it('uses the new credentials of a new version, and closes the connections of the old one', async () => {
    answer = () => ({ status: 200 });
    const target = targetOf(caseOf('s3'), url);
    await warehouses.put(target, object, 30_000);
    await warehouses.put(target, object, 30_000);
    expect(await connections()).to.be.greaterThan(0);
    const rotated = targetOf(caseOf('s3'), url, { accessKeyId: 'rotated' });
    await warehouses.put({ ...rotated, id: target.id, version: 2 }, object, 30_000);
    expect(requests[2]).to.contain('Credential=rotated/');
    await until('only the connection of the new one is left', async () => (await connections()) === 1);
  });

  it('keeps clients of so many destinations as it was told, those used last', async () => {
    answer = () => ({ status: 200 });
    const few = createWarehouses({ allow: ['127.0.0.1'], maxStores: 2 });
    try {
      for (let n = 0; n < 6; n++)
        expect((await few.put(targetOf(caseOf('s3'), url), object, 30_000)).ok).to.equal(true);
      await until('two connections are left', async () => (await connections()) === 2);
    } finally {
      await few.close();
    }
    await until('none is left', async () => (await connections()) === 0);
  });

  it('refuses calls after it was closed', async () => {
    await warehouses.close();
    expect(failed(await put('s3'))).to.include({ kind: 'closed', retryable: true });
  });
});
