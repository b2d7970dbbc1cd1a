// What commands print: lists with how to get at the rest of them, records, and confirmations.
import { setTimeout as delay } from 'node:timers/promises';
import type { Delivery, EventInFull, CursorPagination, Pagination } from '../client/index.ts';
import { plural } from '../core/text/words.ts';
import type { Context } from './context.ts';
import { EXIT } from './errors.ts';
import type { Output } from './output.ts';

type Item = Record<string, unknown>;
/**
 * By its title, what a column shows: paths of members of an item, with `|` between them for the first that is there, or
 * a function.
 */
export type Columns = Record<string, string | ((item: never) => unknown)>;

/** Columns of a list that has none of its own. */
const MOST_COLUMNS = 7;

export function showList(
  { output }: Context,
  list: { data: Item[]; pagination?: Pagination | CursorPagination },
  columns: Columns = columnsOf(list.data),
): void {
  output.result(list, () => {
    const { data, pagination } = list;
    const readers = Object.values(columns);
    if (data.length > 0)
      output.table(
        Object.keys(columns),
        data.map((item) =>
          readers.map((reader) => (typeof reader === 'string' ? at(item, reader) : reader(item as never))),
        ),
      );
    if (pagination === undefined) {
      if (data.length === 0) output.note('none');
    } else if ('nextCursor' in pagination) noteNext(output, data.length, pagination);
    else notePage(output, data.length, pagination);
  });
}

/** The members that are no objects, the first of them. */
function columnsOf([first = {}]: Item[]): Columns {
  const names = Object.keys(first).filter((name) => typeof first[name] !== 'object' || first[name] === null);
  return Object.fromEntries(names.slice(0, MOST_COLUMNS).map((name) => [name, name]));
}

/** What is at a path such as `source.name`; of the items of a list in between all, with commas. */
function at(item: unknown, path: string): unknown {
  const [first, ...others] = path.split('|').map((each) => memberAt(item, each.split('.')));
  return first ?? others.find((value) => value !== null && value !== undefined) ?? null;
}

function memberAt(item: unknown, [name, ...rest]: string[]): unknown {
  if (name === undefined || item === null || item === undefined) return Array.isArray(item) ? item.join(', ') : item;
  if (Array.isArray(item)) return item.map((each) => memberAt(each, [name, ...rest])).join(', ');
  return memberAt((item as Item)[name], rest);
}

export const fill = (template: string, answer: Item, named: string): string =>
  template.replaceAll(/\{([^}]+)\}/g, (_, path: string) => (path === '_' ? named : String(at(answer, path) ?? '')));

function notePage(output: Output, shown: number, { total, page, pageSize }: Pagination): void {
  if (total === 0) output.note('none');
  else if (total > shown) {
    const more = page * pageSize < total ? `; next page: --page ${page + 1}` : '';
    output.note(`${shown} of ${total}${more}`);
  }
}

function noteNext(output: Output, shown: number, { nextCursor, searchedUntil }: CursorPagination): void {
  if (nextCursor === null) output.note(shown === 0 ? 'none' : 'end of the list');
  else {
    const until = searchedUntil === null ? '' : `searched back to ${searchedUntil}; `;
    output.note(`${until}next page: --cursor ${nextCursor}`);
  }
}

export function showRecord({ output }: Context, record: object): void {
  const { warnings: _noted, ...members } = record as { warnings?: unknown };
  output.result(record, () => output.fields(members));
  noteWarnings(output, record);
}

export function showDone({ output }: Context, value: object, line: string): void {
  output.result(value, () => output.line(line));
  noteWarnings(output, value);
}

function noteWarnings(output: Output, { warnings = [] }: { warnings?: string[] }): void {
  for (const warning of warnings) output.note(`warning: ${warning}`);
}

// Watching an event until its deliveries have ended.

const FIRST_PAUSE_MS = 200;
const LAST_PAUSE_MS = 2000;

/**
 * Prints each change of the event's deliveries; with --json the event as it ended. Sets exit code 1 unless all were
 * delivered.
 */
export async function watchEvent({ client, output }: Context, id: string): Promise<void> {
  const printed = new Map<string, string>();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LAST_PAUSE_MS)) {
    const event = await client.getEvent({ id, includeDeliveries: true });
    for (const delivery of event.deliveries ?? []) {
      const line = lineOf(delivery);
      if (printed.get(delivery.id) === line) continue;
      printed.set(delivery.id, line);
      if (output.json) output.note(line);
      else output.line(line);
      pauseMs = FIRST_PAUSE_MS;
    }
    if (event.status !== 'pending') return showEnd(output, event);
    await delay(pauseMs);
  }
}

function showEnd(output: Output, event: EventInFull): void {
  output.result(event, () =>
    output.line(event.routed ? `${event.id}: ${event.status}` : `${event.id} matched no route`),
  );
  if (event.status !== 'delivered') process.exitCode = EXIT.refused;
}

function lineOf({ id, destinationId, status, attemptCount, error, nextAttemptAt }: Delivery): string {
  const tries = attemptCount > 0 ? ` after ${plural(attemptCount, 'attempt')}` : '';
  const next = nextAttemptAt ? `, next at ${nextAttemptAt}` : '';
  return `${id} to ${destinationId}: ${status}${tries}${error && status !== 'delivered' ? ` (${error})` : ''}${next}`;
}
