// The process of the bare pipeline: what a gateway that answers after a durable commit cannot do without. A webhook comes
// in, is inserted in one commit with those beside it, answered 200, and posted on. Nothing else: no verification, no
// routing, no result. What the express lane costs beside it is Hookyard's own.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Pool } from 'undici';
import { createBatcher } from '../../core/fairness/batcher.ts';
import { onEndRequest } from '../../core/process/end-request.ts';
import { createPool } from '../../db/connections/pool.ts';

const { DATABASE_URL = '', BARE_TARGET = '' } = process.env;
// As many groups and connections as Hookyard's own (api/ingest/event-writer.ts), and those of the bare workflow.
const CONCURRENT_GROUPS = 2;
const MAX_GROUP = 256;
const MAX_QUEUED = 2000;
const CONNECTIONS = 64;

interface BareEvent {
  id: string;
  headers: string;
  body: Buffer;
}

const database = createPool(DATABASE_URL, {
  max: CONCURRENT_GROUPS,
  statementTimeoutMs: 10_000,
  onError: console.error,
  hotPath: true,
});
await database.query(
  'create table if not exists bare_events (id uuid primary key, headers jsonb not null, body bytea not null)',
);
await database.query('truncate bare_events');
const { rows } = await database.query(`select current_setting('synchronous_commit') as durable`);
if (rows[0].durable !== 'on') throw new Error('The bare pipeline must commit durably: synchronous_commit is not on');

const writer = createBatcher<BareEvent, void>({
  async run(events) {
    await database.query({
      name: 'insert-bare-events',
      text: 'insert into bare_events (id, headers, body) select * from unnest($1::uuid[], $2::jsonb[], $3::bytea[])',
      values: [events.map(({ id }) => id), events.map(({ headers }) => headers), events.map(({ body }) => body)],
    });
    return events.map(() => undefined);
  },
  maxItems: MAX_GROUP,
  concurrency: CONCURRENT_GROUPS,
  maxQueued: MAX_QUEUED,
});

const target = new URL(BARE_TARGET);
const destination = new Pool(target.origin, { connections: CONNECTIONS });

// Whatever fails ends the process: a limit with errors is none.
const server = createServer(async (request, response) => {
  const event = { id: randomUUID(), headers: JSON.stringify(request.headers), body: await buffer(request) };
  await writer.submit(event);
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ success: true, eventId: event.id }));
  const answer = await destination.request({
    method: 'POST',
    path: target.pathname,
    headers: { 'content-type': request.headers['content-type'], 'x-hookyard-event-id': event.id },
    body: event.body,
  });
  await answer.body.dump();
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ type: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
});
onEndRequest(() => process.exit(0));
