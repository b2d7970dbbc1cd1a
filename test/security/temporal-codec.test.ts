// HOOKYARD_TEMPORAL_CODEC: what Temporal keeps of workflows is encrypted, and it can be switched on and off while some
// are open.
import { randomBytes } from 'node:crypto';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { expect } from 'chai';
import type { Settings } from '../../core/config/config.ts';
import { ENCRYPTED, temporalDataConverter } from '../../temporal-config/payload-codec.ts';
import { bundleWorkflows } from '../../worker/temporal/workflow-bundle.ts';
import { status as statusQuery } from '../../workflows/signals-and-queries.ts';
import { keepHouse } from '../support/database/housekeeping.ts';
import { quietLogger } from '../support/servers/quiet-temporal.ts';
import type { Endpoint } from '../support/receiver.ts';
import { type DeliveryView, onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const key = (id: string) => ({ id, key: randomBytes(32) });
const [first, second, third] = [key('first'), key('second'), key('third')];
const text = (...keys: { id: string; key: Buffer }[]) =>
  keys.map(({ id, key: bytes }) => `${id}:${bytes.toString('base64')}`).join(',');

const keysAtLast = text(third, second, first);

interface FoundPayload {
  encoding: string;
  keyId: string;
  data: string;
}

/** Every payload of a history but those of search attributes, which Temporal must be able to read. */
function payloadsOf(value: unknown): FoundPayload[] {
  if (typeof value !== 'object' || value === null) return [];
  const { metadata, data } = value as { metadata?: Record<string, string>; data?: string };
  if (metadata?.encoding !== undefined) {
    const decoded = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64').toString('latin1');
    return [
      { encoding: decoded(metadata.encoding), keyId: decoded(metadata['encryption-key-id']), data: decoded(data) },
    ];
  }
  return Object.entries(value).flatMap(([name, member]) => (name === 'searchAttributes' ? [] : payloadsOf(member)));
}

describe('the codec of Temporal payloads', () => {
  const settings = { HOOKYARD_ENCRYPTION_KEYS: text(first) };
  const { testInstance, records, receiver } = useHookyard({ settings, workers: [{}] });

  async function restartWith(mode: Settings['HOOKYARD_TEMPORAL_CODEC'], keys = text(first)): Promise<void> {
    await Promise.all([testInstance.api, ...testInstance.workers].map((service) => service.stop()));
    const settings = { HOOKYARD_TEMPORAL_CODEC: mode, HOOKYARD_ENCRYPTION_KEYS: keys };
    await Promise.all([testInstance.startApi(settings), testInstance.startWorker(settings)]);
  }

  /** A delivery whose first attempt has failed and whose second one is an hour away. */
  async function waitingDelivery(): Promise<DeliveryView & { endpoint: Endpoint }> {
    const endpoint = receiver.endpoint(500, 200);
    const pipe = await records.pipe(endpoint.url, { destination: { retryPolicy: onceMore(1, 3_600_000) } });
    const delivery = await records.deliveryWith('retrying', await records.accepted(pipe.source, '{}'));
    // The answer of its query shows when the workflow knows of the failure.
    return { ...delivery, endpoint };
  }
  async function finish({ id, eventId }: DeliveryView): Promise<void> {
    await testInstance.client.post(`/api/deliveries/${id}/retry`);
    await records.deliveryWith('delivered', eventId);
    await records.workflowsEnd([id]);
  }
  const historyOf = async (workflowId: string) =>
    JSON.parse(historyToJSON(await testInstance.temporal.workflow.getHandle(workflowId).fetchHistory())) as unknown;
  const payloads = async (workflowId: string) => payloadsOf(await historyOf(workflowId));
  // The SDK's core writes its own notes on local activities itself: number, name, time. What follows shows that no id
  // is in them.
  const isOfCore = ({ encoding, data }: FoundPayload) => encoding === 'json/plain' && /^\{"seq":\d+,/.test(data);
  const isContent = (payload: FoundPayload) => payload.encoding !== 'binary/null' && !isOfCore(payload);
  const encodings = async (workflowId: string) =>
    new Set((await payloads(workflowId)).filter(isContent).map(({ encoding }) => encoding));

  /** Temporal's data, decrypted with the keys. */
  function withKeys(mode: Settings['HOOKYARD_TEMPORAL_CODEC'] = 'decode'): Client {
    const { connection, options } = testInstance.temporal;
    const dataConverter = temporalDataConverter(mode, [third, second, first]);
    return new Client({ connection, namespace: options.namespace, dataConverter });
  }
  const workflowOf = (workflowId: string, mode?: Settings['HOOKYARD_TEMPORAL_CODEC']): WorkflowHandle =>
    withKeys(mode).workflow.getHandle(workflowId);

  it('is off unless asked for: payloads are plain', async () => {
    const delivery = await waitingDelivery();
    expect([...(await encodings(delivery.id))]).to.deep.equal(['json/plain']);
    const plain = (await payloads(delivery.id)).map(({ data }) => data).join();
    expect(plain, 'what is looked for below would be found').to.include(delivery.eventId);
    await finish(delivery);
  });

  it('switched on, a workflow that was begun without it continues, and what is added is encrypted', async () => {
    const delivery = await waitingDelivery();
    await restartWith('on');
    const begun = (await payloads(delivery.id)).length;
    await finish(delivery);
    const added = (await payloads(delivery.id)).slice(begun).filter(isContent);
    expect(added).to.not.be.empty;
    for (const { encoding, keyId } of added) {
      expect({ encoding, keyId }).to.deep.equal({ encoding: ENCRYPTED, keyId: 'first' });
    }
  });

  it('hides every payload of deliveries with retries, replays and housekeeping, which work as without it', async () => {
    const failing = receiver.endpoint(500, 500, 200);
    const pipe = await records.pipe(failing.url, { destination: { retryPolicy: onceMore(1) } });
    const eventId = await records.accepted(pipe.source, '{"n":1}');
    const failed = await records.deliveryWith('failed', eventId);
    await keepHouse({ temporal: withKeys() });
    // A signal tells the workflow of the failed delivery that it was replayed.
    await testInstance.client.post(`/api/deliveries/${failed.id}/replay`);
    await records.eventWith('delivered', eventId);
    const replay = await testInstance.client.post<{ id: string }>(`${testInstance.base}/events/replay`, {
      sourceId: pipe.source.id,
    });
    await until('the replay to be made', async () => {
      const { status } = await testInstance.client.get(`${testInstance.base}/events/replays/${replay.id}`);
      return status === 'completed';
    });
    const deliveries = await until('what was replayed', async () => {
      const found = await records.deliveries(eventId);
      return found.length === 3 && found.at(-1)?.status === 'delivered' && found;
    });
    expect(failing.requests).to.have.length(4);
    await records.workflowsEnd(deliveries.map(({ id }) => id));

    const { source, destination, route } = pipe;
    const ids = [
      testInstance.organizationId,
      eventId,
      ...[source, destination, route, failed, replay].map(({ id }) => id),
    ];
    for (const workflowId of [...deliveries.map(({ id }) => id), replay.id]) {
      const found = await payloads(workflowId);
      expect(found.length, workflowId).to.be.greaterThan(2);
      expect([...(await encodings(workflowId))], workflowId).to.deep.equal([ENCRYPTED]);
      const data = found.map((payload) => payload.data).join();
      for (const id of [...ids, 'Orders', 'CRM']) expect(data, workflowId).to.not.include(id);
    }
  });

  it('lets anyone who has the keys read and ask, and nobody else', async () => {
    const { id, eventId } = await waitingDelivery();
    const view = await workflowOf(id).query(statusQuery);
    expect(view).to.include({ status: 'retrying', attempts: 1 });
    expect(await (await workflowOf(id).describe()).staticSummary()).to.include('Orders');
    const unread = testInstance.temporal.workflow.getHandle(id).query(statusQuery);
    expect(await unread.catch((error: unknown) => error)).to.be.instanceOf(Error);
    await workflowOf(id, 'on').signal('retryNow');
    await records.deliveryWith('delivered', eventId);
  });

  it('histories replay with the keys', async () => {
    const delivery = await waitingDelivery();
    await finish(delivery);
    const history = await testInstance.temporal.workflow.getHandle(delivery.id).fetchHistory();
    const workflowBundle = await bundleWorkflows(quietLogger);
    const dataConverter = temporalDataConverter('decode', [first]);
    await Worker.runReplayHistory({ workflowBundle, dataConverter }, history, delivery.id);
  });

  it('with a new key in front, what the old one encrypted continues', async () => {
    const delivery = await waitingDelivery();
    await restartWith('on', text(second, first));
    await finish(delivery);
    const keyIds = (await payloads(delivery.id)).map(({ keyId }) => keyId);
    expect(new Set(keyIds.filter((id) => id !== ''))).to.deep.equal(new Set(['first', 'second']));
  });

  it('a worker without the key says so and loses nothing: what waits continues when the key is back', async () => {
    const delivery = await waitingDelivery();
    await restartWith('on', text(third));
    await testInstance.client.post(`/api/deliveries/${delivery.id}/retry`);
    await until('the log to name the key', () =>
      /encrypted with the key \W*second\W*, which/.test(testInstance.logs()),
    );
    expect(delivery.endpoint.requests).to.have.length(1);
    await restartWith('on', keysAtLast);
    // Temporal waits longer and longer before it gives the task to a worker again.
    const isDelivered = async () => (await records.deliveries(delivery.eventId))[0]?.status === 'delivered';
    await until('the delivery to continue', isDelivered, 90_000);
    expect(delivery.endpoint.requests).to.have.length(2);
  });

  it('switched off, a workflow that was begun with it continues, and what is added is plain', async () => {
    const delivery = await waitingDelivery();
    await restartWith('decode', keysAtLast);
    const begun = (await payloads(delivery.id)).length;
    await finish(delivery);
    const added = (await payloads(delivery.id)).slice(begun).map(({ encoding }) => encoding);
    expect(added).to.include('json/plain').and.not.include(ENCRYPTED);
    const next = await waitingDelivery();
    await finish(next);
    expect([...(await encodings(next.id))]).to.deep.equal(['json/plain']);
  });
}).timeout(150_000);

describe('a payload', () => {
  const plain = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"a":1}') };
  const codecOf = (mode: Settings['HOOKYARD_TEMPORAL_CODEC'], ...keys: { id: string; key: Buffer }[]) => {
    const codec = temporalDataConverter(mode, keys).payloadCodecs?.[0];
    if (!codec) throw new Error('there is no codec');
    return codec;
  };
  const refusal = (decoding: Promise<unknown>) => decoding.then(() => 'it was opened', String);

  it('is never encrypted to the same bytes twice', async () => {
    const [one, other] = await codecOf('on', first).encode([plain, plain]);
    expect(Buffer.compare(Buffer.from(one?.data ?? []), Buffer.from(other?.data ?? []))).to.not.equal(0);
  });

  it('is refused with a message that names the key when that is missing or another, or when it was changed', async () => {
    const [sealed = {}] = await codecOf('on', first).encode([plain]);
    expect(await refusal(codecOf('decode', second).decode([sealed]))).to.match(/"first", which is missing/);
    expect(await refusal(codecOf('decode', key('first')).decode([sealed]))).to.match(/"first" cannot decrypt/);
    const data = Buffer.from(sealed.data ?? []);
    data[20] = (data[20] ?? 0) ^ 1;
    expect(await refusal(codecOf('decode', first).decode([{ ...sealed, data }]))).to.match(/"first" cannot decrypt/);
  });
});
