// A destination that may get one attempt at a time, with more workers than that.
import { expect } from 'chai';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const EVENTS = 24;
const DEADLINE_MS = 240_000;

describe('a destination of two workers that may get one attempt at a time', function () {
  this.timeout(600_000);
  const { testInstance, records } = useHookyard({});
  before(async () => {
    await Promise.all([testInstance.startWorker(), testInstance.startWorker()]);
  });

  it('never gets two, from whichever worker, with retries; and everything arrives', async () => {
    let underWay = 0;
    let most = 0;
    let answers = 0;
    const server = createServer((request, response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      request.resume().on('end', () =>
        setTimeout(() => {
          underWay -= 1;
          answers += 1;
          // Every fourth one is made again.
          response.writeHead(answers % 4 === 0 ? 500 : 200).end();
        }, 30),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    try {
      const { source } = await records.pipe(url, {
        destination: { maxConcurrency: 1, retryPolicy: onceMore(20) },
        route: { circuitFailureThreshold: 10_000 },
      });
      const sent: string[] = [];
      const send = async () => {
        sent.push(...(await Promise.all(Array.from({ length: EVENTS }, () => records.accepted(source, '{}')))));
      };
      const hasArrived = async () => {
        const { rowCount } = await testInstance.pool.query(`select from deliveries where status <> 'delivered'`);
        return rowCount === 0;
      };
      await send();
      await until('an answer', () => answers > 0);
      await send();
      await until('everything to arrive', hasArrived, DEADLINE_MS);
      expect(most).to.equal(1);
      for (const eventId of sent) await records.deliveryWith('delivered', eventId);
      expect(answers).to.equal(sent.length + Math.floor(answers / 4));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
