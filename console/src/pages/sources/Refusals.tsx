// Webhooks that a source refused: how many, why, what the senders were told, and what came.
import { Button, Group, Modal, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import type { Refusal, RefusalCounts } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Facts } from '../../components/Facts.tsx';
import { Loaded } from '../../components/Loaded.tsx';
import { ChoiceFilter } from '../../components/filters.tsx';
import { Headers } from '../../components/Headers.tsx';
import { countText, plain, sizeText } from '../../format.ts';
import type { RangeName } from '../../search.ts';
import { pageOf, usePageSearch } from '../../search.ts';
import { stepFor } from '../refusals/step.ts';
import { Time } from '../../zone.tsx';

const AGAIN_MS = 10_000;
const MOST_KEPT = 100;

type Cause = Refusal['cause'];

/** What each cause means, and what helps. */
const CAUSES: Record<Cause, string> = {
  signature: 'The signature is missing, wrong or too old: compare the secret with that of the sender.',
  token: 'The address was sent to without its unguessable part: give the sender the whole address.',
  path: 'The address continued below that of the source: let it take paths, or give the sender the address alone.',
  disabled: 'The source is disabled: enable it.',
  suspended: 'The organization is suspended: ask the operator.',
  too_large: 'The payload is larger than is accepted.',
  incomplete: 'The sender ended the connection before the payload was there.',
  too_slow: 'The payload came too slowly.',
  limit: 'A limit of the organization was reached: see Usage.',
  unavailable: 'There was no room, or the database was away. Most senders repeat it.',
  error: 'The service failed: the operator finds it in the log.',
};

const columns: Column<Refusal>[] = [
  { title: 'Time', cell: (refusal) => <Time at={refusal.refusedAt} ms />, csv: (refusal) => refusal.refusedAt },
  { title: 'Cause', cell: causeText, csv: causeText },
  { title: 'Answered', cell: (refusal) => refusal.status, csv: (refusal) => refusal.status, numeric: true },
  {
    title: 'Told',
    cell: (refusal) => <bdi>{plain(refusal.message)}</bdi>,
    csv: (refusal) => refusal.message,
    wideOnly: true,
  },
  { title: 'From', cell: (refusal) => refusal.clientAddress, csv: (refusal) => refusal.clientAddress },
  {
    title: 'Size',
    cell: (refusal) => (refusal.payloadSize === null ? '-' : sizeText(refusal.payloadSize)),
    csv: (refusal) => refusal.payloadSize,
    numeric: true,
    wideOnly: true,
  },
];

function causeText({ cause, limit }: { cause: Cause; limit: string | null }): string {
  return limit === null ? cause.replaceAll('_', ' ') : `limit ${limit}`;
}

export function Refusals({ id, range }: { id: string; range: RangeName }) {
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
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isPart) place.current?.scrollIntoView();
  }, [isPart]);
  return (
    <section aria-label="Refused webhooks" ref={place}>
      <Group justify="space-between" mt="sm">
        <h2>Refused webhooks</h2>
        <CopyMenu call={{ name: 'listRefusals', input }} columns={columns} rows={shown?.data ?? []} />
      </Group>
      {isPart ? <CountsWithin id={id} from={from} to={to} /> : data && <Counts of={data.counts} />}
      {data && (data.counts.total > 0 || cause !== undefined) && (
        <Group align="end" gap="xs" mb="sm">
          <ChoiceFilter name="cause" label="Cause" choices={Object.keys(CAUSES)} />
        </Group>
      )}
      {data?.counts.total === 0 && cause === undefined ? null : (
        <DataTable
          title="Refused"
          columns={columns}
          idOf={(refusal) => refusal.id}
          answer={{ ...answer, data: shown }}
          onOpen={(refusal) => set({ open: refusal.id })}
          onPage={(page) => set({ page: String(page) })}
          empty="None of these is among the last hundred that were kept."
        />
      )}
      <Modal opened={opened !== undefined} onClose={() => set({ open: undefined })} title="A refused webhook" size="lg">
        {opened && <One refusal={opened} mayRead={mayRead} />}
      </Modal>
    </section>
  );
}

const isWithin = ({ refusedAt }: Refusal, from?: string, to?: string): boolean =>
  (from === undefined || Date.parse(refusedAt) >= Date.parse(from)) &&
  (to === undefined || Date.parse(refusedAt) <= Date.parse(to));

/** How many were refused in the time that the address names, as a chart leads here. */
function CountsWithin({ id, from, to }: { id: string; from: string | undefined; to: string | undefined }) {
  const [, set] = usePageSearch();
  const mayCount = useMay('deliveries:read');
  const answer = useAsk(
    'getMetrics',
    { metric: 'refused', sourceId: id, from, to, step: stepFor(from) },
    { enabled: mayCount },
  );
  return (
    <>
      <Group gap="xs">
        <Text size="sm">
          From <Time at={from} /> to {to === undefined ? 'now' : <Time at={to} />}.
        </Text>
        <Button size="xs" variant="default" onClick={() => set({ from: undefined, to: undefined })}>
          All times
        </Button>
      </Group>
      {mayCount && (
        <Loaded answer={answer}>
          {({ series: [all] }) => (
            <>
              <Text size="sm" role="status">
                {countText(all?.total.refused ?? 0)} were refused.
              </Text>
              <ul>
                {Object.entries(all?.total.causes ?? {}).map(([cause, count]) => (
                  <li key={cause}>
                    <strong>
                      {countText(count)} × {cause.replaceAll('_', ' ')}
                    </strong>
                    . {CAUSES[cause as Cause]}
                  </li>
                ))}
              </ul>
            </>
          )}
        </Loaded>
      )}
    </>
  );
}

function Counts({ of: { total, causes, since, period } }: { of: RefusalCounts }) {
  return (
    <>
      <Text size="sm" role="status">
        {total === 0 ? 'None was refused' : `${countText(total)} were refused`} since <Time at={since} /> ({period}).
      </Text>
      <ul>
        {causes.map((one) => (
          <li key={`${one.cause} ${one.limit}`}>
            <strong>
              {countText(one.count)} × {causeText(one)}
            </strong>
            , last <Time at={one.lastAt} />. {CAUSES[one.cause]}
          </li>
        ))}
      </ul>
    </>
  );
}

function One({ refusal, mayRead }: { refusal: Refusal; mayRead: boolean }) {
  return (
    <>
      <Text>{CAUSES[refusal.cause]}</Text>
      <Facts
        of={[
          ['Time', <Time key="at" at={refusal.refusedAt} ms />],
          ['Cause', causeText(refusal)],
          ['Answered', `${refusal.status}: ${plain(refusal.message)}`],
          ['Method', refusal.method],
          ['From', plain(refusal.clientAddress)],
          ['Size', refusal.payloadSize === null ? 'not known' : sizeText(refusal.payloadSize)],
        ]}
      />
      <Headers title="Headers" of={refusal.headers} />
      <h3>How the payload begins</h3>
      {!mayRead && <Text size="sm">This key may not see it: that needs payloads:read.</Text>}
      {mayRead && refusal.payloadStart == null && <Text size="sm">It was refused before the payload was read.</Text>}
      {refusal.payloadStart != null && (
        <>
          {refusal.payloadEncoding && <Text size="sm">It is no text; this is base64.</Text>}
          <pre className="shown">
            <bdi>{plain(refusal.payloadStart)}</bdi>
          </pre>
        </>
      )}
    </>
  );
}
