import { expect } from 'chai';
import { forgetQueued, ingest, makePipeline } from '../support/api-records.ts';
import { createOrganization, type TestOrganization, testPool } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useMade, useOrganization } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;

interface Frame {
  id?: string;
  event?: string;
  data?: string;
}

/** A stream that is being read; to be closed. */
class Stream {
  readonly frames: Frame[] = [];
  readonly #abort = new AbortController();
  /** Whether the service has ended it. */
  hasEnded = false;

  async open(own: TestOrganization, query = '', headers: Record<string, string> = {}): Promise<Response> {
    const response = await fetch(`${own.api.url}${own.base}/events/stream${query}`, {
      headers: { Authorization: `Bearer ${own.token}`, Accept: 'text/event-stream', ...headers },
      signal: this.#abort.signal,
    });
    if (response.ok) this.#read(response).catch(() => {});
    return response;
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      this.frames.push(...blocks.map(frameOf));
    }
    this.hasEnded = true;
  }

  get events(): Frame[] {
    return this.frames.filter(({ event }) => event === 'event');
  }
  get ids(): (string | undefined)[] {
    return this.events.map(({ id }) => id);
  }
  close(): void {
    this.#abort.abort();
  }
}

const frameOf = (block: string): Frame =>
  Object.fromEntries(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );

describe('A stream of events', () => {
  const own = useOrganization(() => ({ plan: 'pro' }));
  const orders = useMade('a pipeline', () => makePipeline(own));
  const invoices = useMade('a pipeline', () => makePipeline(own));
  const streams: Stream[] = [];
  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.close();
    await forgetQueued(own);
    await until('the streams to be forgotten', async () => expect(await open()).to.equal(0));
  });

  async function streamOf(query = '', headers: Record<string, string> = {}): Promise<Stream> {
    const stream = new Stream();
    streams.push(stream);
    const response = await stream.open(own, query, headers);
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
    return stream;
  }
  const open = async () => {
    const { limits } = await own.api.get<{ limits: Record<string, { used: number }> }>('/api/organization/usage');
    return limits.runningStreams?.used;
  };

  it('has each event once, oldest first, as the list shows it, and none that came before', async () => {
    await ingest(own, orders.source, '{}');
    const stream = await streamOf();
    const sent: string[] = [];
    for (let number = 0; number < 3; number += 1) sent.push(await ingest(own, orders.source, `{"number":${number}}`));
    await until('the events', () => expect(stream.ids).to.deep.equal(sent));
    const shown = await own.api.get<Record<string, unknown>>(`${own.base}/events/${sent[0]}`);
    expect(JSON.parse(stream.events[0]?.data ?? '')).to.deep.equal(shown);
    sent.push(await ingest(own, invoices.source, '{}'));
    await until('the next one', () => expect(stream.ids).to.deep.equal(sent));
  });

  it('has only those of a source, or that a route took, when asked', async () => {
    const ofInvoices = await streamOf(`?sourceId=${invoices.source.id}`);
    const unrouted = await streamOf('?routed=false');
    await ingest(own, orders.source, '{}');
    const invoice = await ingest(own, invoices.source, '{}');
    await until('the invoice', () => expect(ofInvoices.ids).to.deep.equal([invoice]));
    expect(unrouted.ids).to.deep.equal([]);
  });

  it('continues after the last event that was seen, and says when that is too long ago', async () => {
    const seen = await ingest(own, orders.source, '{}');
    const missed = await ingest(own, orders.source, '{}');
    const stream = await streamOf('', { 'Last-Event-ID': seen });
    await until('what was missed', () => expect(stream.ids).to.include(missed));
    expect(stream.frames.map(({ event }) => event)).to.not.include('gap');
    const late = await streamOf('', { 'Last-Event-ID': `evt_${'0'.repeat(26)}` });
    await until('the gap', () => expect(late.frames.map(({ event }) => event)).to.include('gap'));
    await until('what was within reach', () => expect(late.ids).to.include.members([seen, missed]));
  });

  it('misses nothing that was stored late, or that came after a stream without events', async () => {
    const before = await ingest(own, orders.source, '{}');
    const seen = await ingest(own, orders.source, '{}');
    const stream = await streamOf('', { 'Last-Event-ID': seen });
    await until('what came just before it', () => expect(stream.ids).to.include(before));
    const quiet = await streamOf();
    await until('its beginning', () => expect(quiet.frames[0]?.id).to.be.a('string'));
    expect(quiet.events).to.deep.equal([]);
    quiet.close();
    const missed = await ingest(own, orders.source, '{}');
    const next = await streamOf('', { 'Last-Event-ID': String(quiet.frames[0]?.id) });
    await until('what came meanwhile', () => expect(next.ids).to.include(missed));
  });

  it('ends with its key, and shows nothing that arrives after that', async () => {
    const keyWith = (fields: object) =>
      own.api.create<{ token: string }>('/api/api-keys', { name: 'Reader', scopes: ['read'], ...fields });
    const revoked = await keyWith({});
    const expired = await keyWith({ expiresAt: new Date(Date.now() + HOUR_MS).toISOString() });
    const [ofRevoked, ofExpired, ofOther] = await Promise.all([
      streamOf('', { Authorization: `Bearer ${revoked.token}` }),
      streamOf('', { Authorization: `Bearer ${expired.token}` }),
      streamOf(),
    ]);
    const before = await ingest(own, orders.source, '{}');
    for (const stream of [ofRevoked, ofExpired])
      await until('what arrives before', () => expect(stream.ids).to.deep.equal([before]));
    await own.api.delete(`/api/api-keys/${revoked.id}`);
    await testPool().query('update api_keys set expires_at = now() where id = $1', [expired.id]);
    const after = await ingest(own, orders.source, '{}');
    await until('the other to show it', () => expect(ofOther.ids).to.include(after));
    for (const stream of [ofRevoked, ofExpired]) {
      await until('its end', () => stream.hasEnded);
      expect(stream.ids).to.deep.equal([before]);
    }
    expect(ofOther.hasEnded, 'long before a stream ends by itself').to.equal(false);
  });

  it('shows nothing of another organization', async () => {
    const other = await createOrganization();
    const theirs = await makePipeline(other);
    const stream = await streamOf();
    await ingest(other, theirs.source, '{}');
    const mine = await ingest(own, orders.source, '{}');
    await until('the own event', () => expect(stream.ids).to.deep.equal([mine]));
    await forgetQueued(other);
  });

  it('is refused to who does not accept it, with a wrong last id, and beyond the limit of the organization', async () => {
    const asked = (headers: Record<string, string>) => new Stream().open(own, '', headers);
    for (const Accept of ['application/json', '*/*']) {
      const refused = await asked({ Accept });
      expect([refused.status, ((await refused.json()) as { code: string }).code]).to.deep.equal([
        406,
        'NOT_ACCEPTABLE',
      ]);
    }
    const unknown = await asked({ 'Last-Event-ID': 'yesterday' });
    expect(unknown.status).to.equal(400);
    const { limits } = await own.api.get<{ limits: Record<string, { limit: number }> }>('/api/organization/usage');
    const most = limits.runningStreams?.limit ?? 0;
    for (let count = 0; count < most; count += 1) await streamOf();
    const refused = await asked({});
    expect(refused.status).to.equal(429);
    expect(await refused.json()).to.include({ limit: 'runningStreams' });
  });
});
