// What needs somebody: open issues, and routes whose circuit is not closed.
import { Alert, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Route } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { IssueLines } from '../../components/IssueLines.tsx';
import { Name } from '../../components/Name.tsx';
import { Status } from '../../components/Status.tsx';
import { countText } from '../../format.ts';

const AGAIN_MS = 15_000;
const MOST_ISSUES = 5;
/** Of each state. */
const MOST_CIRCUITS = 5;

export function Attention() {
  const mayIssues = useMay('issues:read');
  const mayRoutes = useMay('routes:read');
  const issues = useAsk(
    'listIssues',
    { state: 'open', pageSize: MOST_ISSUES },
    { enabled: mayIssues, every: AGAIN_MS },
  );
  const options = { enabled: mayRoutes, every: AGAIN_MS };
  const open = useAsk('listRoutes', { circuitState: 'open', pageSize: MOST_CIRCUITS }, options);
  const halfOpen = useAsk('listRoutes', { circuitState: 'half_open', pageSize: MOST_CIRCUITS }, options);
  const answers = [issues, open, halfOpen];
  const total = issues.data?.pagination.total ?? 0;
  const circuits = (open.data?.pagination.total ?? 0) + (halfOpen.data?.pagination.total ?? 0);
  const hasNone = answers.every(({ data, error }) => data && !error) && total === 0 && circuits === 0;
  return (
    <>
      {answers.map(({ error, refetch }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are told by their place
        <FailedOne key={index} error={error} again={() => void refetch()} />
      ))}
      {hasNone && <Text>Nothing keeps failing now: no issue and no circuit is open.</Text>}
      {total > 0 && (
        <Alert
          color="red"
          title={`What keeps failing: ${countText(total)} open ${total === 1 ? 'issue' : 'issues'}`}
          mb="sm"
        >
          <IssueLines of={issues.data?.data ?? []} />
          <Text size="sm" mt="xs">
            The page of an issue says what helps.{' '}
            {total > MOST_ISSUES && (
              <Link to="/issues" search={{ state: 'open' } as never}>
                All {countText(total)} of them
              </Link>
            )}
          </Text>
        </Alert>
      )}
      {circuits > 0 && (
        <Alert color="orange" title={`Circuits that are not closed: ${countText(circuits)}`} mb="sm">
          <Circuits state="open" answer={open.data} />
          <Circuits state="half_open" answer={halfOpen.data} />
          <Text size="sm" mt="xs">
            After too many failed attempts in a row a route sends nothing for a while, so that what is broken is left
            alone. Its deliveries wait meanwhile; none is lost. The page of the route says for how long, and can end it.
          </Text>
        </Alert>
      )}
    </>
  );
}

function FailedOne({ error, again }: { error: unknown; again: () => void }) {
  return error ? <Failed error={error} again={again} /> : null;
}

interface CircuitsProps {
  state: 'open' | 'half_open';
  answer: { data: Route[]; pagination: { total: number } } | undefined;
}

function Circuits({ state, answer }: CircuitsProps) {
  if (!answer || answer.pagination.total === 0) return null;
  const { data, pagination } = answer;
  return (
    <>
      {data.map(({ id, name, circuitState }) => (
        <Group key={id} gap="xs">
          <Status of={circuitState} />
          <span>
            Route <Name id={id} name={name} />
          </span>
          <Link to="/deliveries" search={{ routeId: id, status: 'circuit_open', range: 'all' } as never}>
            What it holds
          </Link>
        </Group>
      ))}
      {pagination.total > data.length && (
        <Link to="/routes" search={{ circuitState: state } as never}>
          All {countText(pagination.total)} that are {state.replace('_', ' ')}
        </Link>
      )}
    </>
  );
}
