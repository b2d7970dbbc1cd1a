// Output helpers: lists with their page position, records, and confirmations.
import type { CursorPagination, Pagination } from '../../client/index.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output.ts';

/** One page, or what follows a cursor, as a table, and on stderr how to get at the others. */
export function showPage<Item>(
  { output }: Context,
  page: { data: Item[]; pagination: Pagination | CursorPagination },
  columns: Record<string, (item: Item) => unknown>,
): void {
  output.result(page, () => {
    const names = Object.keys(columns);
    if (page.data.length > 0)
      output.table(
        names,
        page.data.map((item) => Object.values(columns).map((read) => read(item))),
      );
    const { pagination } = page;
    if ('nextCursor' in pagination) noteNext(output, page.data.length, pagination);
    else notePage(output, page.data.length, pagination);
  });
}

function notePage(output: Output, shown: number, { total, page, pageSize }: Pagination): void {
  if (total === 0) output.note('none');
  else if (total > shown) {
    const more = page * pageSize < total ? `; --page ${page + 1} shows the next` : '';
    output.note(`${shown} of ${total}${more}`);
  }
}

function noteNext(output: Output, shown: number, { nextCursor, searchedUntil }: CursorPagination): void {
  if (nextCursor === null) output.note(shown === 0 ? 'none' : 'these are the last');
  else {
    const until = searchedUntil === null ? '' : `searched back to ${searchedUntil}; `;
    output.note(`${until}--cursor ${nextCursor} shows the next`);
  }
}

/** A record, its members below each other. */
export function showRecord({ output }: Context, record: object): void {
  const { warnings: _noted, ...members } = record as { warnings?: unknown };
  output.result(record, () => output.fields(members));
  noteWarnings(output, record);
}

/** One line about what was done. */
export function showDone({ output }: Context, value: object, line: string): void {
  output.result(value, () => output.line(line));
  noteWarnings(output, value);
}

function noteWarnings(output: Output, { warnings = [] }: { warnings?: string[] }): void {
  for (const warning of warnings) output.note(`warning: ${warning}`);
}
