// How it goes: what came in, what was delivered, failed or refused, how quickly, and what needs somebody now.
import { SimpleGrid, Text } from '@mantine/core';
import { useMay } from '../../api/caller.tsx';
import { Figures } from '../../charts/Figures.tsx';
import { Page } from '../../components/Page.tsx';
import { Period, usePeriod } from '../../components/Period.tsx';
import type { RangeName } from '../../search.ts';
import { Attention } from './Attention.tsx';
import { Backlog } from './Backlog.tsx';
import { FailingDestinations } from './FailingDestinations.tsx';
import { NothingYet } from './NothingYet.tsx';

export function Overview() {
  const range = usePeriod();
  const maySee = useMay('deliveries:read');
  const mayDestinations = useMay('destinations:read');
  const mayRoutes = useMay('routes:read');
  return (
    <Page title="Overview" actions={<Period />}>
      {mayRoutes && <NothingYet />}
      <Attention />
      {mayDestinations && <FailingDestinations />}
      {maySee ? <Charts range={range} /> : <Text>This key may not read deliveries, so there are no figures.</Text>}
      <Backlog />
    </Page>
  );
}

function Charts({ range }: { range: RangeName }) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} mb="md">
      <Figures title="Webhooks in" metric="events" members={['events']} range={range} />
      <Figures title="Deliveries" metric="deliveries" members={['delivered', 'failed', 'notSent']} range={range} />
      <Figures title="Refused webhooks" metric="refused" members={['refused']} range={range} />
      <Figures title="Latency of answers (ms)" metric="attempts" members={['avgLatency']} range={range} />
    </SimpleGrid>
  );
}
