// The reference of the API as Markdown: a page for each tag of docs/openapi.json.

type Json = Record<string, unknown>;
interface Schema {
  $ref?: string;
  type?: string;
  title?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  description?: string;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
}
interface Parameter extends Omit<Schema, 'required'> {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}
type Content = Record<string, { schema?: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }>;
interface Operation {
  tags: string[];
  summary: string;
  description?: string;
  deprecated?: boolean;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { $ref?: string; description?: string; content?: Content }>;
}
export interface Description {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
}
export interface Page {
  name: string;
  title: string;
  about: string;
  text: string;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
// Members of members of members are rare, and seen in the example.
const MAX_DEPTH = 3;

export function apiPages(description: Description): Page[] {
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method];
      return operation === undefined ? [] : [{ path, method: method.toUpperCase(), ...operation }];
    }),
  );
  return description.tags.map(({ name, description: about }) => {
    const sections = operations.filter(({ tags }) => tags[0] === name).map((each) => section(each));
    const text = `# ${name}\n\n${plain(about)}\n\n${sections.join('\n\n')}\n`;
    return { name: name.toLowerCase().replaceAll(' ', '-'), title: name, about, text };
  });

  function section(operation: Operation & { path: string; method: string }): string {
    const { path, method, summary, parameters = [], requestBody, responses } = operation;
    const given = parameters.map((each) => resolve(each));
    const rows = given.map((each) => [
      `\`${each.name}\`${each.required ? ' (required)' : ''}`,
      each.in,
      typeOf(each.schema),
      cell(each.description ?? each.schema.description),
    ]);
    const answers = Object.entries(responses).map(([status, each]) => {
      const { description: text, content = {} } = resolve(each);
      return [`\`${status}\``, cell(text), namesOf(content)];
    });
    return [
      `## ${summary}`,
      `\`\`\`http\n${method} ${path}\n\`\`\``,
      plain(operation.description ?? ''),
      table(['Parameter', 'In', 'Type', 'Description'], rows),
      requestBody === undefined ? '' : body(requestBody.content),
      `**Responses**\n\n${table(['Status', 'Description', 'Body'], answers)}`,
      answer(responses),
    ]
      .filter((part) => part !== '')
      .join('\n\n');
  }

  function body(content: Content): string {
    const [[type, { schema = {}, examples = {}, example }] = ['', {}]] = Object.entries(content);
    const shown = Object.values(examples).map(({ value }) => value);
    const samples = [...shown, ...(example === undefined ? [] : [example])].map((each) => json(each));
    return [`**Body** (\`${type}\`)`, members(schema), ...samples].filter((part) => part !== '').join('\n\n');
  }

  /** What is answered when all is well. */
  function answer(responses: Operation['responses']): string {
    const [, good] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
    const {
      schema,
      example,
      examples = {},
    } = good === undefined ? {} : (resolve(good).content?.['application/json'] ?? {});
    if (schema === undefined) return '';
    const [first] = Object.values(examples);
    const sample = example ?? first?.value;
    return `::: details Fields of the response\n\n${members(schema) || typeOf(schema)}\n\n:::${
      sample === undefined ? '' : `\n\n${json(sample)}`
    }`;
  }

  /** A table of the members of an object; of several, when it is one of several. */
  function members(schema: Schema): string {
    const options = variants(schema);
    if (options.length < 2) return table(['Member', 'Type', 'Description'], rowsOf(schema));
    return options
      .map((each) => `_${nameOf(each) ?? typeOf(each)}_\n\n${table(['Member', 'Type', 'Description'], rowsOf(each))}`)
      .join('\n\n');
  }

  function rowsOf(schema: Schema, prefix = '', depth = 0): string[][] {
    const { properties = {}, required = [] } = objectOf(schema);
    return Object.entries(properties).flatMap(([name, each]) => {
      const path = `${prefix}${name}`;
      const isRequired = depth === 0 && required.includes(name) ? ' (required)' : '';
      const about = each.description ?? resolve(each).description;
      const row = [`\`${path}\`${isRequired}`, typeOf(each), cell(about) + defaultOf(each)];
      if (depth === MAX_DEPTH) return [row];
      const item = resolve(each).items;
      const below = variants(item ?? each);
      // Of one of several objects only the kinds are named.
      if (below.length !== 1) return [row];
      return [row, ...rowsOf(below[0] ?? {}, item === undefined ? `${path}.` : `${path}[].`, depth + 1)];
    });
  }

  function objectOf(schema: Schema): Schema {
    const { allOf = [], ...own } = resolve(schema);
    return allOf.map(objectOf).reduce(
      (all, each) => ({
        properties: { ...all.properties, ...each.properties },
        required: [...(all.required ?? []), ...(each.required ?? [])],
      }),
      own,
    );
  }

  /** The kinds that it can be, without null. */
  function variants(schema: Schema): Schema[] {
    const { anyOf, oneOf } = resolve(schema);
    const options = anyOf ?? oneOf;
    return options === undefined ? [schema] : options.flatMap(variants).filter((each) => resolve(each).type !== 'null');
  }

  function typeOf(schema: Schema): string {
    const known = resolve(schema);
    const options = known.anyOf ?? known.oneOf;
    if (options !== undefined) return [...new Set(options.map(typeOf))].join(' or ');
    if (known.const !== undefined) return code(known.const);
    if (known.enum !== undefined) return known.enum.map(code).join(', ');
    if (known.items !== undefined) return `array of ${typeOf(known.items)}`;
    const { minimum, maximum, maxLength, format } = known;
    const range = rangeOf(minimum, maximum);
    const limit = maxLength === undefined ? '' : `, at most ${maxLength} characters`;
    return `${known.type ?? (known.properties || known.allOf ? 'object' : 'any')}${format ? ` (${format})` : ''}${range}${limit}`;
  }

  function namesOf(content: Content): string {
    return Object.entries(content)
      .map(([type, { schema }]) => (schema === undefined ? `\`${type}\`` : (nameOf(schema) ?? typeOf(schema))))
      .join(', ');
  }

  function resolve<T extends { $ref?: string }>(given: T): T {
    if (given.$ref === undefined) return given;
    const target = given.$ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, key) => (at as Json)[key.replaceAll('~1', '/').replaceAll('~0', '~')], description);
    return resolve(target as T);
  }
}

function rangeOf(least?: number, most?: number): string {
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}`;
  if (least !== undefined) return `, at least ${least}`;
  return most === undefined ? '' : `, at most ${most}`;
}

const nameOf = ({ $ref, title }: Schema) => $ref?.split('/').at(-1) ?? title;
const code = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
const defaultOf = ({ default: value }: Schema) => (value === undefined ? '' : ` Default: ${code(value)}.`);

/** Text whose angle brackets and braces are no HTML and no Vue, outside of code. */
function plain(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, n) => (n % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;')))
    .join('');
}

const cell = (text = '') => plain(text).replaceAll('\n', ' ');

function table(head: string[], rows: string[][]): string {
  if (rows.length === 0) return '';
  const line = (cells: string[]) => `| ${cells.map((each) => each.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
