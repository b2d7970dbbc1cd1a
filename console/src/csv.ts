// Rows as CSV (RFC 4180).
interface CsvColumn<Row> {
  title: string;
  csv?: (row: Row) => string | number | null | undefined;
}

export function csvOf<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const written = columns.filter((column) => column.csv);
  const lines = rows.map((row) => written.map(({ csv }) => field(csv?.(row) ?? '')));
  return [written.map(({ title }) => field(title)), ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

// A spreadsheet takes a text that begins so for a formula: of a stranger it must stay text (OWASP, "CSV Injection").
const FORMULA = /^[=+\-@\t\r]/;
function field(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
