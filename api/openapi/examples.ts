// Examples of answers, built from the examples of their members, so that none is missing or contradicts its schema.
import type { ApiDocument } from './document.ts';
import type { JsonSchema } from './normal-form.ts';

type Content = Record<string, { schema?: unknown; example?: unknown }>;

/** Adds an example to every JSON answer that has none. */
export function withExamples(document: ApiDocument): ApiDocument {
  const schemas = (document.components?.schemas ?? {}) as Record<string, JsonSchema>;
  for (const response of responsesOf(document)) {
    const content = response.content?.['application/json'];
    if (content?.schema && content.example === undefined)
      content.example = exampleOf(content.schema as JsonSchema, schemas);
  }
  return document;
}

function responsesOf(document: ApiDocument): { content?: Content }[] {
  const operations = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path));
  const own = operations.flatMap((operation) => Object.values((operation as { responses: object }).responses));
  return [...own, ...Object.values(document.components?.responses ?? {})] as { content?: Content }[];
}

function exampleOf(schema: JsonSchema, schemas: Record<string, JsonSchema>): unknown {
  if (schema.examples && schema.examples.length > 0) return schema.examples[0];
  if (schema.$ref !== undefined) return exampleOf(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas);
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [first] = schema.anyOf ?? schema.oneOf ?? [];
  if (first) return exampleOf(first, schemas);
  if (schema.properties) {
    const members = Object.entries(schema.properties).map(([name, member]) => [name, exampleOf(member, schemas)]);
    return Object.fromEntries(members.filter(([, example]) => example !== undefined));
  }
  if (schema.type === 'array') return schema.items ? [exampleOf(schema.items, schemas)] : [];
  // Optional members without an example are omitted.
  return undefined;
}
