// What the HTTP server lets a client hold: time, connections, requests. The server is the API's own
// (api/http/http-server.ts) with shorter deadlines.
import { type IncomingMessage, request as httpRequest, type Server, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type HttpLimits, MAX_HEADERS, MAX_PIPELINED } from '../../api/http/connections.ts';
import { createHttpServer } from '../../api/http/http-server.ts';
import { until } from '../support/until.ts';
import { answersTo, endedAfterEach, openConnection, type RawConnection } from './raw-connection.ts';

const LONG_MS = 60_000;
// Longer than a busy machine may keep an ordinary request waiting.
const SHORT_MS = 1500;
const PATIENT: HttpLimits = {
  headersMs: LONG_MS,
  requestMs: LONG_MS,
  keepAliveMs: LONG_MS,
  answerMs: LONG_MS,
  checkEveryMs: 50,
  lingerMs: LONG_MS,
  maxRequestsPerConnection: 1000,
  maxConnections: 1000,
  maxConnectionsPerAddress: 1000,
  managementConnections: 0,
  managementHeadersMs: LONG_MS,
};
const HEAD = 'POST /x HTTP/1.1\r\nHost: a\r\n';

async function echoLength(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let bytes = 0;
  try {
    for await (const part of request) bytes += (part as Buffer).length;
  } catch {
    // Cut off; there is nobody to answer.
    return;
  }
  response.end(JSON.stringify({ bytes }));
}

