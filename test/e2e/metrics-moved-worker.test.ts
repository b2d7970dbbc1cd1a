// The metrics of a worker, and the figures of the whole installation, move when what they measure happens: each row is
// a action on real processes, and the series of the worker that grow by it. What metrics.test.ts counts is not here.
import { expect } from 'chai';
import { DAY_MS, ensurePartitions } from '../../db/sql/partitions.ts';
import { freePorts } from '../../local/ports.ts';
import { Circuits } from '../support/workflows/circuits.ts';
import { disagreements } from '../support/workflows/disagreements.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { type MailServer, REFUSED_DOMAIN, startMailServer } from '../support/messages/mail-server.ts';
import { type Action, MetricGrowth, moves, type Series } from '../support/telemetry/metric-growth.ts';
import { makeOverdue, reconcileNow } from '../support/workflows/reconcile.ts';
import { onceMore, Records } from '../support/records.ts';
import { scrape } from '../support/telemetry/scrape.ts';
import { startTakingStore, type TakingStore } from '../support/warehouse/taking-store.ts';
import { startTlsReceiver, type TlsReceiver } from '../support/servers/tls-receiver.ts';
import { useReceiver } from '../support/use-hookyard.ts';

const JAVASCRIPT = { language: 'javascript' };
const PATIENT = { circuitFailureThreshold: 100 };
const js = (body: string) => `export default (event) => { ${body} }`;

const attempted = (code_class: string): Series => ['hookyard_attempts_total', { outcome: 'failed', code_class }];
const deliveredIn = (lane: string): Series => ['hookyard_delivery_latency_seconds_count', { lane }];
const broken = (cause: string): Series => ['hookyard_transform_failures_total', { cause }];
const uploaded = (result: string): Series => ['hookyard_warehouse_uploads_total', { provider: 's3', result }];
const notified = (channel: string, result: string): Series => ['hookyard_notifications_total', { channel, result }];

const MAX_DATABASE = 1_000_000_000_000;
const LONG_AGO_MS = 400 * DAY_MS;
const AT_LEAST_SOME = [
  'hookyard_warehouse_oldest_open_seconds',
  'hookyard_deliveries_due',
  'hookyard_oldest_due_age_seconds',
  'hookyard_retention_lag_seconds',
];
/** Of every process from its start on. */
const OF_A_PROCESS = [
  ...['process_cpu_seconds_total', 'process_resident_memory_bytes', 'process_start_time_seconds'],
  ...['v8js_memory_heap_used_bytes', 'v8js_memory_heap_limit_bytes', 'v8js_gc_duration_seconds_count'],
  ...['nodejs_eventloop_utilization_ratio', 'hookyard_event_loop_delay_seconds_count'],
];

