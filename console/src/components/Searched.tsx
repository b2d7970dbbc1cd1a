// Below a list by cursor: how far it was searched, how it continues, and how many there are, if one asks.
import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { Input } from '../api/client.ts';
import { told } from '../api/errors.ts';
import type { Filters, GrowingList, Reached } from '../api/parts.ts';
import { useAsk } from '../api/queries.ts';
import { countText, type Total, totalText } from '../format.ts';
import { usePageSearch } from '../search.ts';
import { Time } from '../zone.tsx';

/** What a part without a row says that is not the last. */
export const SO_FAR = 'None was found so far: the search continues below.';

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
    <Group justify="space-between" mt="xs">
      <Text size="sm" role="status" data-shown={shown}>
        {countText(shown)} {cursor === undefined ? 'shown' : 'more shown'}
        {nextCursor === null && ', there are no others'}
        {searchedUntil !== null && (
          <>
            ; searched back to <Time at={searchedUntil} />
          </>
        )}
        . <HowMany key={JSON.stringify(filters)} list={list} filters={filters} />
      </Text>
      <Group gap="xs">
        {cursor !== undefined && (
          <Button size="xs" variant="default" onClick={() => set({ cursor: undefined })}>
            From the newest
          </Button>
        )}
        {nextCursor !== null && (
          <Button size="xs" variant="default" onClick={() => set({ cursor: nextCursor })}>
            {searchedUntil === null ? 'Older' : 'Continue searching'}
          </Button>
        )}
      </Group>
    </Group>
  );
}

/** Counting reads many rows, so it is asked for. */
function HowMany<N extends GrowingList>({ list, filters }: Pick<Props<N>, 'list' | 'filters'>) {
  const [isAsked, setAsked] = useState(false);
  const input = { ...filters, cursor: 'first', pageSize: 1, withTotal: true } as unknown as Input<N>;
  const { data, error } = useAsk(list, input, { enabled: isAsked });
  const total = (data as { pagination: Total } | undefined)?.pagination;
  if (error) return <span>They could not be counted: {told(error).message}</span>;
  if (total !== undefined) return <strong data-count={total.total}>{totalText(total)} match in all.</strong>;
  return (
    <Button size="compact-xs" variant="default" loading={isAsked} onClick={() => setAsked(true)}>
      Count all
    </Button>
  );
}
