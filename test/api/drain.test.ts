import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { closeServer } from '../../api/service/ending.ts';
import { HTTP_LIMITS, OpenConnections } from '../../api/http/connections.ts';
import { createHttpServer } from '../../api/http/http-server.ts';
import { ingest, makePipeline } from '../support/api-records.ts';
import { createOrganization, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { answersTo, openConnection } from '../security/raw-connection.ts';

const CLIENTS = 20;
// Two signals within half a second count as one (core/process/end-request.ts).
const NEXT_SIGNAL_MS = 600;

const portOf = ({ url }: Service) => Number(new URL(url).port);
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

describe('The end of the API', () => {
  it('is announced to balancers and clients while it still serves, and comes at once when it is told once more', async () => {
    const service = await startService('api', { HOOKYARD_DRAIN_SECONDS: '300' });
    const organization = await createOrganization({ service });
    const { source } = await makePipeline(organization);
    const port = portOf(service);
    const open = async (text: string) => {
      const connection = await openConnection(port);
      connection.socket.write(text);
      return connection;
    };
    const ready = () => answersTo(port, `${get('/readyz').trimEnd()}\r\nConnection: close\r\n\r\n`);
    expect((await ready())[0]?.status).to.equal(200);
    const errors: Error[] = [];
    const used = await open(get('/healthz'));
    const silent = await open('');
    const posting = await open(
      `POST /api/destinations HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${organization.token}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 47\r\nExpect: 100-continue\r\n\r\n',
    );
    for (const { socket } of [used, silent, posting]) socket.on('error', (error) => errors.push(error));
    await until('the first answers', () => used.answers().length === 1 && posting.answers().length === 1);
    expect(used.answers()[0]?.headers.connection).to.equal('keep-alive');

    process.kill(service.pid, 'SIGTERM');
    const signalledAt = performance.now();
    await until('the drain to begin', () => service.output().includes('no longer ready'));
    const [notReady] = await answersTo(port, get('/readyz'));
    expect(notReady).to.include({ status: 503 });
    expect(notReady?.body).to.include({ code: 'NOT_READY' });
    expect(notReady?.headers).to.include({ connection: 'close' });
    const [alive] = await answersTo(port, get('/healthz'));
    expect(alive).to.include({ status: 200 });
    expect(await ingest(organization, source, '{}')).to.match(/^evt_/);
    used.socket.write(get('/healthz'));
    expect((await used.closed)[1])
      .to.deep.include({ status: 200 })
      .and.to.have.nested.include({ 'headers.connection': 'close' });
    posting.socket.write('{"name":"slow","url":"https://receiver.example"}'.slice(0, 47));
    const created = (await posting.closed).at(-1);
    expect(created?.headers.connection, 'of a request that was under way').to.equal('close');

    await until('a second signal to count', () => performance.now() - signalledAt > NEXT_SIGNAL_MS);
    expect(await service.stop()).to.equal(0);
    await silent.closed;
    expect(errors).to.deep.equal([]);
  });
});

describe('The end of the HTTP server', () => {
  const LONG_MS = 60_000;
  const CONNECTED_MS = 50;

  async function serve() {
    const connections = new OpenConnections();
    const limits = { ...HTTP_LIMITS, maxConnections: 1000, maxConnectionsPerAddress: 1000, managementConnections: 0 };
    const server = createHttpServer((_request, response) => response.end('{}'), limits, undefined, connections);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const close = () => {
      connections.drain();
      return closeServer(server, connections, LONG_MS);
    };
    return { port: (server.address() as AddressInfo).port, close };
  }

  it('answers what comes at that moment on a connection at rest, and cuts off nobody', async () => {
    const { port, close } = await serve();
    const [sending, silent, resting] = await Promise.all([1, 2, 3].map(() => openConnection(port)));
    const errors: Error[] = [];
    for (const connection of [sending, silent, resting]) connection?.socket.on('error', (error) => errors.push(error));
    for (const connection of [sending, resting]) connection?.socket.write(get('/'));
    await until('the first answers', () => sending?.answers().length === 1 && resting?.answers().length === 1);
    const closed = close();
    sending?.socket.write(get('/'));
    await closed;
    expect((await sending?.closed)?.map(({ headers }) => headers.connection)).to.deep.equal(['keep-alive', 'close']);
    expect(await resting?.closed).to.have.length(1);
    expect(await silent?.closed).to.have.length(0);
    expect(errors).to.deep.equal([]);
  });

  it('answers the connections that were made but not accepted yet', async () => {
    const { port, close } = await serve();
    const answers = Array.from({ length: CLIENTS }, () => answersTo(port, get('/')));
    // Now each of them has asked for its connection. The system makes them meanwhile, and nobody accepts them.
    await new Promise(process.nextTick);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, CONNECTED_MS);
    await close();
    for (const answer of await Promise.all(answers)) expect(answer.map(({ status }) => status)).to.deep.equal([200]);
  });
});
