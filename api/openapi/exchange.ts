// Export and import in the API's description; their handlers are in ../exchange.
import { z } from 'zod';
import { DESTINATION_TYPES, WAREHOUSE_TYPES } from '../../core/warehouse/config.ts';
import { MAX_ITEMS, optionsSchema, REDACTED } from '../exchange/exchange.ts';
import { itemSchema as destinationItemSchema } from '../exchange/destination-item.ts';
import * as destinations from '../exchange/destinations.ts';
import { itemSchema as routeItemSchema } from '../exchange/route-item.ts';
import { itemSchema as warehouseItemSchema } from '../exchange/warehouse-item.ts';
import * as routes from '../exchange/routes.ts';
import { httpMembers } from './destinations.ts';
import { count, flag, idOf, text, timestamp } from '../members/values.ts';
import type { Operation } from './operation.ts';
import { routeFileItem } from '../members/routes.ts';
import { shownConfig, shownFieldMapping } from '../members/warehouses.ts';

const destinationItem = z
  .object({
    name: text('CRM'),
    ...httpMembers,
    description: text('Of the sales team').nullable(),
    type: z.enum(DESTINATION_TYPES),
    url: text('https://example.com/hooks'),
    authConfig: z
      .union([z.literal(REDACTED), z.record(z.string(), z.string())])
      .meta({ description: 'In clear only with `includeSensitive=true`.', examples: [REDACTED] }),
    signingSecret: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
    config: z
      .union([shownConfig, z.literal(REDACTED)])
      .optional()
      .meta({ description: 'Of warehouses only.' }),
    fieldMapping: shownFieldMapping.optional(),
    isActive: flag(true),
  })
  .meta({ id: 'DestinationExportItem' });

// What a file may hold is checked by these schemas; REDACTED stands for credentials that it does not hold.
const importedDestination = z
  .union([
    destinationItemSchema.extend({
      type: z.literal('http').optional(),
      authConfig: z.union([z.literal(REDACTED), destinationItemSchema.shape.authConfig]),
    }),
    warehouseItemSchema.extend({ type: z.enum(WAREHOUSE_TYPES) }),
  ])
  .meta({ id: 'DestinationImportItem' });

const envelope = {
  version: text('1.0'),
  exportedAt: timestamp,
  organizationSlug: text('default'),
};

// Items are checked one by one, so that a bad one is told by its name in the result; the description says what a good one is.
const importOf = (member: string, item: z.ZodType) => optionsSchema.extend({ [member]: z.array(item).max(MAX_ITEMS) });

const names = (example: string[]) => z.array(z.string()).meta({ examples: [example] });
const messages = z.array(z.string()).meta({ examples: [[]] });

const destinationResult = z
  .object({
    success: flag(true),
    summary: z.object({ imported: count, skipped: count, overwritten: count, failed: count }),
    details: z.object({ imported: names(['CRM']), skipped: names([]), overwritten: names([]), failed: names([]) }),
    errors: messages,
    warnings: messages,
    destinations: z.array(
      z.object({
        id: idOf('dst', 'dst_wh').nullable().meta({ description: 'Null when it was not stored.' }),
        name: text('CRM'),
        slug: text('crm').nullable(),
        status: z.enum(['created', 'skipped', 'overwritten', 'failed']),
      }),
    ),
  })
  .meta({ id: 'DestinationImportResult' });

const routeResult = z
  .object({
    imported: count,
    skipped: count,
    overwritten: count,
    errors: messages.meta({ description: 'When there is one, nothing was imported.' }),
    warnings: messages,
    routes: z.array(
      z.object({
        id: idOf('rte').nullable().meta({ description: 'Null when it was not stored.' }),
        name: text('Orders to the CRM'),
        status: z.enum(['created', 'skipped', 'overwritten']),
      }),
    ),
  })
  .meta({ id: 'RouteImportResult' });

const options = { conflictStrategy: 'skip', validateOnly: true };

export const exchangeOperations: Operation[] = [
  {
    tag: 'Destinations',
    method: 'get',
    path: '/api/destinations/export',
    operationId: 'exportDestinations',
    summary: 'Export destinations',
    description: 'Credentials are left out unless `includeSensitive` is true, which needs the scope `write`.',
    query: destinations.exportSchema,
    answer: {
      status: 200,
      description: 'The file.',
      schema: z.object({ ...envelope, destinations: z.array(destinationItem) }),
      headers: {
        'Cache-Control': text('no-store', 'When there are credentials in it.').optional(),
      },
    },
  },
  {
    tag: 'Destinations',
    method: 'post',
    path: '/api/destinations/import',
    operationId: 'importDestinations',
    summary: 'Import destinations',
    description: 'Conflicts are detected by slug. What is wrong with an item is in the result.',
    body: {
      schema: importOf('destinations', importedDestination),
      examples: {
        'dry run': { ...options, destinations: [{ name: 'CRM', slug: 'crm', url: 'https://example.com/hooks' }] },
      },
    },
    answer: { status: 200, description: 'What became of each item.', schema: destinationResult },
  },
  {
    tag: 'Routes',
    method: 'get',
    path: '/api/routes/export',
    operationId: 'exportRoutes',
    summary: 'Export routes',
    query: routes.exportSchema,
    answer: {
      status: 200,
      description: 'The file; what routes name is named by slug.',
      schema: z.object({ ...envelope, routes: z.array(routeFileItem) }),
    },
  },
  {
    tag: 'Routes',
    method: 'post',
    path: '/api/routes/import',
    operationId: 'importRoutes',
    summary: 'Import routes',
    description: 'Conflicts are by name. Either all routes are imported or, when anything is wrong, none.',
    body: {
      schema: importOf('routes', routeItemSchema),
      examples: {
        'dry run': {
          ...options,
          routes: [{ name: 'Orders to the CRM', sourceSlug: 'orders', destinationSlugs: ['crm'] }],
        },
      },
    },
    answer: { status: 200, description: 'What became of each route.', schema: routeResult },
  },
];
