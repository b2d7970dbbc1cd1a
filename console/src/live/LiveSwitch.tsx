// Whether a list moves by itself, and why not: that it stands still is as plain to see as that it moves.
import { Button } from '@mantine/core';
import { PauseIcon, PlayIcon } from '@radix-ui/react-icons';
import { Dot, type Tone } from '../components/ui.tsx';
import { timeText, zoneName } from '../format.ts';
import { useZone } from '../zone.tsx';
import type { LiveState } from './follow.ts';

const WORDS: Record<LiveState['is'], [label: string, tone: Tone]> = {
  off: ['', 'none'],
  opening: ['Connecting…', 'info'],
  open: ['Live', 'ok'],
  away: ['Disconnected', 'bad'],
  asking: ['Every 5 s', 'warn'],
};

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
  const text = lineOf(state, (ms) => `${timeText(ms, zone)} ${zoneName(zone)}`);
  return (
    <div role="status" className="quiet">
      {text}
    </div>
  );
}

function lineOf(state: LiveState, time: (ms: number) => string): string | null {
  if (state.is === 'away') return 'The API does not respond. The list resumes automatically, without gaps.';
  if (state.is === 'asking') return `${state.why} The list is refreshed every 5 seconds instead.`;
  if (state.is !== 'open' || state.backAt === null) return null;
  return `Reconnected at ${time(state.backAt)}. The list includes everything received since then.`;
}
