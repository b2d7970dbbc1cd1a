import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { expect } from 'chai';
import type { Resolve } from '../../activities/http/guarded-connect.ts';
import {
  createSender,
  type Sender,
  type SendRequest,
  type SendResponse,
  type SendResult,
} from '../../activities/http/sender.ts';
import * as certificate from './certificate.ts';
import { closeAll, httpServer, socketServer, tlsServer } from './servers.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

const request = (url: string, fields: Partial<SendRequest> = {}): SendRequest => ({
  poolKey: 'dst_1',
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"a":1}'),
  timeoutMs: 10_000,
  ...fields,
});

function asResponse(result: SendResult): SendResponse {
  if (result.kind === 'error') throw new Error(`No response: ${result.code} ${result.message}`);
  return result;
}

function asError(result: SendResult): SendResult & { kind: 'error' } {
  if (result.kind === 'response') throw new Error(`Answered ${result.statusCode}`);
  return result;
}

async function read(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const resolveTo =
  (...addresses: string[]): Resolve =>
  (_hostname, callback) =>
    process.nextTick(
      callback,
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

describe('sender', () => {
  const senders: Sender[] = [];
  const open = (options: Partial<Parameters<typeof createSender>[0]> = {}): Sender => {
    const sender = createSender({ allow: ['127.0.0.1', '::1', 'localhost'], ...options });
    senders.push(sender);
    return sender;
  };

  afterEach(async () => {
    await Promise.all(senders.splice(0).map((sender) => sender.close()));
    await closeAll();
  });

  describe('request and response', () => {
    it('sends method, path, headers and body as they are and reports what came back', async () => {
      const port = await httpServer((req, res) => {
        void read(req).then((body) => {
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
      expect(result.bodyForCheck).to.equal(result.bodyText);
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

    it('does not follow redirects', async () => {
      let requests = 0;
      const port = await httpServer((_req, res) => {
        requests += 1;
        res.writeHead(307, { Location: '/elsewhere' }).end();
      });
      const result = asResponse(await open().send(request(`http://127.0.0.1:${port}/`)));
      expect(result).to.include({ statusCode: 307 });
      expect(result.headers.location).to.equal('/elsewhere');
      expect(requests).to.equal(1);
    });

    it('takes an interim response for no answer', async () => {
      const port = await socketServer((socket) => {
        socket.once('data', () =>
          socket.end(
            'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok',
          ),
        );
      });
      expect(asResponse(await open().send(request(`http://127.0.0.1:${port}`)))).to.include({
        statusCode: 201,
        bodyText: 'ok',
      });
    });

    it('keeps 16 KiB of the body to show, in whole characters, and all of it up to 1 MiB to check', async () => {
      // Three bytes each: 16 KiB end inside the 5,462nd.
      const text = '☃'.repeat(6000);
      const port = await httpServer((_req, res) => res.end(text));
      const result = asResponse(await open().send(request(`http://127.0.0.1:${port}`)));
      expect(result.bodyText).to.equal('☃'.repeat(5461));
      expect(result.bodyForCheck).to.equal(text);
      expect(result.truncated).to.equal(true);
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
      expect(result.bodyForCheck).to.have.length(MIB);
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

    it('ignore proxies named in the environment', async () => {
      const proxy = await httpServer((_req, res) => res.end('proxy'));
      const port = await httpServer((_req, res) => res.end('direct'));
      const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
      const before = names.map((name) => process.env[name]);
      for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${proxy}`;
      try {
        expect(asResponse(await open().send(request(`http://127.0.0.1:${port}`))).bodyText).to.equal('direct');
      } finally {
        names.forEach((name, i) => {
          if (before[i] === undefined) delete process.env[name];
          else process.env[name] = before[i];
        });
      }
    });
  });

  describe('deadline', () => {
    const timedOut = { code: 'TIMEOUT', message: 'Timed out after 150 ms', retryable: true };

    it('covers resolving the name', async () => {
      const sender = open({ resolve: () => undefined });
      expect(asError(await sender.send(request('http://slow.example', { timeoutMs: 150 })))).to.include(timedOut);
    });

    it('covers the TLS handshake', async () => {
      const connected = Promise.withResolvers<Socket>();
      const port = await socketServer((socket) => connected.resolve(socket));
      const result = await open().send(request(`https://127.0.0.1:${port}`, { timeoutMs: 150 }));
      expect(asError(result)).to.include(timedOut);
      (await connected.promise).destroy();
    });

    it('covers a name that resolves too late: the request is never made', async () => {
      let requests = 0;
      const port = await httpServer((_req, res) => {
        requests += 1;
        res.end();
      });
      const late = Promise.withResolvers<void>();
      const sender = open({
        resolve: (hostname, callback) => void late.promise.then(() => resolveTo('127.0.0.1')(hostname, callback)),
      });
      expect(asError(await sender.send(request(`http://localhost:${port}/late`, { timeoutMs: 150 })))).to.include(
        timedOut,
      );
      late.resolve();
      // The same destination afterwards: by then the late connection has been made too.
      asResponse(await sender.send(request(`http://localhost:${port}/next`)));
      expect(requests).to.equal(1);
    });

    it('covers waiting for headers', async () => {
      const port = await httpServer(() => undefined);
      expect(asError(await open().send(request(`http://127.0.0.1:${port}`, { timeoutMs: 150 })))).to.include(timedOut);
    });

    it('covers a body that drips, and closes the connection', async () => {
      const closed: Promise<unknown>[] = [];
      const port = await httpServer((_req, res) => {
        closed.push(once(res, 'close'));
        res.writeHead(200);
        const timer = setInterval(() => res.write('.'), 10);
        res.on('close', () => clearInterval(timer));
      });
      expect(asError(await open().send(request(`http://127.0.0.1:${port}`, { timeoutMs: 150 })))).to.include(timedOut);
      await Promise.all(closed);
    });

    it('of one request leaves the others of the destination alone', async () => {
      const release = Promise.withResolvers<void>();
      const port = await httpServer((req, res) => {
        if (req.url === '/patient') void release.promise.then(() => res.end('ok'));
      });
      const sender = open();
      const patient = sender.send(request(`http://127.0.0.1:${port}/patient`));
      expect(asError(await sender.send(request(`http://127.0.0.1:${port}/`, { timeoutMs: 150 })))).to.include(timedOut);
      release.resolve();
      expect(asResponse(await patient).bodyText).to.equal('ok');
    });
  });

  describe('failure', () => {
    it('names the address that refuses the connection', async () => {
      const port = await httpServer(() => undefined);
      await closeAll();
      expect(asError(await open().send(request(`http://127.0.0.1:${port}`)))).to.include({
        code: 'ECONNREFUSED',
        message: `Connection refused by 127.0.0.1:${port}`,
        retryable: true,
      });
      const byName = asError(
        await open({ resolve: resolveTo('127.0.0.1', '::1') }).send(request(`http://localhost:${port}`)),
      );
      expect(byName.message).to.equal(`Connection refused by 127.0.0.1:${port}`);
    });

    it('names the host that cannot be resolved', async () => {
      const resolve: Resolve = (hostname, callback) =>
        callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND', hostname }), []);
      for (const sender of [open({ resolve }), open({ resolve: resolveTo() }), open()]) {
        expect(asError(await sender.send(request('http://example.invalid')))).to.include({
          message: 'The host name example.invalid could not be resolved',
          retryable: true,
        });
      }
    });

    it('tells a connection closed before or inside the response', async () => {
      const endings: ((socket: Socket) => void)[] = [
        (socket) => socket.resetAndDestroy(),
        (socket) => socket.destroy(),
        (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
      ];
      for (const end of endings) {
        const port = await socketServer((socket) => socket.once('data', () => end(socket)));
        expect(asError(await open().send(request(`http://127.0.0.1:${port}`)))).to.include({
          message: '127.0.0.1 closed the connection before the response was complete',
          retryable: true,
        });
      }
    });

    it('tells what is no HTTP', async () => {
      const port = await socketServer((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.6\r\n')));
      expect(asError(await open().send(request(`http://127.0.0.1:${port}`)))).to.include({
        message: '127.0.0.1 sent something that is no valid HTTP response',
        retryable: true,
      });
    });

    it('is final for an address that cannot be requested and a header that cannot be sent', async () => {
      for (const url of ['', 'hook', 'ftp://127.0.0.1/', 'file:///etc/passwd', 'http://']) {
        expect(asError(await open().send(request(url)))).to.include({ code: 'INVALID_URL', retryable: false });
      }
      const bad = request('http://127.0.0.1:1', { headers: { 'x-a': 'a\r\nb: c' } });
      expect(asError(await open().send(bad))).to.include({ retryable: false });
    });
  });

  describe('TLS', () => {
    it('refuses a self-signed certificate with a sentence', async () => {
      const port = await tlsServer((_req, res) => res.end('never'));
      const sender = open({ allow: ['receiver.test'], resolve: resolveTo('127.0.0.1') });
      expect(asError(await sender.send(request(`https://receiver.test:${port}`)))).to.include({
        code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
        message: 'TLS with receiver.test failed: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
        retryable: true,
      });
    });

    it('tells a server that does not speak it', async () => {
      const port = await httpServer((_req, res) => res.end());
      expect(asError(await open().send(request(`https://127.0.0.1:${port}`))).message).to.match(
        /^TLS with 127\.0\.0\.1 failed: /,
      );
    });

    it('verifies the host name of the URL, not the address', async () => {
      const names: (string | false)[] = [];
      const port = await tlsServer((req, res) => {
        names.push((req.socket as tls.TLSSocket).servername ?? false);
        res.end('ok');
      });
      const before = tls.getCACertificates('default');
      tls.setDefaultCACertificates([...before, certificate.cert]);
      try {
        const sender = open({ allow: ['127.0.0.1'], resolve: resolveTo('127.0.0.1') });
        expect(asResponse(await sender.send(request(`https://receiver.test:${port}`))).bodyText).to.equal('ok');
        expect(names).to.deep.equal(['receiver.test']);
        const wrong = asError(await sender.send(request(`https://other.test:${port}`)));
        expect(wrong).to.include({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
      } finally {
        tls.setDefaultCACertificates(before);
      }
    });
  });

  describe('address guard', () => {
    const refused = async (sender: Sender, url: string, message: RegExp): Promise<void> => {
      const error = asError(await sender.send(request(url)));
      expect(error).to.include({ code: 'ADDRESS_REFUSED', retryable: false });
      expect(error.message)
        .to.match(message)
        .and.match(/; see HOOKYARD_DELIVERY_ALLOW$/);
    };

    it('refuses every spelling of forbidden literals before it connects', async () => {
      let connections = 0;
      const port = await socketServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      const hosts = [
        '127.0.0.1',
        '[::ffff:127.0.0.1]',
        '0x7f.1',
        '0177.0.0.1',
        '2130706433',
        '１２７.０.０.１',
        '127.1',
        '[::1]',
        '0',
        '169.254.169.254',
        '[fd00:ec2::254]',
        '[64:ff9b::a9fe:a9fe]',
        '[2002:7f00:1::]',
        '168.63.129.16',
      ];
      const sender = open({ allow: ['10.0.0.0/8', '0.0.0.0/0', '::/0'] });
      for (const host of hosts) await refused(sender, `http://${host}:${port}/`, /^Refused: [0-9a-f.:]+ is /);
      expect(connections).to.equal(0);
    });

    it('says what the address is', async () => {
      await refused(open(), 'http://169.254.169.254/latest', /^Refused: 169\.254\.169\.254 is a link-local address;/);
    });

    it('refuses a name if any of its addresses is refused, whatever the order', async () => {
      for (const addresses of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['::1', '93.184.216.34'], ['10.0.0.1']]) {
        const sender = open({ allow: [], resolve: resolveTo(...addresses) });
        await refused(sender, 'http://rebind.example/', /^Refused: rebind\.example resolves to \S+, which is /);
      }
    });

    it('refuses a name whose next look-up differs from the first', async () => {
      // Every connection serves one request, so that the next one looks the name up again.
      const port = await httpServer((_req, res) => res.setHeader('Connection', 'close').end('ok'));
      // 127.0.0.1 stands for a public address: the operator opened it alone.
      const answers = ['127.0.0.1', '127.0.0.2'];
      const sender = open({
        allow: ['127.0.0.1'],
        resolve: (hostname, callback) => resolveTo(answers.shift() ?? 'none')(hostname, callback),
      });
      expect(asResponse(await sender.send(request(`http://rebind.example:${port}`))).bodyText).to.equal('ok');
      await refused(sender, `http://rebind.example:${port}`, /resolves to 127\.0\.0\.2, which is a loopback address/);
      expect(answers).to.deep.equal([]);
    });

    it('judges the address that the socket really has: 0.0.0.0 leads to this machine', async () => {
      let requests = 0;
      const port = await httpServer((_req, res) => {
        requests += 1;
        res.end();
      });
      const sender = open({ allow: ['0.0.0.0'] });
      await refused(sender, `http://0.0.0.0:${port}`, /127\.0\.0\.1, which is a loopback address/);
      expect(requests).to.equal(0);
    });

    it('connects to the address it checked, without a second look-up', async () => {
      let lookups = 0;
      const port = await httpServer((_req, res) => res.end('ok'));
      const sender = open({
        allow: ['127.0.0.1'],
        resolve: (hostname, callback) => {
          lookups += 1;
          resolveTo('127.0.0.1')(hostname, callback);
        },
      });
      expect(asResponse(await sender.send(request(`http://rebind.example:${port}`))).bodyText).to.equal('ok');
      expect(lookups).to.equal(1);
    });

    it('lets an exact entry through, by the address and by the name', async () => {
      const port = await httpServer((_req, res) => res.end('ok'));
      for (const [allow, host] of [
        ['127.0.0.1', '127.0.0.1'],
        ['127.0.0.1', '[::ffff:127.0.0.1]'],
        ['localhost', 'localhost'],
        ['localhost', 'LOCALHOST.'],
      ] as const) {
        const sender = open({ allow: [allow], resolve: resolveTo('127.0.0.1') });
        expect(asResponse(await sender.send(request(`http://${host}:${port}`))).bodyText, host).to.equal('ok');
      }
    });

    it('refuses to start with an allow list that cannot be read', () => {
      expect(() => createSender({ allow: ['10.0.0.0/99'] })).to.throw(/HOOKYARD_DELIVERY_ALLOW: "10\.0\.0\.0\/99"/);
    });
  });
});
