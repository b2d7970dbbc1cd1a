// A search that came only so far says how far, and goes on there.
import { Alert, Button } from '@mantine/core';
import { HookyardError } from '../api/client.ts';
import { usePageSearch } from '../search.ts';
import { Time } from '../zone.tsx';

export function TooBroad({ error }: { error: unknown }) {
  const [, set] = usePageSearch();
  if (!(error instanceof HookyardError) || error.code !== 'SEARCH_TOO_BROAD') return null;
  const reached = /came back to (\S+?Z)/.exec(error.message)?.[1];
  if (!reached) return null;
  return (
    <Alert color="yellow" title="The search took too long" role="alert">
      It came back to <Time at={reached} />.{' '}
      <Button size="xs" variant="default" onClick={() => set({ from: reached, range: undefined })}>
        Search from there to now
      </Button>
    </Alert>
  );
}
