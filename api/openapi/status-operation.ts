// The status of the installation, in the API's description; its handler is in ../resources/status.ts.
import { z } from 'zod';
import { LANES } from '../../core/delivery/lane.ts';
import { count, flag, idOf, text, timestamp } from '../resources/values.ts';
import type { Described } from '../request/operation.ts';
import { statusSchema } from '../resources/organization/status.ts';

const waiting = {
  due: count.meta({ description: 'Wait for a worker.' }),
  retrying: count.meta({ description: 'Wait for a retry.' }),
  held: count.meta({ description: 'Wait for a circuit, or the end of a pause.' }),
  inFiles: count.meta({ description: 'Wait for the file of a warehouse.' }),
  oldestDueAt: timestamp.nullable().meta({ description: 'When the oldest of `due` was made.' }),
};

const keptDays = count.nullable().meta({ description: 'Null: for ever.', examples: [30] });
const retained = z.object({ keptDays, lagDays: count.meta({ description: 'Days that should be gone.' }) });

const status = z
  .object({
    version: text('0.1.0', 'Of the process that answers.'),
    at: timestamp,
    ingest: z.enum(['open', 'partly_full', 'full']).meta({ description: 'Of the process that answers.' }),
    temporal: z.enum(['ok', 'away']),
    searchAttributes: z
      .boolean()
      .nullable()
      .meta({
        description:
          'Whether the namespace in Temporal has the search attributes by which its UI finds deliveries. Null: not known.',
        examples: [true],
      }),
    database: z.enum(['ok', 'away']).meta({ description: '`away`: what it would say is null.' }),
    limits: z
      .object({ waitingDeliveries: count.nullable(), databaseBytes: count.nullable() })
      .meta({ description: 'Of the installation: `HOOKYARD_MAX_BACKLOG`, `HOOKYARD_MAX_DATABASE_BYTES`. Null: none.' }),
    databaseBytes: count.nullable(),
    backlog: z
      .object({
        ...waiting,
        suspended: count.meta({ description: 'Of `due`, those of suspended organizations.' }),
        oldestDueSeconds: count.nullable().meta({ description: 'The age of `oldestDueAt`.' }),
      })
      .nullable(),
    workers: z
      .array(
        z.object({
          name: text('worker-1:214:0b6f'),
          version: text('0.1.0').nullable(),
          lane: z.enum(LANES).nullable(),
          seenAt: timestamp,
          shards: count.meta({ description: 'Parts of the outbox (of 64) that it claims from.' }),
          isLeaving: flag(false),
        }),
      )
      .nullable()
      .meta({ description: 'Those seen in the last seconds, at most 1,000.' }),
    shardsWithoutOwner: count.nullable().meta({ description: 'Above 0 for seconds when a worker dies.' }),
    circuits: z.object({ open: count, halfOpen: count }).nullable(),
    retention: z.object({ payloads: retained, events: retained }).nullable(),
    housekeeping: z
      .object({
        failures: z
          .array(z.object({ part: text('retention'), total: count, lastAt: timestamp }))
          .meta({ description: 'Of the last day.' }),
      })
      .nullable(),
    organizations: z
      .array(
        z.object({ id: idOf('org'), slug: text('acme'), isSuspended: flag(false), ...waiting, openCircuits: count }),
      )
      .optional(),
  })
  .meta({ id: 'InstallationStatus' });

export const statusOperation: Described = {
  tag: 'Service',
  family: 'operator',
  method: 'get',
  path: '/api/status',
  operationId: 'getStatus',
  summary: 'Get the state of the installation',
  description:
    "For its operator, with the operator's key. What the database says is at most about a second old. Without such a key it is 404.",
  query: statusSchema,
  answer: { status: 200, description: 'The state.', schema: status },
  errors: {
    400: ['VALIDATION_ERROR'],
    401: ['UNAUTHORIZED'],
    404: ['RESOURCE_NOT_FOUND'],
    429: ['RATE_LIMITED'],
    500: ['INTERNAL_ERROR'],
  },
};
