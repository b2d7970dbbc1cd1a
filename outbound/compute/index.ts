// Filters, schemas and mappings that are too much for the event loop, in threads: one task of an organization after the other's.
import type { Log } from '../../core/process/log.ts';
import type { SchemaError } from '../../core/schemas/errors.ts';
import type { TypedBody } from '../../core/forms/index.ts';
import type { StoredSchema } from '../../core/schemas/cached.ts';
import type { JsonSchema } from '../../core/schemas/schema.ts';
import type { EncodedRowGroup, RowGroup } from '../parquet/row-group.ts';
import { ComputePool } from './compute-pool.ts';
import {
  ComputeOverrunError,
  type FilterResult,
  type FilterTrial,
  type GatesResult,
  type GatesTask,
  type MadeRows,
  type RowsForm,
  type SchemaTrial,
  type StoredEvent,
} from './types.ts';

export type { FilterResult, FilterTrial, GateSet, GatesResult, StoredEvent } from './types.ts';
export { ComputeBusyError, ComputeOverrunError } from './types.ts';

/** Turns in which the schemas of one webhook are compiled. */
const MAX_TURNS = 20;

export interface GatedWebhook extends Pick<GatesTask, 'key' | 'request' | 'keyPath'> {
  organizationId: string;
  /** JSON of `GateSet`. */
  gates: () => string;
  body: Buffer;
}

export interface Compute {
  /** Asks the gates of a webhook's routes. @throws ComputeBusyError, ComputeOverrunError */
  gates(webhook: GatedWebhook): Promise<Extract<GatesResult, { kind: 'done' }>>;
  /** Tries conditions on a sample. @throws ComputeBusyError, ComputeOverrunError */
  tryFilter(organizationId: string, trial: FilterTrial): Promise<FilterResult>;
  /** What is wrong with a schema that is to be stored, as the end of a sentence, or null. @throws ComputeBusyError */
  schemaProblem(organizationId: string, schema: JsonSchema): Promise<string | null>;
  /** Validates a payload by each schema. @throws ComputeBusyError */
  validate(organizationId: string, schemas: readonly StoredSchema[], content: TypedBody): Promise<SchemaError[][]>;
  /** Makes the rows of events, in their order, some at a time. It ends before one that is too large. @throws ComputeBusyError */
  rows(organizationId: string, form: RowsForm, events: readonly StoredEvent[]): AsyncGenerator<MadeRows>;
  /** Validates a payload by a schema that is not stored. @throws ComputeBusyError */
  trySchema(organizationId: string, schema: JsonSchema, content: TypedBody): Promise<SchemaTrial>;
  /** Encodes rows of a Parquet file; their bytes are handed over. @throws ComputeBusyError, ComputeOverrunError */
  rowGroup(organizationId: string, group: RowGroup): Promise<EncodedRowGroup>;
  /** Ends the threads; what runs is refused. */
  close(): Promise<void>;
}

/** @param threads how many run at once; they are started when there is something to do */
export function createCompute({ threads, log }: { threads: number; log: Pick<Log, 'warn'> }): Compute {
  const pool = new ComputePool(threads, log);
  return {
    gates: (webhook) => gates(pool, webhook),
    tryFilter(organizationId, trial) {
      const text = JSON.stringify(trial);
      const task = () => ({ task: { kind: 'filter' as const, trial: text }, handedOver: [] });
      return pool.run({ organizationId, kind: 'filter', task });
    },
    schemaProblem: (organizationId, schema) => schemaProblem(pool, organizationId, schema),
    validate: (organizationId, schemas, content) => validate(pool, organizationId, schemas, content),
    trySchema: (organizationId, schema, content) => trySchema(pool, organizationId, schema, content),
    rows: (organizationId, form, events) => rows(pool, organizationId, form, events),
    rowGroup(organizationId, group) {
      const task = () => ({ task: { kind: 'rowGroup' as const, ...group }, handedOver: [group.lines.buffer] });
      return pool.run({ organizationId, kind: 'rowGroup', task });
    },
    close: () => pool.close(),
  };
}

