// How many records a list has, from its total.
import { Link } from '@tanstack/react-router';
import { told } from '../api/errors.ts';
import type { Input } from '../api/client.ts';
import { useAsk } from '../api/queries.ts';
import { plural, pluralOf, type Total, totalText } from '../format.ts';

type Counted = 'listEvents' | 'listDeliveries' | 'listRoutes' | 'listIssues';

/** `12,431 events`; says so when it cannot be counted. */
export function Count<N extends Counted>({ list, input, one }: { list: N; input: Input<N>; one: string }) {
  const { data, error } = useAsk(list, { ...input, pageSize: 1 } as Input<N>);
  const answer = (data as { pagination: Total } | undefined)?.pagination;
  if (error) return `${pluralOf(one)} (not counted: ${told(error).title})`;
  if (answer === undefined) return `… ${pluralOf(one)}`;
  return <span data-count={answer.total}>{plural(answer.total, one, totalText(answer))}</span>;
}

const PAGES = { listEvents: '/events', listDeliveries: '/deliveries', listRoutes: '/routes', listIssues: '/issues' };

/** The same, as a link to the list with these filters. */
export const CountLink = <N extends Counted>({ list, input, one }: { list: N; input: Input<N>; one: string }) => (
  <Link to={PAGES[list]} search={{ ...input, ...(list === 'listDeliveries' && { range: 'all' }) } as never}>
    <Count list={list} input={input} one={one} />
  </Link>
);
