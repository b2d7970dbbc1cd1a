// A list of records: columns, selection, pages, keys (`j k o x`). It says whether it is loading, failed, or really empty.
import { Button, Checkbox, Group, Loader, Text } from '@mantine/core';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { countText, MOST_COUNTED, type Total, totalText } from '../format.ts';
import { isTyping } from '../shell/typing.ts';
import { Failed } from './Failed.tsx';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** As CSV; without it the column is left out there. */
  csv?: (row: Row) => string | number | null | undefined;
  numeric?: boolean;
  /** Left out where the window is narrow. */
  wideOnly?: boolean;
}

export interface Selection {
  ids: ReadonlySet<string>;
  set: (ids: ReadonlySet<string>) => void;
}

interface Props<Row> {
  /** What the rows are, for screen readers and in texts: `Events`. */
  title: string;
  columns: Column<Row>[];
  idOf: (row: Row) => string;
  /** Of useAsk. */
  answer: {
    data?: { data: Row[]; pagination?: (Total & { page: number; pageSize: number }) | undefined } | undefined;
    error: unknown;
    isFetching: boolean;
    refetch: () => unknown;
  };
  /** What to say when there is nothing, and why that may be. */
  empty: ReactNode;
  onOpen?: (row: Row) => void;
  onPage?: (page: number) => void;
  selection?: Selection | undefined;
  /** Below a list without a total. */
  foot?: ReactNode;
}

export function DataTable<Row>({ title, columns, idOf, answer, empty, onOpen, selection, ...below }: Props<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const rows = answer.data?.data ?? [];
  const toggle = (id: string) => selection?.set(toggled(selection.ids, id));
  useRowKeys(body, {
    open: (index) => rows[index] && onOpen?.(rows[index]),
    select: (index) => rows[index] && toggle(idOf(rows[index])),
  });
  if (answer.error) return <Failed error={answer.error} again={() => void answer.refetch()} />;
  if (!answer.data) return <Loader size="sm" role="status" aria-label={`Loading ${title}`} />;
  const allChosen = rows.length > 0 && rows.every((row) => selection?.ids.has(idOf(row)));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, by keys too */}
      <section className="table" aria-label={title} tabIndex={0} aria-busy={answer.isFetching}>
        <table>
          <thead>
            <tr>
              {selection && (
                <th scope="col">
                  <Checkbox
                    size="xs"
                    aria-label="Select all on this page"
                    checked={allChosen}
                    onChange={() => selection.set(new Set(allChosen ? [] : rows.map(idOf)))}
                  />
                </th>
              )}
              {columns.map(({ title: name, numeric, wideOnly }) => (
                <th key={name} scope="col" className={classOf(numeric, wideOnly)}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>
            {rows.map((row) => (
              <tr
                key={idOf(row)}
                tabIndex={-1}
                data-opens={onOpen ? '' : undefined}
                onClick={(event) => isPlainClick(event.target) && onOpen?.(row)}
                onKeyDown={(event) => event.key === 'Enter' && event.target === event.currentTarget && onOpen?.(row)}
              >
                {selection && (
                  <td>
                    <Checkbox
                      size="xs"
                      aria-label={`Select ${idOf(row)}`}
                      checked={selection.ids.has(idOf(row))}
                      onChange={() => toggle(idOf(row))}
                    />
                  </td>
                )}
                {columns.map(({ title: name, cell, numeric, wideOnly }) => (
                  <td key={name} className={classOf(numeric, wideOnly)}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length === 0 && <Text p="md">{empty}</Text>}
      </section>
      <Pages answer={answer.data.pagination} shown={rows.length} {...below} />
      {below.foot}
    </>
  );
}

interface PagesProps {
  answer: (Total & { page: number; pageSize: number }) | undefined;
  shown: number;
  onPage?: (page: number) => void;
}

function Pages({ answer, shown, onPage }: PagesProps) {
  if (!answer) return null;
  const { total, totalIsExact, page, pageSize } = answer;
  const isEnd = totalIsExact !== false ? page * pageSize >= total : shown < pageSize || page * pageSize >= MOST_COUNTED;
  const first = (page - 1) * pageSize + 1;
  return (
    <Group justify="space-between" mt="xs">
      <Text size="sm" role="status" data-total={total}>
        {total === 0
          ? 'None'
          : `${countText(first)} to ${countText(Math.max(first, first + shown - 1))} of ${totalText(answer)}`}
      </Text>
      {onPage && (page > 1 || !isEnd) && (
        <Group gap="xs">
          <Button size="xs" variant="default" disabled={page <= 1} onClick={() => onPage(page - 1)}>
            Newer
          </Button>
          <Button size="xs" variant="default" disabled={isEnd} onClick={() => onPage(page + 1)}>
            Older
          </Button>
        </Group>
      )}
    </Group>
  );
}

function classOf(numeric = false, wideOnly = false): string | undefined {
  return [numeric && 'number', wideOnly && 'wide-only'].filter(Boolean).join(' ') || undefined;
}

// A click on a link, a button or selected text is for that.
function isPlainClick(target: EventTarget): boolean {
  return (target as HTMLElement).closest('a, button, input, label') === null && String(getSelection()) === '';
}

function toggled(ids: ReadonlySet<string>, id: string): Set<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** `j` and `k` move the focus from row to row, `o` opens, `x` selects. */
function useRowKeys(
  body: RefObject<HTMLTableSectionElement | null>,
  does: { open: (index: number) => void; select: (index: number) => void },
): void {
  const latest = useRef(does);
  latest.current = does;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) && !(event.target as HTMLElement).matches('input[type="checkbox"]')) return;
      const rows = [...(body.current?.rows ?? [])];
      const here = rows.findIndex((row) => row.contains(document.activeElement));
      if (event.key === 'j') rows[Math.min(here + 1, rows.length - 1)]?.focus();
      else if (event.key === 'k') rows[Math.max(here - 1, 0)]?.focus();
      else if (event.key === 'o' && here >= 0) latest.current.open(here);
      else if (event.key === 'x' && here >= 0) latest.current.select(here);
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [body]);
}
