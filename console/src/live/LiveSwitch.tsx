// Whether a list moves by itself, and why not: that it stands still is as plain to see as that it moves.
import { Badge, Button, Group, Text } from '@mantine/core';
import { timeText, zoneName } from '../format.ts';
import { useZone } from '../zone.tsx';
import type { LiveState } from './follow.ts';

const WORDS: Record<LiveState['is'], string> = {
  off: 'Paused',
  opening: 'Connecting…',
  open: 'Live',
  away: 'Not live',
  asking: 'Every 5 s',
};

export function LiveSwitch({ isOn, state, set }: { isOn: boolean; state: LiveState; set: (isOn: boolean) => void }) {
  return (
    <Group gap={4}>
      <Badge variant="default" tt="none" data-live={state.is}>
        {WORDS[state.is]}
      </Badge>
      <Button size="xs" variant="default" onClick={() => set(!isOn)} aria-pressed={isOn}>
        {isOn ? 'Pause' : 'Follow live'}
      </Button>
    </Group>
  );
}

/** What there is to say besides. */
export function LiveLine({ state }: { state: LiveState }) {
  const { zone } = useZone();
  const text = lineOf(state, (ms) => `${timeText(ms, zone)} ${zoneName(zone)}`);
  return <div role="status">{text && <Text size="sm">{text}</Text>}</div>;
}

function lineOf(state: LiveState, time: (ms: number) => string): string | null {
  if (state.is === 'away')
    return 'The API does not answer now. The list continues by itself when it does, and leaves nothing out.';
  if (state.is === 'asking') return `${state.why} The list is asked for every 5 seconds instead.`;
  if (state.is !== 'open' || state.backAt === null) return null;
  return `Connected again since ${time(state.backAt)}. What arrived meanwhile is in the list.`;
}
