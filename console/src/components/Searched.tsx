// Below a list by cursor: how far it was searched, how it continues, and how many there are, if one asks.
import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Input } from '../api/client.ts';
import { told } from '../api/errors.ts';
import type { Filters, GrowingList, Reached } from '../api/parts.ts';
import { useAsk } from '../api/queries.ts';
import { countText, type Total, totalText } from '../format.ts';
import { usePageSearch } from '../search.ts';
import { Time } from '../zone.tsx';

interface Props<N extends GrowingList> {
  list: N;
  filters: Filters<N>;
  shown: number;
  reached: Reached;
}

export function Searched<N extends GrowingList>({ list, filters, shown, reached }: Props<N>) {
  const [{ cursor }, set] = usePageSearch();
  const { nextCursor, searchedUntil } = reached;
  return (
    <div className="row row-between">
      <span className="small quiet" role="status" data-shown={shown}>
        {countText(shown)} {cursor === undefined ? 'shown' : 'more shown'}
        {nextCursor === null && ', end of results'}
        {searchedUntil !== null && (
          <>
            , searched back to <Time at={searchedUntil} exact />
          </>
        )}{' '}
        <HowMany key={JSON.stringify(filters)} list={list} filters={filters} />
      </span>
      <div className="row">
        {cursor !== undefined && (
          <Button variant="default" onClick={() => set({ cursor: undefined })}>
            Newest
          </Button>
        )}
        {nextCursor !== null && (
          <Button variant="default" onClick={() => set({ cursor: nextCursor })}>
            {searchedUntil === null ? 'Older' : 'Continue searching'}
          </Button>
        )}
      </div>
    </div>
  );
}

/** Counting reads many rows, so it is asked for. */
function HowMany<N extends GrowingList>({ list, filters }: Pick<Props<N>, 'list' | 'filters'>) {
  const [isAsked, setAsked] = useState(false);
  const input = { ...filters, cursor: 'first', pageSize: 1, withTotal: true } as unknown as Input<N>;
  const { data, error } = useAsk(list, input, { enabled: isAsked });
  const total = (data as { pagination: Total } | undefined)?.pagination;
  if (error) return <span>Not counted: {told(error).message}</span>;
  if (total !== undefined) return <strong data-count={total.total}>{totalText(total)} in total</strong>;
  return (
    <Button size="compact-xs" variant="default" loading={isAsked} onClick={() => setAsked(true)}>
      Count all
    </Button>
  );
}
