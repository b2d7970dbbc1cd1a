import { type HeaderBytes, headerTexts } from '../../core/http/header-text.ts';
import { TimeLimitError, withinTime } from '../../core/fairness/time-limit.ts';
import { Conversions, type MadeRowText, rowText, type WarehouseEvent } from '../../core/warehouse/rows.ts';
import { compileFieldMapping } from '../../core/warehouse/field-mapping.ts';
import { BETWEEN_ROWS, FileTooLargeError } from '../../core/warehouse/files-and-keys.ts';
import type { MadeRows, RowEvent, RowsTask } from './tasks.ts';

/** What the row of one event may take, in ms: for what it searches, and for each byte that its rules may write. */
const SEARCH_MS = 500;
// Several times what it takes on a quick processor: an event must not fail for a slow one.
const MS_PER_BYTE = 1 / 5_000;
const MOST_MS = 5000;
/** What is begun in one turn, in ms and in characters of rows; the rest of the events has another one. */
const TURN_MS = 500;
const TURN_LENGTH = 8 * 1024 * 1024;

// Rules times bytes that are surely mapped in time when no rule searches; above it a deadline is worth its half
// millisecond.
const QUICK = 2_000_000;
/** Rules that search: filters, and descent into every level. */
const SEARCHES = /\?|\.\./;

const encoder = new TextEncoder();

export function makeRows({ fieldMapping: rules, payloadColumn, fileFormat, events }: RowsTask): MadeRows {
  const jsonColumns = fileFormat === 'parquet' ? 'text' : 'json';
  const mapping = rules && compileFieldMapping(rules, payloadColumn, jsonColumns);
  const map = (event: WarehouseEvent) => rowText(event, { mapping, payloadColumn });
  const searches = rules?.some(({ source }) => SEARCHES.test(source)) ?? false;
  const startedAt = performance.now();
  const texts: string[] = [];
  const tooLong: number[] = [];
  const conversions = new Conversions();
  let [done, length, isNextTooLarge] = [0, 0, false];
  for (const event of events) {
    if (done > 0 && (performance.now() - startedAt > TURN_MS || length > TURN_LENGTH)) break;
    const size = (rules?.length ?? 1) * event.body.length;
    const isQuick = !searches && size <= QUICK;
    const limitMs = Math.ceil(Math.min(MOST_MS, SEARCH_MS + size * MS_PER_BYTE));
    const row = rowOf(opened(event), isQuick ? map : (each) => withinTime(limitMs, () => map(each)));
    isNextTooLarge = row === 'too large';
    if (row === 'too large') break;
    if (row === 'too long') tooLong.push(done);
    else {
      texts.push(row.text);
      length += row.text.length;
      for (const target of row.misfits) conversions.add({ target, count: 1, eventId: event.id });
    }
    done += 1;
  }
  // Its own memory, so that it can be handed over.
  const bytes = encoder.encode(texts.join(BETWEEN_ROWS[fileFormat]));
  return { bytes, rows: texts.length, conversions: conversions.list, events: done, tooLong, isNextTooLarge };
}

function rowOf(event: WarehouseEvent, map: (event: WarehouseEvent) => MadeRowText) {
  try {
    return map(event);
  } catch (error) {
    if (error instanceof FileTooLargeError) return 'too large';
    if (error instanceof TimeLimitError) return 'too long';
    throw error;
  }
}

function opened({ body, headers, ...event }: RowEvent): WarehouseEvent {
  return {
    ...event,
    headers: headerTexts(JSON.parse(headers) as HeaderBytes),
    body: typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength),
  };
}
