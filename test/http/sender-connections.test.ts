import { expect } from 'chai';
import { asResponse, closedAfterEach, request, resolveTo, stepsOf } from './senders.ts';
import { httpServer, tlsServer, trustingTlsServer } from './servers.ts';

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
    await trustingTlsServer(async () => {
      const sender = open({ allow: ['receiver.test'], resolve: resolveTo('127.0.0.1') });
      const { exchange } = asResponse(await sender.send(request(`https://receiver.test:${port}`)));
      expect(exchange).to.include({ address: '127.0.0.1', port, reused: false });
      expect(stepsOf(exchange)).to.deep.equal(['dns', 'connect', 'tls', 'firstByte']);
    });
  });
});
