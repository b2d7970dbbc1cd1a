// Whether every rule of the interface is shown by a test, and whether the rules say all that the description of the API has.
import { existsSync, readFileSync } from 'node:fs';
import { mentions } from './mentions.ts';
import { idsIn, type Rule } from './page.ts';

/** A test outside of rows/ that shows a rule. */
export interface Reference {
  id: string;
  /** Below test/. */
  file: string;
  /** Words of its title as the file has it. */
  words: string;
}

/** Those of elsewhere.txt, one in a line: `<id>  <file>: <words>`. */
export function readReferences(): Reference[] {
  const lines = readFileSync(new URL('elsewhere.txt', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => {
    const [, id = '', file = '', words = ''] = /^(\S+) {2}(\S+): (.+)$/.exec(line) ?? [];
    return { id, file, words };
  });
}

/** What is wrong, as lines for people; none when all is well. @param rows titles of the rows, which begin with the ids of rules */
export function contractProblems(pages: string, rules: Rule[], rows: string[]): string[] {
  const references = readReferences();
  const ids = rules.map(({ id }) => id);
  const shown = new Set([...rows.flatMap(idsIn), ...references.map(({ id }) => id)]);
  const named = new Set([...shown, ...idsIn(pages)]);
  return [
    ...rules.filter(({ id }) => !shown.has(id)).map(({ id, text }) => `no test for ${id}: ${text}`),
    ...[...named].filter((id) => !ids.includes(id)).map((id) => `there is no rule "${id}"`),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `two rules are ${id}`),
    ...rows.filter((title) => idsIn(title).length === 0).map((title) => `a row names no rule: ${title}`),
    ...[...codeOf(rules)].flatMap(([id, files]) =>
      ids.includes(id) ? [] : `there is no rule ${id}, named in ${files}`,
    ),
    ...references.filter(isDangling).map(({ id, file, words }) => `no test for ${id} in test/${file}: ${words}`),
    ...missingWords(pages).map((word) => `docs/openapi.json has "${word}", and no page of the interface does`),
  ];
}

/** Files whose comments name each rule, by its id. */
export function codeOf(rules: Rule[]): Map<string, string[]> {
  return mentions(new Set(rules.map(({ id }) => id.split('-')[0] ?? '')));
}

const TITLE = /\b(?:it|describe)\(\s*(['"`])(.+?)\1,/g;

function isDangling({ file, words }: Reference): boolean {
  const test = new URL(`../${file}`, import.meta.url);
  if (!existsSync(test)) return true;
  return !Array.from(readFileSync(test, 'utf8').matchAll(TITLE)).some(([, , title]) => title?.includes(words));
}

// Names of statuses.
const NO_WORD = /^[A-Z][a-z]+( [A-Z][a-z]+)*$/;

/** Paths, members, parameters, headers and fixed values of the API's description that the pages lack. */
function missingWords(pages: string): string[] {
  const description = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
  const known = new Set(partsOf(pages));
  // The pages call the address of ingest by the member that holds it.
  const paths = Object.keys(description.paths).filter((path) => !path.startsWith('/ingest/'));
  const words = new Set(wordsIn(description).filter((word) => !NO_WORD.test(word)));
  return [
    ...paths.filter((path) => !pages.includes(path)),
    ...[...words].filter((word) => partsOf(word).some((part) => !known.has(part))),
  ];
}

const partsOf = (text: string): string[] => text.split(/[^\w-]+/).filter((part) => part !== '');

function wordsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(wordsIn);
  if (typeof value !== 'object' || value === null) return [];
  // Examples are nobody's promise.
  const { examples: _some, example: _one, ...node } = value as Record<string, unknown>;
  const isParameter = node.in === 'query' || node.in === 'header';
  return [
    ...(typeof node.properties === 'object' ? Object.keys(node.properties ?? {}) : []),
    ...[node.enum, node.const, node['x-codes'], isParameter ? node.name : null]
      .flat()
      .filter((word) => typeof word === 'string'),
    ...wordsIn(Object.values(node)),
  ];
}
