import { expect } from 'chai';
import { createReadiness, type HealthDeps } from '../../worker/metrics.ts';

/** What the parts of a worker say of themselves. */
interface Said {
  hasShards: boolean;
  free: number;
  claimedMsAgo: number | undefined;
  isPolling: boolean;
  isEnding: boolean;
  hasNamespace: boolean;
  isUnserved: boolean;
  refusal: string | null;
  /** Null: Temporal does not answer in time. */
  look: (() => Promise<boolean>) | null;
}

const WELL: Said = {
  ...{ hasShards: true, free: 10, claimedMsAgo: 120, isPolling: true, isEnding: false, hasNamespace: true },
  isUnserved: false,
  refusal: null,
  look: async () => true,
};

function readinessOf(differences: Partial<Said>) {
  const { hasShards, free, claimedMsAgo, isPolling, isEnding, hasNamespace, isUnserved, refusal, look } = {
    ...WELL,
    ...differences,
  };
  const held = hasShards ? { owner: 'this worker', shards: [1, 2, 3] } : null;
  const deps: HealthDeps = {
    namespace: 'orders',
    attributes: { look: look ?? (() => new Promise(() => {})), hasNamespace },
    shards: { held: () => held },
    relay: { state: () => ({ inFlight: 3, free, claimedMsAgo }) },
    worker: { isPolling: () => isPolling },
    release: { state: () => ({ own: '1', current: '2', isUnserved }) },
    schedules: { refusal },
    isEnding: () => isEnding,
  };
  return createReadiness(deps)();
}

describe('a worker', () => {
  const away = () => Promise.reject(new Error('away'));
  const refused =
    "Temporal refuses the worker's requests (No.): the worker's key or certificate is missing or invalid, or needs the writer " +
    'role for the namespace orders (docs/operate/temporal.md)';
  const unserved =
    'workflows are not being processed: Temporal assigns them to workers of release 2, but no such worker is ' +
    'polling; start one, or make this release the current one (docs/operate/upgrading.md)';
  const rows: [what: string, differences: Partial<Said>, problem: string | RegExp | null][] = [
    ['is ready when it claims, and Temporal is polled', {}, null],
    ['is not ready when Temporal refuses what it does', { refusal: 'No.' }, refused],
    ['is not ready while it ends', { isEnding: true }, /^the worker is shutting down$/],
    ['is not ready without shards', { hasShards: false }, /^the relay owns no shards: the database is unavailable/],
    [
      'is not ready without a claim for fifteen seconds',
      { claimedMsAgo: 15_000 },
      /has not claimed .* for 15 seconds$/,
    ],
    ['is ready when it has claimed just before that', { claimedMsAgo: 14_999 }, null],
    ['is ready when it does not claim because it has no free place', { claimedMsAgo: 60_000, free: 0 }, null],
    ['is not ready when Temporal cannot be reached', { look: away }, /^Temporal cannot be reached$/],
    ['is not ready without its namespace', { hasNamespace: false }, /^Temporal does not have the namespace orders$/],
    ['is ready without search attributes', { look: async () => false }, null],
    ['is not ready when nobody gets workflows', { isUnserved: true }, unserved],
    [
      'is not ready when Temporal is not polled',
      { isPolling: false },
      /^the worker is not polling Temporal for tasks$/,
    ],
  ];
  for (const [what, differences, problem] of rows) {
    it(what, async () => {
      const { problems } = await readinessOf(differences);
      expect(problems).to.have.length(problem ? 1 : 0);
      if (typeof problem === 'string') expect(problems[0]).to.equal(problem);
      else if (problem) expect(problems[0]).to.match(problem);
    });
  }

  it('is not ready when Temporal does not answer for three seconds', async () => {
    const { problems, facts } = await readinessOf({ look: null });
    expect(problems).to.deep.equal(['Temporal did not respond within 3 s']);
    expect(facts.temporal).to.deep.equal({ answers: false, searchAttributes: false, polling: true });
  });

  it('shows what it holds, what is under way, and what Temporal knows', async () => {
    expect((await readinessOf({ claimedMsAgo: 1234 })).facts).to.deep.equal({
      relay: { shards: 3, lastClaimSeconds: 1.2, inFlight: 3 },
      temporal: { answers: true, searchAttributes: true, polling: true },
      release: { own: '1', current: '2' },
    });
    expect((await readinessOf({ hasShards: false, claimedMsAgo: undefined })).facts.relay).to.deep.equal({
      ...{ shards: 0, lastClaimSeconds: null, inFlight: 3 },
    });
  });
});
