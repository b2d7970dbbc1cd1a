// A method of the client for each operation, and an iterator for each list.
import { type Description, nameOf, type Operation, type Schema } from './description.ts';
import { comment, goName, type GoTypes } from './go-types.ts';

export function goOperations({ operations, schemas }: Description, types: GoTypes): string {
  return operations
    .flatMap((operation) => [
      parametersOf(operation, types),
      ...methodsOf(operation, types),
      operation.list ? eachOf(operation, schemas) : '',
    ])
    .filter((text) => text !== '')
    .join('\n');
}

const exported = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1);
const queryOf = ({ query }: Operation) => query.filter(({ name }) => name !== 'cursor');
const isAsked = (operation: Operation): boolean => queryOf(operation).length > 0;

function parametersOf(operation: Operation, types: GoTypes): string {
  if (!isAsked(operation)) return '';
  const name = `${exported(operation.id)}Params`;
  const fields = queryOf(operation).map(({ name: parameter, schema, description }) => {
    const type = types.typeOf(schema, name + goName(parameter));
    const given = type.startsWith('[]') ? type : `*${type}`;
    return `${comment(description)}${goName(parameter)} ${given} \`json:"${parameter},omitzero"\`\n`;
  });
  const body = fields.map((field) => field.replaceAll(/^(?=.)/gm, '\t')).join('\n');
  return `// ${name} are the parameters of ${exported(operation.id)}; what is nil is left out.\ntype ${name} struct {\n${body}}\n`;
}

function methodsOf(operation: Operation, types: GoTypes): string[] {
  const { id, summary, description, list, answer } = operation;
  const name = exported(id);
  const about = comment([`${name}: ${summary}.`, ...(description === '' ? [] : ['', description])].join('\n'));
  const own = list?.page ?? (typeof answer !== 'object' ? '' : types.typeOf(answer, `${name}Result`));
  const byPage = `${about}${methodOf(operation, name, answer === 'bytes' ? 'Raw' : own, '')}`;
  if (!list?.cursorPage) return [byPage];
  const from = `// ${name}From is ${name} by cursor: "first", or the NextCursor of the answer before.\n`;
  return [byPage, from + methodOf(operation, `${name}From`, list.cursorPage, 'cursor')];
}

/** @param cursor the name of its argument; empty: there is none */
function methodOf(operation: Operation, name: string, result: string, cursor: string): string {
  const { pathParameters, hasOrganization, body, method, path } = operation;
  const given = [
    'ctx context.Context',
    ...(cursor ? [`${cursor} string`] : []),
    ...pathParameters.map((parameter) => `${argument(parameter)} string`),
    ...(body ? [`body ${body.isRequired ? '' : '*'}${nameOf(body.schema)}`] : []),
    ...(isAsked(operation) ? [`params *${exported(operation.id)}Params`] : []),
    'opts ...CallOption',
  ];
  const pairs = pathParameters.map((parameter) => `"${parameter}", ${argument(parameter)}`);
  const call = [
    `method: "${method}"`,
    `template: "${path}"`,
    ...(pairs.length > 0 ? [`path: []string{${pairs.join(', ')}}`] : []),
    ...(hasOrganization ? ['inOrganization: true'] : []),
    ...(isAsked(operation) ? ['query: params'] : []),
    ...(cursor ? [`cursor: ${cursor}`] : []),
    ...(body ? [`body: ${body.isRequired ? 'body' : 'orNone(body)'}`] : []),
  ].join(', ');
  const lines =
    result === ''
      ? [`return c.send(ctx, call{${call}}, nil, opts)`]
      : [`result := new(${result})`, `err := c.send(ctx, call{${call}}, result, opts)`, 'return orNil(result, err)'];
  const returned = result === '' ? 'error' : `(*${result}, error)`;
  return `func (c *Client) ${name}(${given.join(', ')}) ${returned} {\n${lines.map((line) => `\t${line}\n`).join('')}}\n`;
}

function eachOf(operation: Operation, schemas: Record<string, Schema>): string {
  const { id, list, pathParameters } = operation;
  const name = exported(id).replace(/^List/, 'Each');
  const path = pathParameters.map((parameter) => `${argument(parameter)} string`);
  const item = list?.item ?? '';
  const passed = [...pathParameters.map(argument), '&given', 'opts...'].join(', ');
  const first = [
    'given := orZero(params)',
    'if given.PageSize == nil {',
    '\tgiven.PageSize = Ptr[int64](eachPageSize)',
    '}',
  ];
  const byCursor = [
    `return eachByCursor(func(cursor string) ([]${item}, *string, error) {`,
    `\tpart, err := c.${exported(id)}From(ctx, cursor, ${passed})`,
    ...[
      '\tif err != nil {',
      '\t\treturn nil, nil, err',
      '\t}',
      '\treturn part.Data, part.Pagination.NextCursor, nil',
      '})',
    ],
  ];
  const byPage = [
    `return eachByPage(func(page int64) ([]${item}, Pagination, error) {`,
    ...['\tgiven.Page = &page', `\tanswer, err := c.${exported(id)}(ctx, ${passed})`],
    ...[
      '\tif err != nil {',
      '\t\treturn nil, Pagination{}, err',
      '\t}',
      '\treturn answer.Data, answer.Pagination, nil',
    ],
    `}, ${hasId(item, schemas) ? `func(item ${item}) string { return item.ID }` : `asJSON[${item}]`})`,
  ];
  const lines = [...first, ...(list?.cursorPage ? byCursor : byPage)];
  const given = ['ctx context.Context', ...path, `params *${exported(id)}Params`, 'opts ...CallOption'].join(', ');
  const about = `// ${name} gives the items of all parts of ${exported(id)}, each part asked for when it is needed.\n`;
  return `${about}func (c *Client) ${name}(${given}) iter.Seq2[${item}, error] {\n${lines.map((line) => `\t${line}\n`).join('')}}\n`;
}

function hasId(name: string, schemas: Record<string, Schema>): boolean {
  const schema = schemas[name] ?? {};
  const parts = schema.anyOf ?? schema.oneOf;
  return parts ? parts.every((part) => hasId(nameOf(part), schemas)) : 'id' in (schema.properties ?? {});
}

const argument = (parameter: string): string =>
  goName(parameter).replace(/^(?:ID|[A-Z])/, (first) => first.toLowerCase());
