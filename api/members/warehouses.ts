// What is special about warehouses among the destinations, in the API's description: config and field mapping.
import { z } from 'zod';
import {
  WAREHOUSE_SECRET_FIELD,
  WAREHOUSE_TYPES,
  type WarehouseType,
  warehouseConfigSchemas,
} from '../../core/warehouse/config.ts';
import { COLUMN_TYPES } from '../../core/warehouse/convert.ts';
import { fieldMappingSchema } from '../../core/warehouse/field-mapping.ts';
import { createWarehouseSchema, updateWarehouseSchema } from './destinations.ts';
import { withoutDefault } from './table.ts';
import { count, latency, text } from './values.ts';

// The handlers check config and fieldMapping by these same schemas, over what is stored (destination-warehouse.ts).
const mapping = fieldMappingSchema
  .nullable()
  .optional()
  .meta({ examples: [[{ source: '$.payload.order.id', target: 'order_id', type: 'number' }]] });

/** The body of a create, for each type. */
export const createWarehouseBodies = WAREHOUSE_TYPES.map((type) =>
  createWarehouseSchema.extend({
    type: z.literal(type),
    config: warehouseConfigSchemas[type],
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

/** A config as answers show it: the members of its type, all optional here; the secret is masked. */
export const shownConfig = z.object(Object.fromEntries(WAREHOUSE_TYPES.flatMap((type) => shownMembers(type)))).meta({
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
      partitionBy: 'date',
      batchSize: 1000,
      batchWindowSeconds: 60,
    },
  ],
});

function shownMembers(type: WarehouseType): [name: string, type: z.ZodType][] {
  const masked = z.string().optional().meta({ description: 'Masked.' });
  return Object.entries<z.ZodType>(warehouseConfigSchemas[type].shape).map(([name, member]) => [
    name,
    name === WAREHOUSE_SECRET_FIELD[type] ? masked : withoutDefault(member).optional(),
  ]);
}

export const shownFieldMapping = z.array(
  z
    .object({
      source: text('$.payload.order.id'),
      target: text('order_id'),
      type: z.enum(COLUMN_TYPES),
      default: z.string().optional(),
    })
    .meta({ id: 'FieldMappingRule' }),
);

/** What becomes of a test upload. */
export const uploadResults = [
  z.object({
    success: z.literal(true),
    result: z.object({
      key: text('_test/date=2026-11-21/20261121T100000000Z-bat_06f3k2v8q0e7x1c5b9m4n6p8qr.jsonl'),
      size: count.meta({ description: 'bytes', examples: [214] }),
      count: count.meta({ description: 'rows', examples: [1] }),
    }),
    latency,
    message: text('The test file was uploaded'),
  }),
  z.object({
    success: z.literal(false),
    statusCode: z.int().nullable(),
    latency,
    error: text('There is no bucket acme-events'),
    message: text('The test file was not uploaded: there is no bucket acme-events'),
  }),
] as const;

export const warehouseMembers = {
  type: z.enum(WAREHOUSE_TYPES),
  config: shownConfig,
  fieldMapping: shownFieldMapping,
};

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
