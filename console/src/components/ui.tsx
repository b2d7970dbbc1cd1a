// The small parts of pages (docs/internals/clients-and-console.md).
import { ActionIcon, type ActionIconProps, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { CheckCircledIcon, CopyIcon, ExclamationTriangleIcon, InfoCircledIcon } from './icons.tsx';
import { Link } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import { plain, sentence, shortened } from '../format.ts';

export type Tone = 'ok' | 'info' | 'warn' | 'bad' | 'none';

const TONES: Record<Exclude<Tone, 'none'>, string> = {
  ok: 'delivered success written resolved closed healthy completed enabled active done ok',
  info: 'pending acknowledged running uploading frozen collecting delivering',
  warn: 'retrying circuit_open half_open partial paused degraded waiting',
  bad: 'failed schema_failed filter_failed open failing refused blocked',
};
const toneByStatus = new Map(
  Object.entries(TONES).flatMap(([tone, names]) => names.split(' ').map((name) => [name, tone as Tone])),
);
export const toneOf = (status: string): Tone => toneByStatus.get(status) ?? 'none';

/** Statuses that people call otherwise than the API. */
const LABELS: Record<string, string> = {
  circuit_open: 'Held',
  schema_failed: 'Schema mismatch',
  filter_failed: 'Filter failed',
};
export const statusText = (status: string): string => LABELS[status] ?? sentence(status);

/** Of a record that can be disabled, and perhaps paused. */
export const stateOf = ({ enabled, paused = false }: { enabled: boolean; paused?: boolean }): string =>
  enabled ? (paused ? 'paused' : 'enabled') : 'disabled';

export const Dot = ({ tone, isLive = false }: { tone: Tone; isLive?: boolean }) => (
  <span className="dot" data-tone={tone} data-live={isLive ? '' : undefined} aria-hidden="true" />
);

/** A status as a dot and a word; never by colour alone. */
export function Status({ of, label = statusText(of) }: { of: string; label?: string }) {
  return (
    <span className="status inline">
      <Dot tone={toneOf(of)} />
      {label}
    </span>
  );
}

interface CardProps {
  title?: string;
  /** Beside the title. */
  actions?: ReactNode;
  /** Without padding: for rows and tables. */
  isFlush?: boolean;
  children: ReactNode;
}

export function Card({ title, actions, isFlush = false, children }: CardProps) {
  return (
    <section className={isFlush ? 'card box card-flush' : 'card box'} aria-label={title}>
      {title !== undefined && (
        <div className="row row-between card-head">
          <h2>{title}</h2>
          {actions && <div className="row">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

const ICONS = {
  ok: CheckCircledIcon,
  info: InfoCircledIcon,
  warn: ExclamationTriangleIcon,
  bad: ExclamationTriangleIcon,
};

interface CalloutProps {
  tone: Exclude<Tone, 'none'>;
  title: ReactNode;
  role?: 'alert' | 'status';
  children?: ReactNode;
}

export function Callout({ tone, title, role, children }: CalloutProps) {
  const Icon = ICONS[tone];
  return (
    <div className="callout box" data-tone={tone} role={role}>
      <Icon aria-hidden="true" />
      <div className="prose">
        <strong>{title}</strong>
        {children}
      </div>
    </div>
  );
}

/** By their names; what is empty is left out. */
export type FactValues = Record<string, ReactNode>;

/** A list, where several facts may have the same name. */
export type Fact = [name: string, value: ReactNode];

const EMPTY: ReactNode[] = [undefined, null, false, ''];

/** What a record is, as names and values. */
export function Facts({ of, isWide = false }: { of: FactValues | Fact[]; isWide?: boolean }) {
  const facts = Array.isArray(of) ? of : Object.entries(of);
  const shown = new Map<string, number>();
  // By its name, so that it stays while others come and go; names may repeat.
  const keyOf = (name: string): string => {
    const before = shown.get(name) ?? 0;
    shown.set(name, before + 1);
    return `${name} ${before}`;
  };
  return (
    <dl className={isWide ? 'facts facts-wide' : 'facts'}>
      {facts
        .filter(([, value]) => !EMPTY.includes(value))
        .map(([name, value]) => (
          <div key={keyOf(name)}>
            <dt className="small quiet">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

const PAGES: Record<string, string> = {
  src: '/sources',
  dst: '/destinations',
  dst_wh: '/destinations',
  rte: '/routes',
  flt: '/filters',
  tfm: '/transforms',
  sch: '/schemas',
  evt: '/events',
  dlv: '/deliveries',
  iss: '/issues',
  rpl: '/replays',
  alc: '/alert-channels',
};

/** The page of a record; undefined for ids that have none. */
export function pathOfId(id: string): string | undefined {
  const page = PAGES[id.slice(0, id.lastIndexOf('_'))];
  return page && `${page}/${id}`;
}

/** A record by its name, as a link to its page. */
export function Name({ id, name }: { id: string; name?: string | null | undefined }) {
  const path = pathOfId(id);
  const text = <bdi>{plain(name ?? id)}</bdi>;
  return path ? <Link to={path}>{text}</Link> : text;
}

interface PageLinkProps {
  to: string;
  search: Record<string, string | null | undefined>;
  children: ReactNode;
}

/** A link to a page, with filters or a tab. */
export const PageLink = ({ to, search, children }: PageLinkProps) => (
  <Link to={to} search={search as never}>
    {children}
  </Link>
);

/** A hash, a code or an address, which may be long. */
export const Mono = ({ text }: { text: string }) => <bdi className="mono anywhere">{plain(text)}</bdi>;

const ENDS = 5;

/**
 * An id shortened in the middle, with copy; a link where the record has a page. Screen readers and searches get the
 * whole.
 */
export function Id({ of, isLink = true }: { of: string; isLink?: boolean }) {
  const path = isLink ? pathOfId(of) : undefined;
  const begin = of.lastIndexOf('_') + 1 + ENDS;
  const text = (
    <>
      {of.slice(0, begin)}
      <span aria-hidden="true">…</span>
      <span className="id-middle">{of.slice(begin, -ENDS)}</span>
      {of.slice(-ENDS)}
    </>
  );
  return (
    <span className="id inline mono" title={of}>
      {path ? <Link to={path}>{text}</Link> : <span>{text}</span>}
      <button type="button" aria-label={`Copy ${of}`} title="Copy" onClick={() => void copy(of, 'ID')}>
        <CopyIcon width={12} height={12} />
      </button>
    </span>
  );
}

type IconButtonProps = ActionIconProps & Omit<ComponentProps<'button'>, 'color' | 'style'> & { label: string };

/** A button without a word: its name is in its tooltip. */
export const IconButton = ({ label, ...props }: IconButtonProps) => (
  <ActionIcon variant="default" size={30} aria-label={label} title={label} {...props} />
);

/** Puts text on the clipboard and says so. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notifications.show({ message: `${what} copied` });
  } catch {
    notifications.show({
      color: 'red',
      message: 'Could not copy. If the text is shown, select it and press Ctrl+C or Cmd+C.',
    });
  }
}

interface TableProps {
  title: string;
  className?: string;
  heads?: string[];
  /** The first cell of each is its name. */
  rows: ReactNode[][];
}

/** A few rows without actions. */
export function Table({ title, className = 'table-wrap', heads = [], rows }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keys too
    <section className={`table ${className}`} aria-label={title} tabIndex={0}>
      <table>
        {heads.length > 0 && (
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map(([first, ...cells], row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows and cells are told by their place
            <tr key={row}>
              <th scope="row">{first}</th>
              {cells.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: rows and cells are told by their place
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** What a list says when there is nothing in it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack className="prose" align="center" gap="xs" px="md" py={40} ta="center" c="dimmed">
      <Text component="strong" inherit fw={600} c="var(--ink)">
        {title}
      </Text>
      {children}
    </Stack>
  );
}

const MOST_CHARACTERS = 2000;

/** Headers as a table; values are text of strangers. */
export function Headers({ title, of }: { title: string; of: Record<string, string> | null | undefined }) {
  const rows = Object.entries(of ?? {}).map(([name, value]) => [
    plain(name),
    <bdi key="value">{plain(shortened(value, MOST_CHARACTERS))}</bdi>,
  ]);
  if (rows.length === 0) return <p className="quiet">No {title.toLowerCase()}</p>;
  return <Table title={title} className="box table-wrap mono" rows={rows} />;
}
