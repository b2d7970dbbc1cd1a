// The rules of the interface (docs/interface.md and docs/interface/): each is a list item or a row of a table that begins with its id.
import { readdirSync, readFileSync } from 'node:fs';

export interface Rule {
  /** `ROUTE-07` */
  id: string;
  text: string;
}

const DOCS = new URL('../../docs/', import.meta.url);
const RULE = /^(?:- |\| )\*\*([A-Z]+-\d{2})\*\* (.+)$/gm;

/** All pages, one after the other. */
export function readPages(): string {
  const pages = readdirSync(new URL('interface/', DOCS)).filter((name) => name.endsWith('.md'));
  return ['interface.md', ...pages.map((name) => `interface/${name}`)]
    .map((name) => readFileSync(new URL(name, DOCS), 'utf8'))
    .join('\n');
}

export function rulesOf(pages: string): Rule[] {
  return Array.from(pages.matchAll(RULE), ([, id = '', text = '']) => ({ id, text }));
}

/** The ids in a text: those that rows, comments and other rules name. */
export function idsIn(text: string): string[] {
  return Array.from(text.matchAll(/\b[A-Z]+-\d{2}\b(?!-?\d)/g), ([id]) => id);
}
