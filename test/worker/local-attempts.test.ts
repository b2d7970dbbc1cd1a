// First attempts that workflows make as local activities, with a pool that organizations share.
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { expect } from 'chai';
import { type ActivityDeps, createActivities } from '../../activities/index.ts';
import { newId } from '../../core/ids.ts';
import { createPool } from '../../db/connections/pool.ts';
import { actingFor, shareConnections } from '../../db/connections/pool-turns.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';

describe('first attempts as local activities', () => {
  it('hold connections as those of their organization, not as the service’s own', async () => {
    const { databaseUrl } = stackAddresses();
    const pool = createPool(databaseUrl, { max: 2, statementTimeoutMs: 10_000, onError: () => {} });
    shareConnections(pool, { max: 2, reserved: 1, alone: () => false });
    const organizationId = newId('org');
    let [asked, answered] = [false, false];
    // The delivery is gone: an attempt asks for it and ends.
    const submit = async () => {
      asked = true;
      await pool.query('select 1');
      answered = true;
    };
    const deps = {
      contexts: { submit },
      results: { underWay: () => undefined },
      onBegun: () => {},
      onRecorded: () => {},
      log: { error: () => {} },
    } as unknown as ActivityDeps;
    const info = { isLocal: true, startToCloseTimeoutMs: 60_000 };
    const context = { info, cancellationSignal: new AbortController().signal } as Context;
    const request = { organizationId, deliveryId: newId('dlv'), eventId: newId('evt'), attempt: 1, retryDelay: null };
    const share = await actingFor(organizationId, () => pool.connect());
    try {
      const attempt = asyncLocalStorage.run(context, () => createActivities(deps).attemptDelivery(request));
      await until('the attempt to begin', () => asked);
      await pool.query('select 2');
      expect(answered, 'before its organization gives a connection back').to.equal(false);
      share.release();
      expect(await attempt).to.include({ status: 'closed' });
    } finally {
      await pool.end();
    }
  });
});
