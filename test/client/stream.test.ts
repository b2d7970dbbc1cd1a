import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { createClient, type Event, HookyardError, type Streamed } from '../../client/index.ts';
import { closeAll, httpServer, socketServer } from '../http/servers.ts';
import { forgetQueued, ingest, makePipeline } from '../support/api-records.ts';
import { createOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';

type Answer = (response: ServerResponse) => void;

const head = (response: ServerResponse) => response.writeHead(200, { 'Content-Type': 'text/event-stream' });
const frame = (n: number) =>
  `id: evt_${n}\nevent: event\ndata: ${JSON.stringify({ id: `evt_${n}`, receivedAt: `2026-01-01T00:00:0${n}Z` })}\n\n`;
const BEGIN = 'id: evt_0\nretry: 1\n\n';

function wordOf(told: Streamed): string {
  if (told.type === 'event') return told.event.id;
  return told.type === 'open' ? `open at ${told.lastEventId}` : told.type;
}

describe('A stream of events that the client reads', () => {
  afterEach(closeAll);

  /** Answers in turn, the last answer for ever. */
  async function scripted(...answers: Answer[]) {
    const lastIds: (string | undefined)[] = [];
    const port = await httpServer((request, response) => {
      lastIds.push(request.headers['last-event-id']?.toString());
      (answers.length > 1 ? answers.shift() : answers[0])?.(response);
    });
    const url = `http://127.0.0.1:${port}`;
    const impatient = createClient({ url, maxRetries: 0 });
    return { client: createClient({ url, apiKey: 'whr_test' }), impatient, lastIds };
  }

  async function read(stream: AsyncGenerator<Streamed>, most: number): Promise<Streamed[]> {
    const told: Streamed[] = [];
    for await (const one of stream) if (told.push(one) === most) break;
    return told;
  }

  it('continues where it ended or broke, and gives each event once', async () => {
    const { client, lastIds } = await scripted(
      (response) => head(response).end(BEGIN + frame(1) + frame(2)),
      (response) => head(response).write(frame(2) + frame(3), () => response.destroy()),
      (response) => head(response).write(`:\n\n${frame(3)}${frame(4)}event: gap\ndata: {}\n\n`),
    );
    const told = await read(client.streamEvents({ orgId: 'org_1' }), 8);
    expect(told.map(wordOf)).to.deep.equal([
      ...['open at evt_0', 'evt_1', 'evt_2'],
      ...['open at evt_2', 'evt_3'],
      ...['open at evt_3', 'evt_4', 'gap'],
    ]);
    expect(lastIds).to.deep.equal([undefined, 'evt_2', 'evt_3']);
  });

  it('reads frames wherever they are cut, with both ends of lines', async () => {
    const lines = [': hello', 'id: evt_1', 'event: event', 'data: {"id":"evt_1",', 'data: "path":"/größe"}', '', ''];
    const bytes = Buffer.from(lines.join('\r\n'));
    const { client } = await scripted((response) => {
      head(response);
      for (const byte of bytes) response.write(Buffer.of(byte));
    });
    const [, event] = await read(client.streamEvents({ orgId: 'org_1' }), 2);
    expect(event).to.deep.equal({ type: 'event', event: { id: 'evt_1', path: '/größe' } });
  });

  it('says why it was refused, that nothing comes, or that something else answers', async () => {
    const refusal = { message: 'too many streams', code: 'LIMIT_EXCEEDED', limit: 'runningStreams' };
    const cases: [Answer, Record<string, unknown>][] = [
      [
        (response) => response.writeHead(429, { 'Content-Type': 'application/json' }).end(JSON.stringify(refusal)),
        refusal,
      ],
      [(response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>'), { code: 'NOT_HOOKYARD' }],
      [(response) => head(response).flushHeaders(), { code: 'TIMEOUT', status: null }],
    ];
    for (const [answer, expected] of cases) {
      const { impatient } = await scripted(answer);
      const stream = impatient.streamEvents({ orgId: 'org_1' }, { timeoutMs: 100 });
      const error = await read(stream, 1).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(HookyardError).and.to.include(expected);
    }
  });

  it('ends with its signal, and when it is read no more', async () => {
    let closed = 0;
    const { client } = await scripted((response) => {
      head(response).write(BEGIN);
      response.on('close', () => {
        closed += 1;
      });
    });
    await read(client.streamEvents({ orgId: 'org_1' }), 1);
    await until('the connection to be closed', () => expect(closed).to.equal(1));
    const controller = new AbortController();
    const stream = client.streamEvents({ orgId: 'org_1' }, { signal: controller.signal });
    await stream.next();
    const next = stream.next().catch((reason: unknown) => reason);
    controller.abort(new Error('enough'));
    expect(await next).to.have.property('message', 'enough');
    await until('the connection to be closed', () => expect(closed).to.equal(2));
  });

  it('misses nothing of the service while it cannot be reached', async () => {
    const own = await createOrganization();
    const { source } = await makePipeline(own);
    const sockets = new Set<Socket>();
    let isCut = false;
    const port = await socketServer((socket) => {
      if (isCut) return socket.destroy();
      const service = connect(Number(new URL(own.api.url).port), '127.0.0.1');
      for (const end of [socket, service]) sockets.add(end.on('error', () => {}));
      return socket.pipe(service).pipe(socket);
    });
    const end = new AbortController();
    const client = createClient({ url: `http://127.0.0.1:${port}`, apiKey: own.token, maxRetries: 10 });
    const told: Streamed[] = [];
    const events = () => told.filter((one) => one.type === 'event').map(({ event }) => event.id);
    const reading = (async () => {
      for await (const one of client.streamEvents({ sourceId: source.id }, { signal: end.signal })) told.push(one);
    })().catch(() => {});
    await until('the stream to be open', () => expect(told).to.have.lengthOf(1));
    const first = await ingest(own, source, '{}');
    await until('the first event', () => expect(events()).to.deep.equal([first]));
    isCut = true;
    for (const socket of sockets) socket.destroy();
    const missed = await ingest(own, source, '{}');
    isCut = false;
    await until('what was missed', () => expect(events()).to.deep.equal([first, missed]));
    expect(told.map(({ type }) => type)).to.deep.equal(['open', 'event', 'open', 'event']);
    const [, shown] = told as [Streamed, { event: Event }];
    expect(shown.event).to.include({ sourceId: source.id, routed: true });
    end.abort();
    await reading;
    await forgetQueued(own);
  });
});
