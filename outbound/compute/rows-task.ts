// Rows of warehouse files, made in a thread.
import { TimeLimitError, withinTime } from '../../core/time-limit.ts';
import { compileFieldMapping } from '../../core/warehouse/field-mapping.ts';
import { type MadeRowText, rowText } from '../../core/warehouse/rows.ts';
import { FileTooLargeError } from '../../core/warehouse/size-limit.ts';
import type { WarehouseEvent } from '../../core/warehouse/event.ts';
import type { MadeRow, RowEvent, RowsTask } from './types.ts';

/** What the row of one event may take, in ms: for what it searches, and for each byte that its rules may write. */
const SEARCH_MS = 500;
// Several times what it takes on a quick processor: an event must not fail for a slow one.
const MS_PER_BYTE = 1 / 5_000;
const MOST_MS = 5000;
/** What is begun in one turn, in ms; the rest of the events has another one. */
const TURN_MS = 500;

// Rules times bytes that are surely mapped in time when no rule searches; above it a deadline is worth its half millisecond.
const QUICK = 2_000_000;
/** Rules that search: filters, and descent into every level. */
const SEARCHES = /\?|\.\./;

const encoder = new TextEncoder();

export function makeRows({ fieldMapping: rules, payloadColumn, fileFormat, events }: RowsTask): MadeRow[] {
  const jsonColumns = fileFormat === 'parquet' ? 'text' : 'json';
  const mapping = rules && compileFieldMapping(rules, payloadColumn, jsonColumns);
  const map = (event: WarehouseEvent) => rowText(event, { mapping, payloadColumn });
  const searches = rules?.some(({ source }) => SEARCHES.test(source)) ?? false;
  const startedAt = performance.now();
  const rows: MadeRow[] = [];
  for (const event of events) {
    if (rows.length > 0 && performance.now() - startedAt > TURN_MS) break;
    const bytes = (rules?.length ?? 1) * event.body.byteLength;
    const isQuick = !searches && bytes <= QUICK;
    const limitMs = Math.ceil(Math.min(MOST_MS, SEARCH_MS + bytes * MS_PER_BYTE));
    rows.push(rowOf(withBuffer(event), isQuick ? map : (each) => withinTime(limitMs, () => map(each))));
  }
  return rows;
}

function rowOf(event: WarehouseEvent, map: (event: WarehouseEvent) => MadeRowText): MadeRow {
  try {
    const { text, misfits } = map(event);
    // Its own memory, so that it can be handed over.
    return { kind: 'row', bytes: encoder.encode(text), misfits };
  } catch (error) {
    if (error instanceof FileTooLargeError) return { kind: 'too large' };
    if (error instanceof TimeLimitError) return { kind: 'too long' };
    throw error;
  }
}

function withBuffer(event: RowEvent): WarehouseEvent {
  const { buffer, byteOffset, byteLength } = event.body;
  return { ...event, body: Buffer.from(buffer, byteOffset, byteLength) };
}
