// How many records a list has, from its total.
import { useAsk } from '../api/queries.ts';
import { told } from '../api/errors.ts';
import type { Input } from '../api/client.ts';
import { type Total, totalText } from '../format.ts';

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
  const answer = (data as { pagination: Total } | undefined)?.pagination;
  if (answer === undefined) return <span>… {many}</span>;
  return (
    <strong data-count={answer.total}>
      {totalText(answer)} {answer.total === 1 ? one : many}
    </strong>
  );
}