describe('metrics of a worker move:', () => {
  let testInstance: OwnHookyard;
  let records: Records;
  let circuits: Circuits;
  const receiver = useReceiver();
  let secure: TlsReceiver;
  let store: TakingStore;
  let mail: MailServer;
  let workerPort = 0;
  let growth: MetricGrowth;
  let ofApi: MetricGrowth;

  before(async () => {
    const [apiPort = 0, portOfWorker = 0] = await freePorts(2);
    workerPort = portOfWorker;
    [secure, store, mail] = await Promise.all([startTlsReceiver(), startTakingStore(), startMailServer()]);
    testInstance = await startHookyard(undefined, {
      OTEL_EXPORTER_PROMETHEUS_PORT: String(apiPort),
      HOOKYARD_MAX_DATABASE_BYTES: String(MAX_DATABASE),
      HOOKYARD_NOTIFY_RECIPIENTS: `ops.example,${REFUSED_DOMAIN}`,
    });
    records = new Records(testInstance);
    circuits = new Circuits(testInstance, records);
    await testInstance.startWorker({
      OTEL_EXPORTER_PROMETHEUS_PORT: String(workerPort),
      SMTP_URL: mail.url,
      HOOKYARD_NOTIFY_FROM: 'hookyard@sender.example',
    });
    [growth, ofApi] = await Promise.all([MetricGrowth.since(workerPort), MetricGrowth.since(apiPort)]);
  });
  after(async () => {
    await testInstance?.close();
    await Promise.all([secure?.close(), store?.close(), mail?.close()]);
  });

  const undelivered = (url: string, destination: Record<string, unknown> = {}) =>
    records.deliver(url, '{}', 'failed', { destination, route: PATIENT });
  async function transformed(code: string) {
    const { id } = await testInstance.client.create('/api/transforms', { name: 'Broken', type: 'javascript', code });
    await records.deliver(receiver.endpoint(200).url, '{}', 'failed', { route: { transformId: id } });
  }
  /** A warehouse that has something to write. */
  async function lake() {
    const { id } = await testInstance.client.create<{ id: string }>('/api/destinations', {
      ...{ name: 'Lake', type: 's3' },
      config: {
        ...{ bucket: 'events', region: 'eu-central-1', accessKeyId: 'key', secretAccessKey: 'secret-of-the-lake' },
        ...{ endpoint: store.url, forcePathStyle: true, batchWindowSeconds: 1 },
      },
    });
    const source = await records.source();
    await records.route(source.id, [id]);
    return records.accepted(source, '{}');
  }
  /** A failed delivery of a route that tells an address, which was replaced since. */
  async function tells(notifyEmails: string, now = notifyEmails) {
    const route = { notifyEmails, notifyOnFailure: true };
    const pipe = await records.pipe(receiver.endpoint(500).url, { route });
    await testInstance.pool.query('update routes set notify_emails = $2 where id = $1', [pipe.route.id, now]);
    await records.deliveryWith('failed', await records.accepted(pipe.source, '{}'));
  }
  const { waitingForRetry, workflow } = disagreements(() => ({ testInstance, records, receiver }));

  const actions: Action[] = [
    [
      'a destination that does not answer',
      [attempted('timeout'), ['hookyard_attempt_duration_seconds_count', {}]],
      async () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        await undelivered(receiver.endpoint({ after: promise }).url, { timeoutMs: 1000 });
        resolve();
      },
    ],
    ['a port on which nobody listens', [attempted('connection')], () => undelivered('http://127.0.0.1:1/')],
    ['a name that nobody has', [attempted('dns')], () => undelivered('http://nowhere.invalid/', { timeoutMs: 60_000 })],
    [
      'a certificate that nobody trusts',
      [attempted('tls')],
      () => undelivered(secure.url.replace('localhost', '127.0.0.1')),
    ],
    ['an address that the guard refuses', [attempted('refused')], () => undelivered('http://10.0.0.1/')],
    [
      'deliveries in both lanes',
      [deliveredIn('workflow'), deliveredIn('express')],
      async () => {
        for (const lane of ['workflow', 'express'])
          await records.deliver(receiver.endpoint(200).url, '{}', 'delivered', { route: { lane } });
      },
    ],
    [
      'a retry before the rate limit of its destination lets it',
      [['hookyard_rate_limited_total', {}]],
      async () => {
        const destination = { rateLimitPerMinute: 1, retryPolicy: onceMore(1) };
        const { source } = await records.pipe(receiver.endpoint(500).url, { destination, route: PATIENT });
        await records.accepted(source, '{}');
      },
    ],
    ...(
      [
        ['code', js('throw new Error("no");')],
        ['time', js('for (;;) {}')],
        // In few steps: the time it may take must not end it first.
        ['memory', js('const all = []; for (;;) all.push("x".repeat(2 ** 23));')],
        ['output', js('return "x".repeat(11 * 2 ** 20);')],
        ['nothing', js('return undefined;')],
      ] as const
    ).map(
      ([cause, code]): Action => [
        `a transform that fails by its ${cause}`,
        cause === 'code' ? [broken(cause), ['hookyard_transform_duration_seconds_count', JAVASCRIPT]] : [broken(cause)],
        () => transformed(code),
      ],
    ),
    [
      'files that a store takes, cannot take, and refuses',
      [uploaded('refused'), uploaded('failed'), uploaded('written'), deliveredIn('warehouse')],
      async () => {
        store.answer(403);
        await lake();
        await growth.grown(uploaded('refused'));
        store.answer(500);
        const eventId = await lake();
        await growth.grown(uploaded('failed'));
        store.answer(200);
        await records.deliveryWith('delivered', eventId);
      },
    ],
    [
      'mails that the mail server takes and refuses, and one that nobody may get',
      ['sent', 'failed', 'given_up', 'withheld'].map((result) => notified('mail', result)),
      async () => {
        await tells('team@ops.example');
        await tells(`nobody@${REFUSED_DOMAIN}`);
        await tells('team@ops.example', 'victim@strangers.example');
      },
    ],
    [
      'an alert that its channel refuses for good',
      [notified('slack', 'failed'), notified('slack', 'given_up')],
      async () => {
        const config = { url: receiver.endpoint(410).url };
        await testInstance.client.create('/api/alert-channels', { name: 'Team', type: 'slack', config });
        await undelivered(receiver.endpoint(500).url);
      },
    ],
    [
      'a workflow that somebody ends in Temporal',
      [['hookyard_reconciliation_repairs_total', { kind: 'deliveries_failed' }]],
      async () => {
        const { delivery } = await waitingForRetry([500], { route: { lane: 'workflow' } });
        await workflow(delivery.id).terminate('by an operator');
        await makeOverdue(testInstance, delivery.id);
        await reconcileNow(testInstance);
        await records.deliveryWith('failed', delivery.eventId);
      },
    ],
  ];
  moves(actions, () => growth);

  it('a process that runs', async () => {
    for (const process of [growth, ofApi]) {
      await process.shown('all of it', (value) => {
        for (const name of OF_A_PROCESS) expect(value(name), name).to.be.above(0);
        return true;
      });
    }
  });

  it('the limits of the destinations that were used', async () => {
    await records.deliver(receiver.endpoint(200).url, '{}', 'delivered');
    const { value } = await scrape(workerPort);
    expect(value('hookyard_concurrency_destinations')).to.be.at.least(1);
    const limits = ['min', 'median', 'max'].map((stat) => value('hookyard_concurrency_limit', { stat }) ?? 0);
    expect(limits[0]).to.be.above(0);
    expect(limits).to.deep.equal(limits.toSorted((a, b) => a - b));
  });

  it('what is held, a circuit, a replay, and a file that is not written, in every process', async () => {
    const { source } = await circuits.opened(receiver.endpoint(500));
    await records.deliveryWith('circuit_open', await records.accepted(source, '{}'));
    await growth.grown(['hookyard_circuit_transitions_total', { to: 'open' }]);
    store.answer(500);
    await lake();
    const { promise: silence, resolve: end } = Promise.withResolvers<void>();
    const silent = await records.pipe(receiver.endpoint({ after: silence }).url, {
      destination: { timeoutMs: 60_000 },
    });
    await records.accepted(silent.source, '{}');
    await ensurePartitions(testInstance.pool, Date.now() - LONG_AGO_MS);
    // It takes longer than figures are old.
    const many = await records.source();
    for (let n = 0; n < 60; n += 1) await records.accepted(many, '{}');
    await records.route(many.id, [(await records.destination(receiver.endpoint(200).url)).id]);
    const replay = await testInstance.client.post<{ id: string }>(`${testInstance.base}/events/replay`, {
      ...{ sourceId: many.id, ratePerSecond: 1 },
    });
    for (const process of [growth, ofApi]) {
      await process.shown('all of them', (value) =>
        [
          value('hookyard_deliveries_held') === 1,
          value('hookyard_circuits_open', { state: 'open' }) === 1,
          value('hookyard_replays_running') === 1,
          value('hookyard_database_up') === 1,
          value('hookyard_database_limit_bytes') === MAX_DATABASE,
          ...AT_LEAST_SOME.map((name) => (value(name) ?? 0) > 0),
          (value('hookyard_issues_open', { kind: 'transform_failing' }) ?? 0) > 0,
        ].every(Boolean),
      );
    }
    await growth.shown('what is under way', (value) => (value('hookyard_relay_in_flight') ?? 0) > 0);
    end();
    await testInstance.client.post(`${testInstance.base}/events/replays/${replay.id}/cancel`);
    await growth.shown('the end of the replay', (value) => value('hookyard_replays_running') === 0);
  });
});
