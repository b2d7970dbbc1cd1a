// One replay: how far it is, what became of it, and its end.
import { Alert, Group, Progress, Text } from '@mantine/core';
import type { EventReplay } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { Facts } from '../../components/Facts.tsx';
import { useNames } from '../../components/names.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Status } from '../../components/Status.tsx';
import { countText, plain } from '../../format.ts';
import { Time } from '../../zone.tsx';
import { filterText } from './Replays.tsx';

const AGAIN_MS = 1000;
const hasEnded = ({ status }: EventReplay) => status !== 'pending' && status !== 'running';

export function ReplayPage() {
  const mayWrite = useMay('events:write');
  return (
    <RecordPage
      get="getEventReplay"
      every={AGAIN_MS}
      title="Replay"
      actions={(replay) => mayWrite && !hasEnded(replay) && <Cancel id={replay.id} />}
    >
      {(replay) => <Shown replay={replay} />}
    </RecordPage>
  );
}

function Shown({ replay }: { replay: EventReplay }) {
  const { eventsTotal, eventsReplayed, eventsExpired, eventsUnroutable, destinationIds } = replay;
  const sources = useNames('listSources');
  const destinations = useNames('listDestinations', destinationIds !== null);
  const judged = eventsReplayed + eventsExpired + eventsUnroutable;
  const share = eventsTotal === null || eventsTotal === 0 ? null : Math.min(100, (100 * judged) / eventsTotal);
  return (
    <>
      <Group gap="md">
        <Status of={replay.status} />
        <Text role="status">
          {countText(judged)} of{' '}
          {eventsTotal === null ? 'a number that takes too long to count' : countText(eventsTotal)} done
        </Text>
      </Group>
      {share !== null && !hasEnded(replay) && (
        <Progress value={share} aria-label="How far it is" my="xs" transitionDuration={0} />
      )}
      {replay.waitsFor !== null && (
        <Alert color="yellow" title="It waits, and continues by itself" my="sm">
          {plain(replay.waitsFor)}
        </Alert>
      )}
      {replay.error !== null && (
        <Alert color="red" title="It failed" my="sm">
          {plain(replay.error)}
        </Alert>
      )}
      {sources.problem}
      {destinations.problem}
      <Facts
        of={[
          ['What', <bdi key="what">{filterText(replay, sources.nameOf)}</bdi>],
          [
            'To',
            destinationIds === null ? 'where the routes lead' : destinationIds.map(destinations.nameOf).join(', '),
          ],
          ['At most', `${countText(replay.ratePerSecond)} events a second`],
          ['Events replayed', countText(eventsReplayed)],
          ['Deliveries made', countText(replay.deliveriesCreated)],
          ['Without a payload any more', countText(eventsExpired)],
          ['That go nowhere now', countText(eventsUnroutable)],
          replay.replayedUntil !== null && ['Done are those before', <Time key="until" at={replay.replayedUntil} />],
          ['Made', <Time key="made" at={replay.createdAt} />],
          ['Begun', <Time key="begun" at={replay.startedAt} />],
          ['Ended', <Time key="ended" at={replay.finishedAt} />],
        ]}
      />
      {replay.temporalUrl !== null && (
        <a href={replay.temporalUrl} target="_blank" rel="noreferrer">
          Its workflow in Temporal
        </a>
      )}
    </>
  );
}

function Cancel({ id }: { id: string }) {
  return (
    <ConfirmedAction
      label="Stop it"
      title="Stop this replay"
      verb="Stop it now"
      run={async () => {
        await call('cancelEventReplay', { id });
        return 'The replay is stopped';
      }}
    >
      Deliveries that were made continue; no more are made. A new replay can take the rest: see the time up to which it
      is done.
    </ConfirmedAction>
  );
}
