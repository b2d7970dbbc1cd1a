// A type of Go for each schema. Alternatives become one struct with the members of all: what not each of them has is a pointer.
import { choicesOf, nameOf, type Schema, wordsOf } from './description.ts';

const UPPER: Record<string, string> = {
  id: 'ID',
  ids: 'IDs',
  url: 'URL',
  http: 'HTTP',
  json: 'JSON',
  api: 'API',
  sql: 'SQL',
};
/** Fields whose zero value stands for "left out" without a pointer. */
const NILS = /^(?:\[\]|map\[|any$)/;

/** `sourceId` as `SourceID`. */
export const goName = (name: string): string =>
  wordsOf(name)
    .map((word) => UPPER[word] ?? word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** A comment of as many lines as there are paragraphs. */
export const comment = (text: string): string =>
  text === ''
    ? ''
    : `${text
        .split('\n')
        .map((line) => (line === '' ? '//' : `// ${line}`))
        .join('\n')}\n`;

export class GoTypes {
  readonly #schemas: Record<string, Schema>;
  readonly #definitions = new Map<string, string>();
  /** What types that are no components were made of. */
  readonly #choices = new Map<string, string>();

  constructor(schemas: Record<string, Schema>) {
    this.#schemas = schemas;
    for (const [name, schema] of Object.entries(schemas)) this.#define(name, schema);
  }

  /** All definitions that there are by now. */
  all(): string {
    const sorted = [...this.#definitions].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return sorted.map(([, definition]) => definition).join('\n');
  }

  /** The type of a value that is neither left out nor null. @param name of the type that is made where there is none for it */
  typeOf(schema: Schema, name: string): string {
    if (schema.$ref) return this.#isAny(schema) ? 'any' : nameOf(schema);
    if (schema.const !== undefined) return typeof schema.const === 'boolean' ? 'bool' : 'string';
    if (schema.enum) return 'string';
    const { choices } = choicesOf(schema);
    const [only] = choices;
    if (choices.length === 1 && only) return this.typeOf(only, name);
    if (choices.length > 1) return this.#typeOfChoices(choices, name);
    switch (schema.type) {
      case undefined:
        return 'any';
      case 'string':
        return 'string';
      case 'boolean':
        return 'bool';
      case 'integer':
        return 'int64';
      case 'number':
        return 'float64';
      case 'array':
        return `[]${this.typeOf(schema.items ?? {}, name.replace(/s$/, ''))}`;
      case 'object': {
        const { additionalProperties: of } = schema;
        return `map[string]${typeof of === 'object' ? this.typeOf(of, `${name}Value`) : 'any'}`;
      }
      default:
        throw new Error(`a schema of the type ${schema.type} is not known to sdk/generate/go-types.ts`);
    }
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
