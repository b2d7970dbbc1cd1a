// Why nothing is sent to a destination although nothing is wrong with it here: a route that leads to it holds its deliveries.
import { Alert, Group, Text } from '@mantine/core';
import { useAsk } from '../../api/queries.ts';
import { Name } from '../../components/Name.tsx';
import { PausedBadge } from '../../components/Pausing.tsx';
import { Status } from '../../components/Status.tsx';

const AGAIN_MS = 10_000;

export function HeldBack({ id }: { id: string }) {
  const { data } = useAsk('listRoutes', { destinationId: id, pageSize: 100 }, { every: AGAIN_MS });
  const routes = (data?.data ?? []).filter(({ circuitState, paused }) => circuitState !== 'closed' || paused);
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
        What waits is not lost. The page of the route says when it goes on, and can let deliveries through now.
      </Text>
    </Alert>
  );
}
