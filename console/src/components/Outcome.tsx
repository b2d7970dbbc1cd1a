// What has become of replays.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call, type Input } from '../api/client.ts';
import { WATCH_MS } from '../api/queries.ts';
import { countText, plural } from '../format.ts';
import { OPEN, STATUS_NAMES } from '../words.ts';
import { Failed } from './Failed.tsx';
import { Callout } from './ui.tsx';

const FAILED_OVER = STATUS_NAMES.filter((status) => status === 'failed_over');
const FAILED = STATUS_NAMES.filter((status) => ![...OPEN, 'delivered', ...FAILED_OVER].includes(status));

type Where = Pick<NonNullable<Input<'listDeliveries'>>, 'sourceId' | 'routeId' | 'destinationId' | 'eventId'>;

interface Props {
  where: Where;
  /** Of `sinceNow`, before the replay. */
  since: string;
  /** When the list of them is opened. */
  onSee?: () => void;
}

export function Outcome({ where, since, onSee }: Props) {
  const { data, error, refetch } = useQuery({
    queryKey: ['listDeliveries', 'outcome', where, since],
    refetchInterval: WATCH_MS,
    queryFn: async ({ signal }) => {
      const totals: number[] = [];
      // One after the other, because an organization may run only a few searches at once. The total comes first, so
      // replays that end meanwhile are counted as delivered by the next request, never twice.
      for (const status of [STATUS_NAMES, OPEN, FAILED, FAILED_OVER]) {
        const input = { ...where, isReplay: true, from: since, status: [...status], pageSize: 1 };
        totals.push((await call('listDeliveries', input, { signal })).pagination.total);
      }
      return totals;
    },
  });
  if (error) return <Failed error={error} again={() => void refetch()} />;
  if (!data) return null;
  const [all = 0, waiting = 0, lost = 0, handed = 0] = data;
  const done = Math.max(0, all - waiting - lost - handed);
  return (
    <Callout
      tone={lost > 0 ? 'bad' : done < all ? 'info' : 'ok'}
      role="status"
      title={done === 1 && all === 1 ? 'Replay delivered' : `${countText(done)} of ${plural(all, 'replay')} delivered`}
    >
      {waiting > 0 && `${countText(waiting)} in progress. `}
      {lost > 0 && `${countText(lost)} not delivered. `}
      {handed > 0 && `${countText(handed)} failed over. `}
      <Link to="/deliveries" search={{ ...where, isReplay: 'true', from: since } as never} onClick={onSee}>
        View replays
      </Link>
    </Callout>
  );
}

/** For `since`: after the deliveries that are there now, by the clock that made them. */
export async function sinceNow(where: Where): Promise<string> {
  const { data } = await call('listDeliveries', { ...where, pageSize: 1 });
  return new Date(data[0] ? Date.parse(data[0].createdAt) + 1 : 0).toISOString();
}
