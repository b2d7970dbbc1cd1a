// What a warehouse destination holds (WH-01 to WH-04). It is in the same lists and files as HTTP destinations, so it has their
// members too, with their defaults.
import { z } from 'zod';
import { WAREHOUSE_TYPES, type WarehouseType, warehouseConfigSchemas } from '../../../core/warehouse/config.ts';
import { secretFieldsOf } from '../../../core/warehouse/credentials.ts';
import { COLUMN_TYPES } from '../../../core/warehouse/convert.ts';
import { fieldMappingSchema } from '../../../core/warehouse/field-mapping.ts';
import type { Destination } from '../../../db/entities.ts';
import { destinationMembers } from './destination-members.ts';
import { pauseMembers } from '../routes/pause-members.ts';
import {
  answerShape,
  converted,
  createShape,
  importShape,
  membersOf,
  only,
  type Row,
  readOnly,
  required,
  sealed,
  updateShape,
  withoutDefault,
} from '../table.ts';
import { idOf, REDACTED, text } from '../values.ts';

/** A config as answers show it: the members of its type, all optional here; the secret is masked. */
const shownConfig = z.object(Object.fromEntries(WAREHOUSE_TYPES.flatMap((type) => shownMembers(type)))).meta({
  id: 'WarehouseConfig',
  description: 'The members of the type; its secret is shown as •••• and the last four.',
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
  const masked = z.string().optional().meta({ description: 'Masked.' });
  return Object.entries<z.ZodType>(warehouseConfigSchemas[type].shape).map(([name, member]) => [
    name,
    secretFieldsOf(type).includes(name) ? masked : withoutDefault(member).optional(),
  ]);
}

const shownFieldMapping = z.array(
  z
    .object({
      source: text('$.payload.order.id'),
      target: text('order_id'),
      type: z.enum(COLUMN_TYPES),
      precision: z.int().optional().meta({ description: 'Of a decimal: its digits.' }),
      scale: z.int().optional().meta({ description: 'Of a decimal: its digits behind the point.' }),
      default: z.string().optional(),
    })
    .meta({ id: 'FieldMappingRule' }),
);

const configInFile = z.union([shownConfig, z.literal(REDACTED)]).meta({ description: 'Of warehouses only.' });
const onlyShown = ({ answer, file }: Row) => readOnly(answer, file);

/**
 * Clients may send what is `required`, `optional` with its default, `converted` or `sealed`; the others are read-only. `config`
 * and `fieldMapping` are checked by destination-warehouse.ts: by type, merged over the stored values, and with errors that have
 * no code.
 */
export const warehouseMembers = membersOf<Omit<Destination, 'previousSigningSecret'>>()({
  id: readOnly(idOf('dst_wh')),
  name: required(destinationMembers.name.create.meta({ examples: ['Data lake'] })),
  type: {
    create: z.enum(WAREHOUSE_TYPES),
    update: z.string().optional(),
    answer: z.enum(WAREHOUSE_TYPES),
    file: z.enum(WAREHOUSE_TYPES),
    fileName: undefined,
    isStored: true,
    isConverted: true,
  },
  url: readOnly(z.literal(''), destinationMembers.url.file),
  enabled: destinationMembers.enabled,
  ...pauseMembers,
  successRate: destinationMembers.successRate,
  avgLatency: destinationMembers.avgLatency,
  deliveriesCount: destinationMembers.deliveriesCount,
  config: sealed(z.unknown(), { answer: shownConfig, file: configInFile }),
  fieldMapping: converted(z.unknown(), { answer: shownFieldMapping }),
  slug: destinationMembers.slug,
  description: destinationMembers.description,
  method: onlyShown(destinationMembers.method),
  headers: onlyShown(destinationMembers.headers),
  forwardHeaders: onlyShown(destinationMembers.forwardHeaders),
  forwardQuery: onlyShown(destinationMembers.forwardQuery),
  forwardPath: onlyShown(destinationMembers.forwardPath),
  authType: onlyShown(destinationMembers.authType),
  authConfig: { ...onlyShown(destinationMembers.authConfig), isSealed: true },
  signingSecret: { ...onlyShown(destinationMembers.signingSecret), isSealed: true },
  previousSigningSecretUntil: destinationMembers.previousSigningSecretUntil,
  timeoutMs: onlyShown(destinationMembers.timeoutMs),
  rateLimitPerMinute: onlyShown(destinationMembers.rateLimitPerMinute),
  maxConcurrency: onlyShown(destinationMembers.maxConcurrency),
  retryPolicy: onlyShown(destinationMembers.retryPolicy),
  lastDeliveryAt: destinationMembers.lastDeliveryAt,
  createdAt: destinationMembers.createdAt,
  updatedAt: destinationMembers.updatedAt,
});

export const createWarehouseSchema = z.object(createShape(warehouseMembers));
export const updateWarehouseSchema = z.object(updateShape(warehouseMembers));
export const warehouseImportItem = z.object(importShape(warehouseMembers));
export const warehouseDestination = z
  .object(answerShape(warehouseMembers))
  .meta({ id: 'WarehouseDestination', description: 'Members that are for HTTP only have their defaults.' });

/** The members of a new warehouse as a client sends them. */
export type WarehouseInput = Omit<z.output<typeof createWarehouseSchema>, 'type'>;

/** What lists show. */
export const warehouseSummaryMembers = only(
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
export const warehouseSummary = z
  .object(answerShape(warehouseSummaryMembers))
  .meta({ id: 'WarehouseDestinationSummary' });

// For the description: the schemas by which destination-warehouse.ts checks config and fieldMapping.
const mapping = fieldMappingSchema
  .nullable()
  .optional()
  .meta({ examples: [[{ source: '$.payload.order.id', target: 'order_id', type: 'number' }]] });
/** A config as it is written: unknown members are refused. */
function strict(type: WarehouseType): z.ZodObject {
  const schema = warehouseConfigSchemas[type] as z.ZodObject;
  return schema.strict().meta({ ...schema.meta() });
}

/** The body of a create, for each type. */
export const createWarehouseBodies = WAREHOUSE_TYPES.map((type) =>
  createWarehouseSchema.extend({
    type: z.literal(type),
    config: strict(type),
    fieldMapping: mapping,
  }),
);
export const updateWarehouseBody = updateWarehouseSchema.extend({
  config: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({
      description: 'Members that are not sent stay, null removes one; a secret sent back masked is kept.',
      examples: [{ prefix: 'events' }],
    }),
  fieldMapping: mapping,
});

/** Its secret may be left out, or sent masked. */
export const putWarehouseBody = updateWarehouseBody.extend({
  ...createWarehouseSchema.pick({ name: true, type: true }).shape,
  config: z.record(z.string(), z.unknown()).meta({
    description: 'The whole config; a secret that is left out, or sent back masked, is kept.',
    examples: [{ bucket: 'acme-events', region: 'eu-central-1', accessKeyId: 'AKIAIOSFODNN7EXAMPLE' }],
  }),
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
