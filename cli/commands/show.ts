// Output helpers: lists with their page position, records, and confirmations.
import type { Pagination } from '../../client/index.ts';
import type { Context } from '../context.ts';

/** One page as a table, and on stderr how to get at the others. */
export function showPage<Item>(
  { output }: Context,
  page: { data: Item[]; pagination: Pagination },
  columns: Record<string, (item: Item) => unknown>,
): void {
  output.result(page, () => {
    const names = Object.keys(columns);
    if (page.data.length > 0)
      output.table(
        names,
        page.data.map((item) => Object.values(columns).map((read) => read(item))),
      );
    const { total, page: number, pageSize } = page.pagination;
    if (total === 0) output.note('none');
    else if (total > page.data.length) {
      const more = number * pageSize < total ? `; --page ${number + 1} shows the next` : '';
      output.note(`${page.data.length} of ${total}${more}`);
    }
  });
}

/** A record, its members below each other. */
export function showRecord({ output }: Context, record: object): void {
  output.result(record, () => output.fields({ ...record }));
}

/** One line about what was done. */
export function showDone({ output }: Context, value: object, line: string): void {
  output.result(value, () => output.line(line));
}
