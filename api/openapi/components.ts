// Gives every object and every enumeration in the description a name: it becomes a component, and equal ones are the same. What
// generators make of the description then has one type for each, called as it is called here (./component-names.ts).
import { NAMES } from './component-names.ts';
import type { ApiDocument } from './document.ts';
import { type JsonSchema, normalForm, withParts } from './normal-form.ts';

type Content = Record<string, { schema?: JsonSchema }>;
interface Parameter {
  name: string;
  explode?: boolean;
  schema?: JsonSchema;
}
interface Described {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}
interface Description {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, JsonSchema> };
}

/** A component that is made here, and the references to it. */
interface Component {
  schema: JsonSchema;
  references: JsonSchema[];
}

/**
 * Rewrites the document in place: it means what it meant before.
 * @throws Error when two components would have the same name, or one of the names is not used
 */
export function withComponents(document: ApiDocument): ApiDocument {
  const { paths, components } = document as unknown as Description;
  const nameOfContent = new Map<string, string>();
  const made = new Map<string, Component>();
  const schemas: Record<string, JsonSchema> = {};
  const unused = new Set(Object.values(NAMES));
  for (const [name, schema] of sorted(Object.entries(components.schemas))) {
    const normal = normalForm(schema);
    schemas[name] = normal;
    if (isNameable(normal) && !nameOfContent.has(contentOf(normal))) nameOfContent.set(contentOf(normal), name);
  }
  for (const [name, schema] of Object.entries(schemas)) schemas[name] = partsNamed(schema, name);
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) nameSchemasOf(operation);
  for (const component of made.values()) tellOnce(component);
  // What came before it in the order has taken its place, with a name that nobody chose.
  if (unused.size > 0)
    throw new Error(`api/openapi/component-names.ts names what is not there: ${[...unused].join(', ')}`);
  components.schemas = Object.fromEntries(sorted(Object.entries(schemas)));
  return document;

  function nameSchemasOf({ operationId, parameters = [], requestBody, responses }: Described): void {
    const operation = pascal(operationId);
    for (const parameter of parameters) {
      if (parameter.schema)
        parameter.schema = named(asList(parameter, normalForm(parameter.schema)), operation + pascal(parameter.name));
    }
    for (const media of Object.values(requestBody?.content ?? {})) {
      if (media.schema) media.schema = named(normalForm(media.schema), `${operation}Request`, true);
    }
    for (const media of Object.values(responses).flatMap(({ content = {} }) => Object.values(content))) {
      if (media.schema) media.schema = answerNamed(normalForm(media.schema), operation);
    }
  }

  /** Pages are called by what they list. */
  function answerNamed(schema: JsonSchema, operation: string): JsonSchema {
    if (schema.anyOf) return { ...schema, anyOf: schema.anyOf.map((part) => answerNamed(part, operation)) };
    const item = schema.properties?.data?.items?.$ref;
    if (item === undefined) return named(schema, `${operation}Result`);
    const isByCursor = schema.properties?.pagination?.$ref?.endsWith('/CursorPagination');
    return named(schema, item.split('/').at(-1) + (isByCursor ? 'CursorPage' : 'Page'));
  }

  /** @param isWhole whether it is a component also as a choice of others, or as an object of any members */
  function named(schema: JsonSchema, given: string, isWhole = false): JsonSchema {
    if (schema.$ref !== undefined) return schema;
    const wanted = NAMES[given] ?? given;
    const whole = partsNamed(schema, wanted);
    if (!isNameable(whole) && !(isWhole && (whole.anyOf || whole.type === 'object'))) return whole;
    const { description, examples, default: usual, ...content } = whole;
    const name = nameOfContent.get(contentOf(content)) ?? componentOf(content, wanted);
    const reference = {
      $ref: `#/components/schemas/${name}`,
      ...(description !== undefined && { description }),
      ...(examples !== undefined && { examples }),
      ...(usual !== undefined && { default: usual }),
    };
    made.get(name)?.references.push(reference);
    return reference;
  }

  function componentOf(schema: JsonSchema, name: string): string {
    if (schemas[name]) throw new Error(`Two components would be called ${name}: see api/openapi/component-names.ts`);
    unused.delete(name);
    nameOfContent.set(contentOf(schema), name);
    made.set(name, { schema, references: [] });
    schemas[name] = schema;
    return name;
  }

  function partsNamed(schema: JsonSchema, name: string): JsonSchema {
    const choices = schema.anyOf ?? schema.oneOf ?? [];
    const isOneOfMany = choices.filter(({ type }) => type !== 'null').length > 1;
    const choiceNames = isOneOfMany ? namesOfChoices(choices, name) : choices.map(() => name);
    return withParts(schema, (part, member) => {
      if (member !== undefined) return named(part, name + pascal(member));
      if (part === schema.items) return named(part, singular(name));
      if (part === schema.additionalProperties) return named(part, `${name}Value`);
      return named(part, choiceNames[choices.indexOf(part)] ?? name, true);
    });
  }
}

/** Of alternatives: told by the fixed value of a member, or else counted. */
function namesOfChoices(choices: JsonSchema[], name: string): string[] {
  const words = choices.map(({ properties: { type, success } = {} }) =>
    success?.const === undefined ? type?.const : success.const ? 'success' : 'failure',
  );
  return words.map((word, index) =>
    typeof word === 'string' && words.indexOf(word) === index ? name + pascal(word) : `${name}Option${index + 1}`,
  );
}

const isNameable = ({ type, properties, enum: values = [] }: JsonSchema): boolean =>
  (type === 'object' && properties !== undefined) || values.length > 1;

/** A query parameter that takes one value or several, separated by commas, takes a list. */
function asList({ explode }: Parameter, schema: JsonSchema): JsonSchema {
  const list = explode === false && schema.anyOf?.find(({ type }) => type === 'array');
  if (!list) return schema;
  const { anyOf: _anyOf, ...others } = schema;
  return { ...list, ...others };
}

/** What is the same at all references stands at the component, where generators look. */
function tellOnce({ schema, references }: Component): void {
  for (const key of ['description', 'examples'] as const) {
    const [first] = references;
    if (first?.[key] === undefined || schema[key] !== undefined) continue;
    if (references.some((reference) => JSON.stringify(reference[key]) !== JSON.stringify(first[key]))) continue;
    Object.assign(schema, { [key]: first[key] });
    for (const reference of references) delete reference[key];
  }
}

/** What two schemas that may be one have in common: everything but examples, and what is said of the whole. */
function contentOf({ description: _description, default: _default, ...schema }: JsonSchema): string {
  return JSON.stringify(schema, (key, value) => {
    if (key === 'examples') return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(sorted(Object.entries(value)));
  });
}

const sorted = <Entry extends [string, unknown]>(entries: Entry[]): Entry[] =>
  entries.toSorted(([one], [other]) => (one < other ? -1 : 1));

function pascal(text: string): string {
  const joined = text.replaceAll(/[^A-Za-z0-9]+(.)?/g, (_all, letter: string = '') => letter.toUpperCase());
  return joined.charAt(0).toUpperCase() + joined.slice(1);
}

function singular(name: string): string {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`;
  if (/(?:ss|ch)es$/.test(name)) return name.slice(0, -2);
  return /[^s]s$/.test(name) ? name.slice(0, -1) : name;
}
