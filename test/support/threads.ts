// Threads for tests without an organization, and code for transforms in them.
import { createThreads, type Threads } from '../../outbound/threads/index.ts';

/** @param budget of transforms, ms in a minute */
export const testThreads = (threads: number, budget = Number.POSITIVE_INFINITY): Threads =>
  createThreads({ threads, budgetOf: async () => budget, log: { warn() {} } });

/**
 * Code that takes about so many hundredths of a second, or several times as long on a busy machine; a run may take 500
 * ms.
 */
export const busy = (hundredths: number) =>
  `export default () => { let x = 0; for (let i = 0; i < ${hundredths * 200_000}; i += 1) x = (x * 31 + i) | 0; return { x }; }`;
export const QUICK = 'export default ({ id }) => ({ id })';
