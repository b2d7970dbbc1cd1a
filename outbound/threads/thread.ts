// A thread of the pool: does one task after the other.
import { parentPort } from 'node:worker_threads';
import { TimeLimitError, withinTime } from '../../core/fairness/time-limit.ts';
import { type HeaderBytes, headerTexts } from '../../core/http/headers.ts';
import { letOthersGoFirst, threadCpuMs } from '../../core/process/event-loop.ts';
import { compileFieldMapping } from '../../core/warehouse/field-mapping.ts';
import { BETWEEN_ROWS, FileTooLargeError } from '../../core/warehouse/files-and-keys.ts';
import { Conversions, type MadeRowText, rowText, type WarehouseEvent } from '../../core/warehouse/rows.ts';
import type { RowGroup } from '../warehouses/parquet-rows.ts';
import type { ThreadMessage } from './pool.ts';
import { passGates, tryFilter, trySchema, validatePayload } from './schemas-and-filters.ts';
import {
  type MadeRows,
  type RowEvent,
  type RowsTask,
  buffersIn,
  type TaskKind,
  type TaskOf,
  type TransformTask,
} from './tasks.ts';

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

function makeRows({ fieldMapping: rules, payloadColumn, fileFormat, events }: RowsTask): MadeRows {
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

const port = parentPort;
if (!port) throw new Error('thread.ts only runs as a worker thread');
letOthersGoFirst();
const tell = (message: ThreadMessage) => port.postMessage(message, buffersIn(message));

/** Libraries of Parquet and of the sandbox are loaded by the first task that needs them. */
const works = {
  gates: passGates,
  filter: tryFilter,
  validate: validatePayload,
  schema: trySchema,
  rows: makeRows,
  rowGroup: async (task: RowGroup) => (await import('../warehouses/parquet-rows.ts')).encodeRowGroup(task),
  transform: async (task: TransformTask, begin: () => void) =>
    (await import('../transforms/run.ts')).runTransform(task, begin),
};
export type Works = typeof works;

port.on('message', ({ kind, task }: { kind: TaskKind; task: TaskOf<TaskKind> }) => void perform(kind, task));

async function perform(kind: TaskKind, task: TaskOf<TaskKind>): Promise<void> {
  const startedAt = threadCpuMs();
  // A transform begins when its sandbox is open.
  const begin = () => tell({ type: 'started', cpuMs: threadCpuMs() });
  if (kind !== 'transform') begin();
  try {
    const work = works[kind] as (task: TaskOf<TaskKind>, begin: () => void) => ReturnType<Works[TaskKind]>;
    const result = await work(task, begin);
    tell({ type: 'done', cpuMs: threadCpuMs() - startedAt, result });
  } catch (error) {
    tell({ type: 'failed', cpuMs: threadCpuMs() - startedAt, error: error instanceof Error ? error.name : 'Error' });
  }
}
