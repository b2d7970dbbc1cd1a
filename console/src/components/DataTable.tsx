// A list of records: columns, selection, pages, keys (`j k o x`). Loading, failed and empty look different.
import { Button, Checkbox, Menu, Skeleton } from '@mantine/core';
import { useLocalStorage, useWindowEvent } from '@mantine/hooks';
import { CheckIcon, ColumnsIcon } from './icons.tsx';
import { type ReactNode, type RefObject, useRef } from 'react';
import { countText, durationText, MOST_COUNTED, plain, sizeText, type Total, totalText } from '../format.ts';
import { Link } from '@tanstack/react-router';
import { isTyping } from '../shell/typing.ts';
import { Time } from '../zone.tsx';
import { Failed } from './Failed.tsx';
import { Id, Name, Status } from './ui.tsx';

type Value = string | number | boolean | null | undefined;

export interface Column<Row> {
  title: string;
  /** As CSV, and shown unless there is a `cell`. */
  value?: (row: Row) => Value;
  /** How the value is shown; without it as text. */
  as?: keyof typeof SHOWN;
  cell?: (row: Row) => ReactNode;
  numeric?: boolean;
  /** Left out where the window is narrow. */
  wideOnly?: boolean;
  /** Hidden until the user chooses it. */
  optional?: boolean;
}

/** The first column of lists of records with a name. */
export const nameColumn = <Row extends { id: string; name: string }>(): Column<Row> => ({
  title: 'Name',
  value: ({ name }) => name,
  cell: ({ id, name }) => <Name id={id} name={name} />,
});

/** The first column of lists of records without a name: when each began. */
export const beginColumn = <Row extends { id: string }>(
  title: string,
  path: string,
  value: (row: Row) => string,
): Column<Row> => ({
  ...{ title, value },
  cell: (row) => (
    <Link to={`${path}/${row.id}`}>
      <Time at={value(row)} />
    </Link>
  ),
});

const SHOWN = {
  time: (value: Value) => <Time at={value as string | null} />,
  status: (value: Value) => <Status of={String(value)} />,
  id: (value: Value) => (value ? <Id of={String(value)} /> : '–'),
  count: (value: Value) => countText(Number(value)),
  size: (value: Value) => sizeText(Number(value)),
  duration: (value: Value) => durationText(Number(value)),
};
const NUMERIC: readonly string[] = ['count', 'size', 'duration'];
const isNumeric = ({ as = '', numeric = NUMERIC.includes(as) }: { as?: string; numeric?: boolean }) => numeric;

function shown<Row>({ as, value, cell }: Column<Row>, row: Row): ReactNode {
  if (cell) return cell(row);
  const given = value?.(row);
  if (given === null || given === undefined || given === '') return <span className="quiet">–</span>;
  if (as) return SHOWN[as](given);
  const text = typeof given === 'boolean' ? (given ? 'Yes' : 'No') : plain(String(given));
  return <bdi title={text}>{text}</bdi>;
}

export interface Selection {
  ids: ReadonlySet<string>;
  set: (ids: ReadonlySet<string>) => void;
}

type Paged = Total & { page: number; pageSize: number };

interface Props<Row> {
  /** What the rows are, for screen readers and in texts: `Events`. */
  title: string;
  columns: Column<Row>[];
  idOf: (row: Row) => string;
  /** Of useAsk. */
  answer: {
    data?: { data: Row[]; pagination?: Paged | undefined } | undefined;
    error: unknown;
    isFetching: boolean;
    refetch: () => unknown;
  };
  empty: ReactNode;
  onOpen?: ((row: Row) => void) | undefined;
  onPage?: (page: number) => void;
  selection?: Selection | undefined;
  /** Below a list without a total. */
  foot?: ReactNode;
}

const SKELETON_ROWS = 6;