describe('HTTP limits', () => {
  const { serve: start, open } = endedAfterEach();
  let server: Server;

  function serve(limits: Partial<HttpLimits>, handle = echoLength, onRefused?: () => void): Promise<number> {
    server = createHttpServer((q, s) => void handle(q, s), { ...PATIENT, ...limits }, onRefused);
    return start(server);
  }

  const openCount = (): Promise<number> =>
    new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))));
  const nothingLeft = () => until('every connection is gone', async () => (await openCount()) === 0);

  /** Sends a byte now and then, for as long as the connection takes it; meanwhile others are served. */
  async function drip(port: number, connection: RawConnection): Promise<void> {
    let closed = false;
    void connection.closed.finally(() => {
      closed = true;
    });
    while (!closed) {
      if (connection.socket.writable) connection.socket.write('x');
      expect(await postLength(port, 'served')).to.equal(6);
      await delay(20);
    }
  }

  describe('of time', () => {
    it('end headers that drip with 408, while others are served', async () => {
      const port = await serve({ headersMs: SHORT_MS });
      const slow = await open(port, `${HEAD}X-Slow: `);
      await drip(port, slow);
      expect((await slow.closed)[0]).to.include({ status: 408 });
      expect((await slow.closed)[0]?.body).to.include({ code: 'REQUEST_TIMEOUT' });
    });

    it('end a body that drips with 408, whatever its framing, while others are served', async () => {
      const port = await serve({ requestMs: SHORT_MS, headersMs: SHORT_MS });
      const slow = await open(port, `${HEAD}Content-Length: 1000000\r\n\r\n`);
      const chunked = await open(port, `${HEAD}Transfer-Encoding: chunked\r\n\r\nfffff\r\n`);
      await Promise.all([drip(port, slow), drip(port, chunked)]);
      for (const { closed } of [slow, chunked]) expect((await closed).map(({ status }) => status)).to.deep.equal([408]);
    });

    it('end a connection that says nothing, and one that says nothing more', async () => {
      const port = await serve({ headersMs: SHORT_MS, requestMs: SHORT_MS, keepAliveMs: SHORT_MS });
      const silent = await open(port);
      const idle = await open(port, `${HEAD}Content-Length: 2\r\n\r\nhi`);
      expect((await silent.closed).map(({ status }) => status)).to.deep.equal([408]);
      expect((await idle.closed).map(({ status }) => status)).to.deep.equal([200]);
      await nothingLeft();
    });

    it('end a request whose answer is not taken', async () => {
      const handled = Promise.withResolvers<void>();
      const port = await serve({ answerMs: SHORT_MS }, async (_request, response) => {
        handled.resolve();
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on('drain', more);
        more();
      });
      const { socket } = await openConnection(port);
      socket.pause();
      socket.write(`${HEAD}Content-Length: 0\r\n\r\n`);
      await handled.promise;
      await nothingLeft();
      socket.destroy();
    });

    it('end a request that is never answered', async () => {
      const port = await serve({ answerMs: SHORT_MS }, async () => undefined);
      const waiting = await open(port, `${HEAD}Content-Length: 0\r\n\r\n`);
      expect(await waiting.closed).to.deep.equal([]);
      await nothingLeft();
    });

    // A client that has vanished looks like one that never closes its side: nothing comes, not even an end.
    const refusals: [string, string][] = [
      ['what is no HTTP', 'nonsense\r\n\r\n'],
      ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['an expectation', `${HEAD}Expect: 200-ok\r\nContent-Length: 2\r\n\r\n`],
      ['a bad frame', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ];
    for (const [what, text] of refusals) {
      it(`leave no half-open connection after the refusal of ${what}`, async () => {
        const port = await serve({ lingerMs: SHORT_MS });
        const half = await openConnection(port, { staysOpen: true });
        half.socket.write(text);
        expect((await half.closed)[0]?.status).to.be.within(400, 417);
        await nothingLeft();
        half.socket.destroy();
      });
    }

    it('give a client the time to read why, also while it continues writing', async () => {
      const port = await serve({});
      const writer = await open(port, 'nonsense\r\n\r\n');
      for (let n = 0; n < 50 && writer.socket.writable; n += 1) {
        writer.socket.write(Buffer.alloc(65_536));
        await delay(1);
      }
      expect((await writer.closed).map(({ status }) => status)).to.deep.equal([400]);
    });
  });

  describe('of connections', () => {
    it('refuse one more of an address with 503, before it says anything, and take others', async () => {
      let refusals = 0;
      const port = await serve({ maxConnectionsPerAddress: 3, lingerMs: SHORT_MS }, echoLength, () => {
        refusals += 1;
      });
      const held = await Promise.all([1, 2, 3].map(() => open(port)));
      const [answer] = await (await open(port)).closed;
      expect(answer?.status).to.equal(503);
      expect(answer?.headers).to.include({ 'retry-after': '1', connection: 'close' });
      expect(answer?.body).to.include({ code: 'TOO_MANY_CONNECTIONS' });
      expect(refusals).to.equal(1);
      const other = await open(port, `${HEAD}Content-Length: 2\r\n\r\nhi`, '127.0.0.2');
      await until('another address is served', () => other.answers().some(({ status }) => status === 200));
      held[0]?.socket.destroy();
      await until('there is room again', async () => {
        const next = await open(port, `${HEAD}Content-Length: 2\r\n\r\nhi`);
        return (await until('an answer', () => next.answers()[0])).status === 200;
      });
    });

    it('never handle a request of a connection that was refused', async () => {
      const seen: string[] = [];
      const port = await serve({ maxConnectionsPerAddress: 1 }, async (request, response) => {
        seen.push(request.url ?? '');
        response.end();
      });
      await open(port);
      const answers = await answersTo(port, `${HEAD}Content-Length: 0\r\n\r\n${HEAD}Content-Length: 0\r\n\r\n`);
      expect(answers.map(({ status }) => status)).to.deep.equal([503]);
      expect(seen).to.deep.equal([]);
    });

    it('close those beyond the limit in all', async () => {
      const port = await serve({ maxConnections: 2 });
      await open(port, '', '127.0.0.2');
      await open(port, '', '127.0.0.3');
      expect(await (await open(port)).closed).to.deep.equal([]);
      await until('two are left', async () => (await openCount()) === 2);
    });

    it('leave nothing behind of ones that were opened and reset in a hurry', async () => {
      const port = await serve({ maxConnectionsPerAddress: 20, lingerMs: SHORT_MS });
      for (let round = 0; round < 10; round += 1) {
        const many = await Promise.all(Array.from({ length: 30 }, () => openConnection(port)));
        for (const { socket } of many) socket.resetAndDestroy();
      }
      await nothingLeft();
      expect(await postLength(port, 'room')).to.equal(4);
    });
  });

  describe('of requests', () => {
    it('refuse more headers than they take, and drop none', async () => {
      const counts: number[] = [];
      const port = await serve({}, async (request, response) => {
        counts.push(request.rawHeaders.length / 2);
        response.end();
      });
      const withHeaders = (count: number) =>
        `GET / HTTP/1.1\r\n${Array.from({ length: count - 2 }, (_, n) => `X${n}: 1\r\n`).join('')}Host: a\r\nConnection: close\r\n\r\n`;
      expect((await answersTo(port, withHeaders(MAX_HEADERS)))[0]?.status).to.equal(200);
      const [refusal] = await answersTo(port, withHeaders(MAX_HEADERS + 1));
      expect(refusal?.status).to.equal(431);
      expect(refusal?.body).to.include({ code: 'HEADERS_TOO_LARGE' });
      expect(counts).to.deep.equal([MAX_HEADERS]);
    });

    it('handle so many requests of a connection at a time, and no more', async () => {
      const release = Promise.withResolvers<void>();
      let handled = 0;
      const port = await serve({}, async (_request, response) => {
        handled += 1;
        await release.promise;
        response.end();
      });
      const ahead = await open(port, `${HEAD}Content-Length: 0\r\n\r\n`.repeat(MAX_PIPELINED * 3));
      await until('the first ones are handled', () => handled === MAX_PIPELINED);
      release.resolve();
      const statuses = (await ahead.closed).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).to.have.length(MAX_PIPELINED);
      expect(statuses.at(-1)).to.equal(503);
      expect(handled).to.equal(MAX_PIPELINED);
    });
  });
});

/** Sends a body as an ordinary client; @returns how many bytes arrived */
function postLength(port: number, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', path: '/x' }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve((JSON.parse(text) as { bytes: number }).bytes));
    });
    request.on('error', reject).end(body);
  });
}
