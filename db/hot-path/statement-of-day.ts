// Statements of the hot path name the partitions of a day, because PostgreSQL makes every partition of a table ready before it prunes
// them: with 90 days, that takes two thirds of the time of a group of one.
import { boundTime } from '../../core/text/ids.ts';
import { DAY_MS, type PartitionedTable, partitionName } from '../retention/partitions.ts';

/** The tables to name in a statement. */
export type Tables = Record<PartitionedTable, string>;

interface Statement {
  name: string;
  text: string;
}

const OF_ANY_DAY: Tables = {
  events: 'events',
  event_payloads: 'event_payloads',
  deliveries: 'deliveries',
  attempts: 'attempts',
};

/**
 * A statement that names the partitions of a day if all events and deliveries are of that one, and it is recent. Older days share one
 * statement, so that a connection prepares few.
 * @param textFor the statement, given its tables
 * @returns the statement for events and deliveries, given the first and last id of each; without ids, that of any day
 */
export function statementOfDay(name: string, textFor: (tables: Tables) => string): (...ids: string[]) => Statement {
  const ofAnyDay: Statement = { name, text: textFor(OF_ANY_DAY) };
  // That of the day that was asked for last.
  let ofDay: Statement & { day: number } = { ...ofAnyDay, day: Number.NaN };
  return (...ids) => {
    const day = dayOf(ids[0] ?? '');
    if (!(day >= dayOf(Date.now()) - 1) || ids.some((id) => dayOf(id) !== day)) return ofAnyDay;
    if (ofDay.day !== day) {
      const tables = Object.fromEntries(
        Object.keys(OF_ANY_DAY).map((table) => [table, partitionName(table, day)]),
      ) as unknown as Tables;
      ofDay = { name: `${name}-${day}`, text: textFor(tables), day };
    }
    return ofDay;
  };
}

/** @returns days since 1970 of an id, or a bound of ids, or of a time in ms; NaN for anything else, which PostgreSQL refuses or does not find */
const dayOf = (of: string | number): number =>
  Math.floor(((typeof of === 'string' ? boundTime(of) : of) ?? Number.NaN) / DAY_MS);