export function DataTable<Row>({ title, idOf, answer, empty, onOpen, selection, onPage, foot, ...props }: Props<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [hidden, setHidden] = useHiddenColumns(title, props.columns);
  const columns = props.columns.filter((column) => !hidden.has(column.title));
  const rows = answer.data?.data ?? [];
  const toggle = (id: string) => selection?.set(toggled(selection.ids, id));
  useRowKeys(body, {
    open: (index) => rows[index] && onOpen?.(rows[index]),
    select: (index) => rows[index] && toggle(idOf(rows[index])),
  });
  if (answer.error) return <Failed error={answer.error} again={() => void answer.refetch()} />;
  const allChosen = rows.length > 0 && rows.every((row) => selection?.ids.has(idOf(row)));
  const isEmpty = answer.data !== undefined && rows.length === 0;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, by keys too */}
      <section className="table box" aria-label={title} tabIndex={0} aria-busy={answer.isFetching}>
        {!isEmpty && (
          <table>
            <thead>
              <tr>
                {selection && (
                  <th scope="col">
                    <Checkbox
                      aria-label="Select all on this page"
                      checked={allChosen}
                      onChange={() => selection.set(new Set(allChosen ? [] : rows.map(idOf)))}
                    />
                  </th>
                )}
                {columns.map((column) => (
                  <th key={column.title} scope="col" className={classOf(column)}>
                    {column.title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody ref={body}>
              {answer.data === undefined && <SkeletonRows columns={columns.length + (selection ? 1 : 0)} />}
              {rows.map((row) => (
                <tr
                  key={idOf(row)}
                  tabIndex={-1}
                  data-opens={onOpen ? '' : undefined}
                  data-selected={selection?.ids.has(idOf(row)) ? '' : undefined}
                  onClick={(event) => isPlainClick(event.target) && onOpen?.(row)}
                  onKeyDown={(event) => event.key === 'Enter' && event.target === event.currentTarget && onOpen?.(row)}
                >
                  {selection && (
                    <td>
                      <Checkbox
                        aria-label={`Select ${idOf(row)}`}
                        checked={selection.ids.has(idOf(row))}
                        onChange={() => toggle(idOf(row))}
                      />
                    </td>
                  )}
                  {columns.map((column, index) => (
                    <td key={column.title} className={classOf(column, index === 0)}>
                      {shown(column, row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {isEmpty && empty}
      </section>
      {!isEmpty && answer.data && (
        <div className="row row-between">
          <Shown of={answer.data.pagination} count={rows.length} />
          {foot}
          <div className="row">
            {onOpen && <ColumnChoice columns={props.columns} hidden={hidden} set={setHidden} />}
            {onPage && <PageButtons of={answer.data.pagination} count={rows.length} onPage={onPage} />}
          </div>
        </div>
      )}
      {isEmpty && foot}
    </>
  );
}

const SkeletonRows = ({ columns }: { columns: number }) =>
  Array.from({ length: SKELETON_ROWS }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
    <tr key={row}>
      <td colSpan={columns}>
        <Skeleton height={12} width={`${80 - 9 * (row % 4)}%`} />
      </td>
    </tr>
  ));

function Shown({ of, count }: { of: Paged | undefined; count: number }) {
  if (!of) return null;
  const first = (of.page - 1) * of.pageSize + 1;
  return (
    <span className="small quiet" role="status" data-total={of.total}>
      {countText(first)}–{countText(Math.max(first, first + count - 1))} of {totalText(of)}
    </span>
  );
}

function PageButtons({ of, count, onPage }: { of: Paged | undefined; count: number; onPage: (page: number) => void }) {
  if (!of) return null;
  const { total, totalIsExact, page, pageSize } = of;
  const isEnd = totalIsExact !== false ? page * pageSize >= total : count < pageSize || page * pageSize >= MOST_COUNTED;
  if (page === 1 && isEnd) return null;
  return (
    <>
      <Button variant="default" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        Newer
      </Button>
      <Button variant="default" disabled={isEnd} onClick={() => onPage(page + 1)}>
        Older
      </Button>
    </>
  );
}

/** Columns that the user does not want to see, kept in the browser for each table. */
function useHiddenColumns(title: string, columns: readonly { title: string; optional?: boolean }[]) {
  const kept = { key: `hookyard.hidden-columns.${title}`, getInitialValueInEffect: false };
  const [hidden, setHidden] = useLocalStorage<string[] | undefined>(kept);
  const optional = columns.filter((column) => column.optional).map((column) => column.title);
  return [new Set(hidden ?? optional), (next: ReadonlySet<string>) => setHidden([...next])] as const;
}

interface ChoiceProps {
  columns: { title: string }[];
  hidden: ReadonlySet<string>;
  set: (hidden: ReadonlySet<string>) => void;
}

function ColumnChoice({ columns, hidden, set }: ChoiceProps) {
  return (
    <Menu closeOnItemClick={false}>
      <Menu.Target>
        <Button variant="subtle" color="gray" c="dimmed" leftSection={<ColumnsIcon />}>
          Columns
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {columns.slice(1).map(({ title }) => (
          <Menu.Item
            key={title}
            role="menuitemcheckbox"
            aria-checked={!hidden.has(title)}
            leftSection={<CheckIcon visibility={hidden.has(title) ? 'hidden' : 'visible'} />}
            onClick={() => set(toggled(hidden, title))}
          >
            {title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function classOf(column: { as?: string; numeric?: boolean; wideOnly?: boolean }, isFirst = false): string | undefined {
  const names = [isNumeric(column) && 'number', column.wideOnly && 'wide-only', isFirst && 'first'];
  return names.filter(Boolean).join(' ') || undefined;
}

// A click on a link, a button or selected text is for that.
function isPlainClick(target: EventTarget): boolean {
  return (target as HTMLElement).closest('a, button, input, label') === null && String(getSelection()) === '';
}

export function toggled<Id>(ids: ReadonlySet<Id>, id: Id): Set<Id> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** `j` and `k` move the focus from row to row, `o` opens, `x` selects. */
function useRowKeys(
  body: RefObject<HTMLTableSectionElement | null>,
  does: { open: (index: number) => void; select: (index: number) => void },
): void {
  useWindowEvent('keydown', (event) => {
    if (isTyping(event) && !(event.target as HTMLElement).matches('input[type="checkbox"]')) return;
    const rows = [...(body.current?.rows ?? [])];
    const here = rows.findIndex((row) => row.contains(document.activeElement));
    if (event.key === 'j') rows[Math.min(here + 1, rows.length - 1)]?.focus();
    else if (event.key === 'k') rows[Math.max(here - 1, 0)]?.focus();
    else if (event.key === 'o' && here >= 0) does.open(here);
    else if (event.key === 'x' && here >= 0) does.select(here);
    else return;
    event.preventDefault();
  });
}
