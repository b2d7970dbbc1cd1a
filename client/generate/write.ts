// The second half of npm run openapi: makes client/api.ts, the types and paths of the client, of docs/openapi.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKED_IN as DESCRIPTION } from '../../api/openapi/write.ts';
import { clientTypes } from './types.ts';

export const TYPES = join(import.meta.dirname, '..', 'api.ts');

/** What `client/api.ts` should hold. */
export function typesText(): string {
  return clientTypes(JSON.parse(readFileSync(DESCRIPTION, 'utf8')));
}

if (import.meta.main) {
  writeFileSync(TYPES, typesText());
  console.log(`${TYPES} is written`);
}
