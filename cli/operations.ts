// The operations of the API, as npm run prepare has made them from docs/openapi.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, ListName, Source } from '../client/index.ts';
import { listAdvice, notFound, usage } from './errors.ts';

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

// Records by what people call them: a slug or a name in the place of an id.

interface RecordNames {
  list: ListName;
  prefix: string;
  names: readonly ('slug' | 'name')[];
  hasSearch: boolean;
}

const KINDS = {
  source: { list: 'listSources', prefix: 'src_', names: ['slug'], hasSearch: true },
  destination: { list: 'listDestinations', prefix: 'dst_', names: ['name'], hasSearch: true },
  route: { list: 'listRoutes', prefix: 'rte_', names: ['name'], hasSearch: false },
  filter: { list: 'listFilters', prefix: 'flt_', names: ['slug', 'name'], hasSearch: true },
  transform: { list: 'listTransforms', prefix: 'tfm_', names: ['slug', 'name'], hasSearch: true },
  schema: { list: 'listSchemas', prefix: 'sch_', names: ['slug', 'name'], hasSearch: true },
  'alert-channel': { list: 'listAlertChannels', prefix: 'alc_', names: ['name'], hasSearch: true },
} as const satisfies Record<string, RecordNames>;
export type RecordKind = keyof typeof KINDS;

export const isRecordKind = (kind: string): kind is RecordKind => Object.hasOwn(KINDS, kind);
export const namesOf = (kind: RecordKind): string => `${KINDS[kind].names.join(', ')} or ID`;

/** The id of a record. @param wanted a name, or the id itself @throws CliError when there is none, or more than one */
export async function findId(client: Client, kind: RecordKind, wanted: string): Promise<string> {
  return wanted.startsWith(KINDS[kind].prefix) ? wanted : (await findNamed(client, kind, wanted)).id;
}

/** A source by its slug or id. @throws CliError when there is none */
export async function findSource(client: Client, wanted: string): Promise<Source> {
  if (wanted.startsWith(KINDS.source.prefix)) return client.getSource({ id: wanted });
  return (await findNamed(client, 'source', wanted)) as Source;
}

async function findNamed(client: Client, kind: RecordKind, wanted: string): Promise<{ id: string }> {
  const { list, names, hasSearch }: RecordNames = KINDS[kind];
  const found: { id: string }[] = [];
  for await (const record of client.each(list, hasSearch ? { search: wanted } : {})) {
    const item = record as { id: string; slug?: string; name?: string };
    if (names.some((name) => item[name] === wanted)) found.push(item);
  }
  const [first, ...others] = found;
  const words = kind.replace('-', ' ');
  if (!first) throw notFound(`No ${words} named ${wanted}${listAdvice(`${kind}s`)}`);
  if (others.length > 0)
    throw usage(`${found.length} ${words}s are named ${wanted}; pass an ID: ${found.map(({ id }) => id).join(', ')}`);
  return first;
}
