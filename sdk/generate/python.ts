// The Python of the API's description: a TypedDict or an alias for each schema, a method for each operation. Answers
// stay the dictionaries that the API sends; the types say what is in them.
import {
  choicesOf,
  type Description,
  nameOf,
  type Operation,
  type Parameter,
  type Schema,
  wordsOf,
} from './description.ts';

const MADE = '# Generated from docs/openapi.json by npm run prepare; do not edit.';
const KEYWORDS = ['from', 'class', 'import', 'in', 'is', 'global', 'pass', 'def', 'lambda', 'not', 'or', 'and', 'if'];

/** @returns the text of `_types.py` */
export function pythonTypes({ schemas }: Description): string {
  return [
    `${MADE}\n"""The types of requests and responses of the API."""\n`,
    'from typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n',
    ...Object.entries(schemas).map(([name, schema]) => `\n${typeDefinition(name, schema)}\n`),
  ].join('\n');
}

function typeDefinition(name: string, schema: Schema): string {
  const members = Object.entries(schema.properties ?? {});
  if (schema.type !== 'object' || !schema.properties)
    return [`${name}: TypeAlias = ${quoted(typeOf(schema))}`, ...docs(schema.description)].join('\n');
  const isRequired = (member: string) => schema.required?.includes(member) === true;
  // Members that Python has a word for cannot be written as those of a class.
  if (members.some(([member]) => KEYWORDS.includes(member))) {
    const rows = members.flatMap(([member, of]) => [
      ...docs(of.description, '# '),
      `${quoted(member)}: ${memberType(of, isRequired(member))},`,
    ]);
    return [`${name} = TypedDict(`, `    ${quoted(name)},`, '    {', ...indented(rows, 8), '    },', ')'].join('\n');
  }
  const lines = members.flatMap(([member, of]) => [
    `${member}: ${memberType(of, isRequired(member))}`,
    ...docs(of.description),
  ]);
  const body = [...docs(schema.description), ...(schema.description ? [''] : []), ...lines];
  const filled = body.length > 0 ? body : ['"""An object with any fields."""'];
  return [`class ${name}(TypedDict):`, ...indented(filled, 4)].join('\n');
}

const memberType = (schema: Schema, isRequired: boolean): string =>
  quoted(isRequired ? typeOf(schema) : `NotRequired[${typeOf(schema)}]`);
const indented = (lines: string[], by: number): string[] =>
  lines.map((line) => (line === '' ? '' : ' '.repeat(by) + line));

function docs(text: string | undefined, sign = ''): string[] {
  if (!text) return [];
  const clean = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").replace(/"$/, '" ');
  const lines = clean.split('\n').map((line) => line.trimEnd());
  return sign === '' ? `"""${lines.join('\n')}"""`.split('\n') : lines.map((line) => sign + line);
}

function typeOf(schema: Schema, prefix = ''): string {
  if (schema.$ref) return prefix + nameOf(schema);
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
  if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
  const { choices, isNullable } = choicesOf(schema);
  if (choices.length > 0)
    return [...new Set(choices.map((choice) => typeOf(choice, prefix))), ...(isNullable ? ['None'] : [])].join(' | ');
  if (schema.type === 'array') return `list[${typeOf(schema.items ?? {}, prefix)}]`;
  const { additionalProperties: of } = schema;
  if (schema.type === 'object') return `dict[str, ${typeof of === 'object' ? typeOf(of, prefix) : 'Any'}]`;
  const plain = PLAIN[schema.type ?? ''];
  if (plain === undefined) throw new Error(`sdk/generate/python.ts knows no type ${schema.type}`);
  return plain;
}

const PLAIN: Record<string, string> = { '': 'Any', string: 'str', boolean: 'bool', integer: 'int', number: 'float' };
const literal = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
const quoted = (text: string): string => (text.includes('"') ? `'${text}'` : `"${text}"`);
const snake = (name: string): string => {
  const word = wordsOf(name).join('_');
  return KEYWORDS.includes(word) ? `${word}_` : word;
};

