// The columns of lists of deliveries.
import { Link } from '@tanstack/react-router';
import type { Delivery } from 'hookyard/client';
import type { Column } from '../../components/DataTable.tsx';
import { Status } from '../../components/Status.tsx';
import { plain, shortened } from '../../format.ts';
import { Time } from '../../zone.tsx';

const MOST_ERROR = 160;
/** A record that was deleted has no name any more. */
export const nameOf = (record: { id: string; name: string | null } | null): string =>
  plain(record?.name ?? record?.id ?? '-');

export const columns: Column<Delivery>[] = [
  { title: 'Created', cell: (one) => <Time at={one.createdAt} />, csv: (one) => one.createdAt },
  { title: 'Status', cell: (one) => <Status of={one.status} />, csv: (one) => one.status },
  { title: 'Code', cell: (one) => one.statusCode ?? '-', csv: (one) => one.statusCode, numeric: true },
  {
    title: 'Destination',
    cell: (one) => <bdi>{nameOf(one.destination)}</bdi>,
    csv: (one) => one.destinationId,
  },
  { title: 'Route', cell: (one) => <bdi>{nameOf(one.route)}</bdi>, csv: (one) => one.routeId, wideOnly: true },
  { title: 'Attempts', cell: (one) => one.attemptCount, csv: (one) => one.attemptCount, numeric: true },
  {
    title: 'Next attempt',
    cell: (one) => <Time at={one.nextAttemptAt} />,
    csv: (one) => one.nextAttemptAt,
    wideOnly: true,
  },
  {
    title: 'Error',
    cell: (one) => <bdi>{plain(shortened(one.error ?? '', MOST_ERROR))}</bdi>,
    csv: (one) => one.error,
    wideOnly: true,
  },
  {
    title: 'Delivery',
    cell: (one) => <Link to={`/deliveries/${one.id}`}>{one.id}</Link>,
    csv: (one) => one.id,
    wideOnly: true,
  },
];
