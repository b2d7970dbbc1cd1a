// What the organization may use, and what it has used.
import { Progress } from '@mantine/core';
import type { DayOfUse, Usage as UsageRecord } from '@hookyard/client';
import { AGAIN_MS, useAsk } from '../../api/queries.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ExportMenu } from '../../components/ExportMenu.tsx';
import { Loaded } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { Empty, Facts } from '../../components/ui.tsx';
import { countText, sentence, sizeText } from '../../format.ts';

const LIMITS: Record<keyof UsageRecord['limits'], string> = {
  eventsPerSecond: 'Events per second',
  eventsPerMonth: 'Events per month',
  storedBytes: 'Stored payloads',
  waitingDeliveries: 'Backlog (deliveries)',
  sources: 'Sources',
  destinations: 'Destinations',
  filters: 'Filters',
  transforms: 'Transforms',
  schemas: 'Schemas',
  alertChannels: 'Alert channels',
  apiKeys: 'API keys',
  runningReplays: 'Concurrent replays',
  replayedPerSecond: 'Replayed deliveries per second',
  payloadBytes: 'Payload size',
  deliveriesPerEvent: 'Deliveries per event',
  routesPerSource: 'Routes per source',
  transformMsPerMinute: 'Transform time per worker (ms per minute)',
  requestsPerMinute: 'API requests per minute per process',
  runningImports: 'Concurrent imports per process',
  runningSearches: 'Concurrent searches per process',
  runningTests: 'Concurrent destination and alert channel tests per process',
  runningStreams: 'Concurrent event streams per process',
};

interface Row {
  name: keyof UsageRecord['limits'];
  limit: number | null;
  used: number | null;
}

const isBytes = ({ name }: Row) => name.endsWith('Bytes');
const numberText = (row: Row, value: number) => (isBytes(row) ? sizeText(value) : countText(value));
const shareOf = ({ limit, used }: Row) =>
  limit === null || used === null ? null : limit === 0 ? 100 : Math.min(100, (100 * used) / limit);

const limitColumns: Column<Row>[] = [
  { title: 'Limit', value: (row) => row.name, cell: (row) => LIMITS[row.name] ?? row.name },
  {
    title: 'Used',
    value: (row) => row.used,
    cell: (row) => (row.used === null ? '–' : numberText(row, row.used)),
    numeric: true,
  },
  {
    title: 'Allowed',
    value: (row) => row.limit,
    cell: (row) => (row.limit === null ? 'Unlimited' : numberText(row, row.limit)),
    numeric: true,
  },
  {
    title: 'Share',
    value: shareOf,
    cell: (row) => {
      const share = shareOf(row);
      if (share === null) return '–';
      const color = share >= 100 ? 'red' : share >= 80 ? 'yellow' : 'accent';
      return (
        <div className="row row-line">
          <Progress w={80} value={share} color={color} aria-label={`${LIMITS[row.name]} used`} />
          <span>{share > 0 && share < 1 ? '<1' : Math.floor(share)}%</span>
        </div>
      );
    },
  },
];

const dayColumns: Column<DayOfUse>[] = [
  { title: 'Day (UTC)', value: ({ day }) => day },
  { title: 'Events', value: ({ events }) => events, as: 'count' },
  { title: 'Payloads', value: ({ payloadBytes }) => payloadBytes, as: 'size' },
  { title: 'Deliveries', value: ({ deliveries }) => deliveries, as: 'count' },
  { title: 'Attempts', value: ({ attempts }) => attempts, as: 'count', wideOnly: true },
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
      note="Requests over a limit receive a 429 response (413 if the payload is too large). Running replays and delivery transforms wait instead. The operator sets the limits."
      actions={<ExportMenu call={{ name: 'getUsage', input: {} }} columns={limitColumns} rows={rows} />}
    >
      <Loaded answer={answer}>
        {(usage) => (
          <>
            <Facts
              isWide
              of={{
                Plan: sentence(usage.plan),
                [`Events since ${usage.month.from.slice(0, 10)} (UTC)`]: countText(usage.month.events),
                Payloads: sizeText(usage.month.payloadBytes),
              }}
            />
            <h2>Limits</h2>
            <DataTable
              title="Limits"
              columns={limitColumns}
              idOf={(row) => row.name}
              answer={{ ...answer, data: { data: rows } }}
              empty={<Empty title="No limits" />}
            />
          </>
        )}
      </Loaded>
      <div className="row row-between">
        <h2>Last 31 days</h2>
        <ExportMenu call={{ name: 'listDailyUsage', input: {} }} columns={dayColumns} rows={newest?.data ?? []} />
      </div>
      <DataTable
        title="Usage by day"
        columns={dayColumns}
        idOf={({ day }) => day}
        answer={{ ...days, data: newest }}
        empty={<Empty title="No usage" />}
      />
    </Page>
  );
}
