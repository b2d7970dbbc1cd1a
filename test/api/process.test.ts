// The API as a process: start, refusal to start, and a clean end.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { createClient, expectError } from '../support/api-client.ts';
import { deliveryOf, ingest, makePipeline, recordAttempt } from '../support/api-records.ts';
import { logLines, problemsIn } from '../support/telemetry/log-lines.ts';
import { createOrganization, runToEnd, startService } from '../support/service.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';

describe('API process', () => {
  it('prints its settings with secrets masked, and its address', async () => {
    const service = await startService('api', { HOOKYARD_API_KEY: 'whr_shown_to_nobody_0123456789' });
    expect(service.url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    await until('the address in the log', () => service.output().includes(`listening on ${service.url}`));
    expect(service.output()).to.include('DATABASE_URL=****').and.include('HOOKYARD_API_KEY=****');
    expect(service.output()).to.not.include('shown_to_nobody');
    expect(await service.stop()).to.equal(0);
  });

  it('refuses a port that is taken with one line that names HOOKYARD_PORT', async () => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = String(typeof address === 'object' ? address?.port : '');
    const { code, output } = await runToEnd('api', { HOOKYARD_PORT: port, LOG_LEVEL: 'warn' });
    other.close();
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
    expectError(deep, 503, 'NOT_READY', /^Not ready: Temporal (?:cannot be reached|did not respond within 2 s)$/);
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
    const proxy = await startDatabaseProxy(3);
    const service = await startService('api', { DATABASE_URL: proxy.url });
    expect(service.output()).to.include('waiting for PostgreSQL');
    const organization = await createOrganization({ service });
    await organization.api.get('/api/destinations');
    proxy.cut();
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
    proxy.restore();
    for (const path of ['/api/destinations', '/api/deliveries', `${organization.base}/events`]) {
      await until(`${path} to answer again`, async () => (await organization.api.request('GET', path)).status === 200);
    }
    expect(await service.stop()).to.equal(0);
    await proxy.close();
  });
});

/** A way to PostgreSQL that can be cut; it drops the first connections, as a server that is starting does. */
async function startDatabaseProxy(dropFirst: number) {
  const target = new URL(stackAddresses().databaseUrl);
  const sockets = new Set<Socket>();
  let toDrop = dropFirst;
  const server = createServer((client) => {
    if (toDrop > 0) {
      toDrop -= 1;
      client.destroy();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(target);
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const cut = () => {
    toDrop = Number.POSITIVE_INFINITY;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cut,
    restore: () => {
      toDrop = 0;
    },
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
