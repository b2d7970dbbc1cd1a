// Leases in the API's description; the handler is in ../resources/leases.ts.
import { z } from 'zod';
import { leaseSchema } from '../resources/leases.ts';
import { idOf, timestamp } from '../members/values.ts';
import type { Operation } from './operation.ts';

const ids = z.array(idOf('rte', 'dst', 'dst_wh', 'src')).meta({ description: 'Of those that there are.' });

export const leaseOperation: Operation = {
  method: 'post',
  path: '/api/leases',
  operationId: 'renewLeases',
  tag: 'Leases',
  summary: 'Let records live for some time only',
  description:
    'Repeat it before the time is over: after it, housekeeping removes the records within five minutes or so, a source with its events. ' +
    'A source from which other routes lead is kept. A record without a lease lives for ever.',
  body: {
    schema: leaseSchema,
    examples: { 'a quarter of an hour': { ids: ['rte_06f3k2v8q0e7x1c5b9m4n6p8qr'], seconds: 900 } },
  },
  answer: {
    status: 200,
    description: 'Until when they live.',
    schema: z.object({ ids, expiresAt: timestamp.nullable() }),
  },
};
