import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { BudgetError } from '../../core/fairness/budget.ts';
import { TimedBudget } from '../../core/fairness/time-limit.ts';
import { compileFilter, type FilteredRequest } from '../../core/filters/filter.ts';
import { Gate, type GatedRequest, keyInPayload, type SchemaCheck } from '../../core/filters/schema-and-filter.ts';
import { readPayload, readSample } from '../../core/forms/forms.ts';
import { threadCpuMs } from '../../core/process/event-loop.ts';
import {
  checkSchema,
  compileSchema,
  InvalidSchemaError,
  type JsonSchema,
  SchemaCache,
  type SchemaError,
  type StoredSchema,
} from '../../core/schemas/schema.ts';
import { parseExact } from '../../core/text/exact-json.ts';
import type {
  FilterResult,
  FilterTrial,
  GateSet,
  GatesResult,
  GatesTask,
  SchemaTask,
  SchemaTrial,
  ValidateTask,
} from './tasks.ts';

/** What the filters and schemas of one webhook may take together, in ms; compiling comes on top of it, in turns. */
const EVENT_MS = 1000;

// Bytes of the gates' JSON; compiled patterns take several times as much.
const MAX_GATES_BYTES = 32 * 1024 * 1024;
const known = new LRUCache<string, KnownGates>({ maxSize: MAX_GATES_BYTES });

interface KnownGates {
  set: GateSet;
  gates: Gate[];
}

export function passGates(task: GatesTask): GatesResult {
  const found = find(task);
  if (found === undefined) return { kind: 'unknown' };
  const isReady = compileFor(Object.values(found.set.schemas));
  if (!isReady && !task.last) return { kind: 'more' };
  const budget = new TimedBudget(EVENT_MS);
  const check = checkerInThread(budget);
  const request = requestOf(task);
  return {
    kind: 'done',
    passages: found.gates.map((gate) => gate.passOrFail(request, budget, check)),
    keyHash:
      task.keyPath === null ? null : hashOf(keyInPayload(request.payload(), task.keyPath, new TimedBudget(EVENT_MS))),
  };
}

function find({ key, gates: text }: GatesTask): KnownGates | undefined {
  if (text === null) return known.get(key);
  const set = parseExact(text) as GateSet;
  const gates = set.gates.map(
    ({ schemaId, filterId, orderKey }) =>
      new Gate({
        schema: schemaId === null ? null : (set.schemas[schemaId] ?? null),
        filter: filterId === null ? null : (set.filters[filterId] ?? null),
        orderKey,
      }),
  );
  const made = { set, gates };
  known.set(key, made, { size: text.length });
  return made;
}

function requestOf({ request, body }: GatesTask): GatedRequest {
  let payload: { payload: unknown } | undefined;
  let query: URLSearchParams | undefined;
  return {
    method: request.method,
    headers: request.headers,
    path: request.path,
    size: body.byteLength,
    query() {
      query ??= new URLSearchParams(request.query);
      return query;
    },
    payload() {
      payload ??= { payload: readPayload(bytesOf(body), request.headers['content-type']) };
      return payload.payload;
    },
  };
}

function hashOf(text: string | undefined): Uint8Array | null {
  if (text === undefined || text === '') return null;
  return new Uint8Array(createHash('sha256').update(text).digest());
}

/** @param task.trial JSON of `FilterTrial` */
export function tryFilter({ trial }: { trial: string }): FilterResult {
  const given = parseExact(trial) as FilterTrial;
  const budget = new TimedBudget(EVENT_MS);
  const request = sampleOf(given);
  try {
    const filter = compileFilter(given.conditions, given.logic, budget);
    const met = filter.explain(request, budget);
    const matches = given.logic === 'OR' ? met.length === 0 || met.includes(true) : !met.includes(false);
    return { ok: true, matches, met };
  } catch (error) {
    if (error instanceof BudgetError) return { ok: false, problem: error.message };
    throw error;
  }
}

function sampleOf({ method, headers, path, query: text, payload }: FilterTrial): FilteredRequest {
  const query = new URLSearchParams(text);
  const seen = readSample(payload, headers['content-type']);
  return { method, headers, path, query: () => query, payload: () => seen };
}

/** All schemas are compiled, however long it takes: nobody waits for the answer but the one who asked for it. */
export function validatePayload({ schemas: text, body, contentType }: ValidateTask): SchemaError[][] {
  const schemas = parseExact(text) as StoredSchema[];
  while (!compileFor(schemas));
  const payload = readPayload(bytesOf(body), contentType);
  const budget = new TimedBudget(EVENT_MS);
  const check = checkerInThread(budget);
  const request = { payload: () => payload, size: body.byteLength };
  return schemas.map((schema) => check(schema, request, budget));
}

export function trySchema({ schema: text, body, contentType }: SchemaTask): SchemaTrial {
  const schema = parseExact(text) as JsonSchema;
  try {
    checkSchema(schema);
  } catch (error) {
    if (error instanceof InvalidSchemaError) return { ok: false, problem: error.message };
    throw error;
  }
  if (body === null) return { ok: true, errors: [] };
  const payload = readPayload(bytesOf(body), contentType);
  return { ok: true, errors: compileSchema(schema).validate(payload, body.byteLength) };
}

const bytesOf = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.byteLength);

/** What compiling takes of one turn, in ms; a single schema may take longer. */
const TURN_MS = 1000;

const compiled = new SchemaCache();

/** Compiles what is not compiled yet. @returns false when the turn is over before all are */
function compileFor(schemas: readonly StoredSchema[]): boolean {
  const before = threadCpuMs();
  for (const schema of schemas) {
    if (compiled.find(schema) !== undefined) continue;
    if (threadCpuMs() - before > TURN_MS) return false;
    compiled.compile(schema);
  }
  return true;
}

/** Failure policy: a payload that could not be validated does not match; its deliveries say why and can be replayed. */
function checkerInThread(budget: TimedBudget): SchemaCheck {
  return (schema, request) => {
    budget.spend(1);
    const validator = compiled.find(schema);
    if (validator === undefined) {
      const message = "cannot be validated, because the schemas of this source's routes take too long to compile";
      return [{ path: '', message }];
    }
    const payload = request.payload();
    const before = threadCpuMs();
    const errors = validator.validate(payload, request.size, budget.leftMs);
    budget.took(before);
    return errors;
  };
}
