// Schemas in the form that generators of clients can read. It means what the form that zod writes means: alternatives are `anyOf`
// side by side, null is one of them, and no `type` is a list.

/** The keywords of JSON Schema that the description uses and that are read here. */
export interface JsonSchema {
  $ref?: string;
  description?: string;
  examples?: unknown[];
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  discriminator?: unknown;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  propertyNames?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
}

/** A schema whose parts are made again. @param change gets each part, and the name of the member that it is of */
export function withParts(schema: JsonSchema, change: (part: JsonSchema, member?: string) => JsonSchema): JsonSchema {
  const { properties, items, additionalProperties, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, change(part, name)])),
    }),
    ...(items && { items: change(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: change(additionalProperties) }),
    ...(anyOf && { anyOf: anyOf.map((part) => change(part)) }),
    ...(oneOf && { oneOf: oneOf.map((part) => change(part)) }),
  };
}

/** A schema and all within, in this form. */
export function normalForm(schema: JsonSchema): JsonSchema {
  return asAlternatives(withoutTypeLists(withoutNeedless(withParts(schema, normalForm))));
}

/** Names of members are texts anyway. */
function withoutNeedless({ propertyNames, ...schema }: JsonSchema): JsonSchema {
  const { type, ...others } = propertyNames ?? {};
  const isNeedless = type === 'string' && Object.keys(others).length === 0;
  return propertyNames === undefined || isNeedless ? schema : { ...schema, propertyNames };
}

function withoutTypeLists(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema.type)) return schema;
  const { type: types, description, examples, default: usual, ...rest } = schema;
  const alternative = (type: string): JsonSchema => {
    if (type === 'null' || type === 'boolean') return { type };
    return type === 'object' ? { ...rest, type, additionalProperties: {} } : { ...rest, type };
  };
  return defined({ anyOf: types.map(alternative), description, examples, default: usual });
}

function asAlternatives(schema: JsonSchema): JsonSchema {
  if (!schema.anyOf && !schema.oneOf) return schema;
  // The alternatives say it.
  const { type: _type, ...rest } = schema;
  // With a discriminator, or told apart by a member with a fixed value: no value is of two of them.
  if (rest.oneOf && rest.discriminator) return rest;
  const { anyOf, oneOf, description, examples, ...others } = rest;
  const parts = anyOf ?? oneOf ?? [];
  const isInner = (part: JsonSchema) => part.anyOf !== undefined && !('default' in part);
  const first = parts.find(isInner);
  return defined({
    ...others,
    anyOf: parts.flatMap((part) => (isInner(part) ? (part.anyOf ?? []) : [part])),
    description: description ?? first?.description,
    examples: examples ?? first?.examples,
  });
}

function defined(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}
