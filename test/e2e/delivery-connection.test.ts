// The connection that an attempt was made on, and how long its parts took.
import { expect } from 'chai';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { useHookyard } from '../support/use-hookyard.ts';

const BODY = '{"order":{"id":42}}';

describe('the connection of an attempt', () => {
  const { records, receiver } = useHookyard();

  it('is the address that was used; the next attempt finds it there', async () => {
    const endpoint = receiver.endpoint(200);
    const { source, delivery } = await records.deliver(endpoint.url, BODY, 'delivered');
    const port = Number(new URL(endpoint.url).port);
    const [first] = delivery.attempts;
    expect(first?.connection).to.deep.equal({ address: '127.0.0.1', port, reused: false });
    expect(first?.timings).to.include({ dns: null, tls: null, total: first?.latency });
    expect(first?.timings?.connect).to.be.a('number');
    expect(first?.timings?.firstByte).to.be.a('number');
    const later = await records.deliveryWith('delivered', await records.accepted(source, BODY));
    const [second] = later.attempts;
    expect(second?.connection).to.deep.equal({ address: '127.0.0.1', port, reused: true });
    expect(second?.timings).to.include({ dns: null, connect: null, tls: null, total: second?.latency });
    expect(second?.timings?.firstByte).to.be.a('number');
  });

  it('says where nobody listened', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const { delivery } = await records.deliver(`http://127.0.0.1:${port}/`, BODY, 'failed');
    const [attempt] = delivery.attempts;
    expect(attempt?.connection).to.deep.equal({ address: '127.0.0.1', port, reused: false });
    expect(attempt?.timings).to.deep.equal({
      dns: null,
      connect: null,
      tls: null,
      firstByte: null,
      total: attempt?.latency,
    });
  });

  it('is none where the address was refused', async () => {
    const { delivery } = await records.deliver('http://10.0.0.1/', BODY, 'failed');
    expect(delivery.attempts[0]).to.include({ connection: null });
  });
});
