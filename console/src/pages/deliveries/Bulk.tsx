// An action on many deliveries: how many first, then at which rate, then how far it is, and how it ended. It runs in
// this tab and says so; it can be stopped.
import { Box, Button, Group, Modal, NumberInput, Progress, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState } from 'react';
import { actOn, type BulkAction, type BulkProgress, countAll, type DeliveryFilter } from '../../api/bulk.ts';
import { told } from '../../api/client.ts';
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

export function Bulk({ action, ids, filter, onClose }: Props) {
  const [perSecond, setPerSecond] = useState(DEFAULT_RATE);
  const [progress, setProgress] = useState<BulkProgress>({ done: 0, refused: new Map() });
  const [since, setSince] = useState<string | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const { title, verb, done, what, none } = WORDS[action];
  const matching = action === 'replay' ? { ...filter, replayed: false } : filter;
  // What matched when the dialog was opened.
  const counted = useQuery({
    queryKey: ['bulk', useId()],
    enabled: ids === null,
    ...{ staleTime: 'static', gcTime: 0 },
    queryFn: ({ signal }) => countAll(action, matching, signal),
  });
  const total = ids?.length ?? counted.data;
  const { mutate, isIdle, isPending, isSuccess, error } = useMutation({
    mutationFn: async () => {
      stop.current = new AbortController();
      const { signal } = stop.current;
      setSince(await sinceNow(placeIn(filter)));
      await actOn({ ...{ action, ids, perSecond, signal }, filter: matching, tell: setProgress });
    },
    onSettled: () => void askAgain(),
  });
  const isStopped = stop.current?.signal.aborted === true;
  const phase = isPending ? 'running' : isSuccess ? 'ended' : isStopped ? 'stopped' : 'failed';
  return (
    <Modal opened onClose={onClose} title={title} closeOnClickOutside={!isPending} closeOnEscape={!isPending}>
      {counted.error && <Text role="alert">{told(counted.error).message}</Text>}
      {total === undefined && !counted.error && <Text role="status">Counting…</Text>}
      {total === 0 && <Text>{none}</Text>}
      {total !== undefined && total > 0 && isIdle && (
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
      {!isIdle && <Shown {...{ phase, progress, done }} total={total ?? 0} />}
      {phase === 'failed' && error && <Text role="alert">{told(error).message}</Text>}
      {since !== null && action === 'replay' && (
        <Box mt="sm">
          <Outcome where={placeIn(filter)} since={since} onSee={onClose} />
        </Box>
      )}
      <Group justify="end" mt="md">
        {isPending ? (
          <Button variant="default" onClick={() => stop.current?.abort()}>
            Stop
          </Button>
        ) : (
          <Button variant="default" onClick={onClose}>
            {isIdle && action !== 'cancel' ? 'Cancel' : 'Close'}
          </Button>
        )}
        {isIdle && total !== undefined && total > 0 && (
          <Button onClick={() => mutate()} color={action === 'cancel' ? 'red' : undefined} data-autofocus>
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

const PHASES = { running: 'Running', ended: 'Finished', stopped: 'Stopped', failed: 'Stopped by an error' };

interface ShownProps {
  phase: keyof typeof PHASES;
  total: number;
  progress: BulkProgress;
  done: string;
}

function Shown({ phase, total, progress, done }: ShownProps) {
  const refused = [...progress.refused.values()].reduce((sum, count) => sum + count, 0);
  const handled = progress.done + refused;
  return (
    <>
      <Progress value={(100 * handled) / Math.max(1, total)} aria-label="Progress" mb="xs" />
      <Text role="status" data-phase={phase}>
        {PHASES[phase]}: {countText(progress.done)} {done}
        {refused > 0 && `, ${countText(refused)} skipped`}
        {handled < total && `, ${countText(total - handled)} remaining`}
      </Text>
      {[...progress.refused].map(([why, count]) => (
        <Text size="sm" key={why}>
          {countText(count)} skipped: {why}
        </Text>
      ))}
    </>
  );
}