async function gates(pool: ComputePool, webhook: GatedWebhook): Promise<Extract<GatesResult, { kind: 'done' }>> {
  const { organizationId, key, request, keyPath, body } = webhook;
  let isForgotten = false;
  for (let turn = 1; ; turn += 1) {
    const result = await pool.run({
      organizationId,
      kind: 'gates',
      key,
      task(isKnown) {
        const bytes = new Uint8Array(body);
        const set = isKnown && !isForgotten ? null : webhook.gates();
        const last = turn >= MAX_TURNS;
        const task: GatesTask = { kind: 'gates', key, gates: set, request, body: bytes, keyPath, last };
        return { task, handedOver: [bytes.buffer] };
      },
    });
    if (result.kind === 'done') return result;
    isForgotten = result.kind === 'unknown';
  }
}

async function schemaProblem(pool: ComputePool, organizationId: string, schema: JsonSchema): Promise<string | null> {
  const text = JSON.stringify(schema);
  const task = () => ({ task: { kind: 'schema' as const, schema: text }, handedOver: [] });
  try {
    return await pool.run({ organizationId, kind: 'schema', task });
  } catch (error) {
    if (error instanceof ComputeOverrunError) return 'is too complex: it takes too long to compile';
    throw error;
  }
}

async function validate(
  pool: ComputePool,
  organizationId: string,
  schemas: readonly StoredSchema[],
  { body, contentType }: TypedBody,
): Promise<SchemaError[][]> {
  const text = JSON.stringify(schemas);
  try {
    return await pool.run({
      organizationId,
      kind: 'validate',
      task() {
        const bytes = new Uint8Array(body);
        const task = { kind: 'validate' as const, schemas: text, body: bytes, contentType };
        return { task, handedOver: [bytes.buffer] };
      },
    });
  } catch (error) {
    if (!(error instanceof ComputeOverrunError)) throw error;
    return schemas.map(() => [{ path: '', message: 'could not be validated: it takes too much time or memory' }]);
  }
}

async function trySchema(
  pool: ComputePool,
  organizationId: string,
  schema: JsonSchema,
  { body, contentType }: TypedBody,
): Promise<SchemaTrial> {
  const text = JSON.stringify(schema);
  try {
    return await pool.run({
      organizationId,
      kind: 'schemaTrial',
      task() {
        const bytes = new Uint8Array(body);
        return { task: { kind: 'schemaTrial', schema: text, body: bytes, contentType }, handedOver: [bytes.buffer] };
      },
    });
  } catch (error) {
    if (!(error instanceof ComputeOverrunError)) throw error;
    return { ok: false, problem: 'is too complex for this payload: it takes too much time or memory' };
  }
}

async function* rows(
  pool: ComputePool,
  organizationId: string,
  form: RowsForm,
  events: readonly StoredEvent[],
): AsyncGenerator<MadeRows> {
  // After an overrun one at a time: it is the fault of one of them.
  let most = events.length;
  for (let done = 0; done < events.length; ) {
    const some = events.slice(done, done + most);
    const made = await rowsOf(pool, organizationId, form, some);
    if (made === null) {
      most = 1;
      continue;
    }
    const before = done;
    yield { ...made, tooLong: made.tooLong.map((place) => before + place) };
    if (made.isNextTooLarge) return;
    done += made.events;
  }
}

/** @returns null when it cannot be said which of the events is too much */
async function rowsOf(
  pool: ComputePool,
  organizationId: string,
  { fieldMapping, payloadColumn, fileFormat }: RowsForm,
  events: readonly StoredEvent[],
): Promise<MadeRows | null> {
  try {
    return await pool.run({
      organizationId,
      kind: 'rows',
      task() {
        const handedOver: ArrayBuffer[] = [];
        const copies = events.map(({ body, ...event }) => ({ ...event, body: copied(body, handedOver) }));
        return { task: { kind: 'rows', fieldMapping, payloadColumn, fileFormat, events: copies }, handedOver };
      },
    });
  } catch (error) {
    if (!(error instanceof ComputeOverrunError)) throw error;
    if (events.length > 1) return null;
    return { bytes: new Uint8Array(), rows: 0, conversions: [], events: 1, tooLong: [0], isNextTooLarge: false };
  }
}

/** A text needs no memory of its own. */
function copied(body: StoredEvent['body'], handedOver: ArrayBuffer[]): Uint8Array | string {
  if (typeof body === 'string') return body;
  const bytes = new Uint8Array(body);
  handedOver.push(bytes.buffer);
  return bytes;
}
