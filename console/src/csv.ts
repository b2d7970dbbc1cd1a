// Rows as CSV (RFC 4180), and files for the user.
type Value = string | number | boolean | null | undefined;
interface CsvColumn<Row> {
  title: string;
  value?: (row: Row) => Value;
}

export function csvOf<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const written = columns.filter((column) => column.value);
  const lines = rows.map((row) => written.map(({ value }) => field(value?.(row) ?? '')));
  return [written.map(({ title }) => field(title)), ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

// A spreadsheet takes a text that begins so for a formula: of a stranger it must stay text (OWASP, "CSV Injection").
const FORMULA = /^[=+\-@\t\r]/;
function field(value: NonNullable<Value>): string {
  if (typeof value !== 'string') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Saves something as a file. Its type keeps it from being opened in the browser, where it could run as a page. */
export function save(content: BlobPart, name: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  // Some browsers read it only later.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
