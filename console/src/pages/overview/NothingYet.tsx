// An installation in which no webhook can go anywhere yet: where to begin.
import { Alert, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';

export function NothingYet() {
  const { data } = useAsk('listRoutes', { pageSize: 1 });
  const mayWrite = useMay('sources:write');
  // That it failed, the question for circuits says.
  if (data?.pagination.total !== 0) return null;
  return (
    <Alert title="No webhook goes anywhere yet" mb="sm">
      <Text size="sm">
        A source receives webhooks, a route takes them to a destination. There is no route.{' '}
        {mayWrite ? (
          <Link to="/start">Set up a first webhook</Link>
        ) : (
          'This key may not make one: ask for one with the scope write.'
        )}
      </Text>
    </Alert>
  );
}
