// Where a delivery comes from and what came of it: failovers and replays, forwards and backwards.
import type { Delivery } from '@hookyard/client';
import { AGAIN_MS, useAsk } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Card, Id, Status, toneOf } from '../../components/ui.tsx';
import { plural } from '../../format.ts';
import { Time } from '../../zone.tsx';
import { nameOf } from './columns.tsx';

/** Of one event; more are only on the page of deliveries. */
const MOST = 100;

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
  const { data, error, refetch } = useAsk(
    'listDeliveries',
    { eventId: of.eventId, pageSize: MOST },
    { every: AGAIN_MS },
  );
  if (error) return <Failed error={error} again={() => void refetch()} />;
  const chain = chainOf(of.id, data?.data ?? []);
  const total = data?.pagination.total ?? 0;
  if (chain.length < 2) return null;
  return (
    <Card title="Failovers and replays">
      <ol className="steps">
        {chain.map((one) => (
          <li key={one.id} data-tone={toneOf(one.status)} aria-current={one.id === of.id ? 'true' : undefined}>
            <div className="step">
              <Status of={one.status} />
              {one.id === of.id ? <strong>This delivery</strong> : <Id of={one.id} />}
              <bdi>{nameOf(one.destination)}</bdi>
              <Time at={one.createdAt} />
              <span className="quiet">{originOf(one, of.id)}</span>
            </div>
          </li>
        ))}
      </ol>
      {total > MOST && (
        <p className="small quiet">
          Only the newest {MOST} of the event's {plural(total, 'delivery')} were searched
        </p>
      )}
    </Card>
  );
}

function originOf(one: Linked, shown: string): string {
  const from = madeFrom(one);
  if (from === null) return 'original';
  const kind = one.replayOf === null ? 'failover' : 'replay';
  return from === shown ? `${kind} of this delivery` : kind;
}
