// A list of events that moves by itself: the stream says when something has arrived, and the list is asked for again. Where the stream
// does not do, the list is asked for again and again, and the page says why.
import { Button } from '@mantine/core';
import { useDocumentVisibility } from '@mantine/hooks';
import { PauseIcon, PlayIcon } from '../components/icons.tsx';
import type { Event } from '@hookyard/client';
import { useEffect, useState } from 'react';
import { queryClient } from '../api/queries.ts';
import { Dot, type Tone } from '../components/ui.tsx';
import { timeText, zoneName } from '../format.ts';
import { useZone } from '../zone.tsx';
import { follow, type LiveFilter, type LiveState } from './follow.ts';

/** Of the list: where the stream does not do; while what has just arrived is delivered; while older events wait for retries. */
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
  const why = unknown.length === 0 ? null : `The live stream cannot filter by ${unknown.join(' or ')}.`;
  const { sourceId, routed } = filters;
  useEffect(() => {
    if (!isOn || !isSeen) return setState({ is: 'off' });
    if (why !== null) return setState({ is: 'asking', why });
    const end = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    void follow(
      { sourceId, routed },
      {
        signal: end.signal,
        tell: (next) => {
          if (!end.signal.aborted) setState(next);
        },
        changed: () => {
          timer ??= setTimeout(() => {
            timer = undefined;
            refresh();
          }, SHOWN_AFTER_MS);
        },
      },
    );
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
  asking: ['Every 5 s', 'warn'],
};

/** Whether a list moves: that it stands still is as plain to see as that it moves. */
export function LiveSwitch({ isOn, state, set }: { isOn: boolean; state: LiveState; set: (isOn: boolean) => void }) {
  const [label, tone] = WORDS[state.is];
  return (
    <>
      <span className="status" data-live={state.is}>
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
      {state.is === 'away' && 'The API does not answer. The list resumes automatically, without gaps.'}
      {state.is === 'asking' && `${state.why} The list is refreshed every 5 seconds instead.`}
      {state.is === 'open' &&
        state.backAt !== null &&
        `Reconnected at ${timeText(state.backAt, zone)} ${zoneName(zone)}. The list includes everything received meanwhile.`}
    </div>
  );
}
