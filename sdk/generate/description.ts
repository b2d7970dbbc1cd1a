// What the SDKs are made of: the operations and schemas of docs/openapi.json, in the form that both generators need.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const PROJECT = join(import.meta.dirname, '..', '..');
const DESCRIPTION = join(PROJECT, 'docs', 'openapi.json');

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
}

/** The items of a list, and how the parts of it are asked for. */
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
  summary: string;
  description: string;
  /** In the order of the path, without the organization, which the client knows. */
  pathParameters: string[];
  hasOrganization: boolean;
  query: Parameter[];
  body?: { schema: Schema; isRequired: boolean };
  /** undefined: none; `bytes`: what was received, as it came. */
  answer: Schema | 'bytes' | undefined;
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
  summary: string;
  description?: string;
  parameters?: ({ $ref?: string; in: string; description?: string } & Parameter)[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}
interface Document {
  info: { version: string };
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** Webhooks are sent by providers; a stream is none of the answers that a call returns. */
const isLeftOut = (path: string) => path.startsWith('/ingest/') || path.endsWith('/events/stream');

/** Reads docs/openapi.json. */
export function readDescription(): Description {
  const { info, paths, components } = JSON.parse(readFileSync(DESCRIPTION, 'utf8')) as Document;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    isLeftOut(path)
      ? []
      : METHODS.flatMap((method) =>
          item[method] ? [operationOf(method, path, item[method], components.schemas)] : [],
        ),
  );
  return { version: info.version, schemas: usedBy(operations, components.schemas), operations };
}

function operationOf(method: string, path: string, described: Described, schemas: Record<string, Schema>): Operation {
  const { operationId, summary, description = '', parameters = [], requestBody, responses } = described;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const body = requestBody?.content['application/json']?.schema;
  const content = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content ?? {};
  const json = content['application/json']?.schema;
  return {
    ...{ id: operationId, method: method.toUpperCase(), path, summary, description },
    pathParameters: names.filter((name) => name !== 'orgId'),
    hasOrganization: names.includes('orgId'),
    query: parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, schema, description: about }) => ({
        name,
        schema,
        description: about ?? schema.description ?? '',
      })),
    ...(body && { body: { schema: body, isRequired: requestBody?.required === true } }),
    answer: json ?? (Object.keys(content).length > 0 ? 'bytes' : undefined),
    ...listOf(json, schemas),
  };
}

function listOf(answer: Schema | undefined, schemas: Record<string, Schema>): { list?: List } {
  const [page = '', cursorPage] = (answer?.anyOf ?? [answer ?? {}]).map(nameOf);
  const { data, pagination } = schemas[page]?.properties ?? {};
  if (!data?.items || !pagination) return {};
  return { list: { item: nameOf(data.items), page, ...(cursorPage !== undefined && { cursorPage }) } };
}

/** The name of the component that a reference is to; empty for others. */
export const nameOf = ({ $ref = '' }: Schema): string => $ref.split('/').at(-1) ?? '';

/** The alternatives of a schema without null, and whether null is one. */
export function choicesOf({ anyOf, oneOf }: Schema): { choices: Schema[]; isNullable: boolean } {
  const all = anyOf ?? oneOf ?? [];
  const choices = all.filter(({ type }) => type !== 'null');
  return { choices, isNullable: choices.length < all.length };
}

/** The schemas that operations need, and those that errors have. */
function usedBy(operations: Operation[], schemas: Record<string, Schema>): Record<string, Schema> {
  const names = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const part of Object.values(value)) look(part);
    const name = nameOf(value as Schema);
    if (typeof (value as Schema).$ref !== 'string' || names.has(name)) return;
    names.add(name);
    look(schemas[name]);
  };
  look(operations);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => names.has(name)));
}

/** The words of a name: create and source of `createSource`. */
export const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[\s_-]+/)
    .map((word) => word.toLowerCase());
