// What the organization may use, and what it has used.
import { Progress, Text } from '@mantine/core';
import type { DayOfUse, Usage as UsageRecord } from 'hookyard/client';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Facts } from '../../components/Facts.tsx';
import { Loaded } from '../../components/Loaded.tsx';
import { Page } from '../../components/Page.tsx';
import { countText, sizeText } from '../../format.ts';

const AGAIN_MS = 15_000;

const LIMITS: Record<keyof UsageRecord['limits'], string> = {
  eventsPerSecond: 'Webhooks a second',
  eventsPerMonth: 'Webhooks this month',
  storedBytes: 'Stored payloads',
  waitingDeliveries: 'Deliveries that have not ended',
  sources: 'Sources',
  destinations: 'Destinations',
  filters: 'Filters',
  transforms: 'Transforms',
  schemas: 'Schemas',
  alertChannels: 'Alert channels',
  apiKeys: 'API keys',
  runningReplays: 'Replays that run',
  replayedPerSecond: 'Deliveries of replays a second',
  payloadBytes: 'Size of a webhook',
  deliveriesPerEvent: 'Deliveries of a webhook',
  routesPerSource: 'Routes of a source',
  transformMsPerMinute: 'Milliseconds of transforms a minute, of a worker',
  requestsPerMinute: 'Requests a minute, to one API process',
  runningImports: 'Imports at a time, in one API process',
  runningSearches: 'Searches of payloads at a time, in one API process',
  runningTests: 'Tests of destinations and alert channels at a time, in one API process',
  runningStreams: 'Streams of events at a time, in one API process',
};

interface Row {
  name: keyof UsageRecord['limits'];
  limit: number | null;
  used: number | null;
  unit: string;
}

const isBytes = ({ name }: Row) => name.endsWith('Bytes');
const numberText = (row: Row, value: number) => (isBytes(row) ? sizeText(value) : countText(value));
const shareOf = ({ limit, used }: Row) =>
  limit === null || used === null ? null : limit === 0 ? 100 : Math.min(100, (100 * used) / limit);

const limitColumns: Column<Row>[] = [
  { title: 'What', cell: (row) => LIMITS[row.name] ?? row.name, csv: (row) => row.name },
  {
    title: 'Used',
    cell: (row) => (row.used === null ? '-' : numberText(row, row.used)),
    csv: (row) => row.used,
    numeric: true,
  },
  {
    title: 'Limit',
    cell: (row) => (row.limit === null ? 'none' : numberText(row, row.limit)),
    csv: (row) => row.limit,
    numeric: true,
  },
  {
    title: 'Share',
    cell: (row) => {
      const share = shareOf(row);
      if (share === null) return '-';
      return (
        <>
          {Math.floor(share)} %
          <Progress value={share} aria-label={`Share of ${LIMITS[row.name]}`} transitionDuration={0} />
        </>
      );
    },
    csv: shareOf,
  },
];

const dayColumns: Column<DayOfUse>[] = [
  { title: 'Day (UTC)', cell: ({ day }) => day, csv: ({ day }) => day },
  { title: 'Webhooks', cell: ({ events }) => countText(events), csv: ({ events }) => events, numeric: true },
  {
    title: 'Payloads',
    cell: ({ payloadBytes }) => sizeText(payloadBytes),
    csv: ({ payloadBytes }) => payloadBytes,
    numeric: true,
  },
  {
    title: 'Deliveries',
    cell: ({ deliveries }) => countText(deliveries),
    csv: ({ deliveries }) => deliveries,
    numeric: true,
  },
  {
    title: 'Attempts',
    cell: ({ attempts }) => countText(attempts),
    csv: ({ attempts }) => attempts,
    numeric: true,
    wideOnly: true,
  },
];

const rowsOf = ({ limits }: UsageRecord): Row[] =>
  (Object.keys(LIMITS) as Row['name'][]).filter((name) => name in limits).map((name) => ({ name, ...limits[name] }));

export function Usage() {
  const answer = useAsk('getUsage', {}, { every: AGAIN_MS });
  const days = useAsk('listDailyUsage', {}, { every: AGAIN_MS });
  const rows = answer.data ? rowsOf(answer.data) : [];
  // The last day first, as lists are.
  const newest = days.data && { data: days.data.data.toReversed() };
  return (
    <Page
      title="Usage"
      actions={<CopyMenu call={{ name: 'getUsage', input: {} }} columns={limitColumns} rows={rows} />}
    >
      <Loaded answer={answer}>
        {(usage) => (
          <>
            <Facts
              of={[
                ['Plan', usage.plan],
                [`Webhooks since ${usage.month.from.slice(0, 10)} (UTC)`, countText(usage.month.events)],
                ['Of payloads', sizeText(usage.month.payloadBytes)],
              ]}
            />
            <h2>Limits</h2>
            <Text size="sm">What a limit does not allow is answered with 429. The operator sets limits.</Text>
            <DataTable
              title="Limits"
              columns={limitColumns}
              idOf={(row) => row.name}
              answer={{ ...answer, data: { data: rows } }}
              empty="There is no limit."
            />
          </>
        )}
      </Loaded>
      <div className="head">
        <h2>The last 31 days</h2>
        <CopyMenu call={{ name: 'listDailyUsage', input: {} }} columns={dayColumns} rows={newest?.data ?? []} />
      </div>
      <DataTable
        title="Use by day"
        columns={dayColumns}
        idOf={({ day }) => day}
        answer={{ ...days, data: newest }}
        empty="Nothing was used."
      />
    </Page>
  );
}
