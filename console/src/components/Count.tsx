// How many records a list has, from its total.
import { Link } from '@tanstack/react-router';
import { told, type Input } from '../api/client.ts';
import { AGAIN_MS, useAsk } from '../api/queries.ts';
import { plural, pluralOf, type Total, totalText } from '../format.ts';

type Counted = 'listEvents' | 'listDeliveries' | 'listRoutes' | 'listIssues';

interface Props<N extends Counted> {
  list: N;
  input: Input<N>;
  /** What is counted: `event`. */
  one: string;
}

/** `12,431 events`; says so when it cannot be counted. */
export function Count<N extends Counted>({ list, input, one }: Props<N>) {
  const { data, error } = useAsk(list, { ...input, pageSize: 1 } as Input<N>, { every: AGAIN_MS });
  const answer = (data as { pagination: Total } | undefined)?.pagination;
  if (error) return `${pluralOf(one)} (could not count: ${told(error).title})`;
  if (answer === undefined) return `… ${pluralOf(one)}`;
  return <span data-count={answer.total}>{plural(answer.total, one, totalText(answer))}</span>;
}

const PAGES = { listEvents: '/events', listDeliveries: '/deliveries', listRoutes: '/routes', listIssues: '/issues' };

/** The same, as a link to the list with these filters. */
export const CountLink = <N extends Counted>(props: Props<N>) => (
  <Link
    to={PAGES[props.list]}
    search={{ ...props.input, ...(props.list === 'listDeliveries' && { range: 'all' }) } as never}
  >
    <Count {...props} />
  </Link>
);
