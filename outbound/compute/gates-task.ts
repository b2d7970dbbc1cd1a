// The gates of a webhook, in a thread: schemas and filters of all its routes in one budget.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { readPayload } from '../../core/forms/index.ts';
import { Gate, type GatedRequest } from '../../core/filters/gate.ts';
import { keyInPayload } from '../../core/filters/idempotency-key.ts';
import { parseExact } from '../../core/text/exact-json.ts';
import { TimedBudget } from '../../core/fairness/budget.ts';
import { checkerInThread, compileFor } from './thread-schemas.ts';
import type { GateSet, GatesResult, GatesTask } from './types.ts';

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
    ({ schemaId, filterId }) =>
      new Gate({
        schema: schemaId === null ? null : (set.schemas[schemaId] ?? null),
        filter: filterId === null ? null : (set.filters[filterId] ?? null),
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
      const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      payload ??= { payload: readPayload(bytes, request.headers['content-type']) };
      return payload.payload;
    },
  };
}

function hashOf(text: string | undefined): Uint8Array | null {
  if (text === undefined || text === '') return null;
  return new Uint8Array(createHash('sha256').update(text).digest());
}
