// What must never be in a log or in a Temporal history. Tests mark secrets and payloads with PLANTED.
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect } from 'chai';
import type { Hookyard } from '../hookyard.ts';
import { relayMayAttempt } from '../records.ts';
import { until } from '../until.ts';

/** Part of every payload and secret that the end-to-end tests use. */
export const PLANTED = 'planted-7f3a91c2';

/** Log lines of all processes that hold a marker. */
export function leakedLines(testInstance: Hookyard, marker: string = PLANTED): string[] {
  return testInstance
    .logs()
    .split('\n')
    .filter((line) => line.includes(marker));
}

/**
 * Looks through the histories of the organization's workflows, payloads decoded.
 * @returns how many were read, and the ids of those that hold a marker
 */
async function searchHistories(testInstance: Hookyard, marker: string = PLANTED) {
  const leaking: string[] = [];
  let searched = 0;
  const query = `OrganizationId = "${testInstance.organizationId}"`;
  for await (const { workflowId, runId } of testInstance.temporal.workflow.list({ query })) {
    const history = await testInstance.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    searched += 1;
    if (decoded(historyToJSON(history)).includes(marker)) leaking.push(workflowId);
  }
  return { searched, leaking };
}

/** The text with everything appended that is base64 in it. */
function decoded(json: string): string {
  const texts = [...json.matchAll(/"([A-Za-z0-9+/]{8,}={0,2})"/g)].map(([, base64 = '']) =>
    Buffer.from(base64, 'base64').toString('latin1'),
  );
  return [json, ...texts].join('\n');
}

/** Tests, to be put last in a file, that nothing marked is in the logs or histories that its other tests left. */
export function describeNoTraces(instanceOf: () => Hookyard): void {
  // A suite of its own: mocha runs suites after the tests beside them.
  describe('afterwards', () => {
    it('no payload and no secret is in the logs', () => {
      const testInstance = instanceOf();
      expect(leakedLines(testInstance)).to.deep.equal([]);
      expect(leakedLines(testInstance, testInstance.organizationId), 'a marker would be found').to.not.deep.equal([]);
    });

    it('no payload and no secret is in the histories of workflows', async () => {
      const testInstance = instanceOf();
      const { leaking, searched } = await until('histories to be listed', async () => {
        const found = await searchHistories(testInstance);
        return found.searched >= (relayMayAttempt ? 0 : 6) && found;
      });
      expect(leaking).to.deep.equal([]);
      const control = await searchHistories(testInstance, testInstance.organizationId);
      expect(control.leaking.length, 'a marker would be found in each').to.be.at.least(searched);
    });
  });
}
