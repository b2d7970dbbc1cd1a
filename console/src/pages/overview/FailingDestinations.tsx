// Destinations that do not take all that they get, those that take least first.
import { Alert, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { DestinationSummary, HttpDestinationSummary } from 'hookyard/client';
import { useAll } from '../../api/all.ts';
import { Failed } from '../../components/Failed.tsx';
import { Name } from '../../components/Name.tsx';
import { Status } from '../../components/Status.tsx';
import { countText } from '../../format.ts';

const AGAIN_MS = 60_000;
const MOST = 5;
/** Percent. */
const HEALTHY_ABOVE = 95;
const FAILING_BELOW = 80;

type Rated = HttpDestinationSummary & { successRate: number };
const isFailing = (one: DestinationSummary): one is Rated =>
  one.type === 'http' && one.successRate !== null && one.successRate <= HEALTHY_ABOVE;

export function FailingDestinations() {
  const { data, error, refetch } = useAll('listDestinations', true, AGAIN_MS);
  const failing = (data?.records ?? []).filter(isFailing).toSorted((a, b) => a.successRate - b.successRate);
  if (error) return <Failed error={error} again={() => void refetch()} />;
  if (failing.length === 0) return null;
  return (
    <Alert color="yellow" title={`Destinations that do not take all they get: ${countText(failing.length)}`} mb="sm">
      {failing.slice(0, MOST).map(({ id, name, successRate }) => (
        <Group key={id} gap="xs">
          <Status of={successRate < FAILING_BELOW ? 'failing' : 'degraded'} />
          <Name id={id} name={name} />
          <span>{successRate} % of its deliveries succeeded lately</span>
        </Group>
      ))}
      {(failing.length > MOST || data?.isCut) && (
        <Text size="sm" mt="xs">
          {data?.isCut && `Of the newest ${countText(data.records.length)} destinations. `}
          <Link to="/destinations">All destinations</Link>
        </Text>
      )}
    </Alert>
  );
}
