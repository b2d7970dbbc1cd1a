// Events as they arrive, for a page: the stream of the API, tried again for as long as the page wants it, and what to say meanwhile.
import type { StreamOptions } from '@hookyard/client';
import { HookyardError, stream } from '../api/client.ts';
import { told } from '../api/errors.ts';

/** What the stream can be filtered by. */
export interface LiveFilter {
  sourceId?: string | undefined;
  routed?: boolean | undefined;
}

export type LiveState =
  | { is: 'off' | 'opening' | 'away' }
  /** `backAt`: since when it is open again, ms, after the API did not answer. */
  | { is: 'open'; backAt: number | null }
  /** The list is asked for again and again instead. */
  | { is: 'asking'; why: string };

interface Following {
  signal: AbortSignal;
  tell: (state: LiveState) => void;
  /** Something has arrived, or was left out. */
  changed: () => void;
}

/** The service writes at once; what holds answers back does not pass that on. */
const FIRST_WORD_MS = 8000;
const AWAY_AGAIN_MS = 2000;
const REFUSED_AGAIN_MS = 30_000;

/** Follows until the signal ends it. What is missed while the API is away comes when it is back. */
export async function follow(filter: LiveFilter, { signal, ...page }: Following): Promise<void> {
  let last: string | null = null;
  let wasAway = false;
  page.tell({ is: 'opening' });
  while (!signal.aborted) {
    let isOpen = false;
    try {
      const options: StreamOptions = { signal, timeoutMs: FIRST_WORD_MS, ...(last !== null && { lastEventId: last }) };
      for await (const one of stream(filter, options)) {
        if (one.type !== 'open' || last === null) page.changed();
        last = one.type === 'event' ? one.event.id : one.type === 'open' ? one.lastEventId : last;
        if (!isOpen) page.tell({ is: 'open', backAt: wasAway ? Date.now() : null });
        isOpen = true;
      }
    } catch (error) {
      if (signal.aborted) return;
      const state = stateOf(error);
      wasAway = state.is === 'away';
      page.tell(state);
      await pause(wasAway ? AWAY_AGAIN_MS : REFUSED_AGAIN_MS, signal);
    }
  }
}

function stateOf(error: unknown): LiveState {
  if (!(error instanceof HookyardError)) return { is: 'asking', why: told(error).message };
  if (error.code === 'UNREACHABLE' || (error.status ?? 0) >= 500) return { is: 'away' };
  if (error.code === 'TIMEOUT')
    return { is: 'asking', why: 'A proxy between this browser and the API buffers the live stream.' };
  return { is: 'asking', why: error.message };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
