// What transforms need to run in tests without an organization.
import type { BudgetOf } from '../../outbound/transforms/index.ts';

export const unlimited: BudgetOf = async () => Number.POSITIVE_INFINITY;

/** Code that takes about so many hundredths of a second, or several times as long on a busy machine; a run may take 500 ms. */
export const busy = (hundredths: number) =>
  `export default () => { let x = 0; for (let i = 0; i < ${hundredths * 200_000}; i += 1) x = (x * 31 + i) | 0; return { x }; }`;
export const QUICK = 'export default ({ id }) => ({ id })';
