// Why nothing is sent to a destination although nothing is wrong with it here: a route that leads to it holds its deliveries.
import { Alert, Group, Text } from '@mantine/core';
import type { Route } from 'hookyard/client';
import { useAsk } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Name } from '../../components/Name.tsx';
import { PausedBadge } from '../../components/Pausing.tsx';
import { Status } from '../../components/Status.tsx';
import { countText } from '../../format.ts';

const AGAIN_MS = 10_000;
const MOST = 100;

export function HeldBack({ id }: { id: string }) {
  const ask = (circuitState?: 'open' | 'half_open') => ({ destinationId: id, circuitState, pageSize: MOST });
  // Pauses are among the routes themselves, circuits can be asked for.
  const answers = [
    useAsk('listRoutes', ask('open'), { every: AGAIN_MS }),
    useAsk('listRoutes', ask('half_open'), { every: AGAIN_MS }),
    useAsk('listRoutes', ask(), { every: AGAIN_MS }),
  ];
  const failed = answers.find(({ error }) => error !== null);
  if (failed) return <Failed error={failed.error} again={() => void failed.refetch()} />;
  const holding = answers.flatMap(({ data }) => data?.data ?? []).filter(isHolding);
  const routes = [...new Map(holding.map((route) => [route.id, route])).values()];
  const total = answers.at(-1)?.data?.pagination.total ?? 0;
  if (routes.length === 0) return null;
  return (
    <Alert color="orange" title="Routes hold deliveries back" my="sm">
      {routes.map((route) => (
        <Group key={route.id} gap="xs">
          <span>
            Route <Name id={route.id} name={route.name} />
          </span>
          {route.circuitState !== 'closed' && (
            <span>
              circuit <Status of={route.circuitState} />
            </span>
          )}
          <PausedBadge of={route} />
        </Group>
      ))}
      <Text size="sm">
        What waits is not lost. The page of the route says when it continues, and can let deliveries through now.
        {total > MOST && ` Of pauses, only those of the newest ${countText(MOST)} routes are shown.`}
      </Text>
    </Alert>
  );
}

const isHolding = ({ circuitState, paused }: Route): boolean => circuitState !== 'closed' || paused;
