import type { createDocument } from 'zod-openapi';

// What components are called whose name would not be a good one. By itself a component is called by the operation or
// the component that it is first found in, and the member: `CreateSourceRequest`, `DeliveryStatus`,
// `RoutePreviewRequest`. Components come first, in the order of the alphabet, then operations in theirs.

/** The better name, by the one that it would have (`withComponents`). */
const NAMES: Readonly<Record<string, string>> = {
  AcceptedSuccess: 'AcceptedEvent',
  AcceptedOption2: 'AcceptedChallenge',
  AlertChannelKind: 'IssueKind',
  AlertChannelQuietHours: 'QuietHours',
  AlertIssueState: 'IssueState',
  AlertIssueSource: 'IssueSource',
  AlertIssueRoute: 'IssueRoute',
  AlertIssueDestination: 'IssueDestination',
  AlertTestResultFailure: 'HttpTestFailure',
  AlertTestResultSuccess: 'AlertTestSuccess',
  AttemptRequestHeaders: 'StringMap',
  AzureBlobConfigFileFormat: 'WarehouseFileFormat',
  AzureBlobConfigCompression: 'WarehouseCompression',
  AzureBlobConfigPayloadColumn: 'WarehousePayloadColumn',
  AzureBlobConfigPartitionBy: 'WarehousePartition',
  CallerOrganizationPlan: 'Plan',
  ChannelFailingAlertDataOrganization: 'AlertOrganization',
  ChannelFailingAlertDataAlertChannel: 'AlertChannelReference',
  ChannelFailingAlertDataFailingChannel: 'FailingAlertChannel',
  ChannelFailingAlertDataChange: 'AlertChange',
  AlertChangeChange: 'IssueChange',
  ChannelRecoveredAlertDataRecoveredChannel: 'RecoveredAlertChannel',
  CircuitStatusCircuitState: 'CircuitState',
  DeliverySource: 'SourceReference',
  DeliveryRequestRequest: 'DeliveryHttpRequest',
  DestinationExportItemType: 'DestinationType',
  DestinationExportItemMethod: 'DeliveryMethod',
  DestinationExportItemForwardHeadersOption1: 'ForwardedHeaders',
  DestinationExportItemAuthType: 'DestinationAuthType',
  DestinationImportItemHttpAuthConfigOption2: 'JsonObject',
  DestinationImportItemOption2: 'DestinationImportItemWarehouse',
  DestinationImportItemWarehouseType: 'WarehouseType',
  InstallationStatusIngest: 'IngestState',
  InstallationStatusTemporal: 'ServerState',
  InstallationStatusRetentionPayloads: 'RetentionLag',
  MetricsSery: 'MetricSeries',
  MetricsMetric: 'MetricName',
  MetricsGroupBy: 'MetricGroup',
  ProviderConfigProvider: 'SourceProvider',
  RefusalCountsCause: 'RefusalCauseCount',
  RefusalCountsStep: 'RefusalStep',
  RoutePreviewRequestRequest: 'RoutePreviewHttpRequest',
  S3ConfigForcePathStyleOption2: 'BooleanText',
  SourceHandshakeAlgorithm: 'HmacAlgorithm',
  SourceHandshakeEncoding: 'SignatureEncoding',
  TestResultSuccess: 'HttpTestSuccess',
  TestResultOption3: 'WarehouseTestSuccess',
  TestResultOption4: 'WarehouseTestFailure',
  UsageLimitsEventsPerSecond: 'LimitUse',
  VerificationConfigType: 'VerificationType',
  VerificationConfigAlgorithm: 'VerificationAlgorithm',
  VerificationConfigSecretEncoding: 'SecretEncoding',
  VerificationConfigTimestampUnit: 'TimestampUnit',
  NoneVerification: 'NoVerification',
  PublicKeyVerificationAlgorithm: 'KeyAlgorithm',
  JwtVerificationAlgorithm: 'JwtAlgorithm',
  CreateSourceRequestAnswer: 'SourceAnswerInput',
  UpdateSourceRequestVerificationConfig: 'VerificationConfigInput',
  S3DestinationInputFieldMapping: 'FieldMappingRuleInput',
  UpdateDestinationRequestHttp: 'HttpDestinationChanges',
  UpdateDestinationRequestOption2: 'WarehouseDestinationChanges',
  PutDestinationRequestOption2: 'WarehouseDestinationInput',
  ImportDestinationsRequestConflictStrategy: 'ConflictStrategy',
  ImportRoutesRequestRoute: 'RouteImportItem',
  ExportDestinationsResult: 'DestinationExport',
  ExportRoutesResult: 'RouteExport',
  PauseRouteRequest: 'PauseRequest',
  ResumeRouteRequest: 'ResumeRequest',
  DayOfUsePage: 'DaysOfUse',
  GetDescriptionResult: 'Description',
  ListDeliveriesCodeClass: 'StatusCodeClass',
};

/** Better names of alternatives, which are kept in front of what tells them apart; the list above may mend these. */
const PATTERNS: readonly [RegExp, string][] = [
  [/^CreateSourceRequestVerificationConfig(.+)$/, '$1Verification'],
  [/^CreateSourceRequestHandshake(.+)$/, '$1Handshake'],
  [/^CreateDestinationRequest(.+)$/, '$1DestinationInput'],
];

function betterName(given: string): string {
  const name = PATTERNS.reduce((text, [pattern, better]) => text.replace(pattern, better), given);
  return NAMES[name] ?? name;
}

// Schemas in the form that generators of clients can read. It means what the form that zod writes means: alternatives
// are `anyOf` side by side, null is one of them, and no `type` is a list.

export type ApiDocument = ReturnType<typeof createDocument>;

interface JsonSchema {
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
function withParts(schema: JsonSchema, change: (part: JsonSchema, member?: string) => JsonSchema): JsonSchema {
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

function normalForm(schema: JsonSchema): JsonSchema {
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

// Gives every object and every enumeration in the description a name: it becomes a component, and equal ones are the
// same. What generators make of the description then has one type for each, called as it is called here.

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

interface Component {
  schema: JsonSchema;
  references: JsonSchema[];
}

/**
 * Rewrites the document in place, without a change of meaning.
 * @throws Error when two components get one name, or one of the names is not used
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
  if (unused.size > 0) throw new Error(`api/openapi/components.ts has unused names: ${[...unused].join(', ')}`);
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
    const wanted = betterName(given);
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
    if (schemas[name]) throw new Error(`Two components would be called ${name}: see api/openapi/components.ts`);
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

// Examples of answers, built from the examples of their members, so that none is missing or contradicts its schema.

type AnswerContent = Record<string, { schema?: unknown; example?: unknown }>;

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

function responsesOf(document: ApiDocument): { content?: AnswerContent }[] {
  const operations = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path));
  const own = operations.flatMap((operation) => Object.values((operation as { responses: object }).responses));
  return [...own, ...Object.values(document.components?.responses ?? {})] as { content?: AnswerContent }[];
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
