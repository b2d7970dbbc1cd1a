import { expect } from 'chai';
import { now, send } from '../../activities/attempt/send.ts';
import type { DestinationConfig } from '../../activities/config-cache.ts';
import { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import { inTime } from '../../outbound/http/sender.ts';
import { useReceiver } from '../support/use-hookyard.ts';
import { closedAfterEach, request } from './senders.ts';

describe('an attempt and the time of its activity', () => {
  const open = closedAfterEach();
  const receiver = useReceiver();
  it('sends nothing whose answer may come after that', async () => {
    const { url, requests } = receiver.endpoint(200);
    const send = (timeoutMs: number, withinMs: number) => inTime(open(), withinMs).send(request(url, { timeoutMs }));
    const late = await send(60_000, 59_000).catch((error: unknown) => error);
    expect(late).to.be.instanceOf(Error);
    expect(requests).to.have.length(0);
    expect(await send(30_000, 60_000)).to.include({ kind: 'response', statusCode: 200 });
  });

  it('leaves its place at the destination when it sends nothing', async () => {
    let clock = 0;
    const concurrency = new DestinationConcurrency(500, () => clock);
    const destination = { id: 'dst_1', timeoutMs: 60_000 } as DestinationConfig;
    const content = { headers: {}, maskedHeaders: {}, body: Buffer.alloc(0) };
    const outbound = { organizationId: 'org_1', method: 'POST', target: null, url: 'http://127.0.0.1:1/', ...content };
    const deps = { sender: inTime(open(), 59_000), concurrency };
    const late = await send(deps, destination, outbound, now()).catch((error: unknown) => error);
    expect(late).to.be.instanceOf(Error);
    clock += 10_000;
    expect(concurrency.isSlow('dst_1')).to.equal(false);
  });
});
