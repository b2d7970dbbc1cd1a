// An action on many deliveries: on chosen ones one by one, on all that match a filter in steps of the API.
import { call, HookyardError, type Input } from './client.ts';
import { told } from './errors.ts';
import { pause } from './pause.ts';

export type BulkAction = 'retry' | 'replay' | 'cancel';
type Filters = Omit<Input<'actOnDeliveries'>['body'], 'action' | 'cursor' | 'limit' | 'dryRun'>;
/** As the list takes it. */
export type DeliveryFilter = Omit<Input<'listDeliveries'> & object, 'page' | 'pageSize' | 'cursor' | 'withTotal'>;

const OPERATIONS = { retry: 'retryDelivery', replay: 'replayDelivery', cancel: 'cancelDelivery' } as const;
const REFUSED = {
  retry: 'not waiting for a retry',
  replay: 'in progress, already replaced by a later delivery, or missing their payload or destination',
  cancel: 'already finished, or being written to a file',
};
const FIRST = 'first';

export interface BulkProgress {
  phase: 'running' | 'ended' | 'stopped' | 'failed';
  total: number;
  done: number;
  /** Deliveries to which it does not apply any more, by why. */
  refused: Map<string, number>;
  /** Why it could not continue. */
  problem: string | null;
}

interface Run {
  action: BulkAction;
  total: number;
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

/** Acts on all that match, the newest first. */
export function actOnMatching(filter: DeliveryFilter, { action, perSecond, ...run }: Run): Promise<void> {
  let cursor: string | null = FIRST;
  return steps(run, async (progress) => {
    if (cursor === null) return null;
    const body = { ...filtersOf(filter), action, cursor, limit: perSecond };
    const answer = await call('actOnDeliveries', { body }, { signal: run.signal });
    progress.done += answer.deliveriesChanged;
    note(progress, REFUSED[action], answer.deliveriesFound - answer.deliveriesChanged);
    cursor = answer.nextCursor;
    return answer.deliveriesFound / perSecond;
  });
}

/** Acts on chosen ones. */
export function actOnChosen(ids: readonly string[], { action, perSecond, ...run }: Run): Promise<void> {
  const left = [...ids];
  return steps(run, async (progress) => {
    const id = left.shift();
    if (id === undefined) return null;
    try {
      await call(OPERATIONS[action], { id }, { signal: run.signal });
      progress.done += 1;
    } catch (error) {
      // This delivery cannot be acted on (409, 410, ...); what is wrong with the key or the service stops it all.
      const isOwn = error instanceof HookyardError && [400, 404, 409, 410, 422].includes(error.status ?? 0);
      if (!isOwn) throw error;
      note(progress, error.status === 409 ? REFUSED[action] : told(error).title, 1);
    }
    return 1 / perSecond;
  });
}

const filtersOf = ({ status, ...filter }: DeliveryFilter): Filters => ({
  ...filter,
  ...(status !== undefined && { status: [status].flat().flatMap((text) => text.split(',')) as never }),
});

function note({ refused }: BulkProgress, why: string, count: number): void {
  if (count > 0) refused.set(why, (refused.get(why) ?? 0) + count);
}

/** @param step one step; how many seconds it stands for, or null when there was nothing left */
async function steps(
  { total, signal, tell }: Pick<Run, 'total' | 'signal' | 'tell'>,
  step: (progress: BulkProgress) => Promise<number | null>,
): Promise<void> {
  const progress: BulkProgress = { phase: 'running', total, done: 0, refused: new Map(), problem: null };
  let due = performance.now();
  for (;;) {
    await pause(due - performance.now(), signal);
    if (signal.aborted) return tell({ ...progress, phase: 'stopped' });
    try {
      const seconds = await step(progress);
      if (seconds === null) return tell({ ...progress, phase: 'ended' });
      due += seconds * 1000;
    } catch (error) {
      if (signal.aborted) return tell({ ...progress, phase: 'stopped' });
      return tell({ ...progress, phase: 'failed', problem: told(error).message });
    }
    tell({ ...progress });
  }
}
