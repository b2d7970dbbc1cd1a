// What is too much for the event loop, or not to be trusted on it, in threads: filters, schemas, field mappings,
// Parquet and transforms. One pool does all of it, with one queue of organizations and one account of their processor
// time (pool.ts).
import type { TypedBody } from '../../core/forms/forms.ts';
import { transformDuration, transformFailures } from '../../core/metrics/services.ts';
import type { Log } from '../../core/process/log.ts';
import type { JsonSchema, SchemaError, StoredSchema } from '../../core/schemas/schema.ts';
import {
  LIMITS,
  problems,
  sandboxFailed,
  type TransformCode,
  type TransformEvent,
  type TransformProblem,
  type TransformResult,
} from '../transforms/language.ts';
import type { EncodedRowGroup, RowGroup } from '../warehouses/parquet-rows.ts';
import { NoThreadError } from './errors.ts';
import { ThreadPool, type Work, WorkEndedError } from './pool.ts';
import type {
  FilterResult,
  FilterTrial,
  GatesTask,
  MadeRows,
  ResultOf,
  RowsForm,
  SchemaTrial,
  StoredEvent,
  TaskKind,
} from './tasks.ts';

export type { FilterResult, FilterTrial, GateSet, StoredEvent } from './tasks.ts';
export { NoThreadError, NoTurnError } from './errors.ts';
export { WorkEndedError } from './pool.ts';

/** Turns in which the schemas of one webhook are compiled. */
const MAX_TURNS = 20;

export interface GatedWebhook extends Pick<GatesTask, 'key' | 'request' | 'keyPath'> {
  organizationId: string;
  gates: () => string;
  body: Buffer;
}

/**
 * All of them throw NoThreadError when no thread does it, and nothing is known of the work; NoTurnError when it is to
 * come back later.
 */
export type Threads = ReturnType<typeof createThreads>;

/** Processor time that the transforms of an organization may use in a minute, ms; Infinity: no limit. */
export type BudgetOf = (organizationId: string) => Promise<number>;

