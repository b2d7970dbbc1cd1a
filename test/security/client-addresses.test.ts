// Who a request comes from: only the operator's own proxies are believed, and what they say is kept with the event and
// counted.
import { expect } from 'chai';
import { clientAddressOf, type ProxyTrust } from '../../api/http/client-addresses.ts';
import { connectionCounts, HTTP_LIMITS, type HttpLimits } from '../../api/http/connections.ts';
import { createHttpServer } from '../../api/http/http-server.ts';
import { parseRange } from '../../core/http/addresses.ts';
import { ingest, makeSource, type SourceRecord } from '../support/api-records.ts';
import { BALANCER_ADDRESS, type Balancer, requireHaproxy, startBalancer } from '../support/servers/haproxy.ts';
import { createOrganization, type Service, startService, type TestOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';
import { endedAfterEach, openConnection } from './raw-connection.ts';

const PROXY = '127.0.0.1';
const STRANGER = '127.0.0.2';

const trust = (...texts: string[]): ProxyTrust => ({
  proxies: texts.map(parseRange).filter((range) => range !== null),
});

describe("A client's address", () => {
  const { serve: start, open } = endedAfterEach();

  /** A server that answers with the address of the client and the length of the body. */
  function serve(proxies: ProxyTrust, limits: Partial<HttpLimits> = {}): Promise<number> {
    const counts = connectionCounts(1000, { HOOKYARD_MAX_CONNECTIONS_PER_ADDRESS: 500 });
    const server = createHttpServer(
      (request, response) => {
        let bytes = 0;
        request.on('data', (part: Buffer) => {
          bytes += part.length;
        });
        request.on('end', () => response.end(JSON.stringify({ ...clientAddressOf(request, proxies), bytes })));
      },
      { ...HTTP_LIMITS, ...counts, ...limits },
      undefined,
      undefined,
      proxies,
    );
    return start(server);
  }

  const request = (headers = '', body = '') =>
    `POST /api/x HTTP/1.1\r\nHost: a\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;

  async function addressSeen(port: number, from: string, text: string): Promise<unknown> {
    const connection = await open(port, text, from);
    const answer = await until('an answer', () => connection.answers()[0]);
    return answer.body?.address ?? answer.status;
  }

  describe('in X-Forwarded-For', () => {
    const cases: [string, string, string][] = [
      ['is believed of a trusted proxy', '192.0.2.1', '192.0.2.1'],
      ['is the one right of what the client wrote itself', '8.8.8.8, 192.0.2.1', '192.0.2.1'],
      ['is the first that is no proxy, from the right', '8.8.8.8, 192.0.2.1, 10.1.2.3, 127.0.0.1', '192.0.2.1'],
      ['is the last known one before nonsense', '192.0.2.1, unknown, 10.1.2.3', '10.1.2.3'],
      ['is that of the proxy when there is only nonsense', 'unknown', PROXY],
      ['may have a port', '192.0.2.1:4711', '192.0.2.1'],
      ['may be IPv6 with a port', '[2001:db8::1]:4711', '2001:db8::1'],
      ['is IPv4 when it is mapped', '::ffff:192.0.2.1', '192.0.2.1'],
    ];
    for (const [what, forwarded, expected] of cases) {
      it(what, async () => {
        const port = await serve(trust('127.0.0.1', '10.0.0.0/8'));
        expect(await addressSeen(port, PROXY, request(`X-Forwarded-For: ${forwarded}\r\n`))).to.equal(expected);
      });
    }

    it('is not believed of anyone else, nor of anyone by default', async () => {
      const forged = request('X-Forwarded-For: 192.0.2.1\r\n');
      expect(await addressSeen(await serve(trust('127.0.0.1')), STRANGER, forged)).to.equal(STRANGER);
      expect(await addressSeen(await serve(trust()), PROXY, forged)).to.equal(PROXY);
    });

    it('is counted: one client has so many requests under way, others of the same proxy are served', async () => {
      const port = await serve(trust('127.0.0.1'), { maxConnectionsPerAddress: 2 });
      const unfinished = 'POST /x HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 9\r\n\r\n';
      const first = await open(port, unfinished);
      await open(port, unfinished);
      await until(
        'the third to be refused',
        async () => (await addressSeen(port, PROXY, request('X-Forwarded-For: 192.0.2.1\r\n'))) === 503,
      );
      expect(await addressSeen(port, PROXY, request('X-Forwarded-For: 192.0.2.2\r\n'))).to.equal('192.0.2.2');
      first.socket.write('123456789');
      await until('the first answer', () => first.answers()[0]);
      expect(await addressSeen(port, PROXY, request('X-Forwarded-For: 192.0.2.1\r\n'))).to.equal('192.0.2.1');
    });
  });

  describe('with the running API', () => {
    let service: Service;
    let organization: TestOrganization;
    let source: SourceRecord;
    const clientOf = async (eventId: string) =>
      (await organization.api.get(`${organization.base}/events/${eventId}`)).clientAddress;
    const logged = (address: string) =>
      until('the line in the log', () => service.output().includes(`"client":"${address}"`));

    async function start(more: Record<string, string>): Promise<void> {
      service = await startService('api', more);
      organization = await createOrganization({ service });
      source = await makeSource(organization);
    }
    afterEach(() => service?.stop());

    it('is stored with the event, shown and logged', async () => {
      await start({ HOOKYARD_TRUSTED_PROXIES: PROXY });
      const event = await ingest(organization, source, '{}', { 'X-Forwarded-For': '6.6.6.6, 192.0.2.1' });
      expect(await clientOf(event)).to.equal('192.0.2.1');
      const { data } = await organization.api.list(`${organization.base}/events`);
      expect(data[0]).to.include({ id: event, clientAddress: '192.0.2.1' });
      await logged('192.0.2.1');
    });

    it('comes through a real haproxy', async function () {
      requireHaproxy(this);
      // The test itself connects from another address than haproxy.
      await start({ HOOKYARD_TRUSTED_PROXIES: BALANCER_ADDRESS });
      let balancer: Balancer | undefined;
      try {
        balancer = await startBalancer([Number(new URL(service.url).port)], { namesClients: true });
        const connection = await openConnection(Number(new URL(balancer.url).port), { from: '127.0.0.77' });
        const path = new URL(source.webhookUrl).pathname;
        const body = 'y'.repeat(200_000);
        connection.socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
        const answer = await until('an answer', () => connection.answers()[0]);
        expect(answer.status).to.equal(200);
        connection.socket.destroy();
        await logged('127.0.0.77');
        expect(await clientOf(String(answer.body?.eventId))).to.equal('127.0.0.77');
      } finally {
        await balancer?.close();
      }
    });
  });

  describe('that floods', () => {
    const counts = { maxConnections: 20, managementConnections: 4, maxConnectionsPerAddress: 500 };

    it('never takes all connections: others find some, however many there are before them', async () => {
      const port = await serve(trust(), counts);
      const refused: number[] = [];
      for (const [index, address] of ['127.0.0.2', '127.0.0.3', '127.0.0.4'].entries()) {
        for (let n = 0; n < 20; n += 1) {
          const connection = await open(port, '', address);
          connection.closed.then(([answer]) => answer?.status === 503 && refused.push(index)).catch(() => undefined);
        }
      }
      await until('each flood to be refused', () => [0, 1, 2].every((index) => refused.includes(index)));
      expect(await addressSeen(port, '127.0.0.5', request())).to.equal('127.0.0.5');
    });

    it('leaves the last connections to the management API, which answers once on each', async () => {
      const port = await serve(trust(), counts);
      // Each address takes one, so that none is refused for its own sake.
      for (let n = 0; n < 16; n += 1) await open(port, '', `127.0.1.${n + 1}`);
      const webhook = request().replace('/api/x', '/ingest/a/b');
      await until('webhooks to be refused', async () => (await addressSeen(port, '127.0.2.1', webhook)) === 503);
      const [answer] = await (await open(port, request(), '127.0.2.2')).closed;
      expect(answer?.status).to.equal(200);
      expect(answer?.headers.connection).to.equal('close');
    });

    it('cannot hold those either by saying nothing', async () => {
      const port = await serve(trust(), { ...counts, managementHeadersMs: 500 });
      for (let n = 0; n < 16; n += 1) await open(port, '', `127.0.1.${n + 1}`);
      const silent = await open(port, '', '127.0.2.1');
      expect(await silent.closed).to.deep.equal([]);
    });
  });
});
