// Webhooks that a source refused: how many, why, what the senders were told, and what came.
import { Group, Modal, Text } from '@mantine/core';
import type { Refusal, RefusalCounts } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Facts } from '../../components/Facts.tsx';
import { ChoiceFilter } from '../../components/filters.tsx';
import { Headers } from '../../components/Headers.tsx';
import { countText, plain, sizeText } from '../../format.ts';
import type { RangeName } from '../../search.ts';
import { pageOf, usePageSearch } from '../../search.ts';
import { Time } from '../../zone.tsx';

const AGAIN_MS = 10_000;

type Cause = Refusal['cause'];

/** What each cause means, and what helps. */
const CAUSES: Record<Cause, string> = {
  signature: 'The signature is missing, wrong or too old: compare the secret with that of the sender.',
  token: 'The address was sent to without its unguessable part: give the sender the whole address.',
  path: 'The address went on below that of the source: let it take paths, or give the sender the address alone.',
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
  // The API counts a day, a week or a month.
  const period = range === '1h' ? '24h' : range;
  const cause = search.cause as Cause | undefined;
  const input = { id, period, cause, page: pageOf(search), pageSize: 20, includePayload: mayRead };
  const answer = useAsk('listRefusals', input, { keep: true, every: AGAIN_MS });
  const opened = answer.data?.data.find((refusal) => refusal.id === search.open);
  return (
    <section aria-label="Refused webhooks">
      <Group justify="space-between" mt="sm">
        <h2>Refused webhooks</h2>
        <CopyMenu call={{ name: 'listRefusals', input }} columns={columns} rows={answer.data?.data ?? []} />
      </Group>
      {answer.data && <Counts of={answer.data.counts} />}
      {answer.data && (answer.data.counts.total > 0 || cause !== undefined) && (
        <Group align="end" gap="xs" mb="sm">
          <ChoiceFilter name="cause" label="Cause" choices={Object.keys(CAUSES)} />
        </Group>
      )}
      {answer.data?.counts.total === 0 && cause === undefined ? null : (
        <DataTable
          title="Refused"
          columns={columns}
          idOf={(refusal) => refusal.id}
          answer={answer}
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
