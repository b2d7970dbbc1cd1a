// What destinations hold: HTTP endpoints, and warehouses, which are in the same lists and files.
import { z } from 'zod';
import { AUTH_TYPES, authConfigSchemas } from '../../../core/delivery/auth-config.ts';
import { METHODS } from '../../../core/delivery/delivery.ts';
import {
  DESTINATION_TYPES,
  type DestinationType,
  WAREHOUSE_TYPES,
  warehouseConfigSchemas,
  type WarehouseType,
} from '../../../core/warehouse/config.ts';
import { COLUMN_TYPES } from '../../../core/warehouse/columns.ts';
import { secretFieldsOf } from '../../../core/warehouse/credentials.ts';
import { fieldMappingSchema } from '../../../core/warehouse/field-mapping.ts';
import type { Destination } from '../../../db/records/entities.ts';
import { ApiError } from '../../request/errors.ts';
import * as field from '../fields.ts';
import { pauseMembers } from '../routes/pauses.ts';
import * as table from '../table.ts';
import {
  component,
  count,
  idOf,
  latency,
  percent,
  REDACTED,
  text,
  timestamp,
  warnings,
  withExample,
} from '../values.ts';

const MAX_RATE_PER_MINUTE = 1_000_000;
const MAX_CONCURRENCY = 1000;

export const UNCHANGEABLE = 'cannot be changed after creation';

// Its shape depends on authType, which an update may omit: checked once the record is loaded (destination-record.ts).
const authConfig = z.record(z.string(), z.unknown()).nullable();
const shownAuthConfig = withExample(
  z.record(z.string(), z.string()).nullable(),
  {},
  'Credentials. Secrets are shown as •••• followed by their last four characters.',
);
const authConfigInFile = withExample(
  z.union([z.literal(REDACTED), z.record(z.string(), z.string())]),
  REDACTED,
  'Credentials. Shown in plain text only with `includeSensitive=true`.',
);
const signingSecret = z.string().nullable();
const shownSigningSecret = text(
  '••••aLSw',
  'The secret for Standard Webhooks signatures. If null, deliveries are not signed.',
).nullable();

/** The type of an HTTP destination may be sent; it has no effect. */
const httpType = {
  create: z.literal('http', 'must be http; create warehouses at /api/destinations').optional(),
  update: z.literal('http', UNCHANGEABLE).optional(),
  answer: z.literal('http'),
  file: z.enum(DESTINATION_TYPES),
  fileName: undefined,
  isStored: true,
} as const;

const recentTotals = {
  successRate: table.computed(
    percent
      .nullable()
      .describe(
        'The percentage of recently finished deliveries that succeeded. Null if no delivery finished recently.',
      ),
  ),
  avgLatency: table.computed(
    latency.nullable().describe('Average latency of recent responses, in milliseconds. Null if there are none.'),
  ),
  deliveriesCount: table.computed(count),
};

export const destinationMembers = table.membersOf<
  Omit<Destination, 'config' | 'fieldMapping' | 'previousSigningSecret'>
>()({
  id: table.readOnly(idOf('dst')),
  name: table.required(withExample(field.name, 'CRM')),
  type: httpType,
  // Warehouses have none, and are in the same files.
  url: table.required(field.url, { answer: field.shownUrl }),
  enabled: table.optional(field.enabled, true, { fileName: 'isActive' }),
  ...pauseMembers,
  ...recentTotals,
  slug: table.converted(withExample(field.slug, 'crm')),
  description: table.optional(withExample(field.description, 'Sales team'), null),
  method: table.optional(z.enum(METHODS), 'POST'),
  headers: table.optional(field.headers, {}),
  forwardHeaders: table.optional(field.forwardHeaders, null),
  forwardQuery: table.optional(field.forwardQuery, false),
  forwardPath: table.optional(field.forwardPath, false),
  authType: table.optional(z.enum(AUTH_TYPES), 'none'),
  authConfig: table.sealed(authConfig, { answer: shownAuthConfig, file: authConfigInFile }),
  signingSecret: table.sealed(signingSecret, {
    answer: shownSigningSecret,
    file: withExample(signingSecret, null),
  }),
  previousSigningSecretUntil: table.readOnly(
    timestamp
      .nullable()
      .describe('When the previous secret expires. Until then, deliveries are signed with both secrets.'),
  ),
  timeoutMs: table.optional(
    withExample(z.int().min(1).max(60_000), 30_000, 'Timeout for each attempt, in milliseconds.'),
    30_000,
  ),
  rateLimitPerMinute: table.optional(
    withExample(
      z.int().min(1).max(MAX_RATE_PER_MINUTE).nullable(),
      null,
      'Maximum requests per minute. Null if unlimited.',
    ),
    null,
  ),
  maxConcurrency: table.optional(
    withExample(
      z.int().min(1).max(MAX_CONCURRENCY).nullable(),
      null,
      'Maximum concurrent attempts. If null, the maximum adapts to the destination.',
    ),
    null,
  ),
  retryPolicy: table.converted(field.retryPolicy, { answer: field.shownRetryPolicy }),
  lastDeliveryAt: table.computed(timestamp.nullable()),
  warnings: table.computed(warnings),
  createdAt: table.readOnly(timestamp),
  updatedAt: table.readOnly(timestamp),
});

