import { createServer } from 'node:net';
import { expect } from 'chai';
import { createClient, expectError } from '../support/api-client.ts';
import { deliveryOf, ingest, makePipeline, recordAttempt } from '../support/api-records.ts';
import { logLines, problemsIn } from '../support/telemetry/log-lines.ts';
import { listen } from '../support/servers/listen.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { createOrganization, runToEnd, startService } from '../support/service.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';

describe('API process', () => {
  it('refuses a port that is taken with one line that names HOOKYARD_PORT', async () => {
    const { port, close } = await listen(createServer());
    const { code, output } = await runToEnd('api', { HOOKYARD_PORT: String(port), LOG_LEVEL: 'warn' });
    await close();
    expect(code).to.equal(1);
    // Besides, it may warn of a busy machine, or of organizations that share the database.
    const told = output
      .trim()
      .split('\n')
      .filter((line) => !line.includes('"level":"warn"'));
    expect(told, output).to.have.length(1);
    expect(told[0]).to.include(`Port ${port}`).and.include('HOOKYARD_PORT');
  });

  const refused: [string, Record<string, string>, RegExp][] = [
    ['no database', { DATABASE_URL: '' }, /^DATABASE_URL must be set/],
    [
      'an encryption key that does not open the data',
      { HOOKYARD_ENCRYPTION_KEYS: `other:${Buffer.alloc(32, 7).toString('base64')}` },
      /^HOOKYARD_ENCRYPTION_KEYS: /,
    ],
  ];
  for (const [what, env, line] of refused) {
    it(`refuses ${what} with one clear line`, async () => {
      const { api } = await createOrganization();
      // There is data that only the right key opens.
      await api.create('/api/destinations', {
        name: 'x',
        url: 'https://receiver.example',
        authType: 'bearer',
        authConfig: { token: 'secret-token' },
      });
      // Without a limit it warns of the other organizations first.
      const settings = { LOG_LEVEL: 'warn', HOOKYARD_MAX_DATABASE_BYTES: '100000000000', ...env };
      const { code, output } = await runToEnd('api', settings);
      expect(code).to.equal(1);
      expect(output.trim().split('\n')).to.have.length(1);
      expect(problemsIn(output)).to.match(line);
    });
  }

  it('serves records, and is ready for webhooks, while Temporal is away', async () => {
    const service = await startService('api', { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    const organization = await createOrganization({ service });
    await organization.api.create('/api/destinations', { name: 'x', url: 'https://receiver.example' });
    const probes = createClient(service.url, null);
    const deep = await probes.request('GET', '/readyz?deep');
    expectError(deep, 503, 'NOT_READY', /Temporal/);
    expect(await probes.get('/readyz')).to.deep.equal({ status: 'ok', ingest: 'open', temporal: 'away' });
    expectError(await probes.request('GET', '/readyz?deep=maybe'), 400, 'VALIDATION_ERROR', /deep/);
    const pipeline = await makePipeline(organization);
    const eventId = await ingest(organization, pipeline.source, '{}');
    const { id: deliveryId } = await deliveryOf(organization, eventId);
    await recordAttempt({ eventId, deliveryId, deliveryStatus: 'retrying' });
    const retry = await organization.api.request('POST', `/api/deliveries/${deliveryId}/retry`);
    expectError(retry, 503, 'UNAVAILABLE', /Temporal/);
    // A cancel is decided in the database; its workflow, if there is one, finds out later.
    expect(await organization.api.post(`/api/deliveries/${deliveryId}/cancel`)).to.include({ status: 'cancelled' });
    expect(await service.stop()).to.equal(0);
  });

  it('waits for PostgreSQL at the start, answers 503 while it is away, and recovers by itself', async () => {
    const target = new URL(stackAddresses().databaseUrl);
    const proxy = await startTcpProxy(target.host);
    proxy.refuseConnections();
    const starting = startService('api', { DATABASE_URL: Object.assign(target, { host: proxy.address }).href });
    await until('it to have tried', () => proxy.refused > 2);
    proxy.breakConnections();
    const service = await starting;
    expect(service.output()).to.include('waiting for PostgreSQL');
    const organization = await createOrganization({ service });
    await organization.api.get('/api/destinations');
    proxy.refuseConnections();
    for (const path of ['/api/destinations', '/api/deliveries', `${organization.base}/events`]) {
      const answer = await organization.api.request('GET', path);
      expectError(answer, 503, 'UNAVAILABLE', /database/);
      expect(answer.headers.get('retry-after')).to.equal('1');
    }
    const ready = await createClient(service.url, null).request('GET', '/readyz');
    expectError(ready, 503, 'NOT_READY', /database/);
    expect((await createClient(service.url, null).get('/healthz')).status).to.equal('ok');
    for (let n = 0; n < 20; n += 1) await organization.api.request('GET', '/api/destinations');
    const away = logLines(service).filter(({ msg }) => msg.startsWith('returning 503'));
    expect(away, 'a line for each way in which it fails, not for each request').to.have.length.within(1, 5);
    expect(away[0]?.cause).to.have.property('details');
    proxy.breakConnections();
    for (const path of ['/api/destinations', '/api/deliveries', `${organization.base}/events`]) {
      await until(`${path} to answer again`, async () => (await organization.api.request('GET', path)).status === 200);
    }
    expect(await service.stop()).to.equal(0);
    await proxy.close();
  });
});
