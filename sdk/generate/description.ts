// What clients are made of: the operations and schemas of docs/openapi.json, in the form that all generators here need.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const PROJECT = join(import.meta.dirname, '..', '..');

export interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  description?: string;
}

export interface Parameter {
  name: string;
  schema: Schema;
  description: string;
  isRequired: boolean;
  /** Several values are separated by commas. */
  hasCommas: boolean;
}

export interface List {
  item: string;
  page: string;
  /** What is answered to a `cursor`; undefined where there is none. */
  cursorPage?: string;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  tag: string;
  summary: string;
  description: string;
  /** In the order of the path, without the organization, which the client knows. */
  pathParameters: string[];
  hasOrganization: boolean;
  query: Parameter[];
  body?: { schema: Schema; isRequired: boolean };
  /** undefined: none; `bytes`: what was received, as it came; `stream`: server-sent events. */
  answer: Schema | 'bytes' | 'stream' | undefined;
  list?: List;
}

export interface Description {
  version: string;
  schemas: Record<string, Schema>;
  operations: Operation[];
}

type Content = Record<string, { schema: Schema }>;
interface Described {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: {
    in: string;
    name: string;
    description?: string;
    required?: boolean;
    explode?: boolean;
    schema: Schema;
  }[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}
interface Document {
  info: { version: string };
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Reads docs/openapi.json, without the addresses of webhooks: providers send those. */
export function readDescription(): Description {
  const text = readFileSync(join(PROJECT, 'docs', 'openapi.json'), 'utf8');
  const { info, paths, components } = JSON.parse(text) as Document;
  const operations = Object.entries(paths)
    .filter(([path]) => !path.startsWith('/ingest/'))
    .flatMap(([path, item]) =>
      METHODS.flatMap((method) => (item[method] ? [operationOf(method, path, item[method], components.schemas)] : [])),
    );
  return { version: info.version, schemas: components.schemas, operations };
}

function operationOf(method: string, path: string, described: Described, schemas: Record<string, Schema>): Operation {
  const { operationId, tags, summary, description = '', parameters = [], requestBody, responses } = described;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const body = requestBody?.content['application/json']?.schema;
  const [success] = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  if (success === undefined) throw new Error(`${operationId} has no successful response`);
  const content = success[1].content ?? {};
  const json = content['application/json']?.schema;
  const other = 'text/event-stream' in content ? 'stream' : Object.keys(content).length > 0 ? 'bytes' : undefined;
  return {
    ...{ id: operationId, method: method.toUpperCase(), path, tag: tags[0] ?? '', summary, description },
    pathParameters: names.filter((name) => name !== 'orgId'),
    hasOrganization: names.includes('orgId'),
    query: parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, schema, required = false, explode = true, description: about }) => ({
        ...{ name, schema, description: about ?? schema.description ?? '', isRequired: required },
        hasCommas: !explode && schema.items !== undefined,
      })),
    ...(body && { body: { schema: body, isRequired: requestBody?.required === true } }),
    answer: json ?? other,
    ...listOf(json, schemas),
  };
}

function listOf(answer: Schema | undefined, schemas: Record<string, Schema>): { list?: List } {
  const [page = '', cursorPage] = (answer?.anyOf ?? [answer ?? {}]).map(nameOf);
  const { data, pagination } = schemas[page]?.properties ?? {};
  if (!data?.items || !pagination) return {};
  return { list: { item: nameOf(data.items), page, ...(cursorPage !== undefined && { cursorPage }) } };
}

export const nameOf = ({ $ref = '' }: Schema): string => $ref.split('/').at(-1) ?? '';

/** The alternatives of a schema without null, and whether null is one. */
export function choicesOf({ anyOf, oneOf }: Schema): { choices: Schema[]; isNullable: boolean } {
  const all = anyOf ?? oneOf ?? [];
  const choices = all.filter(({ type }) => type !== 'null');
  return { choices, isNullable: choices.length < all.length };
}

/** Without streams, which the SDKs do not read, and without schemas that nothing else uses. */
export function withoutStreams({ version, ...all }: Description): Description {
  const operations = all.operations.filter(({ answer }) => answer !== 'stream');
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const part of Object.values(value)) visit(part);
    const name = nameOf(value as Schema);
    if (typeof (value as Schema).$ref !== 'string' || names.has(name)) return;
    names.add(name);
    visit(all.schemas[name]);
  };
  visit(operations);
  const schemas = Object.fromEntries(Object.entries(all.schemas).filter(([name]) => names.has(name)));
  return { version, operations, schemas };
}

export const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[\s_-]+/)
    .map((word) => word.toLowerCase());
