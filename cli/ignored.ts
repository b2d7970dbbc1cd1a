// Prints ignored parts of a request on stderr.
import type { Ignored } from '../client/index.ts';
import { type Output, printable } from './output.ts';

const WORDS = { query: 'the query parameter', body: 'the member' };

/** Prints each name once, however many requests carry it. */
export function tellIgnored(output: Pick<Output, 'note'>): (ignored: Ignored) => void {
  const printed = new Set<string>();
  return ({ names, more }) => {
    for (const { name, in: place, nearest } of names) {
      const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
      const line = printable(`The service does not know ${WORDS[place]} ${name} and ignored it${hint}`);
      if (printed.has(line)) continue;
      printed.add(line);
      output.note(`hookyard: ${line}`);
    }
    if (more > 0) output.note(`hookyard: The service ignored ${more} more`);
  };
}
