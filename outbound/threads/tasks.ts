// What the threads take and give. Everything crosses the border as plain data: payloads as their
// bytes, values with exact numbers as JSON text.
import type { Passage, StoredFilter } from '../../core/filters/schema-and-filter.ts';
import type { SchemaError, StoredSchema } from '../../core/schemas/schema.ts';
import type { PayloadColumn, WarehouseEvent } from '../../core/warehouse/rows.ts';
import type { FieldMappingRule } from '../../core/warehouse/field-mapping.ts';
import type { FileFormat, FileRows } from '../../core/warehouse/files-and-keys.ts';
import type { TransformCode, TransformEvent } from '../transforms/language.ts';
import type { Works } from './thread.ts';

export interface GatesTask {
  /** Names the gates in the cache of a thread: source and version of the configuration. */
  key: string;
  /** The gates as JSON of `GateSet`; null when the thread should have them. */
  gates: string | null;
  request: { method: string; headers: Record<string, string>; path: string; query: string };
  body: Uint8Array;
  /** Where in the payload its idempotency key is. */
  keyPath: string | null;
  /** Whether what cannot be compiled in this turn fails, instead of needing another one. */
  last: boolean;
}

/** Routes share schemas and filters, so each is there once. */
export interface GateSet {
  schemas: Record<string, StoredSchema>;
  filters: Record<string, StoredFilter>;
  gates: { schemaId: string | null; filterId: string | null; orderKey: string | null }[];
}

/** `unknown`: the thread does not have the gates (any more). `more`: it needs another turn. */
export type GatesResult =
  | { kind: 'unknown' }
  | { kind: 'more' }
  | { kind: 'done'; passages: Passage[]; keyHash: Uint8Array | null };

export interface FilterTrial {
  conditions: StoredFilter['conditions'];
  logic: StoredFilter['logic'];
  method: string;
  headers: Record<string, string>;
  path: string;
  query: string;
  payload?: unknown;
}

export type FilterResult = { ok: true; matches: boolean; met: boolean[] } | { ok: false; problem: string };

/** One payload and schemas; errors of each, in their order. */
export interface ValidateTask {
  schemas: string;
  body: Uint8Array;
  contentType: string | undefined;
}

/** A schema that is not stored, perhaps with a payload: compiled for it alone, and kept nowhere. */
export interface SchemaTask {
  schema: string;
  body: Uint8Array | null;
  contentType: string | undefined;
}

/** `problem`: what is wrong with the schema, as the end of a sentence. */
export type SchemaTrial = { ok: true; errors: SchemaError[] } | { ok: false; problem: string };

export interface RowsForm {
  /** Null: rows are whole events. */
  fieldMapping: FieldMappingRule[] | null;
  payloadColumn: PayloadColumn;
  fileFormat: FileFormat;
}

export interface RowsTask extends RowsForm {
  events: RowEvent[];
}

/** Without an event the code is only checked. */
export interface TransformTask {
  transform: TransformCode;
  event: TransformEvent | null;
}

/** An event whose headers are still JSON: only the thread needs to read them. */
export type StoredEvent = Omit<WarehouseEvent, 'headers'> & { headers: string };

/** Buffers arrive as plain arrays of bytes. */
export type RowEvent = Omit<StoredEvent, 'body'> & { body: Uint8Array | string };

/** Rows of the first of some events, as many as the turn was long enough for. */
export interface MadeRows extends FileRows {
  bytes: Uint8Array<ArrayBuffer>;
  /** How many events these are, with and without a row; one at least, unless the next is too large. */
  events: number;
  /** The places of those whose row takes too long to make. */
  tooLong: number[];
  /** Whether the row of the next one is larger than a file may be; nothing is made of it and of those after it. */
  isNextTooLarge: boolean;
}

export type TaskKind = keyof Works;
export type TaskOf<Kind extends TaskKind> = Parameters<Works[Kind]>[0];
export type ResultOf<Kind extends TaskKind> = Awaited<ReturnType<Works[Kind]>>;

/** What need not be copied where a task or a result crosses the border. Nobody reads it there any more. */
export function buffersIn(value: unknown): ArrayBuffer[] {
  if (typeof value !== 'object' || value === null) return [];
  if (ArrayBuffer.isView(value)) return [value.buffer as ArrayBuffer];
  return [...new Set(Object.values(value).flatMap(buffersIn))];
}
