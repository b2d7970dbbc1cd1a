// TypeScript of the API's description: one type per named schema, one method per operation. Written by hand rather than with a
// tool, because it is this short: the description holds few kinds of schemas, and a client needs their shape alone, not their bounds.

interface Schema {
  $ref?: string;
  type?: string | string[];
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
interface Parameter {
  $ref?: string;
  in: string;
  name: string;
  required?: boolean;
  /** False: several values are separated by commas. */
  explode?: boolean;
  schema: Schema;
}
type Content = Record<string, { schema: Schema }>;
interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}
/** The members of an OpenAPI document that are read here. */
export interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/**
 * @returns the text of `client/api.ts`
 * @throws Error when the description holds a schema of a kind that is not known here
 */
export function clientTypes(document: Description): string {
  const types = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)};`,
  );
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    // Webhooks are sent by providers, with bodies and headers of theirs.
    path.startsWith('/ingest/')
      ? []
      : METHODS.flatMap((method) => (item[method] ? [{ method, path, ...item[method] }] : [])),
  );
  return [
    '// Made of docs/openapi.json by npm run openapi; do not edit.',
    "import type { CallOptions, RawAnswer } from './http.ts';",
    "import type { Streamed, StreamOptions } from './stream.ts';",
    ...types,
    ['export interface Operations {', ...operations.map((operation) => indent(method(document, operation))), '}'].join(
      '\n',
    ),
    [
      '/** Where each operation is. */',
      'export const operations: Readonly<Record<keyof Operations, string>> = {',
      ...operations.map(({ method, path, operationId }) => `  ${operationId}: '${method.toUpperCase()} ${path}',`),
      '};',
    ].join('\n'),
    [
      '/** The lists that also go by cursor. */',
      'export const cursorLists: ReadonlySet<string> = new Set([',
      ...operations
        .filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'cursor'))
        .map(({ operationId }) => `  '${operationId}',`),
      ']);',
    ].join('\n'),
    [
      '/** The operations that answer with a stream. */',
      'export const streams: ReadonlySet<string> = new Set([',
      ...operations.filter(isStream).map(({ operationId }) => `  '${operationId}',`),
      ']);\n',
    ].join('\n'),
  ].join('\n\n');
}

function method(document: Description, operation: Operation): string {
  const input: Record<string, Schema> = {};
  const required: string[] = [];
  for (const given of operation.parameters ?? []) {
    const { in: place, name, schema, ...rest } = given.$ref ? parameter(document, given.$ref) : given;
    if (place !== 'path' && place !== 'query') continue;
    const isList = rest.explode === false && schema.items !== undefined;
    input[name] = isList ? { anyOf: [schema.items ?? {}, schema] } : schema;
    // The client knows the organization of its key.
    if (rest.required && name !== 'orgId') required.push(name);
  }
  const { requestBody } = operation;
  const body = requestBody?.content['application/json'];
  if (body) input.body = body.schema;
  if (body && requestBody.required) required.push('body');
  const [options, wrapped] = isStream(operation) ? ['StreamOptions', 'AsyncGenerator'] : ['CallOptions', 'Promise'];
  const signature = (properties: Record<string, Schema>, needed: string[], result: string) =>
    `${comment(operation.summary)}${operation.operationId}(${inputOf(properties, needed)}, options?: ${options}): ${wrapped}<${result}>;`;
  if (!('cursor' in input)) return signature(input, required, answer(operation));
  // The answer to a cursor comes last of the two, the signature for pages does: it is the one that types derived from it take.
  const { page = {}, cursor = {}, withTotal = {}, ...others } = input;
  const [pages = '', parts = ''] = answers(operation);
  return [
    signature({ cursor, withTotal, ...others }, [...required, 'cursor'], parts),
    signature({ page, ...others }, required, pages),
  ].join('\n');
}

function inputOf(properties: Record<string, Schema>, required: string[]): string {
  if (Object.keys(properties).length === 0) return 'input?: Record<never, never>';
  return `input${required.length > 0 ? '' : '?'}: ${typeOf({ type: 'object', properties, required })}`;
}

/** The types of an answer that is one of several. */
function answers(operation: Operation): string[] {
  const { anyOf = [] } = jsonAnswer(operation)?.schema ?? {};
  if (anyOf.length !== 2) throw new Error(`${operation.operationId} takes a cursor, and has not two answers`);
  return anyOf.map(typeOf);
}

const successOf = ({ responses }: Operation) =>
  Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
const jsonAnswer = (operation: Operation) => successOf(operation)?.content?.['application/json'];
/** Read by `client/stream.ts`. */
const isStream = (operation: Operation) => successOf(operation)?.content?.['text/event-stream'] !== undefined;

function answer(operation: Operation): string {
  const success = successOf(operation);
  if (!success) throw new Error(`${operation.operationId} has no answer that is a success`);
  const json = jsonAnswer(operation);
  if (json) return typeOf(json.schema);
  if (isStream(operation)) return 'Streamed, void';
  return Object.keys(success.content ?? {}).length > 0 ? 'RawAnswer' : 'void';
}

function parameter(document: Description, ref: string): Parameter {
  const found = document.components.parameters[ref.replace('#/components/parameters/', '')];
  if (!found) throw new Error(`there is no ${ref}`);
  return found;
}

function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.replace('#/components/schemas/', '');
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case undefined:
      return 'unknown';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return `Array<${typeOf(schema.items ?? {})}>`;
    case 'object':
      return objectType(schema);
    default:
      throw new Error(`a schema of the type ${schema.type} is not known to client/generate/types.ts`);
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema): string {
  if (!properties) {
    return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`;
  }
  const members = Object.entries(properties).map(
    ([name, member]) =>
      `${comment(member.description)}${/^[A-Za-z]\w*$/.test(name) ? name : literal(name)}${required.includes(name) ? '' : '?'}: ${typeOf(member)};`,
  );
  return members.length === 0 ? 'Record<string, unknown>' : `{\n${members.map(indent).join('\n')}\n}`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, '\\$&')}'` : JSON.stringify(value);
}

function comment(text: string | undefined): string {
  return text ? `/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n` : '';
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