export const destinationDefaults = table.defaultsOf(destinationMembers);

export const createDestinationSchema = z.object(table.createShape(destinationMembers));
export const updateDestinationSchema = z.object(table.updateShape(destinationMembers));
export const destinationImportItem = z.object(table.importShape(destinationMembers));
export const httpDestination = component('HttpDestination', table.answerShape(destinationMembers));

export type DestinationInput = Omit<z.output<typeof createDestinationSchema>, 'type'>;

export const summaryMembers = table.only(
  destinationMembers,
  'id',
  'name',
  'slug',
  'type',
  'url',
  'enabled',
  'paused',
  'pausedUntil',
  'successRate',
  'avgLatency',
  'deliveriesCount',
);
export const httpSummary = component('HttpDestinationSummary', table.answerShape(summaryMembers));

export const typeSchema = z.looseObject({ type: z.enum(DESTINATION_TYPES).default('http') });

export const createHttpBody = createDestinationSchema.extend({
  authConfig: withExample(
    z.union(Object.values(authConfigSchemas)).nullable().optional(),
    { token: 'the CRM token' },
    'Credentials. The fields depend on `authType`.',
  ),
});

/** Requires a plan that has warehouses. @throws ApiError 403 */
export function requirePlan(plan: string, type: DestinationType): void {
  if (type === 'http' || plan === 'pro' || plan === 'business') return;
  throw new ApiError(403, undefined, `Destinations of type ${type} require a Pro or Business plan`);
}

const shownConfig = z.object(Object.fromEntries(WAREHOUSE_TYPES.flatMap((type) => shownMembers(type)))).meta({
  id: 'WarehouseConfig',
  description:
    'Warehouse configuration. The fields depend on `type`. The secret is shown as •••• followed by its last four characters.',
  examples: [
    {
      bucket: 'acme-events',
      region: 'eu-central-1',
      accessKeyId: 'AKIAEXAMPLE',
      secretAccessKey: '••••wxyz',
      prefix: 'webhooks',
      fileFormat: 'jsonl',
      compression: 'gzip',
      payloadColumn: 'text',
      partitionBy: 'date',
      keyOrder: 'written',
      batchSize: 1000,
      batchBytes: 5_242_880,
      batchWindowSeconds: 60,
    },
  ],
});

function shownMembers(type: WarehouseType): [name: string, type: z.ZodType][] {
  const masked = z.string().optional().describe('Masked.');
  return Object.entries<z.ZodType>(warehouseConfigSchemas[type].shape).map(([name, member]) => [
    name,
    secretFieldsOf(type).includes(name) ? masked : table.withoutDefault(member).optional(),
  ]);
}

const shownFieldMapping = z.array(
  component('FieldMappingRule', {
    source: text('$.payload.order.id'),
    target: text('order_id'),
    type: z.enum(COLUMN_TYPES),
    precision: z.int().optional().describe('The total number of digits in a decimal value.'),
    scale: z.int().optional().describe('The number of digits after the decimal point.'),
    default: z.string().optional(),
  }),
);

const configInFile = z
  .union([shownConfig, z.literal(REDACTED)])
  .describe('Warehouse configuration. Present only for warehouses.');

/** Members that warehouses show as HTTP destinations do, but do not take. */
function onlyShown<Name extends keyof typeof destinationMembers>(...names: Name[]) {
  const rows: table.Table = destinationMembers;
  const shown = names.map((name) => [name, rows[name] && table.readOnly(rows[name].answer, rows[name].file)]);
  return Object.fromEntries(shown) as Record<Name, ReturnType<typeof table.readOnly>>;
}

