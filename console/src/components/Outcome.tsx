// What has become of deliveries since something was sent again.
import { Link } from '@tanstack/react-router';
import { call, type Input } from '../api/client.ts';
import { useAsk } from '../api/queries.ts';
import { totalText } from '../format.ts';
import { isOpen, STATUS_NAMES } from '../words/deliveries.ts';
import { Time } from '../zone.tsx';
import { Failed } from './Failed.tsx';
import { Callout } from './ui.tsx';

const AGAIN_MS = 2000;
const OPEN = STATUS_NAMES.filter(isOpen);
const FAILED = STATUS_NAMES.filter((status) => !isOpen(status) && status !== 'delivered');

type Where = Pick<NonNullable<Input<'listDeliveries'>>, 'sourceId' | 'routeId' | 'destinationId' | 'eventId'>;

interface Props {
  where: Where;
  /** Of `sinceNow`, before it was sent again. */
  since: string;
  /** When the list of them is opened. */
  onSee?: () => void;
}

export function Outcome({ where, since, onSee }: Props) {
  const ask = (status: typeof OPEN) => ({ ...where, from: since, status, pageSize: 1 });
  const open = useAsk('listDeliveries', ask(OPEN), { every: AGAIN_MS });
  const failed = useAsk('listDeliveries', ask(FAILED), { every: AGAIN_MS });
  const delivered = useAsk('listDeliveries', ask(['delivered']), { every: AGAIN_MS });
  const error = open.error ?? failed.error ?? delivered.error;
  if (error) return <Failed error={error} again={() => void open.refetch()} />;
  if (!open.data || !failed.data || !delivered.data) return null;
  const lost = failed.data.pagination.total;
  return (
    <Callout tone={lost > 0 ? 'bad' : 'ok'} role="status" title="Result">
      Since <Time at={since} exact />: {totalText(delivered.data.pagination)} delivered,{' '}
      {totalText(open.data.pagination)} in progress, {totalText(failed.data.pagination)} failed.{' '}
      <Link to="/deliveries" search={{ ...where, from: since } as never} onClick={onSee}>
        View deliveries
      </Link>
    </Callout>
  );
}

/** For `since`: after the deliveries that are there now, by the clock that made them. */
export async function sinceNow(where: Where): Promise<string> {
  const { data } = await call('listDeliveries', { ...where, pageSize: 1 });
  return new Date(data[0] ? Date.parse(data[0].createdAt) + 1 : 0).toISOString();
}
