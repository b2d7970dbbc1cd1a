// An action on many deliveries: how many first, then at which rate, then how far it is, and how it ended. It runs in
// this tab and says so; it can be stopped.
import { Box, Button, Group, Modal, NumberInput, Progress, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import {
  actOnChosen,
  actOnMatching,
  type BulkAction,
  type BulkProgress,
  countAll,
  type DeliveryFilter,
} from '../../api/bulk.ts';
import { told } from '../../api/errors.ts';
import { askAgain } from '../../api/queries.ts';
import { Outcome, sinceNow } from '../../components/Outcome.tsx';
import { countText, durationText, plural } from '../../format.ts';

/** Per second: fewer deliveries than that need no limit. */
const DEFAULT_RATE = 20;
/** Below that, nobody closes the tab. */
const LONG_MS = 5000;
export const WORDS: Record<BulkAction, { title: string; verb: string; done: string; what: string; none: string }> = {
  retry: {
    title: 'Retry deliveries now',
    verb: 'Retry',
    done: 'retried',
    what: "Each delivery's next attempt starts now. Deliveries that are not waiting for a retry are skipped.",
    none: 'No deliveries to retry. Only deliveries waiting for a retry can be retried now. Replay failed deliveries instead.',
  },
  replay: {
    title: 'Replay deliveries',
    verb: 'Replay',
    done: 'replayed',
    what: 'Each replay is a new delivery to the same destination, with its current URL and settings. Deliveries in progress are skipped.',
    none: 'No deliveries to replay. All matching deliveries have already been replayed.',
  },
  cancel: {
    title: 'Cancel deliveries',
    verb: 'Cancel',
    done: 'cancelled',
    what: 'You can replay them later. Finished deliveries are skipped.',
    none: 'No deliveries to cancel. The matching deliveries have already finished.',
  },
};

interface Props {
  action: BulkAction;
  /** Null: all that match the filter. */
  ids: string[] | null;
  filter: DeliveryFilter;
  onClose: () => void;
}

export function Bulk({ action, ids: chosen, filter, onClose }: Props) {
  const [total, setTotal] = useState<number | null>(chosen?.length ?? null);
  const [perSecond, setPerSecond] = useState(DEFAULT_RATE);
  const [progress, setProgress] = useState<BulkProgress | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const stop = useRef(new AbortController());
  const [since, setSince] = useState('');
  const { title, verb, done, what, none } = WORDS[action];
  const matching = action === 'replay' ? { ...filter, replayed: false } : filter;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it counts what matched when it was opened
  useEffect(() => {
    const controller = new AbortController();
    stop.current = controller;
    if (chosen === null) {
      countAll(action, matching, controller.signal).then(setTotal, (error: unknown) => {
        if (!controller.signal.aborted) setProblem(told(error).message);
      });
    }
    return () => controller.abort();
  }, []);
  const isRunning = progress?.phase === 'running';
  const begin = async () => {
    setSince(await sinceNow(placeIn(filter)));
    const run = { action, total: total ?? 0, perSecond, signal: stop.current.signal, tell: setProgress };
    await (chosen === null ? actOnMatching(matching, run) : actOnChosen(chosen, run));
    await askAgain();
  };
  return (
    <Modal opened onClose={onClose} title={title} closeOnClickOutside={!isRunning} closeOnEscape={!isRunning}>
      {problem !== null && <Text role="alert">{problem}</Text>}
      {total === null && problem === null && <Text role="status">Counting…</Text>}
      {total === 0 && <Text>{none}</Text>}
      {total !== null && total > 0 && progress === null && (
        <>
          <Text>
            <strong data-count={total}>{plural(total, 'delivery')}</strong> will be {done}. {what}
          </Text>
          {total > DEFAULT_RATE && (
            <NumberInput
              label="Rate limit (per second)"
              value={perSecond}
              min={1}
              max={100}
              onChange={(value) => setPerSecond(Math.min(100, Math.max(1, Number(value) || 1)))}
              my="sm"
            />
          )}
          {(total / perSecond) * 1000 > LONG_MS && (
            <Text size="xs" c="dimmed">
              This takes about {durationText((total / perSecond) * 1000)}. Keep this tab open until it finishes.
            </Text>
          )}
        </>
      )}
      {progress && <Shown progress={progress} done={done} />}
      {progress && action === 'replay' && (
        <Box mt="sm">
          <Outcome where={placeIn(filter)} since={since} onSee={onClose} />
        </Box>
      )}
      <Group justify="end" mt="md">
        {isRunning ? (
          <Button variant="default" onClick={() => stop.current.abort()}>
            Stop
          </Button>
        ) : (
          <Button variant="default" onClick={onClose}>
            {progress === null && action !== 'cancel' ? 'Cancel' : 'Close'}
          </Button>
        )}
        {progress === null && total !== null && total > 0 && (
          <Button onClick={() => void begin()} color={action === 'cancel' ? 'red' : undefined} data-autofocus>
            {verb} {countText(total)}
          </Button>
        )}
      </Group>
    </Modal>
  );
}

/** The new deliveries are where the others are; other filters are of how those ended. */
const placeIn = ({ sourceId, routeId, destinationId, eventId }: DeliveryFilter) => ({
  sourceId,
  routeId,
  destinationId,
  eventId,
});

function Shown({ progress, done }: { progress: BulkProgress; done: string }) {
  const refused = [...progress.refused.values()].reduce((sum, count) => sum + count, 0);
  const handled = progress.done + refused;
  const phase = {
    running: 'Running',
    ended: 'Finished',
    stopped: 'Stopped',
    failed: 'Stopped by an error',
  }[progress.phase];
  return (
    <>
      <Progress value={(100 * handled) / Math.max(1, progress.total)} aria-label="Progress" mb="xs" />
      <Text role="status" data-phase={progress.phase}>
        {phase}: {countText(progress.done)} {done}
        {refused > 0 && `, ${countText(refused)} skipped`}
        {handled < progress.total && `, ${countText(progress.total - handled)} remaining`}
      </Text>
      {[...progress.refused].map(([why, count]) => (
        <Text size="sm" key={why}>
          {countText(count)} skipped: {why}
        </Text>
      ))}
      {progress.problem !== null && <Text role="alert">{progress.problem}</Text>}
    </>
  );
}
