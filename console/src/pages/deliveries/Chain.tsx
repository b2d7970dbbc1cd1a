// Where a delivery comes from and what came of it: failovers and replays, forwards and backwards.
import { Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Delivery } from 'hookyard/client';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Status } from '../../components/Status.tsx';
import { countText } from '../../format.ts';
import { Time } from '../../zone.tsx';
import { columns, nameOf } from './columns.tsx';

/** Of one event; more are only on the page of deliveries. */
const MOST = 100;
const AGAIN_MS = 5000;

type Linked = Pick<Delivery, 'id' | 'eventId' | 'replayOf' | 'failoverOf'>;
const madeFrom = ({ replayOf, failoverOf }: Linked): string | null => replayOf ?? failoverOf;

/** A delivery with all before it and all that came of them, oldest first. */
function chainOf<One extends Linked>(id: string, all: readonly One[]): One[] {
  const byId = new Map(all.map((one) => [one.id, one]));
  const wanted = new Set<string>();
  for (let one = byId.get(id); one && !wanted.has(one.id); one = byId.get(madeFrom(one) ?? '')) wanted.add(one.id);
  for (let size = 0; size < wanted.size; ) {
    size = wanted.size;
    for (const one of all) if (wanted.has(madeFrom(one) ?? '')) wanted.add(one.id);
  }
  // Ids begin with when they were made.
  return all.filter((one) => wanted.has(one.id)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

export function Chain({ of }: { of: Linked }) {
  const input = { eventId: of.eventId, pageSize: MOST };
  const { data, error, refetch } = useAsk('listDeliveries', input, { every: AGAIN_MS });
  if (error) return <Failed error={error} again={() => void refetch()} />;
  const chain = chainOf(of.id, data?.data ?? []);
  const total = data?.pagination.total ?? 0;
  if (chain.length < 2) return null;
  return (
    <section aria-label="Chain">
      <Group justify="space-between" mt="sm">
        <h2>Failovers and replays</h2>
        <CopyMenu call={{ name: 'listDeliveries', input }} columns={columns} rows={chain} />
      </Group>
      <ol className="chain">
        {chain.map((one) => (
          <li key={one.id} aria-current={one.id === of.id ? 'true' : undefined}>
            <Group gap="xs">
              <Status of={one.status} />
              {one.id === of.id ? <strong>this delivery</strong> : <Link to={`/deliveries/${one.id}`}>{one.id}</Link>}
              <span>
                to <bdi>{nameOf(one.destination)}</bdi>, <Time at={one.createdAt} />
              </span>
              <span className="quiet">{origin(one, chain)}</span>
            </Group>
          </li>
        ))}
      </ol>
      {total > MOST && (
        <Text size="sm">
          Of the newest {countText(MOST)} of {countText(total)} deliveries of the event.
        </Text>
      )}
    </section>
  );
}

function origin(one: Linked, chain: readonly Linked[]): string {
  const from = madeFrom(one);
  if (from === null) return 'the first';
  const place = chain.findIndex(({ id }) => id === from) + 1;
  const which = place === 0 ? from : `number ${place}`;
  return one.replayOf === null ? `took over from ${which}` : `repeats ${which}`;
}
