// Webhooks that a source refused: how many, why, what the sender was answered, and what came.
import { Button, Modal } from '@mantine/core';
import type { Refusal, RefusalCounts } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { AGAIN_MS, useAsk } from '../../api/queries.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ExportMenu } from '../../components/ExportMenu.tsx';
import { Loaded } from '../../components/Failed.tsx';
import { FilterField } from '../../components/filters.tsx';
import { Card, Empty, Facts, Headers } from '../../components/ui.tsx';
import { countText, plain, plural, sentence, sizeText } from '../../format.ts';
import { pageOf, usePageSearch, useRangeName } from '../../search.ts';
import { Time } from '../../zone.tsx';
import { stepFor } from '../refusals/Refused.tsx';

const MOST_KEPT = 100;

type Cause = Refusal['cause'];

/** What each cause means, and what helps. */
const CAUSES: Record<Cause, string> = {
  signature: "Signature or credentials missing, invalid or expired. Check that the sender uses the source's secret.",
  token: 'Secret token missing from the URL, invalid or expired. Give the sender the current ingest URL.',
  path: "Subpath not accepted or invalid. Enable subpaths, or correct the sender's URL.",
  disabled: 'Source disabled. Enable it.',
  suspended: 'Organization suspended. Contact the operator.',
  too_large: 'Payload too large. Send smaller payloads, or ask the operator for a higher limit.',
  incomplete: 'Connection closed before the payload was complete. Check the timeouts of the sender and any proxies.',
  too_slow: "Payload received too slowly. Check the sender's network connection.",
  limit: 'Organization limit reached. See Usage.',
  unavailable: 'Service at capacity or database unavailable. Most senders retry.',
  error: 'Internal error. Ask the operator to check the log.',
};

const causeText = ({ cause, limit }: { cause: Cause; limit: string | null }): string =>
  limit === null ? sentence(cause) : `${limit} limit`;

const columns: Column<Refusal>[] = [
  { title: 'Refused', value: (refusal) => refusal.refusedAt, as: 'time' },
  { title: 'Cause', value: causeText },
  { title: 'Status code', value: (refusal) => refusal.status, numeric: true },
  { title: 'Message', value: (refusal) => refusal.message, wideOnly: true },
  { title: 'Client address', value: (refusal) => refusal.clientAddress },
  { title: 'Size', value: (refusal) => refusal.payloadSize, as: 'size', wideOnly: true },
];

export function Refusals({ id }: { id: string }) {
  const range = useRangeName();
  const [search, set] = usePageSearch();
  const mayRead = useMay('payloads:read');
  const cause = search.cause as Cause | undefined;
  const { from, to } = search;
  const isPart = from !== undefined || to !== undefined;
  // The API counts a day, a week or a month.
  const period = isPart ? '30d' : range === '1h' ? '24h' : range;
  // The API has no times here: of a part all that are kept are asked for.
  const part = isPart ? { page: 1, pageSize: MOST_KEPT } : { page: pageOf(search), pageSize: 20 };
  const input = { id, period, cause, includePayload: mayRead, ...part };
  const answer = useAsk('listRefusals', input, { keep: true, every: AGAIN_MS });
  const { data } = answer;
  const shown = isPart && data ? { data: data.data.filter((refusal) => isWithin(refusal, from, to)) } : data;
  const opened = data?.data.find((refusal) => refusal.id === search.open);
  const isNone = data?.counts.total === 0 && cause === undefined;
  return (
    <Card
      title="Refused webhooks"
      actions={
        <>
          {!isNone && <FilterField of={{ name: 'cause', label: 'Cause', kind: 'one', choices: Object.keys(CAUSES) }} />}
          <ExportMenu call={{ name: 'listRefusals', input }} columns={columns} rows={shown?.data ?? []} />
        </>
      }
    >
      <div className="stack">
        {isPart ? <CountsWithin id={id} from={from} to={to} /> : data && <Counts of={data.counts} />}
        {!isNone && (
          <DataTable
            title="Refused"
            columns={columns}
            idOf={(refusal) => refusal.id}
            answer={{ ...answer, data: shown }}
            onOpen={(refusal) => set({ open: refusal.id })}
            onPage={(page) => set({ page: String(page) })}
            empty={<Empty title="No samples">Only a sample of recent refused webhooks is kept.</Empty>}
          />
        )}
      </div>
      <Modal opened={opened !== undefined} onClose={() => set({ open: undefined })} title="Refused webhook" size="lg">
        {opened && <One refusal={opened} mayRead={mayRead} />}
      </Modal>
    </Card>
  );
}

