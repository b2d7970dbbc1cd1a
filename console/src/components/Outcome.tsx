// What has become of replays.
import { Link } from '@tanstack/react-router';
import { call, type Input } from '../api/client.ts';
import { useAsk } from '../api/queries.ts';
import { countText, plural } from '../format.ts';
import { isOpen, STATUS_NAMES } from '../words/deliveries.ts';
import { Failed } from './Failed.tsx';
import { Callout } from './ui.tsx';

const AGAIN_MS = 2000;
const OPEN = STATUS_NAMES.filter(isOpen);
const FAILED = STATUS_NAMES.filter((status) => !isOpen(status) && status !== 'delivered' && status !== 'failed_over');

type Where = Pick<NonNullable<Input<'listDeliveries'>>, 'sourceId' | 'routeId' | 'destinationId' | 'eventId'>;

interface Props {
  where: Where;
  /** Of `sinceNow`, before the replay. */
  since: string;
  /** When the list of them is opened. */
  onSee?: () => void;
}

export function Outcome({ where, since, onSee }: Props) {
  const ask = (status: typeof OPEN) => ({ ...where, isReplay: true, from: since, status, pageSize: 1 });
  const open = useAsk('listDeliveries', ask(OPEN), { every: AGAIN_MS });
  const failed = useAsk('listDeliveries', ask(FAILED), { every: AGAIN_MS });
  const delivered = useAsk('listDeliveries', ask(['delivered']), { every: AGAIN_MS });
  const failedOver = useAsk('listDeliveries', ask(['failed_over']), { every: AGAIN_MS });
  const answers = [delivered, open, failed, failedOver];
  const refused = answers.find(({ error }) => error !== null);
  if (refused) return <Failed error={refused.error} again={() => void refused.refetch()} />;
  if (answers.some(({ data }) => data === undefined)) return null;
  const [done = 0, waiting = 0, lost = 0, handed = 0] = answers.map(({ data }) => data?.pagination.total ?? 0);
  const all = done + waiting + lost + handed;
  return (
    <Callout
      tone={lost > 0 ? 'bad' : done < all ? 'info' : 'ok'}
      role="status"
      title={done === 1 && all === 1 ? 'Replay delivered' : `${countText(done)} of ${plural(all, 'replay')} delivered`}
    >
      {waiting > 0 && `${countText(waiting)} in progress. `}
      {lost > 0 && `${countText(lost)} failed. `}
      {handed > 0 && `${countText(handed)} handed to a failover destination. `}
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
