import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import type { Resolve } from '../../outbound/http/guarded-connect.ts';
import { asError, asResponse, closedAfterEach, request, resolveTo, stepsOf } from './senders.ts';
import { closeAll, httpServer, socketServer, tlsServer, trustingTlsServer } from './servers.ts';

describe('sender', () => {
  const open = closedAfterEach();

  describe('deadline', () => {
    const timedOut = { code: 'TIMEOUT', detail: 'Timed out after 150 ms', retryable: true };

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
      const first = await sender.send(request(`http://localhost:${port}/late`, { timeoutMs: 150 }));
      expect(asError(first)).to.include(timedOut);
      late.resolve();
      // The same destination afterwards: by then the late connection has been made too.
      asResponse(await sender.send(request(`http://localhost:${port}/next`)));
      expect(requests).to.equal(1);
    });

    it('covers waiting for headers', async () => {
      const port = await httpServer(() => undefined);
      const error = asError(await open().send(request(`http://127.0.0.1:${port}`, { timeoutMs: 150 })));
      expect(error).to.include(timedOut);
      expect(error.exchange).to.include({ address: '127.0.0.1', port, reused: false });
      expect(stepsOf(error.exchange)).to.deep.equal(['connect']);
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
      const refused = asError(await open().send(request(`http://127.0.0.1:${port}`)));
      const detail = `Connection refused by 127.0.0.1:${port}`;
      expect(refused).to.include({ code: 'ECONNREFUSED', detail, retryable: true });
      expect(refused.exchange).to.include({ address: '127.0.0.1', port, reused: false });
      expect(stepsOf(refused.exchange)).to.deep.equal([]);
      const named = open({ resolve: resolveTo('127.0.0.1', '::1') });
      expect(asError(await named.send(request(`http://localhost:${port}`))).detail).to.equal(detail);
    });

    it('names the host that cannot be resolved', async () => {
      const resolve: Resolve = (hostname, callback) =>
        callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND', hostname }), []);
      for (const sender of [open({ resolve }), open({ resolve: resolveTo() }), open()]) {
        const error = asError(await sender.send(request('http://example.invalid')));
        expect(error).to.include({ detail: 'The host name example.invalid could not be resolved', retryable: true });
        expect(error.exchange).to.include({ address: null, port: null });
        expect(stepsOf(error.exchange)).to.deep.equal(['dns']);
      }
    });

    const cut = 'closed the connection before the response was complete';
    const endings: [string, (socket: Socket) => void, string][] = [
      ['a connection that is reset', (socket) => socket.resetAndDestroy(), cut],
      ['a connection that is closed', (socket) => socket.destroy(), cut],
      ['half of a response', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'), cut],
      ['no HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), 'did not send a valid HTTP response'],
    ];
    for (const [what, end, detail] of endings) {
      it(`tells ${what}`, async () => {
        const port = await socketServer((socket) => socket.once('data', () => end(socket)));
        const error = asError(await open().send(request(`http://127.0.0.1:${port}`)));
        expect(error).to.include({ detail: `127.0.0.1 ${detail}`, retryable: true });
      });
    }

    it('is final for an address that cannot be requested and a header that cannot be sent', async () => {
      for (const url of ['', 'hook', 'ftp://127.0.0.1/', 'file:///etc/passwd', 'http://']) {
        const error = asError(await open().send(request(url)));
        expect(error).to.include({ code: 'INVALID_URL', retryable: false, exchange: null });
      }
      const bad = request('http://127.0.0.1:1', { headers: { 'x-a': 'a\r\nb: c' } });
      expect(asError(await open().send(bad))).to.include({ retryable: false });
    });
  });

  describe('TLS', () => {
    it('refuses a self-signed certificate with a sentence', async () => {
      const port = await tlsServer((_req, res) => res.end('never'));
      const sender = open({ allow: ['receiver.test'], resolve: resolveTo('127.0.0.1') });
      const error = asError(await sender.send(request(`https://receiver.test:${port}`)));
      expect(error.exchange).to.include({ address: '127.0.0.1', port });
      expect(stepsOf(error.exchange)).to.deep.equal(['dns', 'connect']);
      expect(error).to.include({
        code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
        detail: 'The TLS connection to receiver.test failed: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
        retryable: true,
      });
    });

    it('tells a server that does not speak it', async () => {
      const port = await httpServer((_req, res) => res.end());
      const error = asError(await open().send(request(`https://127.0.0.1:${port}`)));
      expect(error.detail).to.match(/^The TLS connection to 127\.0\.0\.1 failed: /);
    });

    it('verifies the host name of the URL, not the address', async () => {
      const names: (string | false)[] = [];
      const port = await tlsServer((req, res) => {
        names.push((req.socket as TLSSocket).servername ?? false);
        res.end('ok');
      });
      await trustingTlsServer(async () => {
        const sender = open({ allow: ['127.0.0.1'], resolve: resolveTo('127.0.0.1') });
        expect(asResponse(await sender.send(request(`https://receiver.test:${port}`))).bodyText).to.equal('ok');
        expect(names).to.deep.equal(['receiver.test']);
        const wrong = asError(await sender.send(request(`https://other.test:${port}`)));
        expect(wrong).to.include({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
      });
    });
  });
});
