// Whole lists for choices: every record, page by page, up to a bound that is told.
import { useQuery } from '@tanstack/react-query';
import type { ListName } from '@hookyard/client';
import { call, type Input, type Item } from './client.ts';

const PAGE = 100;
const MOST = 2000;

interface All<Record> {
  records: Record[];
  /** Whether there are more than are shown. */
  isCut: boolean;
}

/**
 * All records of a list, refetched at an interval in ms if one is given. Its query key begins with the operation, so
 * that whatever invalidates the list invalidates this too.
 */
export function useAll<N extends ListName>(name: N, enabled = true, every: number | false = false) {
  return useQuery({
    queryKey: [name, 'all'] as const,
    enabled,
    refetchInterval: every,
    queryFn: async ({ signal }): Promise<All<Item<N>>> => {
      const records: Item<N>[] = [];
      for (let page = 1; ; page++) {
        const answer = (await call(name, { page, pageSize: PAGE } as Input<N>, { signal })) as {
          data: Item<N>[];
          pagination: { total: number };
        };
        records.push(...answer.data);
        const isAll = answer.data.length === 0 || page * PAGE >= answer.pagination.total;
        if (isAll || records.length >= MOST) return { records, isCut: !isAll };
      }
    },
  });
}
