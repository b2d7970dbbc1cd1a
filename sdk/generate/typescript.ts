// The TypeScript of the API's description: a type for each schema, a method for each operation, and where each
// operation is.
import { type Description, nameOf, type Operation, type Parameter, type Schema } from './description.ts';

/** @returns the text of `client/api.ts` @throws Error for a schema of a kind that is not known here */
export function typescriptFile({ schemas, operations }: Description): string {
  const set = (about: string, name: string, members: Operation[]) =>
    `/** ${about} */\nexport const ${name}: ReadonlySet<string> = new Set(${JSON.stringify(members.map(({ id }) => id))});`;
  const paths = operations.map(({ id, method, path }) => `  ${id}: '${method} ${path}',`);
  return [
    '// Generated from docs/openapi.json by npm run prepare; do not edit.',
    "import type { CallOptions, RawAnswer } from './http.ts';",
    "import type { Streamed, StreamOptions } from './stream.ts';",
    ...Object.entries(schemas).map(
      ([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)};`,
    ),
    `export interface Operations {\n${operations.map((operation) => indent(methodOf(operation))).join('\n')}\n}`,
    '/** The method and path of each operation. */\n' +
      `export const operations: Readonly<Record<keyof Operations, string>> = {\n${paths.join('\n')}\n};`,
    set('The lists that support cursors.', 'cursorLists', operations.filter(hasCursor)),
    set('The operations that return a stream.', 'streams', operations.filter(isStream)),
    '',
  ].join('\n\n');
}

const hasCursor = ({ query }: Operation): boolean => query.some(({ name }) => name === 'cursor');
const isStream = ({ answer }: Operation): boolean => answer === 'stream';

function methodOf(operation: Operation): string {
  const { id, summary, answer, list } = operation;
  const [options, wrapped] = isStream(operation) ? ['StreamOptions', 'AsyncGenerator'] : ['CallOptions', 'Promise'];
  const method = (query: Parameter[], result: string) =>
    `${comment(summary)}${id}(${inputOf(operation, query)}, options?: ${options}): ${wrapped}<${result}>;`;
  if (answer === undefined) return method(operation.query, 'void');
  if (answer === 'bytes') return method(operation.query, 'RawAnswer');
  if (answer === 'stream') return method(operation.query, 'Streamed, void');
  if (!list?.cursorPage) return method(operation.query, typeOf(answer));
  // The signature for pages comes last of the two: it is the one that types derived from it take.
  const byCursor = operation.query
    .filter(({ name }) => name !== 'page')
    .map((parameter) => ({ ...parameter, isRequired: parameter.isRequired || parameter.name === 'cursor' }));
  const byPage = operation.query.filter(({ name }) => name !== 'cursor' && name !== 'withTotal');
  return `${method(byCursor, list.cursorPage)}\n${method(byPage, list.page)}`;
}

function inputOf({ pathParameters, hasOrganization, body }: Operation, query: Parameter[]): string {
  const properties: Record<string, Schema> = {
    ...Object.fromEntries(
      query.map(({ name, schema, hasCommas }) => [name, hasCommas ? { anyOf: [schema.items ?? {}, schema] } : schema]),
    ),
    ...(hasOrganization && { orgId: { type: 'string', description: "Defaults to the API key's organization." } }),
    ...Object.fromEntries(pathParameters.map((name) => [name, { type: 'string' }])),
    ...(body && { body: body.schema }),
  };
  const required = [
    ...query.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    ...pathParameters,
    ...(body?.isRequired ? ['body'] : []),
  ];
  if (Object.keys(properties).length === 0) return 'input?: Record<never, never>';
  return `input${required.length > 0 ? '' : '?'}: ${typeOf({ type: 'object', properties, required })}`;
}

function typeOf(schema: Schema): string {
  if (schema.$ref) return nameOf(schema);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(' | ');
  if (schema.type === 'array') return `Array<${typeOf(schema.items ?? {})}>`;
  if (schema.type === 'object') return objectType(schema);
  const plain = PLAIN[schema.type ?? ''];
  if (plain === undefined) throw new Error(`sdk/generate/typescript.ts knows no type ${schema.type}`);
  return plain;
}

const PLAIN: Record<string, string> = {
  ...{ '': 'unknown', string: 'string', boolean: 'boolean', null: 'null', number: 'number', integer: 'number' },
};

function objectType({ properties, required = [], additionalProperties }: Schema): string {
  if (!properties)
    return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`;
  const members = Object.entries(properties).map(([name, member]) => {
    const key = /^[A-Za-z]\w*$/.test(name) ? name : literal(name);
    return `${comment(member.description)}${key}${required.includes(name) ? '' : '?'}: ${typeOf(member)};`;
  });
  return members.length === 0 ? 'Record<string, unknown>' : `{\n${members.map(indent).join('\n')}\n}`;
}

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, '\\$&')}'` : JSON.stringify(value);
const comment = (text: string | undefined): string =>
  text ? `/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n` : '';
const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');
