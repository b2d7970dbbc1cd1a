// The code of one organization must not take the threads from another's, however many transforms it has and however
// slow they are. Deliveries: test/e2e/transform-budget.test.ts.
import { expect } from 'chai';
import { NoTurnError, type Threads } from '../../outbound/threads/index.ts';
import { expectError } from '../support/api-client.ts';
import { createOrganization, type TestOrganization, testPool } from '../support/service.ts';
import { busy, QUICK, testThreads } from '../support/threads.ts';
import { until } from '../support/until.ts';

const SLOW = busy(3);
const LONG = busy(5);
// Twice what counts as slow, and far from the limit also where the processor is slow.
const VERY_SLOW = busy(10);

/** On a busy machine the last of many wait for their turn longer than they may. */
function ifLate(error: unknown): void {
  expect(error).to.be.instanceOf(NoTurnError);
}

describe('turns of transforms', () => {
  describe('in a process', () => {
    const request = { method: 'POST', path: '', query: '', headers: {}, receivedAt: new Date(0) };
    const event = { id: 'evt_1', source: 's', ...request };
    const run = (transforms: Threads, organization: string, group: string, code = SLOW, bytes = 2) =>
      transforms.runTransform(
        { key: `${organization} ${group}`, type: 'javascript', code, outputContentType: null },
        { ...event, body: Buffer.alloc(bytes, ' ') },
        organization,
      );
    async function withTransforms(threads: number, budget: number, use: (transforms: Threads) => Promise<void>) {
      const transforms = testThreads(threads, budget);
      try {
        await use(transforms);
      } finally {
        await transforms.close();
      }
    }

    for (const threads of [1, 2]) {
      it(`go round the organizations: one job is next behind 12 transforms of another, on ${threads} threads`, () =>
        withTransforms(threads, Number.POSITIVE_INFINITY, async (transforms) => {
          // All threads have started, and a job of the greedy one is long beside what a thread may wait for a
          // processor.
          const warm = (organization: string) => run(transforms, organization, 'warm', QUICK);
          await Promise.all([...Array.from({ length: threads }, () => warm('greedy')), warm('modest')]);
          const ended: string[] = [];
          const jobs = Array.from({ length: 12 }, (_, n) =>
            run(transforms, 'greedy', `t${n}`, LONG)
              .catch(ifLate)
              .finally(() => ended.push('greedy')),
          );
          const other = run(transforms, 'modest', 'one', QUICK).then(() => ended.push('modest'));
          await other;
          // Those that ran already when it came; a thread that was starting may take one more.
          expect(ended.indexOf('modest')).to.be.at.most(threads + 1);
          await Promise.all(jobs);
          expect(ended).to.have.length(13);
        }));
    }

    it('leave a thread to others, however slow those of one organization are', () =>
      withTransforms(2, Number.POSITIVE_INFINITY, async (transforms) => {
        // Both threads have started, so that none is waited for below.
        await Promise.all([1, 2].map(() => run(transforms, 'modest', 'one', QUICK)));
        const ended: string[] = [];
        const jobs = Array.from({ length: 20 }, () =>
          run(transforms, 'greedy', 'slow', VERY_SLOW)
            .catch(ifLate)
            .finally(() => ended.push('greedy')),
        );
        // However often it comes, it finds a free thread: of the other's jobs hardly one ends meanwhile.
        for (let n = 0; n < 5; n += 1) await run(transforms, 'modest', 'one', QUICK).then(() => ended.push('modest'));
        expect(ended.lastIndexOf('modest')).to.be.at.most(4 + 5);
        await Promise.all(jobs);
      }));

    it('end with the budget of an organization: what it has waiting must come back, at different times, and others continue', () =>
      withTransforms(2, 300, async (transforms) => {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 30 }, (_, n) => run(transforms, 'greedy', `t${n}`)),
        );
        const waits = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason.waitMs] : []));
        expect(waits.length).to.be.within(5, 29);
        for (const wait of waits) expect(wait).to.be.within(1, 600_000);
        expect(new Set(waits).size, 'different times').to.be.above(waits.length / 3);
        const again: unknown = await run(transforms, 'greedy', 't0').catch((error: unknown) => error);
        expect(again).to.be.instanceOf(NoTurnError).and.have.property('message').that.includes('transformMsPerMinute');
        expect((await run(transforms, 'modest', 'one', QUICK)).ok).to.equal(true);
      }));
  });

  it('in the API go round the organizations, and end with the budget by 429', async () => {
    const [greedy, modest, limited] = await Promise.all([1, 2, 3].map(() => createOrganization()));
    if (!greedy || !modest || !limited) throw new Error('three were made');
    await testPool().query('update organizations set limits = $2 where id = $1', [
      limited.id,
      { transformMsPerMinute: 300 },
    ]);
    const tried = (organization: TestOrganization, code: string) =>
      organization.api.request('POST', '/api/transforms/test', { type: 'javascript', code });
    const ended: string[] = [];
    // Few enough that a busy machine answers the last one before its time in the queue is over.
    const many = Array.from({ length: 24 }, () => tried(greedy, SLOW).finally(() => ended.push('greedy')));
    expect((await tried(modest, QUICK).finally(() => ended.push('modest'))).body.success).to.equal(true);
    expect(ended.indexOf('modest'), 'of the 24').to.be.below(18);
    // On a busy machine one may take longer than a transform may; it had its turn all the same.
    for (const { status } of await Promise.all(many)) expect(status).to.equal(200);

    const refused = await until('a refusal', async () => {
      const answer = await tried(limited, SLOW);
      return answer.status === 200 ? null : answer;
    });
    expectError(refused, 429, 'LIMIT_EXCEEDED', /transformMsPerMinute/);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 3600);
    const stored = { name: 'T', type: 'javascript', code: QUICK };
    expectError(await limited.api.request('POST', '/api/transforms', stored), 429, 'LIMIT_EXCEEDED');
    expect((await tried(modest, QUICK)).status).to.equal(200);
  });
});
