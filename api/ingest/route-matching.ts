// Decides which routes take a webhook: on the event loop when that costs about as much as receiving it, else in a
// thread. What it costs is known before each piece of work, so that the loop is never held.
import { Budget, BudgetError, PARSE_STEPS } from '../../core/fairness/budget.ts';
import {
  Gate,
  type GatedRequest,
  keyInPayload,
  notDone,
  type Passage,
  type SchemaCheck,
} from '../../core/filters/schema-and-filter.ts';
import type { SchemaText } from '../../core/filters/stored-schemas-and-filters.ts';
import { noteLoopWork } from '../../core/process/event-loop.ts';
import { SchemaCache, validationSteps } from '../../core/schemas/schema.ts';
import { TokenBucket } from '../../core/fairness/rate-limits.ts';
import { type GateSet, NoThreadError, type Threads, WorkEndedError } from '../../outbound/threads/index.ts';
import { unavailable } from './answer.ts';
import { hashOfKey } from './new-event.ts';
import { pathBelow, type Received } from './received.ts';
import type { SourceReader, SourceRouting } from './routing.ts';

export interface Decision {
  /** Of each route of the source; null for one without a gate. Fewer than routes: the others have none. */
  passages: readonly (Passage | null)[];
  /** SHA-256 of the idempotency key in the payload; null when there is none. */
  keyHash: Buffer | null;
}

const OPEN: Decision = { passages: [], keyHash: null };

const LOOP_MS = 1;
// A schema is compiled here once, which takes longer than its use; at most so long, and so often, whosever they are.
const COMPILE_MS = 20;
const COMPILES_PER_SECOND = 5;
/** For each schema, and for each byte of it: measured. */
const COMPILE_STEPS = { least: 100_000, perByte: 300 };

export type RouteMatcher = ReturnType<typeof createRouteMatcher>;

/** Compiled at its first use. */
export const gateOf: SourceReader['gateOf'] = ({ schema, filter, ordering }) => {
  const orderKey = ordering?.key ?? null;
  return schema === null && filter === null && orderKey === null ? null : new Gate({ schema, filter, orderKey });
};

export function createRouteMatcher(threads: Pick<Threads, 'gates'>) {
  const schemas = new SchemaCache();
  const compiles = new TokenBucket(COMPILES_PER_SECOND, performance.now());

  /** @returns null when it takes more than the loop has for it */
  function onLoop(source: SourceRouting, received: Received): Decision | null {
    const { organizationId } = source;
    const startedAt = performance.now();
    try {
      return decideHere(source, received, new Budget(LOOP_MS), checkerOnLoop(schemas, compiles));
    } catch (error) {
      if (!(error instanceof BudgetError)) throw error;
      return null;
    } finally {
      noteLoopWork('filters', organizationId, performance.now() - startedAt);
    }
  }

  return {
    gateOf,
    /** @throws ApiError 503 when too much of the organization waits already */
    decide(source: SourceRouting, received: Received): Decision | Promise<Decision> {
      if (!source.isGated) return OPEN;
      return onLoop(source, received) ?? inThread(threads, source, received);
    },
  };
}

function decideHere(
  source: SourceRouting,
  received: Received,
  budget: Budget,
  check: SchemaCheck<SchemaText>,
): Decision {
  const request = metered(source, received, budget);
  const passages = source.routes.map(({ gate }) => gate?.pass(request, budget, check) ?? null);
  const path = source.idempotencyKey?.jsonPath;
  const key = path === undefined ? undefined : keyInPayload(request.payload(), path, budget);
  return { passages, keyHash: hashOfKey(key) };
}

/** A webhook whose payload is parsed only while the budget allows it. */
function metered(source: SourceRouting, received: Received, budget: Budget): GatedRequest {
  return {
    method: received.method,
    headers: received.headers,
    path: pathBelow(source, received),
    size: received.size,
    query: () => received.query(),
    payload() {
      if (!received.isParsed) budget.spend(received.size * PARSE_STEPS);
      return received.payload();
    },
  };
}

function checkerOnLoop(schemas: SchemaCache, compiles: TokenBucket): SchemaCheck<SchemaText> {
  const compile = (stored: SchemaText) => {
    new Budget(COMPILE_MS).spend(COMPILE_STEPS.least + COMPILE_STEPS.perByte * stored.json.length);
    if (!compiles.take(performance.now())) throw new BudgetError('Too many schemas are being compiled');
    return schemas.compile(stored);
  };
  return (stored, request, budget) => {
    const compiled = schemas.find(stored) ?? compile(stored);
    budget.spend(validationSteps(compiled, request.size));
    return compiled.validate(request.payload(), request.size);
  };
}

async function inThread(threads: Pick<Threads, 'gates'>, source: SourceRouting, received: Received): Promise<Decision> {
  try {
    const { passages, keyHash } = await threads.gates({
      organizationId: source.organizationId,
      key: `${source.sourceId}:${source.configVersion}`,
      gates: () => gatesOf(source),
      request: {
        method: received.method,
        headers: received.headers,
        path: pathBelow(source, received),
        query: received.queryText,
      },
      keyPath: source.idempotencyKey?.jsonPath ?? null,
      body: received.body,
    });
    // The threads see the routes with a gate only.
    const gated = passages[Symbol.iterator]();
    return {
      passages: source.routes.map(({ gate }) => (gate === null ? null : (gated.next().value ?? null))),
      keyHash: keyHash && Buffer.from(keyHash),
    };
  } catch (error) {
    if (error instanceof WorkEndedError) return overrun(source);
    if (error instanceof NoThreadError) throw unavailable(error.message);
    throw error;
  }
}

/**
 * Failure policy: the event is stored, and its deliveries by routes with a filter or schema end, visibly. They can be
 * replayed.
 */
function overrun({ routes }: SourceRouting): Decision {
  const passages = routes.map(({ gate }): Passage | null => {
    if (gate === null) return null;
    const kind = gate.definition.schema === null ? 'filter_failed' : 'schema_failed';
    return { kind, error: `${notDone(kind, gate.definition)}: checking this webhook takes too much time or memory` };
  });
  return { passages, keyHash: null };
}

const setsOf = new WeakMap<SourceRouting, string>();

/** The gates as a thread reads them; written once for each version of the configuration. */
function gatesOf(source: SourceRouting): string {
  const known = setsOf.get(source);
  if (known !== undefined) return known;
  const [schemas, filters] = [new Map<string, string>(), new Map<string, string>()];
  const gates: GateSet['gates'] = [];
  for (const { gate } of source.routes) {
    if (gate === null) continue;
    const { schema, filter, orderKey } = gate.definition;
    if (schema !== null) schemas.set(schema.id, schema.whole);
    if (filter !== null) filters.set(filter.id, filter.whole);
    gates.push({ schemaId: schema?.id ?? null, filterId: filter?.id ?? null, orderKey: orderKey ?? null });
  }
  // They are JSON already, megabytes of it at times.
  const text = `{"schemas":${objectOf(schemas)},"filters":${objectOf(filters)},"gates":${JSON.stringify(gates)}}`;
  setsOf.set(source, text);
  return text;
}

/** @param members names that need no escapes, and JSON */
function objectOf(members: ReadonlyMap<string, string>): string {
  return `{${Array.from(members, ([name, json]) => `"${name}":${json}`).join(',')}}`;
}
