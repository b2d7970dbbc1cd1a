// The Go of the API's description. Written as gofmt leaves it: blank lines between members, so that nothing is aligned.
import { choicesOf, type Description, nameOf, type Operation, type Schema, wordsOf } from './description.ts';

const MADE = '// Generated from docs/openapi.json by npm run prepare. DO NOT EDIT.';

/** @returns the text of `types.go` and `operations.go` */
export function goFiles(description: Description): { types: string; operations: string } {
  const types = new GoTypes(description.schemas);
  const operations = goOperations(description, types);
  const made = types.all();
  return {
    types: `${MADE}\n\npackage hookyard\n${made.includes('time.Time') ? '\nimport "time"\n' : ''}\n${made}`,
    operations: [
      `${MADE}\n\npackage hookyard\n`,
      'import (\n\t"context"\n\t"iter"\n)\n',
      `// Version is the version of this package, and of the Hookyard release that it was generated for.\nconst Version = "${description.version}"\n`,
      operations,
    ].join('\n'),
  };
}

function goOperations({ operations }: Description, types: GoTypes): string {
  return operations
    .flatMap((operation) => [
      parametersOf(operation, types),
      ...methodsOf(operation, types),
      operation.list ? eachOf(operation) : '',
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
  return `// ${name} are the parameters of ${exported(operation.id)}; nil fields are omitted.\n${struct(name, fields)}`;
}

function methodsOf(operation: Operation, types: GoTypes): string[] {
  const { id, summary, description, list, answer } = operation;
  const name = exported(id);
  const about = comment([`${name}: ${summary}.`, ...(description === '' ? [] : ['', description])].join('\n'));
  const own = list?.page ?? (typeof answer !== 'object' ? '' : types.typeOf(answer, `${name}Result`));
  const byPage = `${about}${methodOf(operation, name, answer === 'bytes' ? 'Raw' : own, '')}`;
  if (!list?.cursorPage) return [byPage];
  const from = `// ${name}From is ${name} by cursor: "first", or the NextCursor of the previous page.\n`;
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

function eachOf({ id, list, pathParameters }: Operation): string {
  const method = exported(id);
  const name = method.replace(/^List/, 'Each');
  const path = pathParameters.map((parameter) => `${argument(parameter)} string`);
  const given = ['ctx context.Context', ...path, `params *${method}Params`, 'opts ...CallOption'].join(', ');
  const passed = [...pathParameters.map(argument), '&given', 'opts...'].join(', ');
  const item = list?.item ?? '';
  const call = list?.cursorPage
    ? `eachByCursor(func(cursor string) (*${list.cursorPage}, error) {
		return c.${method}From(ctx, cursor, ${passed})
	}, func(part *${list.cursorPage}) ([]${item}, *string) {
		return part.Data, part.Pagination.NextCursor
	})`
    : `eachByPage(func(page int64) (*${list?.page}, error) {
		given.Page = &page
		return c.${method}(ctx, ${passed})
	}, func(answer *${list?.page}) ([]${item}, Pagination) {
		return answer.Data, answer.Pagination
	})`;
  return `// ${name} returns the items of all pages of ${method}, and requests each page when it is needed.
func (c *Client) ${name}(${given}) iter.Seq2[${item}, error] {
	given := orZero(params)
	if given.PageSize == nil {
		given.PageSize = Ptr[int64](eachPageSize)
	}
	return ${call}
}
`;
}

const argument = (parameter: string): string =>
  goName(parameter).replace(/^(?:ID|[A-Z])/, (first) => first.toLowerCase());

const UPPER = ['id', 'url', 'http', 'json', 'api', 'sql'];
const PLAIN: Record<string, string> = {
  '': 'any',
  string: 'string',
  boolean: 'bool',
  integer: 'int64',
  number: 'float64',
};
/** Fields whose zero value stands for "left out" without a pointer. */
const NILS = /^(?:\[\]|map\[|any$)/;

const goName = (name: string): string =>
  wordsOf(name)
    .map((word) => (UPPER.includes(word) ? word.toUpperCase() : exported(word)))
    .map((word) => (word === 'Ids' ? 'IDs' : word))
    .join('');

const comment = (text: string): string =>
  text === '' ? '' : `${text.replaceAll(/^(?=.)/gm, ' ').replaceAll(/^/gm, '//')}\n`;

/**
 * A type for each schema. Alternatives become one struct with the members of all: what not each of them has is a
 * pointer.
 */
class GoTypes {
  readonly #schemas: Record<string, Schema>;
  readonly #definitions = new Map<string, string>();
  /** What types that are no components were made of. */
  readonly #choices = new Map<string, string>();

  constructor(schemas: Record<string, Schema>) {
    this.#schemas = schemas;
    for (const [name, schema] of Object.entries(schemas)) this.#define(name, schema);
  }

  all(): string {
    const sorted = [...this.#definitions].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return sorted.map(([, definition]) => definition).join('\n');
  }

  /** Of a value that is neither left out nor null. @param name of the type that is made where there is none for it */
  typeOf(schema: Schema, name: string): string {
    if (schema.$ref) return this.#isAny(schema) ? 'any' : nameOf(schema);
    if (schema.const !== undefined) return typeof schema.const === 'boolean' ? 'bool' : 'string';
    if (schema.enum) return 'string';
    const { choices } = choicesOf(schema);
    const [only] = choices;
    if (choices.length === 1 && only) return this.typeOf(only, name);
    if (choices.length > 1) return this.#typeOfChoices(choices, name);
    if (schema.type === 'array') return `[]${this.typeOf(schema.items ?? {}, name.replace(/s$/, ''))}`;
    const { additionalProperties: of } = schema;
    if (schema.type === 'object')
      return `map[string]${typeof of === 'object' ? this.typeOf(of, `${name}Value`) : 'any'}`;
    const plain = PLAIN[schema.type ?? ''];
    if (plain === undefined) throw new Error(`sdk/generate/go.ts knows no type ${schema.type}`);
    return plain;
  }

  /** Whether a component is a choice that Go has no type for. */
  #isAny(schema: Schema): boolean {
    const component = this.#schemas[nameOf(schema)];
    return component !== undefined && choicesOf(component).choices.length > 1 && !this.#objectsOf(component);
  }

  #typeOfChoices(choices: Schema[], name: string): string {
    const kinds = new Set(choices.map((choice) => (choice.$ref ? '' : this.typeOf(choice, name))));
    if (kinds.size === 1 && !kinds.has('')) return [...kinds][0] ?? 'any';
    if (!this.#objectsOf({ anyOf: choices })) return 'any';
    if (name in this.#schemas) throw new Error(`A component is called ${name}, and so would a type of Go be`);
    const known = this.#choices.get(name);
    if (known !== undefined && known !== JSON.stringify(choices)) return 'any';
    this.#choices.set(name, JSON.stringify(choices));
    this.#define(name, { anyOf: choices });
    return name;
  }

  /** The objects that a choice is of; undefined when one of them is none. */
  #objectsOf(schema: Schema): Schema[] | undefined {
    if (schema.$ref) return this.#objectsOf(this.#schemas[nameOf(schema)] ?? {});
    if (schema.properties) return [schema];
    const { choices } = choicesOf(schema);
    const objects = choices.map((choice) => this.#objectsOf(choice));
    return choices.length === 0 || objects.includes(undefined) ? undefined : objects.flatMap((each) => each ?? []);
  }

  #define(name: string, schema: Schema): void {
    if (this.#definitions.has(name)) return;
    this.#definitions.set(name, '');
    const about = comment([name, schema.description && `: ${schema.description}`].filter(Boolean).join(''));
    this.#definitions.set(name, `${about}${this.#definition(name, schema)}`);
  }

  #definition(name: string, schema: Schema): string {
    if (schema.enum) return enumeration(name, schema.enum);
    if (schema.properties) return struct(name, this.#fields(name, [schema]));
    const objects = choicesOf(schema).choices.length > 1 ? this.#objectsOf(schema) : undefined;
    if (objects) return struct(name, this.#fields(name, objects));
    if (name === 'Timestamp') return 'type Timestamp = time.Time\n';
    return `type ${name} = ${this.typeOf(schema, `${name}Item`)}\n`;
  }

  #fields(name: string, objects: Schema[]): string[] {
    const members = new Set(objects.flatMap(({ properties = {} }) => Object.keys(properties)));
    return [...members].map((member) => {
      const having = objects.filter(({ properties = {} }) => member in properties);
      const schemas = having.map(({ properties = {} }) => properties[member] ?? {});
      const isRequired = objects.every(({ required = [] }) => required.includes(member));
      const isNullable = schemas.some((schema) => choicesOf(schema).isNullable);
      const types = new Set(schemas.map((schema) => this.typeOf(schema, name + goName(member))));
      const [first = 'any'] = types;
      const type = types.size === 1 ? first : this.#areTexts(schemas) ? 'string' : 'any';
      const about = [...new Set(schemas.map(({ description = '' }) => description))].find((text) => text !== '') ?? '';
      return `${comment(about)}${goName(member)} ${fieldType(type, isRequired, isNullable)} \`json:"${member}${isRequired ? '' : ',omitzero'}"\`\n`;
    });
  }

  #areTexts(schemas: Schema[]): boolean {
    return schemas.every((schema) => (schema.$ref ? (this.#schemas[nameOf(schema)] ?? {}) : schema).type === 'string');
  }
}

function fieldType(type: string, isRequired: boolean, isNullable: boolean): string {
  if (type === 'any') return 'any';
  if (isNullable && !isRequired) return `Nullable[${type}]`;
  return NILS.test(type) || (isRequired && !isNullable) ? type : `*${type}`;
}

const struct = (name: string, fields: string[]): string =>
  fields.length === 0
    ? `type ${name} struct{}\n`
    : `type ${name} struct {\n${fields.map((field) => field.replaceAll(/^(?=.)/gm, '\t')).join('\n')}}\n`;

function enumeration(name: string, values: unknown[]): string {
  const constants = values.map((value) => {
    const word = String(value).replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_all, letter: string) =>
      letter.toUpperCase(),
    );
    return `const ${name}${word || 'Empty'} ${name} = ${JSON.stringify(value)}\n`;
  });
  return `type ${name} string\n\n${constants.join('\n')}`;
}
