// The operations of the API, as npm run prepare has made them from docs/openapi.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../client/index.ts';

/** `json` has no option of its own. */
export type Kind = 'text' | 'integer' | 'number' | 'boolean' | 'list' | 'json';

export interface Member {
  name: string;
  kind: Kind;
  about: string;
  isRequired: boolean;
  /** The only ones that there are; of `json` those of its `type`. */
  values?: string[];
}

export interface Operation {
  tag: string;
  summary: string;
  description: string;
  path: string[];
  query: Member[];
  body: Member[];
  hasBody: boolean;
}

export type OperationName = Exclude<keyof Client, 'each'>;

export const OPERATIONS: Readonly<Record<OperationName, Operation>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'operations.json'), 'utf8'),
);

export async function callOperation(client: Client, name: OperationName, input: object): Promise<unknown> {
  const operation = client[name] as (input: object) => unknown;
  return operation(input);
}
