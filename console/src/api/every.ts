// All that match, by cursor: what is stored meanwhile shifts nothing. Up to a bound that is told.
import { call, type Input, type Item } from './client.ts';

/** Lists that take a cursor and are shown with filters. */
export type CursorList = 'listEvents' | 'listDeliveries' | 'listIssues' | 'listAuditRecords';

const PAGE = 100;
export const MOST = 10_000;

interface Gathered<Row> {
  rows: Row[];
  /** Whether there are more. */
  isCut: boolean;
}

/** @param tell is called with how many there are so far */
export async function every<N extends CursorList>(
  name: N,
  filters: Partial<Input<N>>,
  { signal, tell }: { signal: AbortSignal; tell: (count: number) => void },
): Promise<Gathered<Item<N>>> {
  const rows: Item<N>[] = [];
  for (let cursor: string | null = 'first'; cursor !== null; ) {
    const input = { ...filters, cursor, pageSize: PAGE } as unknown as Input<N>;
    const answer = (await call(name, input, { signal })) as {
      data: Item<N>[];
      pagination: { nextCursor: string | null };
    };
    rows.push(...answer.data);
    tell(Math.min(rows.length, MOST));
    cursor = answer.pagination.nextCursor;
    if (rows.length >= MOST) return { rows: rows.slice(0, MOST), isCut: cursor !== null || rows.length > MOST };
  }
  return { rows, isCut: false };
}
