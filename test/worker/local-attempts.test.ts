// First attempts that workflows make as local activities, with a pool that organizations share.
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { expect } from 'chai';
import { createRetrySlots } from '../../activities/attempt/retry-slots.ts';
import { type ActivityDeps, createActivities } from '../../activities/index.ts';
import type { AttemptOutcome, AttemptRequest } from '../../activities/types.ts';
import { newId } from '../../core/text/ids.ts';
import { WorkflowPermits } from '../../core/fairness/workflow-permits.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';

const retrySlotsOf = (pool: Pool) =>
  createRetrySlots({
    pool,
    slots: 4,
    workflowPermits: new WorkflowPermits({ permits: 1, alone: () => true }),
  });

/** An attempt as Temporal asks for it. */
function firstAttempt(deps: ActivityDeps, request: AttemptRequest): Promise<AttemptOutcome> {
  const info = { isLocal: true, startToCloseTimeoutMs: 60_000 };
  const context = { info, cancellationSignal: new AbortController().signal } as Context;
  return asyncLocalStorage.run(context, () => createActivities(deps).attemptDelivery(request));
}

describe('first attempts as local activities', () => {
  it('are made once although a workflow task that is made again asks for one meanwhile', async () => {
    const pool = createPool(stackAddresses().databaseUrl, { max: 1, statementTimeoutMs: 10_000, onError: () => {} });
    const gate = Promise.withResolvers<undefined>();
    let asked = 0;
    const submit = () => {
      asked += 1;
      return gate.promise;
    };
    const deps = {
      contexts: { submit },
      results: { underWay: () => undefined },
      retrySlots: retrySlotsOf(pool),
      onBegun: () => {},
      onRecorded: () => {},
    } as unknown as ActivityDeps;
    const ids = { organizationId: newId('org'), deliveryId: newId('dlv'), eventId: newId('evt') };
    const request = { ...ids, attempt: 1, retryDelay: null };
    try {
      const attempts = [firstAttempt(deps, request), firstAttempt(deps, request)];
      await until('the attempt to begin', () => asked > 0);
      gate.resolve(undefined);
      expect((await Promise.all(attempts)).map(({ status }) => status)).to.deep.equal(['closed', 'closed']);
      expect(asked).to.equal(1);
    } finally {
      await pool.end();
    }
  });
});
