// The operations as the command line needs them: what each takes, by kinds that options can have.
import type { Kind, Member, Operation as CliOperation } from '../../cli/operations.ts';
import { choicesOf, type Description, nameOf, type Operation, type Schema } from './description.ts';

/** @returns the text of `cli/operations.json` */
export function cliOperations({ schemas, operations }: Description): string {
  const table = Object.fromEntries(operations.map((operation) => [operation.id, entryOf(operation, schemas)]));
  return `${JSON.stringify(table)}\n`;
}

function entryOf(
  { tag, summary, description, ...operation }: Operation,
  schemas: Record<string, Schema>,
): CliOperation {
  const { pathParameters, query, body } = operation;
  const objects = body === undefined ? [] : objectsOf(body.schema, schemas);
  const names = new Set(objects.flatMap(({ properties = {} }) => Object.keys(properties)));
  return {
    ...{ tag, summary, description: description.replace(/ ?Requires the `[^`]*`( and `[^`]*`)? scopes?\.$/, '') },
    path: pathParameters,
    query: query.map(({ name, schema, description: about, isRequired }) => ({
      ...memberOf(name, [schema], schemas),
      ...{ about, isRequired },
    })),
    body: [...names].map((name) => {
      const alternatives = objects.flatMap(({ properties = {} }) => properties[name] ?? []);
      const isRequired = objects.every(({ required = [] }) => required.includes(name));
      return { ...memberOf(name, alternatives, schemas), isRequired };
    }),
    hasBody: body !== undefined,
  };
}

function objectsOf(schema: Schema, schemas: Record<string, Schema>): Schema[] {
  const own = resolved(schema, schemas);
  const { choices } = choicesOf(own);
  return choices.length > 0 ? choices.flatMap((choice) => objectsOf(choice, schemas)) : [own];
}

/** @param alternatives its schema in each of the objects that have it */
function memberOf(name: string, alternatives: Schema[], schemas: Record<string, Schema>): Member {
  const parts = alternatives.flatMap((schema) => partsOf(schema, schemas));
  const kinds = new Set(parts.map(({ kind }) => kind));
  // One value or a list of them is a list.
  if (kinds.has('list')) kinds.delete('text');
  const values = [...new Set(parts.flatMap((part) => part.values))];
  return {
    name,
    kind: kinds.size === 1 ? ([...kinds][0] ?? 'json') : 'json',
    about: alternatives.map(({ description = '' }) => description).find((text) => text !== '') ?? '',
    isRequired: false,
    ...(values.length > 0 && { values }),
  };
}

function partsOf(schema: Schema, schemas: Record<string, Schema>): { kind: Kind; values: string[] }[] {
  const own = resolved(schema, schemas);
  const { choices } = choicesOf(own);
  if (choices.length > 0) return choices.flatMap((choice) => partsOf(choice, schemas));
  if (own.enum !== undefined) return [{ kind: 'text', values: own.enum.map(String) }];
  if (own.const !== undefined)
    return [{ kind: typeof own.const === 'boolean' ? 'boolean' : 'text', values: [String(own.const)] }];
  if (own.type === 'array') {
    const items = partsOf(own.items ?? {}, schemas);
    const isTexts = items.every(({ kind }) => kind === 'text');
    return [{ kind: isTexts ? 'list' : 'json', values: isTexts ? items.flatMap(({ values }) => values) : [] }];
  }
  const { type } = own.properties ?? {};
  const kind = KINDS[own.type ?? ''] ?? 'json';
  return [{ kind, values: type === undefined ? [] : partsOf(type, schemas).flatMap(({ values }) => values) }];
}

const KINDS: Record<string, Kind> = { string: 'text', integer: 'integer', number: 'number', boolean: 'boolean' };

const resolved = (schema: Schema, schemas: Record<string, Schema>): Schema =>
  schema.$ref === undefined ? schema : (schemas[nameOf(schema)] ?? {});
