import { expect } from 'chai';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { selectRows } from '../support/database/sql.ts';

const API_CONNECTIONS = 12;
const WORKER_CONNECTIONS = 8;
const EVENTS = 150;

describe('a budget of PostgreSQL connections', () => {
  const { testInstance, records, receiver } = useHookyard({
    settings: { HOOKYARD_DATABASE_CONNECTIONS: String(API_CONNECTIONS) },
  });
  before(() => testInstance.startWorker({ HOOKYARD_DATABASE_CONNECTIONS: String(WORKER_CONNECTIONS) }));

  async function connections(): Promise<Map<string, number>> {
    const rows = await selectRows<{ name: string; count: number }>(testInstance.pool)`
      select application_name as name, count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name like 'hookyard%' group by 1`;
    return new Map(rows.map(({ name, count }) => [name, count]));
  }

  it('is kept under load, and webhooks, retries, lists and changes of records are served', async () => {
    const [steady, failing] = [receiver.endpoint(200), receiver.endpoint(500, 200)];
    const { source } = await records.pipe(steady.url);
    const { source: other } = await records.pipe(failing.url, { destination: { retryPolicy: onceMore(2) } });
    const most = new Map<string, number>();
    let isBusy = true;
    const watching = (async () => {
      while (isBusy) {
        for (const [name, count] of await connections()) most.set(name, Math.max(count, most.get(name) ?? 0));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const { client, base } = testInstance;
    const webhooks = Promise.all(Array.from({ length: EVENTS }, () => records.accepted(source, '{}')));
    const manage = async () => {
      for (let n = 0; n < 5; n += 1) {
        await records.source();
        await client.get(`${base}/events?pageSize=100`);
        await client.get('/api/deliveries?status=delivered');
      }
    };
    // More than the API has connections for, and no more than it serves in time on a slow machine.
    const management = Promise.all([1, 2, 3, 4].map(manage));
    const retried = await records.accepted(other, '{}');
    await Promise.all([webhooks, management]);
    await until('every webhook', () => steady.requests.length >= EVENTS);
    await records.deliveryWith('delivered', retried);
    isBusy = false;
    await watching;
    expect(most.get('hookyard-api')).to.be.within(2, API_CONNECTIONS);
    expect(most.get('hookyard-worker')).to.be.within(3, WORKER_CONNECTIONS);
  });
});
