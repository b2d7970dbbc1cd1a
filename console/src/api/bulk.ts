// An action on many deliveries: on chosen ones one by one, on all that match a filter in steps of the API.
import { call, HookyardError, type Input, told } from './client.ts';
import { pause } from './queries.ts';

export type BulkAction = 'retry' | 'replay' | 'cancel';
type Filters = Omit<Input<'actOnDeliveries'>['body'], 'action' | 'cursor' | 'limit' | 'dryRun'>;
/** As the list takes it. */
export type DeliveryFilter = Omit<Input<'listDeliveries'> & object, 'page' | 'pageSize' | 'cursor' | 'withTotal'>;

const OPERATIONS = { retry: 'retryDelivery', replay: 'replayDelivery', cancel: 'cancelDelivery' } as const;
const REFUSED = {
  retry: 'not waiting for a retry',
  replay: 'in progress, already replaced by a later delivery, or with a deleted payload or destination',
  cancel: 'already finished, or being written to a file',
};

export interface BulkProgress {
  done: number;
  /** Deliveries to which it does not apply any more, by why. */
  refused: ReadonlyMap<string, number>;
}

/** What was done at once, and to how many it did not apply. */
interface Step {
  done: number;
  refused?: number;
  why?: string;
}

interface Run {
  action: BulkAction;
  /** Null: all that match the filter. */
  ids: readonly string[] | null;
  filter: DeliveryFilter;
  perSecond: number;
  signal: AbortSignal;
  /** Is called with every step. */
  tell: (progress: BulkProgress) => void;
}

/** How many match now and can be acted on. */
export async function countAll(action: BulkAction, filter: DeliveryFilter, signal: AbortSignal): Promise<number> {
  const body = { ...filtersOf(filter), action, dryRun: true };
  return (await call('actOnDeliveries', { body }, { signal })).deliveriesFound;
}

/** @throws what it cannot continue after, or that the signal has ended it */
export async function actOn(run: Run): Promise<void> {
  const { ids, perSecond, signal, tell } = run;
  const refused = new Map<string, number>();
  let done = 0;
  let due = performance.now();
  for await (const step of ids ? chosen(ids, run) : matching(run)) {
    const { refused: count = 0, why = '' } = step;
    done += step.done;
    if (count > 0) refused.set(why, (refused.get(why) ?? 0) + count);
    tell({ done, refused: new Map(refused) });
    due += ((step.done + count) * 1000) / perSecond;
    await pause(due - performance.now(), signal);
    signal.throwIfAborted();
  }
}

/** All that match, the newest first. */
async function* matching({ filter, action, perSecond: limit, signal }: Run): AsyncGenerator<Step> {
  for (let cursor: string | null = 'first'; cursor !== null; ) {
    const body: Input<'actOnDeliveries'>['body'] = { ...filtersOf(filter), action, cursor, limit };
    const { deliveriesFound, deliveriesChanged, nextCursor } = await call('actOnDeliveries', { body }, { signal });
    yield { done: deliveriesChanged, refused: deliveriesFound - deliveriesChanged, why: REFUSED[action] };
    cursor = nextCursor;
  }
}

async function* chosen(ids: readonly string[], { action, signal }: Run): AsyncGenerator<Step> {
  for (const id of ids)
    yield await call(OPERATIONS[action], { id }, { signal }).then(
      () => ({ done: 1 }),
      (error: unknown) => {
        // This delivery cannot be acted on (409, 410, ...); what is wrong with the key or the service stops it all.
        const isOwn = error instanceof HookyardError && [400, 404, 409, 410, 422].includes(error.status ?? 0);
        if (!isOwn) throw error;
        return { done: 0, refused: 1, why: error.status === 409 ? REFUSED[action] : told(error).title };
      },
    );
}

const filtersOf = ({ status, ...filter }: DeliveryFilter): Filters => ({
  ...filter,
  ...(status !== undefined && { status: [status].flat().flatMap((text) => text.split(',')) as never }),
});
