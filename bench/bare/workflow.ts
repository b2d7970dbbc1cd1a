// The bare delivery workflow: start, one HTTP request as a local activity, complete. The cost of Temporal alone.
import { proxyLocalActivities } from '@temporalio/workflow';
import type { BareActivities } from './worker.ts';

const { post } = proxyLocalActivities<BareActivities>({ startToCloseTimeout: 10_000, retry: { maximumAttempts: 1 } });

export async function bare(url: string): Promise<number> {
  return post(url);
}
