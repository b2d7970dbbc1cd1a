// A flood of webhooks that are refused: all are counted, and it makes few rows and hardly a write.
import { expect } from 'chai';
import { makeSource, type SourceRecord } from '../support/api-records.ts';
import { send } from '../support/requests/http-client.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const FLOOD = 4000;
const KEPT = 100;
// How often what was refused is written, and how many samples of a source then (api/ingest/refusals.ts).
const ROUND_MS = 5000;
const IN_A_ROUND = 20;
const WRONG = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };

describe('A flood of refused webhooks', () => {
  const { testInstance } = useHookyard({});
  let organization: TestOrganization;
  before(async () => {
    organization = await createOrganization({ service: testInstance.api, pool: testInstance.pool });
  });

  const signed = () =>
    makeSource(organization, { verificationConfig: { type: 'github', secret: 'a secret of sixteen bytes' } });
  const refused = async ({ slug }: SourceRecord, size: number) => {
    const url = `${testInstance.api.url}/ingest/${organization.slug}/${slug}`;
    expect((await send('POST', url, WRONG, Buffer.alloc(size, 'x'))).status).to.equal(401);
  };
  const shown = ({ id }: SourceRecord) =>
    organization.api.get<{ counts: { total: number }; pagination: { total: number } }>(
      `${organization.base}/sources/${id}/refusals`,
    );
  /** Rows that have ever been written. */
  const written = async (table: string) => {
    const { rows } = await testInstance.pool.query<{ written: number }>(
      'select n_tup_ins + n_tup_upd as written from pg_stat_user_tables where relname = $1',
      [table],
    );
    return rows[0]?.written ?? 0;
  };

  it('is counted exactly, and leaves few rows and few writes', async () => {
    const [attacked, other] = [await signed(), await signed()];
    const startedAt = performance.now();
    for (let n = 0; n < FLOOD; n += 100) {
      await Promise.all(Array.from({ length: 100 }, () => refused(attacked, 3000)));
      // Somebody who mistypes a secret meanwhile is told of it.
      if (n === FLOOD / 2) await refused(other, 1);
    }
    await until('all to be counted', async () => (await shown(attacked)).counts.total === FLOOD);
    await until('the other too', async () => (await shown(other)).counts.total === 1);
    const rounds = Math.ceil((performance.now() - startedAt) / ROUND_MS) + 2;
    expect((await shown(attacked)).pagination.total).to.be.within(1, KEPT);
    expect((await shown(other)).pagination.total).to.equal(1);
    const { rows } = await testInstance.pool.query<{ count: number; bytes: number }>(
      `select count(*) as count, max(octet_length(payload_start)) as bytes from refused_webhooks where source_id = $1`,
      [attacked.id],
    );
    expect(rows[0]).to.include({ bytes: 1024 });
    expect(rows[0]?.count).to.be.at.most(KEPT);
    // PostgreSQL tells them a moment later.
    const samples = await until('the statistics', () => written('refused_webhooks'));
    expect(samples, 'samples that were written').to.be.at.most(IN_A_ROUND * rounds + 1);
    const counts = await until('the statistics of the counts', () => written('refusal_counts'));
    expect(counts, 'counts that were written').to.be.at.most(3 * rounds);
  });
});
