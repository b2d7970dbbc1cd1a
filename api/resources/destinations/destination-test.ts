import { z } from 'zod';
import { isReceivable } from '../../../core/ingest/ingest-path.ts';
import { recordAhead } from '../../auth/audit-trail.ts';
import { callerOf, entityManager, param } from '../../request/context.ts';
import { operation } from '../../request/operation.ts';
import * as field from '../fields.ts';
import { findDestination } from '../records.ts';
import { component, count, idOf, latency, text, withExample } from '../values.ts';
import { openAuthConfig, openSigningSecrets } from './destination-record.ts';
import { isWarehouse, testWarehouse } from './destination-warehouse.ts';

export const conversions = withExample(
  z.array(
    component(
      'Conversion',
      { target: text('order_id'), count, eventId: idOf('evt') },
      'A column, the number of values that did not fit, and the first such event.',
    ),
  ),
  [],
  'The values that did not fit, by column.',
);

const uploadResults = [
  z.object({
    success: z.literal(true),
    result: z.object({
      key: text('_test/date=2026-11-21/20261121T100000000Z-bat_06f3k2v8q0e7x1c5b9m4n6p8qr.jsonl'),
      size: withExample(count, 214, 'bytes'),
      count: withExample(count, 1, 'rows'),
      conversions,
      row: withExample(
        z.record(z.string(), z.unknown()).nullable(),
        { event_id: 'evt_06f3k2v8q0e7x1c5b9m4n6p8qr', order_id: 7 },
        'The row of the test event as written. Null if longer than 64 KiB.',
      ),
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

const testResult = z
  .union([
    z.object({
      success: z.literal(true),
      statusCode: withExample(z.int(), 200),
      latency,
      responseBody: text('ok'),
      message: text('The test webhook was delivered'),
    }),
    z.object({
      success: z.literal(false),
      statusCode: z.int().nullable(),
      latency,
      responseBody: z.string().nullable(),
      error: text('The destination returned 500'),
      message: text('The test webhook failed: the destination returned 500'),
    }),
    ...uploadResults,
  ])
  .meta({ id: 'TestResult' });

export const testDestinationOperation = operation('testDestination', 'post', '/api/destinations/{id}/test', {
  tag: 'Destinations',
  idOf: ['dst', 'dst_wh'],
  summary: 'Send a test webhook, or upload a test file',
  description: 'Failures are reported in the result.',
  body: {
    schema: z.object({
      payload: z.record(z.string(), z.unknown()).optional(),
      path: withExample(
        field.receivedPath,
        '/orders/new',
        'The path to append to `url`, with `forwardPath`.',
      ).optional(),
      query: withExample(
        z.string().max(8192).refine(isReceivable, 'must percent-encode # and all characters other than visible ASCII'),
        'shop=main',
        'The query string to forward, with `forwardQuery`.',
      ).optional(),
    }),
    optional: true,
    examples: { plain: { payload: { hello: 'world' } } },
  },
  answer: { description: 'Whether the test succeeded, with the response, the row or the error.', schema: testResult },
  async run(ctx, deps, { body: { payload, path = '', query = '' } }) {
    const destination = await findDestination(entityManager(ctx, deps), param(ctx, 'id'));
    const { organization } = callerOf(ctx);
    return deps.requests.run(organization, 'runningTests', async () => {
      await recordAhead(ctx);
      if (isWarehouse(destination)) return testWarehouse(deps, organization, destination, payload);
      return deps.testSender.send(
        {
          ...destination,
          forwardHeaders: destination.forwardHeaders ?? null,
          authConfig: openAuthConfig(deps, destination),
          ...openSigningSecrets(deps, destination),
        },
        { payload, address: { path, query } },
      );
    });
  },
});
