// Output of commands. Results go to stdout: as tables and lines for people, or with --json as one JSON value.
// Everything else goes to stderr, so that results can be piped.
import { stripVTControlCharacters, styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export interface Output {
  json: boolean;
  /** `value` with --json, else what `show` prints. */
  result(value: unknown, show: () => void): void;
  line(text: string): void;
  note(text: string): void;
  /** A table that fits the terminal: its widest columns are cut, unless the output is not a terminal. */
  table(columns: string[], rows: unknown[][]): void;
  /** Names and values below each other; null and undefined are left out. */
  fields(fields: Record<string, unknown>): void;
  style(style: Style, text: string): string;
}

export function createOutput(json: boolean): Output {
  // Neither NO_COLOR nor a pipe gets colours (https://no-color.org).
  const coloured = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  const style = (name: Style, text: string) => (coloured ? styleText(name, text, { validateStream: false }) : text);
  const line = (text: string) => void process.stdout.write(`${text}\n`);
  return {
    json,
    style,
    line,
    note: (text) => void process.stderr.write(`${text}\n`),
    result(value, show) {
      if (json) line(JSON.stringify(value, null, 2));
      else show();
    },
    table(columns, rows) {
      const cells = rows.map((row) => row.map(cell));
      const widths = columnWidths([columns, ...cells], process.stdout.isTTY ? process.stdout.columns : undefined);
      const put = (texts: string[]) =>
        texts
          .map((text, index) => padOrCut(text, widths[index] ?? 0))
          .join('  ')
          .trimEnd();
      line(style('bold', put(columns.map((name) => name.toUpperCase()))));
      for (const row of cells)
        line(put(row).replace(STATUS_WORD, (word) => style(STATUS_STYLES[word] ?? 'reset', word)));
    },
    fields(fields) {
      const shown = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
      const width = Math.max(...shown.map(([name]) => name.length));
      for (const [name, value] of shown) line(`${style('bold', name.padEnd(width))}  ${cell(value)}`);
    },
  };
}

// Handles a closed output: `hookyard ... | head`, or the terminal is gone. This is not an error.
let whenUnread: () => void = () => process.exit();

/** Replaces the default reaction to a closed output, which is to exit at once. */
export function onUnread(handler: () => void): void {
  whenUnread = handler;
}

/** Looks after stdout and stderr, from the start of the program on. */
export function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' || error.code === 'EIO') return whenUnread();
      process.stderr.write(`hookyard: failed to write the output (${error.code})\n`);
      process.exit(1);
    });
  }
}

const STATUS_STYLES: Record<string, Style> = {
  delivered: 'green',
  completed: 'green',
  success: 'green',
  failed: 'red',
  schema_failed: 'red',
  filter_failed: 'red',
  partial: 'yellow',
  retrying: 'yellow',
  circuit_open: 'yellow',
};
const STATUS_WORD = new RegExp(`(?<=\\s|^)(${Object.keys(STATUS_STYLES).join('|')})(?=\\s|$)`);

/** A value in one line; text from senders must not control the terminal. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return printable(text.replaceAll(/\s+/g, ' '));
}

/** Text without terminal control sequences; line ends and tabs stay. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/(?![\t\n])\p{Cc}/gu, '');
}

/** Cuts the widest column by one until the row fits; ids stay whole as long as anything else can give way. */
function columnWidths(rows: string[][], limit: number | undefined): number[] {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  if (limit === undefined) return widths;
  const isId = widths.map((_, index) =>
    rows.slice(1).some((row) => /^[a-z]+(_[a-z]+)?_[0-9a-z]{26}$/.test(row[index] ?? '')),
  );
  const spare = () => widths.reduce((sum, width) => sum + width + 2, -2) - limit;
  while (spare() > 0) {
    const widest = widths.reduce(
      (best, width, index) => (!isId[index] && width > (widths[best] ?? 0) ? index : best),
      widths.length,
    );
    if (widest === widths.length || (widths[widest] ?? 0) <= 8) return widths;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function padOrCut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);
}
