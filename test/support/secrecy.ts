// What must never be in a log or in a Temporal history. Tests mark secrets and payloads with PLANTED.
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Hookyard } from './hookyard.ts';

/** Part of every payload and secret that the end-to-end tests use. */
export const PLANTED = 'planted-7f3a91c2';

/** Log lines of all processes that hold a marker. */
export function leakedLines(yard: Hookyard, marker: string = PLANTED): string[] {
  return yard
    .logs()
    .split('\n')
    .filter((line) => line.includes(marker));
}

/**
 * Looks through the histories of the organization's workflows, payloads decoded.
 * @returns how many were read, and the ids of those that hold a marker
 */
export async function searchHistories(yard: Hookyard, marker: string = PLANTED) {
  const leaking: string[] = [];
  let searched = 0;
  const query = `OrganizationId = "${yard.organizationId}"`;
  for await (const { workflowId, runId } of yard.temporal.workflow.list({ query })) {
    const history = await yard.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
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
