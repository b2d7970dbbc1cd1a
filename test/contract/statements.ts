// Cuts the contract (docs/interface.md) into statements: each sentence of its paragraphs and lists, and each row of its tables.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** One thing that the contract says. */
export interface Statement {
  /** The nearest heading, without its `#`. */
  section: string;
  /** The sentence, or the whole row of a table. */
  text: string;
}

export const CONTRACT = new URL('../../docs/interface.md', import.meta.url);

export function readStatements(text: string = readFileSync(CONTRACT, 'utf8')): Statement[] {
  const statements: Statement[] = [];
  let section = '';
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const heading = /^#+ (.+)$/.exec(line)?.[1];
    if (heading !== undefined) section = heading;
    else if (line.startsWith('|')) {
      // The head of a table and the line below it say nothing by themselves.
      const isHead = /^\|[-|]+\|$/.test(lines[index + 1] ?? '') || /^\|[-|]+\|$/.test(line);
      if (!isHead) statements.push({ section, text: line });
    } else if (line.trim() !== '') {
      statements.push(...sentences(line.replace(/^(-|\d+\.) /, '')).map((sentence) => ({ section, text: sentence })));
    }
  }
  return statements;
}

/** Ends at a full stop or colon before a space and a capital letter; a colon before a list of facts is no end. */
function sentences(line: string): string[] {
  return line.split(/(?<=[.])\s+(?=[A-Z{`])/).filter((sentence) => sentence.trim() !== '');
}

/** A statement as one line of the ledger: it changes with the text. */
export function fingerprint({ section, text }: Statement): string {
  const hash = createHash('sha256').update(`${section}\n${text}`).digest('hex').slice(0, 12);
  return `${hash}  ${section}: ${text.length > 100 ? `${text.slice(0, 97)}...` : text}`;
}
