// One route: a picture of the way with figures on it, its circuit, a past event tried on it, and what it is.
import { Alert, Button, Group, SimpleGrid, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Route } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { ifUnchanged } from '../../api/versions.ts';
import { Figures } from '../../charts/Figures.tsx';
import { Count } from '../../components/Count.tsx';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { Facts } from '../../components/Facts.tsx';
import { IssuesOf } from '../../components/IssuesOf.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { PauseAction, PausedAlert } from '../../components/Pausing.tsx';
import { Period, usePeriod } from '../../components/Period.tsx';
import { plain } from '../../format.ts';
import { Time } from '../../zone.tsx';
import { Circuit } from './Circuit.tsx';
import { Picture } from './Picture.tsx';
import { DeletedRoute } from './Routes.tsx';
import { TryIt } from './TryIt.tsx';

const AGAIN_MS = 5000;

export function RoutePage() {
  return (
    <RecordPage
      get="getRoute"
      every={AGAIN_MS}
      title="Route"
      titleOf={({ name }) => `Route ${plain(name)}`}
      actions={(route) => <Actions route={route} />}
    >
      {(route) => <Shown route={route} />}
    </RecordPage>
  );
}

function Shown({ route }: { route: Route }) {
  const range = usePeriod();
  const maySeeFigures = useMay('deliveries:read');
  const search = { routeId: route.id };
  return (
    <>
      {route.description && <Text className="anywhere">{plain(route.description)}</Text>}
      {!route.enabled && (
        <Alert color="yellow" title="This route is disabled" my="sm">
          Webhooks that come now are stored, and go nowhere by it. Replay them when it is on again.
        </Alert>
      )}
      <PausedAlert kind="route" of={route} />
      <IssuesOf of={{ routeId: route.id }} />
      <Group justify="space-between" mt="sm">
        <h2>The way of a webhook</h2>
        <Period />
      </Group>
      <Picture route={route} range={range} />
      <Circuit route={route} />
      {maySeeFigures && (
        <SimpleGrid cols={{ base: 1, lg: 2 }}>
          <Figures title="Webhooks it took" metric="events" members={['events']} range={range} of={search} />
          <Figures
            title="Deliveries"
            metric="deliveries"
            members={['delivered', 'failed', 'failedOver', 'notSent']}
            range={range}
            of={search}
          />
        </SimpleGrid>
      )}
      <h2>Try it with a past event</h2>
      <TryIt route={route} />
      <h2>What it is</h2>
      <Facts
        of={[
          ['Priority', route.priority],
          ['Fails over after', `${route.failoverAfterAttempts} failed attempts`],
          ['A delivery has succeeded with', successText(route.expectedResponse)],
          ['First attempts are made', route.lane ?? 'as the server is set'],
          ['Mails go to', route.notifyEmails ? plain(route.notifyEmails) : 'nobody'],
          ['Mails tell of', mailsOf(route)],
          route.withheldEmails.length > 0 && ['These get no mail', plain(route.withheldEmails.join(', '))],
          ['Created', <Time key="created" at={route.createdAt} />],
          ['Changed', <Time key="changed" at={route.updatedAt} />],
        ]}
      />
      <Group>
        <Link to="/deliveries" search={{ ...search, range: '24h' } as never}>
          Its deliveries
        </Link>
        <Link to="/deliveries" search={{ ...search, range: '7d', status: 'failed' } as never}>
          What failed in 7 days
        </Link>
      </Group>
    </>
  );
}

function successText(expected: Route['expectedResponse']): string {
  const codes = expected?.statusCodes?.join(', ') ?? 'any 2xx';
  return expected?.bodyContains ? `${codes}, and a body with “${plain(expected.bodyContains)}”` : codes;
}

const mailsOf = ({ notifyOnFailure, notifyOnSuccess, notifyOnRecovery }: Route): string =>
  [notifyOnFailure && 'failures', notifyOnSuccess && 'successes', notifyOnRecovery && 'recoveries']
    .filter(Boolean)
    .join(', ') || 'nothing';

function Actions({ route }: { route: Route }) {
  const mayWrite = useMay('routes:write');
  const navigate = useNavigate();
  if (!mayWrite) return null;
  return (
    <>
      <Button size="xs" onClick={() => void navigate({ to: `/routes/${route.id}/edit` })}>
        Edit
      </Button>
      <PauseAction kind="route" of={route} />
      <ConfirmedAction
        label={route.enabled ? 'Disable' : 'Enable'}
        title={`${route.enabled ? 'Disable' : 'Enable'} this route`}
        verb={route.enabled ? 'Disable it' : 'Enable it'}
        run={async () => {
          await call('updateRoute', { id: route.id, body: { enabled: !route.enabled } }, ifUnchanged(route));
          return route.enabled ? 'The route is disabled' : 'The route takes webhooks again';
        }}
      >
        {route.enabled
          ? 'It takes no new webhooks until somebody enables it. They are stored without deliveries by this route; deliveries that are under way continue.'
          : 'It takes webhooks that come from now on. Those that came meanwhile are delivered only when somebody replays them.'}
      </ConfirmedAction>
      <ConfirmedAction
        label="Delete"
        title={`Delete ${plain(route.name)}`}
        verb="Delete it"
        isDestructive
        run={async () => {
          await call('deleteRoute', { id: route.id }, ifUnchanged(route));
          return 'The route is deleted';
        }}
        onDone={() => navigate({ to: '/routes' })}
      >
        <Text mb="xs">
          It has{' '}
          <Count
            list="listDeliveries"
            input={{ routeId: route.id }}
            one="delivery in the history"
            many="deliveries in the history"
          />
          .
        </Text>
        <DeletedRoute />
      </ConfirmedAction>
    </>
  );
}
