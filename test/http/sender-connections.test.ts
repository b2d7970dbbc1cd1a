// What is known of the connection of a request: its address, whether it was used before, and the times of its steps.
import { expect } from 'chai';
import tls from 'node:tls';
import type { ExchangeFacts } from '../../outbound/http/pools.ts';
import type { Resolve } from '../../outbound/http/guarded-connect.ts';
import { cert } from './certificate.ts';
import { asError, asResponse, closedAfterEach, request, resolveTo } from './senders.ts';
import { closeAll, httpServer, socketServer, tlsServer } from './servers.ts';

const STEPS = ['dns', 'connect', 'tls', 'firstByte'] as const;

/** The steps that have a time, after checking that each is one. */
function stepsOf(exchange: ExchangeFacts | null): string[] {
  return STEPS.filter((step) => {
    const ms = exchange?.[step] ?? null;
    if (ms !== null) expect(ms, step).to.be.at.least(0);
    return ms !== null;
  });
}

describe('the connection of a request', () => {
  const open = closedAfterEach();

  it('of an IP address has no look-up; the next request finds it there', async () => {
    const port = await httpServer((_req, res) => res.end('ok'));
    const sender = open();
    const sent = async () => asResponse(await sender.send(request(`http://127.0.0.1:${port}`))).exchange;
    const first = await sent();
    expect(first).to.include({ address: '127.0.0.1', port, reused: false });
    expect(stepsOf(first)).to.deep.equal(['connect', 'firstByte']);
    // A connection is free again one turn of the event loop after its response: two take turns.
    await sent();
    const later = await sent();
    expect(later).to.include({ address: '127.0.0.1', port, reused: true });
    expect(stepsOf(later)).to.deep.equal(['firstByte']);
  });

  it('of a name has its look-up, and the address that was chosen', async () => {
    const port = await httpServer((_req, res) => res.end('ok'));
    const sender = open({ allow: ['receiver.test'], resolve: resolveTo('127.0.0.1') });
    const { exchange } = asResponse(await sender.send(request(`http://receiver.test:${port}`)));
    expect(exchange).to.include({ address: '127.0.0.1', port, reused: false });
    expect(stepsOf(exchange)).to.deep.equal(['dns', 'connect', 'firstByte']);
  });

  it('of several addresses goes to the one that answers', async () => {
    const port = await httpServer((_req, res) => res.end('ok'));
    // Nobody listens at the first one.
    const sender = open({ allow: ['receiver.test'], resolve: resolveTo('127.0.0.9', '127.0.0.1') });
    const { exchange } = asResponse(await sender.send(request(`http://receiver.test:${port}`)));
    expect(exchange).to.include({ address: '127.0.0.1', port });
  });

  it('by TLS has the time of the handshake', async () => {
    const port = await tlsServer((_req, res) => res.end('ok'));
    const before = tls.getCACertificates('default');
    tls.setDefaultCACertificates([...before, cert]);
    try {
      const sender = open({ allow: ['receiver.test'], resolve: resolveTo('127.0.0.1') });
      const { exchange } = asResponse(await sender.send(request(`https://receiver.test:${port}`)));
      expect(exchange).to.include({ address: '127.0.0.1', port, reused: false });
      expect(stepsOf(exchange)).to.deep.equal(['dns', 'connect', 'tls', 'firstByte']);
    } finally {
      tls.setDefaultCACertificates(before);
    }
  });

  it('is one of another request of the process only after that one', async () => {
    const port = await httpServer((_req, res) => res.end('ok'));
    const sender = open();
    const url = `http://127.0.0.1:${port}`;
    const together = await Promise.all([sender.send(request(url)), sender.send(request(url))]);
    for (const result of together) {
      expect(asResponse(result).exchange).to.include({ reused: false });
      expect(stepsOf(asResponse(result).exchange)).to.deep.equal(['connect', 'firstByte']);
    }
  });

  it('that is made again after the old one was closed is not used before', async () => {
    const port = await socketServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'));
    });
    const sender = open();
    for (const _turn of [1, 2]) {
      const { exchange } = asResponse(await sender.send(request(`http://127.0.0.1:${port}`)));
      expect(exchange).to.include({ reused: false });
      expect(stepsOf(exchange)).to.include('connect');
    }
  });

  describe('that fails tells what is known:', () => {
    it('nobody listens at the address', async () => {
      const port = await httpServer((_req, res) => res.end());
      await closeAll();
      const { exchange, code } = asError(await open().send(request(`http://127.0.0.1:${port}`)));
      expect(code).to.equal('ECONNREFUSED');
      expect(exchange).to.include({ address: '127.0.0.1', port, reused: false });
      expect(stepsOf(exchange)).to.deep.equal([]);
    });

    it('the name has no address', async () => {
      const resolve: Resolve = (_hostname, callback) =>
        process.nextTick(callback, Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
      const { exchange } = asError(await open({ resolve }).send(request('http://receiver.test')));
      expect(exchange).to.include({ address: null, port: null });
      expect(stepsOf(exchange)).to.deep.equal(['dns']);
    });

    it('the address is refused', async () => {
      const sender = open({ allow: [], resolve: resolveTo('10.0.0.1') });
      const { exchange, code } = asError(await sender.send(request('http://receiver.test')));
      expect(code).to.equal('ADDRESS_REFUSED');
      expect(exchange).to.include({ address: null, port: null });
      const literal = asError(await sender.send(request('http://10.0.0.1')));
      expect(literal.exchange).to.include({ address: null, port: null });
      expect(stepsOf(literal.exchange)).to.deep.equal([]);
    });

    it('the certificate is not trusted', async () => {
      const port = await tlsServer((_req, res) => res.end('never'));
      const sender = open({ allow: ['receiver.test'], resolve: resolveTo('127.0.0.1') });
      const { exchange } = asError(await sender.send(request(`https://receiver.test:${port}`)));
      expect(exchange).to.include({ address: '127.0.0.1', port });
      expect(stepsOf(exchange)).to.deep.equal(['dns', 'connect']);
    });

    it('the answer does not come in time', async () => {
      const port = await socketServer(() => undefined);
      const { exchange, code } = asError(await open().send(request(`http://127.0.0.1:${port}`, { timeoutMs: 300 })));
      expect(code).to.equal('TIMEOUT');
      expect(exchange).to.include({ address: '127.0.0.1', port, reused: false });
      expect(stepsOf(exchange)).to.deep.equal(['connect']);
    });

    it('the url is none', async () => {
      expect(asError(await open().send(request('ftp://receiver.test'))).exchange).to.equal(null);
    });
  });
});