/** @param threads how many work at once for one organization; they are started when there is something to do */
export function createThreads({
  threads,
  budgetOf,
  log,
}: {
  threads: number;
  budgetOf: BudgetOf;
  log: Pick<Log, 'warn'>;
}) {
  const pool = new ThreadPool(threads);

  const run = <Kind extends TaskKind>(work: Work<Kind>): Promise<ResultOf<Kind>> =>
    pool.run(work).catch(
      ifEnded((error) => {
        const { kind, organizationId } = work;
        log.warn({ kind, organizationId, reason: error.reason }, "aborted an organization's task");
        throw error;
      }),
    );

  /** Validates a payload by a schema that is not stored; null: the schema alone is looked at. */
  function trySchema(organizationId: string, schema: JsonSchema, content: TypedBody | null): Promise<SchemaTrial> {
    const text = JSON.stringify(schema);
    const task = () => ({ schema: text, body: content && copyOf(content.body), contentType: content?.contentType });
    const tooMuch =
      content === null
        ? ': compiling it takes too much time or memory'
        : ' for this payload: validation takes too much time or memory';
    return run({ organizationId, kind: 'schema', task }).catch(
      ifEnded((): SchemaTrial => ({ ok: false, problem: `is too complex${tooMuch}` })),
    );
  }

  async function transform(
    transform: TransformCode,
    event: TransformEvent | null,
    organizationId: string,
  ): Promise<TransformResult> {
    const task = () => ({ transform, event: event && { ...event, body: copyOf(event.body) } });
    const budget = await budgetOf(organizationId);
    return pool.run({ organizationId, kind: 'transform', key: transform.key, budget, task }).catch(
      ifEnded(({ reason, message }): TransformResult => {
        const problem = reason === 'error' ? sandboxFailed(message) : problems[reason];
        return { ok: false, problem, durationMs: LIMITS.terminateMs };
      }),
    );
  }

  /** @returns null when it cannot be said which of the events is too much */
  function rowsOf(organizationId: string, form: RowsForm, events: readonly StoredEvent[]): Promise<MadeRows | null> {
    const { fieldMapping, payloadColumn, fileFormat } = form;
    // A text needs no memory of its own.
    const own = (body: string | Buffer) => (typeof body === 'string' ? body : copyOf(body));
    const task = () => {
      const copies = events.map(({ body, ...event }) => ({ ...event, body: own(body) }));
      return { fieldMapping, payloadColumn, fileFormat, events: copies };
    };
    const noRow = { bytes: new Uint8Array(), rows: 0, conversions: [], events: 1, tooLong: [0], isNextTooLarge: false };
    return run({ organizationId, kind: 'rows', task }).catch(
      ifEnded((): MadeRows | null => (events.length > 1 ? null : noRow)),
    );
  }

  return {
    /** Asks the gates of a webhook's routes. @throws WorkEndedError */
    async gates({ organizationId, key, request, keyPath, body, gates }: GatedWebhook) {
      let isForgotten = false;
      for (let turn = 1; ; turn += 1) {
        const result = await run({
          organizationId,
          kind: 'gates',
          key,
          task(isKnown) {
            const set = isKnown && !isForgotten ? null : gates();
            return { key, gates: set, request, body: copyOf(body), keyPath, last: turn >= MAX_TURNS };
          },
        });
        if (result.kind === 'done') return result;
        isForgotten = result.kind === 'unknown';
      }
    },
    /** Tries conditions on a sample. @throws WorkEndedError */
    tryFilter(organizationId: string, trial: FilterTrial): Promise<FilterResult> {
      const text = JSON.stringify(trial);
      return run({ organizationId, kind: 'filter', task: () => ({ trial: text }) });
    },
    /** What is wrong with a schema that is to be stored, as the end of a sentence, or null. */
    async schemaProblem(organizationId: string, schema: JsonSchema): Promise<string | null> {
      const trial = await trySchema(organizationId, schema, null);
      return trial.ok ? null : trial.problem;
    },
    async validate(
      organizationId: string,
      schemas: readonly StoredSchema[],
      { body, contentType }: TypedBody,
    ): Promise<SchemaError[][]> {
      const text = JSON.stringify(schemas);
      const task = () => ({ schemas: text, body: copyOf(body), contentType });
      const message = 'could not be validated, because validation took too much time or memory';
      return run({ organizationId, kind: 'validate', task }).catch(
        ifEnded(() => schemas.map(() => [{ path: '', message }])),
      );
    },
    trySchema,
    /** Makes the rows of events, in their order, some at a time. It ends before one that is too large. */
    async *rows(organizationId: string, form: RowsForm, events: readonly StoredEvent[]): AsyncGenerator<MadeRows> {
      // After an overrun one at a time: it is the fault of one of them.
      let most = events.length;
      for (let done = 0; done < events.length; ) {
        const made = await rowsOf(organizationId, form, events.slice(done, done + most));
        if (made === null) {
          most = 1;
          continue;
        }
        const before = done;
        yield { ...made, tooLong: made.tooLong.map((place) => before + place) };
        if (made.isNextTooLarge) return;
        done += made.events;
      }
    },
    /** Encodes rows of a Parquet file; their bytes are handed over. @throws WorkEndedError */
    rowGroup: (organizationId: string, group: RowGroup): Promise<EncodedRowGroup> =>
      run({ organizationId, kind: 'rowGroup', task: () => group }),
    /**
     * Compiles the code of a transform without running it on an event.
     * @returns what is wrong with it, or null
     * @throws what `budgetOf` throws
     */
    async checkTransform(
      { type, code }: Pick<TransformCode, 'type' | 'code'>,
      organizationId: string,
    ): Promise<TransformProblem | null> {
      const result = await transform({ key: null, type, code, outputContentType: null }, null, organizationId);
      return result.ok ? null : result.problem;
    },
    /**
     * Runs a transform on an event; the same code and event give the same bytes, however often.
     * @throws what `budgetOf` throws
     */
    async runTransform(code: TransformCode, event: TransformEvent, organizationId: string): Promise<TransformResult> {
      const result = await transform(code, event, organizationId).catch((error: unknown) => {
        if (error instanceof NoThreadError) transformFailures.add({ cause: 'sandbox' });
        throw error;
      });
      transformDuration.observe({ language: code.type }, result.durationMs / 1000);
      if (!result.ok) transformFailures.add({ cause: result.problem.reason });
      return result;
    },
    close: () => pool.close(),
  };
}

/** What stands for the result of work that was aborted. */
const ifEnded =
  <Result>(instead: (error: WorkEndedError) => Result) =>
  (error: unknown): Result => {
    if (error instanceof WorkEndedError) return instead(error);
    throw error;
  };

/** Bytes are copied once and handed over: a Buffer may be a view of a much larger allocation. */
const copyOf = (body: Uint8Array): Uint8Array => new Uint8Array(body);