/** @returns the text of `_operations.py` */
export function pythonOperations({ version, operations }: Description): string {
  const methods = operations.flatMap((operation) => [
    ...methodOf(operation),
    ...(operation.list ? eachOf(operation) : []),
  ]);
  return [
    // What is answered is not checked: its type is what the description says.
    `${MADE}\n# mypy: disable-error-code="no-any-return"\n"""A method for each operation of the API."""\n`,
    'from __future__ import annotations\n',
    'from collections.abc import Iterator',
    'from typing import Any, overload\n',
    'from . import _types as types',
    'from ._call import Caller, Options, Raw\n',
    `VERSION = ${quoted(version)}`,
    '"""The version of this package, and of the Hookyard release that it was generated for."""\n\n',
    'class Operations(Caller):',
    '    """All operations of the API. Fields and parameters are named as in the API description."""',
    ...methods,
    '',
  ].join('\n');
}

const typed = (schema: Schema): string => typeOf(schema, 'types.');

function argumentsOf(operation: Operation, query: Parameter[]): string[] {
  const { pathParameters, body, hasOrganization } = operation;
  return [
    'self',
    ...pathParameters.map((name) => `${snake(name)}: str`),
    ...(body ? [`body: ${typed(body.schema)}${body.isRequired ? '' : ' | None = None'}`] : []),
    '*',
    ...query.map(({ name, schema }) => `${snake(name)}: ${queryType(schema)}`),
    ...(hasOrganization ? ['org_id: str | None = None'] : []),
    'options: Options | None = None',
  ];
}

const queryType = (schema: Schema): string =>
  schema.type === 'array'
    ? `${typed(schema)} | ${typed(schema.items ?? {})} | None = None`
    : `${typed(schema)} | None = None`;

function passed(operation: Operation, query: Parameter[]): string[] {
  const entry = (name: string, value: string) => `"${name}": ${value}`;
  const path = [
    ...operation.pathParameters.map((name) => entry(name, snake(name))),
    ...(operation.hasOrganization ? [entry('orgId', 'org_id')] : []),
  ];
  return [
    `"${operation.method} ${operation.path}"`,
    `{${path.join(', ')}}`,
    `{${query.map(({ name }) => entry(name, snake(name))).join(', ')}}`,
  ];
}

function methodOf(operation: Operation): string[] {
  const { id, query, body, answer, list } = operation;
  const call = [...passed(operation, query), body ? 'body' : 'None', 'options'].join(', ');
  const result = answer === undefined ? 'None' : typeof answer === 'string' ? 'Raw' : typed(answer);
  const definition = (given: Parameter[], returned: string, lines: string[]) => [
    `    def ${snake(id)}(${argumentsOf(operation, given).join(', ')}) -> ${returned}:`,
    ...indented(lines, 8),
  ];
  const lines = [...aboutOf(operation), `return self._call(${call})`];
  if (!list?.cursorPage) return ['', ...definition(query, result, lines)];
  const pages = query.filter(({ name }) => name !== 'cursor' && name !== 'withTotal');
  const parts = query.filter(({ name }) => name !== 'page');
  const [byCursor = ''] = definition(parts, `types.${list.cursorPage}`, []);
  return [
    ...['', '    @overload', `${byCursor.replace(/cursor: (\S+) \| None = None/, 'cursor: $1')} ...`],
    ...['', '    @overload', ...definition(pages, `types.${list.page}`, ['...'])],
    ...['', ...definition(query, result, lines)],
  ];
}

function eachOf(operation: Operation): string[] {
  const { id, list } = operation;
  const query = operation.query.filter(({ name }) => !['page', 'cursor', 'withTotal'].includes(name));
  const given = passed(operation, query);
  return [
    '',
    `    def ${snake(id).replace(/^list_/, 'each_')}(${argumentsOf(operation, query).join(', ')}) -> Iterator[types.${list?.item}]:`,
    ...indented(docs(`The items of all pages of ${snake(id)}. Each page is requested when it is needed.`), 8),
    `        return self._each(${[...given, list?.cursorPage ? 'True' : 'False', 'options'].join(', ')})`,
  ];
}

function aboutOf({ summary, description, query }: Operation): string[] {
  const parameters = query
    .filter(({ description: about }) => about !== '')
    .map(({ name, description: about }) => `\`${snake(name)}\`: ${about}`);
  const paragraphs = [`${summary}.`, description, ...(parameters.length > 0 ? [parameters.join('\n')] : [])];
  return docs(paragraphs.filter((text) => text !== '').join('\n\n'));
}
