// An action on all deliveries that match a filter, made of single calls in this tab.
import { call, HookyardError, type Input } from './client.ts';
import { told } from './errors.ts';

export type BulkAction = 'retry' | 'replay' | 'cancel';
export type DeliveryFilter = Omit<Input<'listDeliveries'> & object, 'page' | 'pageSize'>;

const OPERATIONS = { retry: 'retryDelivery', replay: 'replayDelivery', cancel: 'cancelDelivery' } as const;
const PAGE = 100;
/** More than these are for a replay of events (POST .../events/replay), which runs in the service. */
export const MOST_DELIVERIES = 20_000;

export interface BulkProgress {
  phase: 'finding' | 'running' | 'ended' | 'stopped' | 'failed';
  total: number;
  done: number;
  /** Deliveries to which it does not apply any more, by what the API said. */
  refused: Map<string, number>;
  /** Why it could not go on. */
  problem: string | null;
}

/** The ids of all deliveries that match, the latest first. What changes meanwhile may shift the pages; no id comes twice. */
export async function idsOfAll(
  filter: DeliveryFilter,
  signal: AbortSignal,
  found: (count: number) => void,
): Promise<string[]> {
  const ids = new Set<string>();
  // New deliveries stay out, so that the pages do not shift.
  const fixed = { ...filter, to: filter.to ?? new Date().toISOString() };
  for (let page = 1; ; page++) {
    const { data, pagination } = await call('listDeliveries', { ...fixed, page, pageSize: PAGE }, signal);
    for (const { id } of data) ids.add(id);
    found(ids.size);
    if (data.length === 0 || page * PAGE >= pagination.total || ids.size >= MOST_DELIVERIES) return [...ids];
  }
}

/**
 * Acts on deliveries one after the other, at most so many a second.
 * @param tell is called with every step
 */
export async function actOnAll(
  action: BulkAction,
  ids: readonly string[],
  perSecond: number,
  signal: AbortSignal,
  tell: (progress: BulkProgress) => void,
): Promise<void> {
  const progress: BulkProgress = { phase: 'running', total: ids.length, done: 0, refused: new Map(), problem: null };
  const began = performance.now();
  for (const [index, id] of ids.entries()) {
    await pauseUntil(began + (index * 1000) / perSecond, signal);
    if (signal.aborted) return tell({ ...progress, phase: 'stopped' });
    try {
      await call(OPERATIONS[action], { id }, signal);
      progress.done += 1;
    } catch (error) {
      if (signal.aborted) return tell({ ...progress, phase: 'stopped' });
      // This delivery cannot be acted on (409, 410, ...); what is wrong with the key or the service stops it all.
      const isOwn = error instanceof HookyardError && [400, 404, 409, 410, 422].includes(error.status ?? 0);
      if (!isOwn) return tell({ ...progress, phase: 'failed', problem: told(error).message });
      const why = error.code ?? 'refused';
      progress.refused.set(why, (progress.refused.get(why) ?? 0) + 1);
    }
    tell({ ...progress });
  }
  tell({ ...progress, phase: 'ended' });
}

function pauseUntil(at: number, signal: AbortSignal): Promise<void> {
  const ms = at - performance.now();
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
