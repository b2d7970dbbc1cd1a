// How many rows of a table a statement reads.
import type { Queryable } from '../../../db/connections/pool.ts';

interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

/**
 * Runs a statement;
 * @returns the rows that scans of the table and its partitions read, those that a filter left out included
 */
export async function rowsRead(db: Queryable, table: string, text: string, values: unknown[]): Promise<number> {
  const { rows } = await db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, format json) ${text}`, values);
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
  return plan === undefined ? 0 : readIn(plan, table);
}

function readIn(plan: Plan, table: string): number {
  if (plan['Relation Name']?.startsWith(table)) {
    return (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
  }
  return (plan.Plans ?? []).reduce((sum, each) => sum + readIn(each, table), 0);
}
