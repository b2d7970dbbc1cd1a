// How many records a list has: exact, from its total.
import { useAsk } from '../api/queries.ts';
import { told } from '../api/errors.ts';
import type { Input } from '../api/client.ts';
import { countText } from '../format.ts';

type Counted = 'listEvents' | 'listDeliveries' | 'listRoutes' | 'listIssues';

/** `12,431 events`; says so when it cannot be counted. */
export function Count<N extends Counted>({
  list,
  input,
  one,
  many,
}: {
  list: N;
  input: Input<N>;
  one: string;
  many: string;
}) {
  const { data, error } = useAsk(list, { ...input, pageSize: 1 } as Input<N>);
  if (error)
    return (
      <span>
        {many} that could not be counted ({told(error).title})
      </span>
    );
  const total = (data as { pagination: { total: number } } | undefined)?.pagination.total;
  if (total === undefined) return <span>… {many}</span>;
  return (
    <strong data-count={total}>
      {countText(total)} {total === 1 ? one : many}
    </strong>
  );
}
