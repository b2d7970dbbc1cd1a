// A list of events that moves by itself: the stream says when something has arrived, and the list is asked for again.
// Where the stream does not do, the list is asked for again and again, and the page says why.
import type { Event, StreamOptions } from '@hookyard/client';
import { client, HookyardError, type Input, told } from '../api/client.ts';
import { Button } from '@mantine/core';
import { useDocumentVisibility } from '@mantine/hooks';
import { PauseIcon, PlayIcon } from '../components/icons.tsx';
import { useEffect, useState } from 'react';
import { pause, queryClient } from '../api/queries.ts';
import { Dot, type Tone } from '../components/ui.tsx';
import { timeText, zoneName } from '../format.ts';
import { useZone } from '../zone.tsx';

/**
 * Of the list: where the stream does not do; while what has just arrived is delivered; while older events wait for
 * retries.
 */
const INSTEAD_MS = 5000;
const SETTLING_MS = 2000;
const WAITING_MS = 10_000;
const YOUNG_MS = 60_000;
/** Arrivals are shown together: a list that is asked for with each would stand still. */
const SHOWN_AFTER_MS = 400;

/** Filters of the list that the stream does not have, in words. */
const UNKNOWN = {
  status: 'status',
  routeId: 'route',
  destinationId: 'destination',
  search: 'payload text',
  to: 'end time',
} as const;

const refresh = () => void queryClient.invalidateQueries({ queryKey: ['listEvents'] });

/** @param isOn false: the list stands still @returns how it goes, and how often to ask for the list besides, ms */
export function useLive(filters: LiveFilter & Partial<Record<keyof typeof UNKNOWN, unknown>>, isOn: boolean) {
  const [state, setState] = useState<LiveState>({ is: 'off' });
  const isSeen = useDocumentVisibility() === 'visible';
  const unknown = Object.entries(UNKNOWN).flatMap(([name, word]) =>
    filters[name as keyof typeof UNKNOWN] ? [word] : [],
  );
  const why = unknown.length === 0 ? null : `The live stream cannot filter by ${unknown.join(' or ')}`;
  const { sourceId, routed } = filters;
  useEffect(() => {
    if (!isOn || !isSeen) return setState({ is: 'off' });
    if (why !== null) return setState({ is: 'asking', why });
    const end = new AbortController();
    const tell = (next: LiveState) => {
      if (!end.signal.aborted) setState(next);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const changed = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        refresh();
      }, SHOWN_AFTER_MS);
    };
    void follow({ sourceId, routed }, { signal: end.signal, tell, changed });
    return () => {
      end.abort();
      clearTimeout(timer);
      // What stands still is as of now.
      refresh();
    };
  }, [sourceId, routed, why, isOn, isSeen]);
  /** An event comes by the stream once, when it is stored; what becomes of it the list knows. */
  const every = (shown: Event[] = []): number | false => {
    if (state.is === 'asking') return INSTEAD_MS;
    const newest = shown.find(({ status }) => status === 'pending');
    if (state.is !== 'open' || !newest) return false;
    return Date.now() - Date.parse(newest.receivedAt) < YOUNG_MS ? SETTLING_MS : WAITING_MS;
  };
  return { state, every };
}

const WORDS: Record<LiveState['is'], [label: string, tone: Tone]> = {
  off: ['', 'none'],
  opening: ['Connecting…', 'info'],
  open: ['Live', 'ok'],
  away: ['Disconnected', 'bad'],
  asking: ['Refreshes every 5 s', 'warn'],
};

/** Whether a list moves: that it stands still is as plain to see as that it moves. */
export function LiveSwitch({ isOn, state, set }: { isOn: boolean; state: LiveState; set: (isOn: boolean) => void }) {
  const [label, tone] = WORDS[state.is];
  return (
    <>
      <span className="status inline" data-live={state.is}>
        {label !== '' && <Dot tone={tone} isLive={state.is === 'open'} />}
        {label}
      </span>
      <Button
        variant="default"
        leftSection={isOn ? <PauseIcon /> : <PlayIcon />}
        onClick={() => set(!isOn)}
        aria-pressed={isOn}
      >
        {isOn ? 'Pause' : 'Follow live'}
      </Button>
    </>
  );
}

/** What there is to say besides. */
export function LiveLine({ state }: { state: LiveState }) {
  const { zone } = useZone();
  return (
    <div role="status" className="quiet">
      {state.is === 'away' && 'The live stream is unavailable. Live updates resume automatically, without gaps.'}
      {state.is === 'asking' && `${state.why}. The list is refreshed every 5 seconds instead.`}
      {state.is === 'open' &&
        state.backAt !== null &&
        `Reconnected at ${timeText(state.backAt, zone)} ${zoneName(zone)}. The list includes events received in the meantime.`}
    </div>
  );
}

/** What the stream can be filtered by. */
type LiveFilter = Pick<NonNullable<Input<'streamEvents'>>, 'sourceId' | 'routed'>;

type LiveState =
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
async function follow(filter: LiveFilter, { signal, ...page }: Following): Promise<void> {
  let last: string | null = null;
  let wasAway = false;
  page.tell({ is: 'opening' });
  while (!signal.aborted) {
    let isOpen = false;
    try {
      const options: StreamOptions = { signal, timeoutMs: FIRST_WORD_MS, ...(last !== null && { lastEventId: last }) };
      for await (const one of client().streamEvents(filter, options)) {
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
    return { is: 'asking', why: 'A proxy between this browser and the API may be buffering the live stream' };
  return { is: 'asking', why: error.message };
}
