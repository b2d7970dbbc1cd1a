// A stranger guesses keys, or only wants to keep the service busy: wrong credentials are refused without work beyond a
// limit, they fill no table and no memory, and nobody else at that address is locked out.
import { expect } from 'chai';
import { createLog } from '../../core/process/log.ts';
import { newToken } from '../../core/config/api-token.ts';
import { createSignIns } from '../../api/auth/auth.ts';
import { askFrom, type HttpAnswer } from '../support/requests/http-client.ts';
import { useHookyard, useOrganization } from '../support/use-hookyard.ts';

const LIMIT = 20;
const STRANGER = '127.0.0.66';

describe('Wrong credentials', () => {
  const { testInstance } = useHookyard({ settings: { tuning: { failedSignInsPerMinute: LIMIT } } });
  const tenant = useOrganization(() => ({ service: testInstance.api, pool: testInstance.pool }));
  const ask = (from: string, token: string) => askFrom(from, `${testInstance.api.url}/api/auth/me`, token);
  const guess = (from: string) => ask(from, newToken());
  async function guessUntilRefused(from: string): Promise<void> {
    for (let n = 0; n < 4 * LIMIT; n += 1) if ((await guess(from)).status === 429) return;
    throw new Error('the guesses were never refused');
  }

  it('are refused with 429 beyond the limit of an address', async () => {
    const replies: HttpAnswer[] = [];
    for (let n = 0; n < 4 * LIMIT; n += 1) replies.push(await guess(STRANGER));
    const [wrong, refused] = [401, 429].map((status) => replies.filter((reply) => reply.status === status));
    // A minute may have ended meanwhile.
    expect(wrong?.length).to.be.within(LIMIT, 2 * LIMIT);
    expect(refused).to.have.lengthOf(4 * LIMIT - (wrong?.length ?? 0));
    for (const { headers, body } of refused ?? []) {
      expect(Number(headers['retry-after'])).to.be.within(1, 60);
      expect(body).to.include({ code: 'RATE_LIMITED' });
    }
  });

  it('of one address do not count against another', async () => {
    await guessUntilRefused(STRANGER);
    expect((await guess('127.0.0.67')).status).to.equal(401);
  });

  it('lock out no valid key at the same address, be it used here for the first time', async () => {
    await guessUntilRefused(STRANGER);
    expect((await ask(STRANGER, tenant.token)).status).to.equal(200);
    // While the stranger continues.
    const flood = Array.from({ length: 200 }, () => guess(STRANGER));
    const taken = await Promise.all(Array.from({ length: 20 }, () => ask(STRANGER, tenant.token)));
    expect(taken.map(({ status }) => status)).to.deep.equal(Array.from({ length: 20 }, () => 200));
    expect(new Set((await Promise.all(flood)).map(({ status }) => status))).to.not.include(200);
  });

  it('leave nothing in the database, and no more than a line a minute in the log', async () => {
    const size = async () =>
      (await testInstance.pool.query<{ records: number }>('select count(*)::int as records from audit_records'))
        .rows[0];
    const before = await size();
    for (let n = 0; n < 100; n += 1) await guess('127.0.0.68');
    expect(await size()).to.deep.equal(before);
    const lines = testInstance
      .logs()
      .split('\n')
      .filter((line) => line.includes('had missing or invalid credentials'));
    expect(lines.length).to.be.at.most(10);
  });

  it('take bounded memory, however many addresses they come from', () => {
    const signIns = createSignIns(3, createLog({ LOG_LEVEL: 'silent' }, 'api'));
    for (let n = 0; n < 10_000; n += 1) signIns.fail(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
    const others = Array.from({ length: 50 }, (_, n) => signIns.fail(`192.0.2.${n}`));
    // They share one count (a minute may have ended meanwhile).
    expect(others.filter((error) => error?.status === 429).length).to.be.greaterThan(20);
  });

  it('count for the /64 of an IPv6 address, which is what one client has', () => {
    const signIns = createSignIns(3, createLog({ LOG_LEVEL: 'silent' }, 'api'));
    const answers = Array.from({ length: 20 }, (_, n) => signIns.fail(`2001:db8:1:2::${n.toString(16)}`));
    expect(answers.filter((error) => error?.status === 429).length).to.be.at.least(14);
    expect(signIns.fail('2001:db8:1:3::1')).to.equal(null);
  });
});
