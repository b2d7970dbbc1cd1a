// What is known of the connection of a request: its address, whether it was used before, and the times of its steps.
import { expect } from 'chai';
import tls from 'node:tls';
import { cert } from './certificate.ts';
import { asResponse, closedAfterEach, request, resolveTo, stepsOf } from './senders.ts';
import { httpServer, socketServer, tlsServer } from './servers.ts';

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
});
