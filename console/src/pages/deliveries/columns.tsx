// The columns of lists of deliveries.
import { Link } from '@tanstack/react-router';
import type { Delivery } from '@hookyard/client';
import { beginColumn, type Column } from '../../components/DataTable.tsx';
import { Status, statusText } from '../../components/ui.tsx';
import { plain, shortened } from '../../format.ts';
import { waitingText } from '../../words.ts';

const MOST_ERROR = 160;
/** A record that was deleted has no name any more. */
export const nameOf = (record: { id: string; name: string | null } | null): string =>
  plain(record?.name ?? record?.id ?? '–');

export const columns: Column<Delivery>[] = [
  beginColumn('Created', '/deliveries', (one) => one.createdAt),
  {
    title: 'Status',
    value: (one) => one.status,
    cell: (one) =>
      one.waitsFor === null ? (
        <span className="nowrap">
          <Status of={one.status} />{' '}
          {one.replayedBy && (
            <Link to={`/deliveries/${one.replayedBy.id}`} className="small quiet underlined">
              Replayed: {statusText(one.replayedBy.status).toLowerCase()}
            </Link>
          )}
        </span>
      ) : (
        <Link to={`/deliveries/${one.waitsFor}`} title={waitingText(one)}>
          <Status of="waiting" />
        </Link>
      ),
  },
  { title: 'Code', value: (one) => one.statusCode, numeric: true },
  { title: 'Destination', value: (one) => one.destinationId, cell: (one) => <bdi>{nameOf(one.destination)}</bdi> },
  { title: 'Route', value: (one) => one.routeId, cell: (one) => <bdi>{nameOf(one.route)}</bdi>, wideOnly: true },
  { title: 'Attempts', value: (one) => one.attemptCount, as: 'count' },
  { title: 'Next attempt', value: (one) => one.nextAttemptAt, as: 'time', wideOnly: true },
  {
    title: 'Error',
    value: (one) => one.error,
    cell: (one) => <bdi title={plain(one.error ?? '')}>{plain(shortened(one.error ?? '–', MOST_ERROR))}</bdi>,
    wideOnly: true,
  },
  { title: 'Finished', value: (one) => one.finishedAt, as: 'time', wideOnly: true, optional: true },
  { title: 'Event', value: (one) => one.eventId, as: 'id', wideOnly: true, optional: true },
  { title: 'ID', value: (one) => one.id, as: 'id', wideOnly: true },
];
