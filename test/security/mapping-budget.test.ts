// Field mappings that search long in payloads: in the API (test uploads) and the worker (files), others are served
// meanwhile.
import { expect } from 'chai';
import { letters, slowRules } from '../support/attacks/budget-attacks.ts';
import { COLD_START_MS, type StoreServer } from '../support/warehouse/object-stores.ts';
import { type Hookyard, sharedHookyard } from '../support/hookyard.ts';
import { makeNeighbour } from '../support/attacks/neighbour.ts';
import { Records } from '../support/records.ts';
import { sharedService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type Store, WarehousePipe } from '../support/warehouse/warehouse-instance.ts';
import { providerCases } from '../support/warehouse/warehouse-targets.ts';
import { useReceiver } from '../support/use-hookyard.ts';

// On a loop that is held the rows of the attack take more than 7 s.
const HELD_MS = 4000;
const RULES = 8;
const EVENTS = 10;

const fieldMapping = [...slowRules(RULES), { source: '$.id', target: 'id', type: 'string' }];
const FOUND = `${'a'.repeat(500)}cd`;
const slow = JSON.stringify({ texts: [letters(100 * 1024)] });
const quick = JSON.stringify({ texts: [FOUND] });

describe('Mappings that are too much work', () => {
  let attacker: Hookyard;
  let other: Hookyard;
  let server: StoreServer;
  let store: Store;
  const receiver = useReceiver();
  before(async function () {
    this.timeout(COLD_START_MS);
    const [provider] = providerCases;
    if (!provider) throw new Error('there is no provider');
    [attacker, other, server] = await Promise.all([sharedHookyard(), sharedHookyard(), provider.start()]);
    await provider.prepare(server.url);
    store = { provider, url: server.url };
  });
  after(async () => {
    await Promise.all([attacker?.close(), other?.close()]);
    await server?.stop();
  });

  it('leave other deliveries alone while their file is made, and end visibly', async () => {
    const pipe = await WarehousePipe.make(attacker, store, {
      config: { batchSize: EVENTS + 1, batchWindowSeconds: 3600 },
      destination: { fieldMapping },
    });
    const records = new Records(other);
    const { source } = await records.pipe(receiver.endpoint(200).url);
    const delivered = async () => {
      const startedAt = performance.now();
      await records.deliveryWith('delivered', await records.accepted(source, '{"a":1}'));
      return performance.now() - startedAt;
    };
    const alone = await delivered();
    await pipe.send(Array.from({ length: EVENTS }, () => slow));
    const [well] = await pipe.send([quick]);
    let longest = 0;
    let count = 0;
    await until(
      'every delivery to the warehouse to end',
      async () => {
        for (let n = 0; n < 4; n += 1) longest = Math.max(longest, await delivered());
        count += 4;
        const { rows } = await attacker.pool.query<{ open: number }>(
          `select count(*) filter (where status in ('pending', 'retrying'))::int as open from deliveries where destination_id = $1`,
          [pipe.destinationId],
        );
        return rows[0]?.open === 0;
      },
      120_000,
    );
    expect(longest, `the slowest of ${count}; alone it took ${Math.round(alone)} ms`).to.be.lessThan(alone + HELD_MS);
    const { data } = await attacker.client.list<{ eventId: string; status: string; error: string | null }>(
      `/api/deliveries?destinationId=${pipe.destinationId}&pageSize=100`,
    );
    const failed = data.filter(({ status }) => status === 'failed');
    expect(failed).to.have.length(EVENTS);
    for (const { error } of failed) expect(error).to.match(/^Building the row of the webhook takes too long/);
    expect(data.filter(({ status }) => status === 'delivered').map(({ eventId }) => eventId)).to.deep.equal([well]);
    const rows = await pipe.rows(1);
    expect(rows).to.have.length(1);
    expect(rows[0]).to.deep.include({ id: well, found_1: [FOUND] });
  });

  it('leave the API alone while one is tried', async () => {
    const neighbour = await makeNeighbour(await sharedService('api'));
    const { destinationId } = await WarehousePipe.make(attacker, store, { destination: { fieldMapping } });
    const { result, seen } = await neighbour.during(() =>
      attacker.client.request('POST', `/api/destinations/${destinationId}/test`, { payload: JSON.parse(slow) }),
    );
    expect(result.body).to.include({ success: false });
    expect(String((result.body as { error: string }).error)).to.match(/^Building the row takes too long/);
    // A row takes half a second of its thread. While the loop was held for it, a few would be answered at most.
    expect(seen.answers, `meanwhile; the slowest took ${Math.round(seen.longestMs)} ms`).to.be.at.least(8);
  });
});