/**
 * `config` and `fieldMapping` are checked by destination-warehouse.ts: by type, merged over the stored values, and with
 * errors that have no code.
 */
export const warehouseMembers = table.membersOf<Omit<Destination, 'previousSigningSecret'>>()({
  id: table.readOnly(idOf('dst_wh')),
  name: table.required(withExample(destinationMembers.name.create, 'Data lake')),
  type: {
    create: z.enum(WAREHOUSE_TYPES),
    update: z.string().optional(),
    answer: z.enum(WAREHOUSE_TYPES),
    file: z.enum(WAREHOUSE_TYPES),
    fileName: undefined,
    isStored: true,
    isConverted: true,
  },
  url: table.readOnly(z.literal(''), destinationMembers.url.file),
  enabled: destinationMembers.enabled,
  ...pauseMembers,
  ...recentTotals,
  config: table.sealed(z.unknown(), { answer: shownConfig, file: configInFile }),
  fieldMapping: table.converted(z.unknown(), { answer: shownFieldMapping }),
  ...table.only(destinationMembers, 'slug', 'description'),
  ...onlyShown('method', 'headers', 'forwardHeaders', 'forwardQuery', 'forwardPath', 'authType'),
  authConfig: { ...onlyShown('authConfig').authConfig, isSealed: true },
  signingSecret: { ...onlyShown('signingSecret').signingSecret, isSealed: true },
  previousSigningSecretUntil: destinationMembers.previousSigningSecretUntil,
  ...onlyShown('timeoutMs', 'rateLimitPerMinute', 'maxConcurrency', 'retryPolicy'),
  ...table.only(destinationMembers, 'lastDeliveryAt', 'createdAt', 'updatedAt'),
});

export const createWarehouseSchema = z.object(table.createShape(warehouseMembers));
export const updateWarehouseSchema = z.object(table.updateShape(warehouseMembers));
export const warehouseImportItem = z.object(table.importShape(warehouseMembers));
export const warehouseDestination = component(
  'WarehouseDestination',
  table.answerShape(warehouseMembers),
  'A warehouse. Fields that apply only to HTTP destinations have their default values.',
);

export type WarehouseInput = Omit<z.output<typeof createWarehouseSchema>, 'type'>;

export const warehouseSummaryMembers = table.only(
  warehouseMembers,
  'id',
  'name',
  'slug',
  'type',
  'url',
  'enabled',
  'paused',
  'pausedUntil',
  'config',
);
export const warehouseSummary = component('WarehouseDestinationSummary', table.answerShape(warehouseSummaryMembers));

// For the description: the schemas by which destination-warehouse.ts checks config and fieldMapping.
const mapping = withExample(fieldMappingSchema.nullable().optional(), [
  { source: '$.payload.order.id', target: 'order_id', type: 'number' },
]);
function strict(type: WarehouseType): z.ZodObject {
  const schema = warehouseConfigSchemas[type] as z.ZodObject;
  return schema.strict().meta({ ...schema.meta() });
}

export const createWarehouseBodies = WAREHOUSE_TYPES.map((type) =>
  createWarehouseSchema.extend({
    type: z.literal(type),
    config: strict(type),
    fieldMapping: mapping,
  }),
);
export const updateWarehouseBody = updateWarehouseSchema.extend({
  config: withExample(
    z.record(z.string(), z.unknown()).optional(),
    { prefix: 'events' },
    'Changes to the configuration. Omitted fields are kept, and null removes a field. A secret that is sent back masked is kept.',
  ),
  fieldMapping: mapping,
});

/** Its secret may be left out, or sent masked. */
export const putWarehouseBody = updateWarehouseBody.extend({
  ...createWarehouseSchema.pick({ name: true, type: true }).shape,
  config: withExample(
    z.record(z.string(), z.unknown()),
    { bucket: 'acme-events', region: 'eu-central-1', accessKeyId: 'AKIAIOSFODNN7EXAMPLE' },
    'The entire configuration. A secret that is omitted or sent back masked is kept.',
  ),
});

export const warehouseExample = {
  name: 'Data lake',
  type: 's3',
  config: {
    bucket: 'acme-events',
    region: 'eu-central-1',
    accessKeyId: 'AKIAEXAMPLE',
    secretAccessKey: 'the-secret-access-key',
    partitionBy: 'hour',
  },
  fieldMapping: [{ source: '$.payload.order.id', target: 'order_id', type: 'number' }],
};
