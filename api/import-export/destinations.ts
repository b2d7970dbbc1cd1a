import { z } from 'zod';
import { Destination } from '../../db/records/entities.ts';
import { noteRecords } from '../auth/audit-trail.ts';
import { requireScope } from '../auth/scopes.ts';
import { entityManager } from '../request/context.ts';
import { type Operation, operation } from '../request/operation.ts';
import { booleanParam } from '../request/query.ts';
import { component, count, flag, idOf, text, withExample } from '../resources/values.ts';
import { importDestinations } from './destination-import.ts';
import { destinationFileItem, exportDestination, importedDestination } from './destination-items.ts';
import * as exchange from './files.ts';

const exportSchema = z.object({ ids: exchange.idsParam, includeSensitive: booleanParam });

const names = (example: string[]) => withExample(z.array(z.string()), example);

const destinationResult = component('DestinationImportResult', {
  success: flag(true),
  summary: z.object({ imported: count, skipped: count, overwritten: count, failed: count }),
  details: z.object({ imported: names(['CRM']), skipped: names([]), overwritten: names([]), failed: names([]) }),
  errors: exchange.messages,
  warnings: exchange.messages,
  destinations: z.array(
    z.object({
      id: idOf('dst', 'dst_wh').nullable().describe("The destination's ID. Null if not stored."),
      name: text('CRM'),
      slug: text('crm').nullable(),
      status: z.enum(['created', 'skipped', 'overwritten', 'failed']),
    }),
  ),
});

export const destinationExchangeOperations: Operation[] = [
  operation('exportDestinations', 'get', '/api/destinations/export', {
    tag: 'Destinations',
    summary: 'Export destinations',
    description: 'Credentials are redacted unless `includeSensitive` is true, which requires the `secrets:read` scope.',
    query: exportSchema,
    answer: {
      description: 'The export file, with one record per line.',
      schema: z.object({ ...exchange.envelope, destinations: z.array(destinationFileItem) }),
      headers: {
        'Cache-Control': text('no-store', 'Present if `includeSensitive` is true.').optional(),
      },
    },
    async run(ctx, { query: { ids, includeSensitive = false } }) {
      if (includeSensitive) requireScope(ctx, 'secrets:read', 'includeSensitive=true');
      const chosen = ids ? { id: { $in: ids } } : {};
      // Oldest first, so that an import creates them in the same order.
      const page = (after: Destination | null) =>
        entityManager(ctx).find(Destination, after === null ? chosen : { $and: [chosen, youngerThan(after)] }, {
          orderBy: { createdAt: 'asc', id: 'asc' },
          limit: exchange.PART,
        });
      const partOf = (destinations: Destination[]): exchange.Part<Destination> => ({
        items: destinations.map((destination) => exportDestination(ctx.deps, destination, includeSensitive)),
        last: destinations.at(-1),
      });
      const destinations = await page(null);
      if (includeSensitive) {
        ctx.set('Cache-Control', 'no-store');
        const known = destinations.map(({ id }) => id);
        // The record of what is read is written before any of it is sent.
        const all = known.length < exchange.PART ? known.length : await entityManager(ctx).count(Destination, chosen);
        noteRecords(ctx, known, all);
      }
      const read = async (after: Destination) => partOf(await page(after));
      exchange.answerExport(ctx, 'destinations', { first: partOf(destinations), read });
    },
  }),
  {
    tag: 'Destinations',
    method: 'post',
    path: '/api/destinations/import',
    operationId: 'importDestinations',
    run: (ctx) => exchange.answerImport(ctx, 'destinations', (file) => importDestinations(ctx, file)),
    summary: 'Import destinations',
    description: 'Conflicts are detected by slug. Invalid items are reported in the result; the others are imported.',
    body: {
      schema: exchange.importOf('destinations', importedDestination),
      examples: {
        'dry run': {
          ...exchange.exampleOptions,
          destinations: [{ name: 'CRM', slug: 'crm', url: 'https://example.com/hooks' }],
        },
      },
    },
    answer: { description: 'The result for each item.', schema: destinationResult },
  },
];

/** The first condition is what the index is read by. */
const youngerThan = ({ createdAt, id }: Destination) => ({
  createdAt: { $gte: createdAt },
  $or: [{ createdAt: { $gt: createdAt } }, { id: { $gt: id } }],
});
