import { Connection } from '@temporalio/client';
import { expect } from 'chai';
import { pino } from 'pino';
import { type Parking, startParking } from '../../activities/parking.ts';
import { newId } from '../../core/text/ids.ts';
import { InstallationClient } from '../../temporal-config/client.ts';
import { cancel } from '../../workflows/signals-and-queries.ts';
import { failed, startScriptedWorker } from '../support/workflows/scripted-attempts.ts';
import { hasStatus } from '../support/workflows/scripted-history.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-hookyard.ts';

const MOST = 5;
// After so many counts with refusals, what was admitted before them counts only by what Temporal says.
const COUNTS = 4;

describe('failed deliveries that wait in Temporal', () => {
  const attributes = { missing: false, look: async () => true };
  const { temporalAddress: address, namespace } = stackAddresses();
  const connection = Connection.lazy({ address });
  const client = new InstallationClient({ connection, namespace, prefix: 'test-parking', attributes });
  const worker = useStarted(() => startScriptedWorker(client.workflowQueue));
  after(() => connection.close());

  it('are bounded per organization, counting those that wait already, until some are gone', async () => {
    const [crowded, other] = [newId('org'), newId('org')];
    const waiting = await Promise.all(
      Array.from({ length: MOST }, () => worker.start([failed], { organizationId: crowded })),
    );
    await until('all to wait', async () => (await Promise.all(waiting.map(isParked))).every(Boolean));
    const query = `DeliveryStatus = "failed" and ExecutionStatus = "Running" and OrganizationId = "${crowded}"`;
    const count = async () => (await worker.client.workflow.count(query)).count;
    await until('all in visibility', async () => (await count()) === MOST);

    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(line) });
    const parking = await startParking({ client, log }, { total: 1_000_000, perOrganization: MOST }, 500);
    try {
      let more = 0;
      await until('some counts', () => {
        more += admitted(parking, crowded);
        return lines.length >= COUNTS;
      });
      // It was not known before one of it had asked.
      expect(more).to.be.at.most(MOST);
      expect(lines[0]).to.contain('will not wait in Temporal for a replay');
      expect(admitted(parking, other)).to.equal(MOST);
      for (const { handle } of waiting) await handle.signal(cancel);
      await until('none in visibility', async () => (await count()) === 0);
      await until('room again', () => parking.admit(crowded));
    } finally {
      await parking.stop();
    }
  });

  it('count by themselves until Temporal must show them, which takes a while in an outage', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(line) });
    const limits = { total: 1_000_000, perOrganization: MOST };
    const parking = await startParking({ client, log }, limits, 150);
    const organization = newId('org');
    expect(admitted(parking, organization)).to.equal(MOST);
    // None of them was started, so each count finds none; refusals show the count.
    await until('room again', () => parking.admit(organization));
    expect(lines.length).to.be.at.least(COUNTS);
    await parking.stop();
  });

  it('count once when Temporal shows them before that', async () => {
    const organization = newId('org');
    const started = MOST - 1;
    const query = `DeliveryStatus = "failed" and ExecutionStatus = "Running" and TaskQueue = "${client.workflowQueue}"`;
    const count = async () => (await worker.client.workflow.count(query)).count;
    const before = await count();
    const limits = { total: before + 2 * started, perOrganization: 10 * started };
    const parking = await startParking({ client, log: pino({ level: 'silent' }) }, limits, 60_000);
    for (let n = 0; n < started; n += 1) expect(parking.admit(organization)).to.equal(true);
    const waiting = await Promise.all(
      Array.from({ length: started }, () => worker.start([failed], { organizationId: organization })),
    );
    // Were they counted twice, there would be no room for as many again.
    await until('all in visibility', async () => (await count()) === before + started);
    let more = 0;
    await until('the rest of the limit', () => {
      if (parking.admit(organization)) more += 1;
      return more === started;
    });
    expect(parking.admit(organization)).to.equal(false);
    for (const { handle } of waiting) await handle.signal(cancel);
    await parking.stop();
  });

  it('are none while the namespace lacks search attributes, by which they are counted', async () => {
    const lacking = { ...attributes, missing: true };
    const without = new InstallationClient({ connection, namespace, prefix: '', attributes: lacking });
    const parking = await startParking(
      { client: without, log: pino({ level: 'silent' }) },
      { total: MOST, perOrganization: MOST },
    );
    expect(parking.admit(newId('org'))).to.equal(false);
    lacking.missing = false;
    expect(parking.admit(newId('org'))).to.equal(true);
    await parking.stop();
  });
});

const isParked = (delivery: Parameters<typeof hasStatus>[0]) => hasStatus(delivery, 'failed');

/** How many of an organization may wait at once. */
function admitted(parking: Parking, organizationId: string): number {
  let count = 0;
  while (count < 2 * MOST && parking.admit(organizationId)) count += 1;
  return count;
}
