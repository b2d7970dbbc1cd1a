// Whether every statement of the contract has a row, and whether the text is the one that the rows were written for.
import { readFileSync } from 'node:fs';
import { decided, prose } from './rows/open.ts';
import { fingerprint, readStatements, type Statement } from './statements.ts';

/** Each statement of the text that was looked at last, by its fingerprint. */
export const LEDGER = new URL('statements.txt', import.meta.url);

/** What cites a statement: a row, a decision, or a note that it is prose. */
export interface Citation {
  section: string;
  quote: string;
}

const cites = ({ section, quote }: Citation, statement: Statement): boolean =>
  statement.section === section && statement.text.includes(quote);

/**
 * What is wrong, as lines for people; none when all is well.
 * @param rows those of the contract test
 */
export function contractProblems(rows: Citation[]): string[] {
  const statements = readStatements();
  const citations = [...rows, ...decided, ...prose];
  return [
    ...statements
      .filter((statement) => !citations.some((citation) => cites(citation, statement)))
      .map(({ section, text }) => `no row for "${section}": ${text}`),
    ...citations.flatMap((citation) => citationProblem(citation, statements)),
    ...decided
      .filter(({ section, quote }) => !statements.find((s) => cites({ section, quote }, s))?.text.includes('not shown'))
      .map(({ quote }) => `listed as left open, but it is not: ${quote}`),
    ...doubles(citations),
    ...changes(statements),
  ];
}

function citationProblem(citation: Citation, statements: Statement[]): string[] {
  const found = statements.filter((statement) => cites(citation, statement)).length;
  if (found === 1) return [];
  const problem = found === 0 ? 'quotes nothing that is there' : `quotes ${found} statements`;
  return [`a row ${problem}: "${citation.section}": ${citation.quote}`];
}

function doubles(citations: Citation[]): string[] {
  const seen = new Set<string>();
  return citations.flatMap(({ section, quote }) => {
    const key = `${section}: ${quote}`;
    const isDouble = seen.has(key);
    seen.add(key);
    return isDouble ? [`cited twice: ${key}`] : [];
  });
}

function changes(statements: Statement[]): string[] {
  const now = statements.map(fingerprint);
  const before = readFileSync(LEDGER, 'utf8').trimEnd().split('\n');
  return [
    ...now.filter((line) => !before.includes(line)).map((line) => `new or changed: ${line}`),
    ...before.filter((line) => !now.includes(line)).map((line) => `gone: ${line}`),
  ];
}
