// npm run openapi: writes docs/openapi.json, the checked-in copy of the description.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiDocument } from './document.ts';

export const CHECKED_IN = join(import.meta.dirname, '..', '..', 'docs', 'openapi.json');

/** The checked-in form: indented, so that diffs are readable. */
export function checkedInText(): string {
  return `${JSON.stringify(apiDocument(), null, 2)}\n`;
}

if (import.meta.main) {
  writeFileSync(CHECKED_IN, checkedInText());
  console.log(`wrote ${CHECKED_IN}`);
}