const isWithin = ({ refusedAt }: Refusal, from?: string, to?: string): boolean =>
  (from === undefined || Date.parse(refusedAt) >= Date.parse(from)) &&
  (to === undefined || Date.parse(refusedAt) <= Date.parse(to));

/** How many were refused in the time that the address names, as a chart leads here. */
function CountsWithin({ id, from, to }: { id: string; from: string | undefined; to: string | undefined }) {
  const [, set] = usePageSearch();
  const mayCount = useMay('deliveries:read');
  const input = { metric: 'refused', sourceId: id, from, to, step: stepFor(from) } as const;
  const answer = useAsk('getMetrics', input, { enabled: mayCount });
  if (!mayCount) return null;
  return (
    <Loaded answer={answer}>
      {({ series: [all] }) => (
        <>
          <div className="row" role="status">
            {countText(all?.total.refused ?? 0)} refused in this time range
            <Button variant="default" onClick={() => set({ from: undefined, to: undefined })}>
              Show all
            </Button>
          </div>
          <Causes
            of={Object.entries(all?.total.causes ?? {}).map(([cause, count]) => ({
              ...{ cause: cause as Cause, count, limit: null },
            }))}
          />
        </>
      )}
    </Loaded>
  );
}

function Counts({ of: { total, causes, since } }: { of: RefusalCounts }) {
  return (
    <>
      <p role="status">
        {total === 0 ? 'None refused' : `${countText(total)} refused`} since <Time at={since} exact />
      </p>
      <Causes of={causes} />
    </>
  );
}

function Causes({ of }: { of: { cause: Cause; limit: string | null; count: number; lastAt?: string }[] }) {
  return of.map((one) => (
    <p key={`${one.cause} ${one.limit}`}>
      <strong>
        {causeText(one)}: {plural(one.count, 'webhook')}
      </strong>{' '}
      <span className="quiet">
        {one.lastAt && (
          <>
            Last refused <Time at={one.lastAt} />.{' '}
          </>
        )}
        {CAUSES[one.cause]}
      </span>
    </p>
  ));
}

function One({ refusal, mayRead }: { refusal: Refusal; mayRead: boolean }) {
  return (
    <div className="stack">
      <p>{CAUSES[refusal.cause]}</p>
      <Facts
        isWide
        of={{
          Refused: <Time at={refusal.refusedAt} ms exact />,
          Cause: causeText(refusal),
          Response: `${refusal.status} ${plain(refusal.message)}`,
          Method: refusal.method,
          'Client address': plain(refusal.clientAddress),
          Size: refusal.payloadSize === null ? 'Unknown' : sizeText(refusal.payloadSize),
        }}
      />
      <Headers title="Headers" of={refusal.headers} />
      <h3>Start of payload</h3>
      {!mayRead && <p className="quiet">Requires the payloads:read scope.</p>}
      {mayRead && refusal.payloadStart == null && <p className="quiet">Refused before the payload was read.</p>}
      {refusal.payloadStart != null && (
        <>
          {refusal.payloadEncoding && <p className="small quiet">Binary, shown as base64</p>}
          <pre className="mono verbatim">
            <bdi>{plain(refusal.payloadStart)}</bdi>
          </pre>
        </>
      )}
    </div>
  );
}
