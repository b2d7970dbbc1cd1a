import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { asError, asResponse, closedAfterEach, request } from './senders.ts';
import { httpServer, socketServer } from './servers.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

describe('sender', () => {
  const open = closedAfterEach();

  describe('request and response', () => {
    it('sends method, path, headers and body as they are and reports what came back', async () => {
      const port = await httpServer((req, res) => {
        void text(req).then((body) => {
          res.writeHead(202, {
            'X-Seen': `${req.method} ${req.url} ${req.headers['x-a']}`,
            'Set-Cookie': ['a=1', 'b=2'],
          });
          res.end(`${req.headers.host} ${req.headers['content-length']} ${body}`);
        });
      });
      const url = `http://127.0.0.1:${port}/hook?x=1`;
      const result = asResponse(await open().send(request(url, { method: 'PUT', headers: { 'X-A': 'b' } })));
      expect(result).to.include({ statusCode: 202, bodyText: `127.0.0.1:${port} 7 {"a":1}`, truncated: false });
      expect(result.headers).to.include({ 'x-seen': 'PUT /hook?x=1 b', 'set-cookie': 'a=1, b=2' });
      expect(Number.isInteger(result.latency)).to.equal(true);
    });

    it('sends an empty body as one of no bytes', async () => {
      const port = await httpServer((req, res) => res.end(String(req.headers['content-length'])));
      for (const body of [null, Buffer.alloc(0)]) {
        const result = await open().send(request(`http://127.0.0.1:${port}`, { body }));
        expect(asResponse(result).bodyText).to.equal('0');
      }
    });

    it('takes an interim response for no answer', async () => {
      const answers =
        'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok';
      const port = await socketServer((socket) => socket.once('data', () => socket.end(answers)));
      const result = asResponse(await open().send(request(`http://127.0.0.1:${port}`)));
      expect(result).to.include({ statusCode: 201, bodyText: 'ok' });
    });

    it('hands a redirect on as the answer', async () => {
      const port = await httpServer((_req, res) => res.writeHead(307, { Location: '/elsewhere' }).end());
      const { statusCode, headers } = asResponse(await open().send(request(`http://127.0.0.1:${port}`)));
      expect([statusCode, headers.location]).to.deep.equal([307, '/elsewhere']);
    });

    it('keeps 16 KiB of the body, in whole characters, or as much as is asked for', async () => {
      // Three bytes each: 16 KiB end inside the 5,462nd.
      const whole = '☃'.repeat(6000);
      const port = await httpServer((_req, res) => res.end(whole));
      const sender = open();
      const kept = async (keptBytes?: number) =>
        asResponse(
          await sender.send(request(`http://127.0.0.1:${port}`, keptBytes === undefined ? {} : { keptBytes })),
        );
      expect(await kept()).to.include({ bodyText: '☃'.repeat(5461), truncated: true });
      expect(await kept(18_000)).to.include({ bodyText: whole, truncated: false });
      expect(await kept(17_999)).to.include({ bodyText: '☃'.repeat(5999), truncated: true });
    });

    it('looks for a text in the first MiB of the body', async () => {
      const port = await httpServer((_req, res) => res.end(`${'x'.repeat(MIB - 4)}done and more`));
      const sender = open();
      const contains = async (lookFor?: string) =>
        asResponse(await sender.send(request(`http://127.0.0.1:${port}`, { lookFor }))).contains;
      expect(await contains('xxdone')).to.equal(true);
      expect(await contains('done ')).to.equal(false);
      expect(await contains()).to.equal(false);
    });

    it('shows a body of exactly 16 KiB whole, and no NUL characters', async () => {
      const port = await httpServer((_req, res) => res.end(`\0${'x'.repeat(16 * KIB - 1)}`));
      const result = asResponse(await open().send(request(`http://127.0.0.1:${port}`)));
      expect(result.bodyText).to.equal(`\ufffd${'x'.repeat(16 * KIB - 1)}`);
      expect(result.truncated).to.equal(false);
    });

    it('stops reading after 1 MiB, closes the connection, and goes by the status', async () => {
      const closed: Promise<unknown>[] = [];
      const port = await httpServer((_req, res) => {
        closed.push(once(res, 'close'));
        res.writeHead(200);
        const pump = (): void => {
          while (!res.destroyed && res.write(Buffer.alloc(64 * KIB, 'y')));
        };
        res.on('drain', pump);
        pump();
      });
      const sender = open();
      const result = asResponse(await sender.send(request(`http://127.0.0.1:${port}`)));
      expect(result).to.include({ statusCode: 200, truncated: true });
      await Promise.all(closed);
    });

    it('works on after a response that was too long', async () => {
      let requests = 0;
      const port = await httpServer((_req, res) => {
        requests += 1;
        res.end(requests === 1 ? Buffer.alloc(8 * MIB, 'y') : 'short');
      });
      const sender = open();
      await sender.send(request(`http://127.0.0.1:${port}`));
      expect(asResponse(await sender.send(request(`http://127.0.0.1:${port}`))).bodyText).to.equal('short');
    });
  });

  describe('connections', () => {
    it('are kept between requests of one destination', async () => {
      const sockets = new Set<Socket>();
      const port = await httpServer((req, res) => {
        sockets.add(req.socket);
        res.end();
      });
      const sender = open();
      for (let i = 0; i < 20; i += 1) await sender.send(request(`http://127.0.0.1:${port}/${i}`));
      // A connection is free again one turn of the event loop after its response: two take turns.
      const kept = sockets.size;
      expect(kept).to.be.at.most(2);
      await sender.send(request(`http://127.0.0.1:${port}`, { poolKey: 'dst_2' }));
      expect(sockets.size).to.equal(kept + 1);
    });

    it('follow a destination whose address changes', async () => {
      const gone = Promise.withResolvers<void>();
      const first = await httpServer((req, res) => {
        req.socket.once('close', gone.resolve);
        res.end('first');
      });
      const second = await httpServer((req, res) => res.end(`second ${req.url}`));
      const sender = open();
      const bodies: string[] = [];
      for (const url of [`http://127.0.0.1:${first}`, `http://127.0.0.1:${second}/a`, `http://127.0.0.1:${second}/b`]) {
        bodies.push(asResponse(await sender.send(request(url))).bodyText);
      }
      expect(bodies).to.deep.equal(['first', 'second /a', 'second /b']);
      await gone.promise;
    });

    it('are kept for as many destinations as allowed; a request under way on one that goes is finished', async () => {
      const closed: Promise<unknown>[] = [];
      const release = Promise.withResolvers<void>();
      const arrived = Promise.withResolvers<void>();
      const port = await httpServer((req, res) => {
        closed.push(once(req.socket, 'close'));
        if (req.url !== '/slow') return void res.end('ok');
        arrived.resolve();
        void release.promise.then(() => res.end('slow'));
      });
      const sender = open({ maxPools: 1 });
      const slow = sender.send(request(`http://127.0.0.1:${port}/slow`));
      await arrived.promise;
      await sender.send(request(`http://127.0.0.1:${port}`, { poolKey: 'dst_2' }));
      release.resolve();
      expect(asResponse(await slow).bodyText).to.equal('slow');
      await closed[0];
    });

    it('are all closed by close, which waits for what is under way and refuses what comes later', async () => {
      const release = Promise.withResolvers<void>();
      const arrived = Promise.withResolvers<Socket>();
      const port = await httpServer((req, res) => {
        arrived.resolve(req.socket);
        void release.promise.then(() => res.end('done'));
      });
      const sender = open();
      const result = sender.send(request(`http://127.0.0.1:${port}`));
      const gone = once(await arrived.promise, 'close');
      const closing = sender.close();
      expect(asError(await sender.send(request(`http://127.0.0.1:${port}`)))).to.include({
        code: 'CLOSED',
        retryable: true,
      });
      release.resolve();
      expect(asResponse(await result).bodyText).to.equal('done');
      await closing;
      await gone;
    });
  });
});
