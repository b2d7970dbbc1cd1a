// How it goes: what came in, what was delivered, failed or refused, how quickly, and what needs somebody now.
import { Alert, Group, SimpleGrid, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Route } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { Figures } from '../../charts/Figures.tsx';
import { Failed } from '../../components/Failed.tsx';
import { RangeFilter } from '../../components/filters.tsx';
import { IssueLines } from '../../components/IssueLines.tsx';
import { Name } from '../../components/Name.tsx';
import { Page } from '../../components/Page.tsx';
import { Status } from '../../components/Status.tsx';
import { countText } from '../../format.ts';
import { isRangeName, type RangeName, usePageSearch } from '../../search.ts';
import { Backlog } from './Backlog.tsx';

const AGAIN_MS = 15_000;
const MOST_ISSUES = 5;
const EVENTS = { to: '/events', search: {} };
const DELIVERIES = { to: '/deliveries', search: {} };

export function Overview() {
  const [search] = usePageSearch();
  const range: RangeName = isRangeName(search.range) ? search.range : '24h';
  const maySee = useMay('deliveries:read');
  return (
    <Page title="Overview" actions={<RangeFilter byDefault="24h" />}>
      <Attention />
      {maySee ? <Charts range={range} /> : <Text>This key may not read deliveries, so there are no figures.</Text>}
      <Backlog />
    </Page>
  );
}

function Charts({ range }: { range: RangeName }) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} mb="md">
      <Figures title="Webhooks in" metric="events" members={['events']} range={range} list={EVENTS} />
      <Figures
        title="Deliveries"
        metric="deliveries"
        members={['delivered', 'failed', 'notSent']}
        range={range}
        list={DELIVERIES}
      />
      <Figures title="Refused webhooks" metric="refused" members={['refused']} range={range} list={EVENTS} />
      <Figures
        title="Latency of answers (ms)"
        metric="attempts"
        members={['avgLatency']}
        range={range}
        list={DELIVERIES}
      />
    </SimpleGrid>
  );
}

/** What needs somebody: open issues, and routes whose circuit is not closed. */
function Attention() {
  const mayIssues = useMay('issues:read');
  const mayRoutes = useMay('routes:read');
  const issues = useAsk(
    'listIssues',
    { state: 'open', pageSize: MOST_ISSUES },
    { enabled: mayIssues, every: AGAIN_MS },
  );
  const routes = useAsk('listRoutes', { pageSize: 100 }, { enabled: mayRoutes, every: AGAIN_MS });
  const open = (routes.data?.data ?? []).filter(({ circuitState }) => circuitState !== 'closed');
  const total = issues.data?.pagination.total ?? 0;
  const hasNone = issues.data !== undefined && total === 0 && routes.data !== undefined && open.length === 0;
  return (
    <>
      {issues.error && <Failed error={issues.error} again={() => void issues.refetch()} />}
      {routes.error && <Failed error={routes.error} again={() => void routes.refetch()} />}
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
      {open.length > 0 && <Circuits routes={open} />}
    </>
  );
}

function Circuits({ routes }: { routes: Route[] }) {
  return (
    <Alert color="orange" title={`Circuits that are not closed: ${routes.length}`} mb="sm">
      {routes.map(({ id, name, circuitState }) => (
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
      <Text size="sm" mt="xs">
        After too many failed attempts in a row a route sends nothing for a while, so that what is broken is left alone.
        Its deliveries wait meanwhile; none is lost. The page of the route says for how long, and can end it.
      </Text>
    </Alert>
  );
}
