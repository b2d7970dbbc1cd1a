// A full run with a marked secret wherever one can be: what succeeds, what fails in every way, tests, export, import,
// replay, refusals and the command line. What it leaves is searched by test/security/secrets.test.ts.
import { createHmac, randomUUID } from 'node:crypto';
import { makeConsoleCode } from '../../../db/organizations/keys.ts';
import { commandLine } from '../programs/cli.ts';
import { newId } from '../../../core/text/ids.ts';
import { keepHouse } from '../database/housekeeping.ts';
import type { OwnHookyard } from '../hookyard.ts';
import { type MailServer, startMailServer } from '../messages/mail-server.ts';
import { startQuotingStore } from '../warehouse/quoting-store.ts';
import type { Listening } from '../servers/listen.ts';
import type { Receiver } from '../receiver.ts';
import { onceMore, type Records } from '../records.ts';
import { account, PAYLOAD, RECIPIENT, SECRETS, SHOWN } from './secret-markers.ts';
import { recordAnswers, type RecordedAnswer } from './secret-search.ts';
import { until } from '../until.ts';
import { useHookyard } from '../use-hookyard.ts';

const body = (n: number) => JSON.stringify({ n, marker: PAYLOAD });

export class SecretRun {
  readonly testInstance: OwnHookyard;
  readonly records: Records;
  readonly receiver: Receiver;
  /** What the command line printed. */
  readonly printed: string[] = [];
  /** Tokens that the API has shown as it should. */
  readonly createdTokens: string[] = [];
  readonly destinationIds: string[] = [];
  answers: RecordedAnswer[] = [];
  #store: Listening | undefined;

  /** Call it inside a `describe`, whose tests it precedes. */
  constructor() {
    let mail: MailServer | undefined;
    let stopRecording = () => {};
    before(async () => {
      mail = await startMailServer();
      ({ answers: this.answers, stop: stopRecording } = recordAnswers());
    });
    after(() => stopRecording());
    const suite = useHookyard({
      settings: () => ({
        HOOKYARD_API_KEY: SECRETS.apiKey,
        HOOKYARD_ENCRYPTION_KEYS: `k1:${SECRETS.encryption}`,
        // The wrong password: the mail server says so in its own words.
        SMTP_URL: `smtp://hookyard:${SECRETS.smtp}@127.0.0.1:${mail?.port}`,
        HOOKYARD_NOTIFY_FROM: 'hookyard@sender.example',
        R2_SECRET_ACCESS_KEY: SECRETS.r2,
        HOOKYARD_WAREHOUSE_IDENTITY: 'default:r2:events',
        // Nobody listens there.
        HOOKYARD_PAGERDUTY_URL: 'http://127.0.0.1:9',
        LOG_LEVEL: 'trace',
      }),
      workers: [{}],
    });
    ({ testInstance: this.testInstance, records: this.records, receiver: this.receiver } = suite);
    before('everything is done', () => this.#everything());
    after(() => Promise.all([mail?.close(), this.#store?.close()]));
  }

  async #everything(): Promise<void> {
    await this.#signatures();
    await this.#credentials();
    await this.#failures();
    await this.#warehouses();
    await this.#exchange();
    await this.#alerts();
    await this.#refusals();
    await this.#commands();
    await keepHouse(this.testInstance);
  }

  /** Each way of verification, with a right and a wrong signature. */
  async #signatures(): Promise<void> {
    const now = Math.floor(Date.now() / 1000);
    const text = body(1);
    const sign = (key: string, signed = text) => createHmac('sha256', key).update(signed).digest('hex');
    const slack = (key: string) => `v0=${sign(key, `v0:${now}:${text}`)}`;
    const hmac = { type: 'hmac', algorithm: 'sha256', header: 'X-Sig', encoding: 'hex', prefix: '' };
    const ways: [object, string, (key: string) => Record<string, string>][] = [
      [{ type: 'github' }, SECRETS.github, (key) => ({ 'x-hub-signature-256': `sha256=${sign(key)}` })],
      [
        { type: 'stripe' },
        SECRETS.stripe,
        (key) => ({ 'stripe-signature': `t=${now},v1=${sign(key, `${now}.${text}`)}` }),
      ],
      [
        { type: 'slack' },
        SECRETS.slack,
        (key) => ({ 'x-slack-request-timestamp': String(now), 'x-slack-signature': slack(key) }),
      ],
      [hmac, SECRETS.hmac, (key) => ({ 'x-sig': sign(key) })],
    ];
    for (const [config, secret, headers] of ways) {
      const source = await this.records.source({ verificationConfig: { ...config, secret } });
      const post = (key: string) =>
        this.records.post(source, text, { 'content-type': 'application/json', ...headers(key) });
      expectStatus(await post(secret), 200);
      expectStatus(await post('another'), 401);
      const path = `${this.testInstance.base}/sources/${source.id}`;
      await this.testInstance.client.post(`${path}/rotate-secret`, { secret: SECRETS.rotated });
      expectStatus(await post(secret), 200);
      await this.testInstance.client.get(path);
    }
  }

  async #destination(url: string, fields: object = {}): Promise<string> {
    const { id } = await this.records.destination(`${url}?token=${SHOWN.address}`, {
      headers: { 'X-Api-Key': SHOWN.header },
      signingSecret: signingSecret(SECRETS.signing),
      ...fields,
    });
    this.destinationIds.push(id);
    return id;
  }

  /** Channels of each type with a secret: tested, rotated, told of an issue, refused. */
  async #alerts(): Promise<void> {
    const { client, pool, organizationId } = this.testInstance;
    const url = `${this.receiver.endpoint(404).url}/${SECRETS.alertAddress}`;
    const kinds: [string, object][] = [
      ['webhook', { url: this.receiver.endpoint(500).url, secret: signingSecret(SECRETS.alertSecret) }],
      ['slack', { url }],
      ['teams', { url: `http://10.0.0.1/${SECRETS.alertAddress}` }],
      ['pagerduty', { routingKey: SECRETS.alertRouting }],
    ];
    const ids: string[] = [];
    for (const [type, config] of kinds) {
      const { id } = await client.create('/api/alert-channels', { name: type, type, config });
      ids.push(id);
      await client.post(`/api/alert-channels/${id}/test`);
      await client.patch(`/api/alert-channels/${id}`, { config });
    }
    const rotated = { secret: signingSecret(SECRETS.alertRotated) };
    await client.post(`/api/alert-channels/${ids[0]}/rotate-secret`, rotated);
    await pool.query(
      `insert into issues (id, organization_id, kind, cause, first_seen_at, last_seen_at, count) values ($1, $2, 'delivery_failing', 'HTTP_500', now(), now(), 1)`,
      [newId('iss'), organizationId],
    );
    await until('the channels to fail', async () => {
      const { data } = await client.list<{ type: string; failingSince: string | null }>('/api/alert-channels');
      return ['slack', 'teams'].every((type) => data.some((each) => each.type === type && each.failingSince !== null));
    });
    for (const id of ids) await client.delete(`/api/alert-channels/${id}`);
  }

  /** Each way of authentication: tested, delivered to, replaced, replayed. */
  async #credentials(): Promise<void> {
    const { client, base } = this.testInstance;
    const ways: [string, object][] = [
      ['bearer', { token: SECRETS.bearer }],
      ['basic', { username: 'hookyard', password: SECRETS.password }],
      ['api_key', { headerName: 'X-Key', key: SECRETS.apiKeyHeader }],
      ['custom_header', { headerName: 'X-Custom', headerValue: SECRETS.customHeader }],
    ];
    const ids: string[] = [];
    for (const [authType, authConfig] of ways) {
      const id = await this.#destination(this.receiver.endpoint().url, { authType, authConfig });
      await client.post(`/api/destinations/${id}/test`, { payload: { marker: PAYLOAD } });
      ids.push(id);
    }
    const source = await this.records.source();
    await this.records.route(source.id, ids, { notifyOnSuccess: true, notifyEmails: RECIPIENT });
    const eventId = await this.records.accepted(source, body(2));
    await this.records.eventWith('delivered', eventId);
    await client.patch(`/api/destinations/${ids[0]}`, { authConfig: { token: SECRETS.bearerReplaced } });
    const next = { secret: signingSecret(SECRETS.signingRotated) };
    await client.post(`/api/destinations/${ids[0]}/rotate-secret`, next);
    await client.post(`${base}/events/${eventId}/replay`);
    await this.records.eventWith('delivered', eventId);
    await client.post(`${base}/events/replay`, { sourceId: source.id });
    await client.get(`${base}/events/${eventId}?includeDeliveries=true`);
    await client.get(`${base}/events/${eventId}/timeline`);
    await this.records.deliveries(eventId);
  }

  /** Every way in which a delivery fails, with notifications by mail, which fail as well. */
  async #failures(): Promise<void> {
    const authConfig = { token: SECRETS.bearer };
    const bearer = { authType: 'bearer', authConfig };
    const to = async (url: string, ending: string, fields: { destination?: object; route?: object } = {}) => {
      const source = await this.records.source();
      const id = await this.#destination(url, { ...bearer, ...fields.destination });
      await this.records.route(source.id, [id], {
        ...{ notifyOnFailure: true, notifyEmails: RECIPIENT },
        ...fields.route,
      });
      const eventId = await this.records.accepted(source, body(3));
      await until(`an end of ${url}`, async () =>
        (await this.records.deliveries(eventId)).some(({ status }) => status === ending),
      );
      return { source, eventId };
    };
    const { client } = this.testInstance;
    await to(this.receiver.endpoint(500, 200).url, 'delivered', { destination: { retryPolicy: onceMore(2) } });
    await to(this.receiver.endpoint(500).url, 'failed');
    await to('http://127.0.0.1:1/', 'failed');
    await to('https://169.254.169.254/', 'failed');
    await to('https://nowhere.invalid/', 'failed');
    const failover = await this.#destination(this.receiver.endpoint().url, bearer);
    const route = { failoverDestinationIds: [failover], failoverAfterAttempts: 1, circuitFailureThreshold: 1 };
    const { source } = await to(this.receiver.endpoint(500).url, 'failed_over', { route });
    await this.records.accepted(source, body(4));
    const waiting = await to(this.receiver.endpoint(500).url, 'retrying', {
      destination: { retryPolicy: onceMore(5, 3_600_000) },
    });
    await client.post(`/api/deliveries/${(await this.records.deliveries(waiting.eventId))[0]?.id}/retry`);
    const transformId = await this.#throwingTransform();
    await to(this.receiver.endpoint().url, 'failed', { route: { transformId } });
    const { id: schemaId } = await client.create('/api/schemas', {
      ...{ name: 'Strict', schema: { type: 'object', properties: { marker: { type: 'number' } } } },
    });
    await to(this.receiver.endpoint().url, 'schema_failed', { route: { schemaId } });
  }

  /** An error that holds the whole event is what a tenant in search of a mistake would throw. */
  async #throwingTransform(): Promise<string> {
    const code = 'export default (event) => { throw new Error(JSON.stringify(event)) }';
    const name = `Throws ${randomUUID()}`;
    return (await this.testInstance.client.create('/api/transforms', { name, type: 'javascript', code })).id;
  }

  /** Warehouses that cannot be reached, and one that quotes what it refuses: tested, and written to. */
  async #warehouses(): Promise<void> {
    const endpoint = 'http://127.0.0.1:1';
    const configs: [string, object][] = [
      ['s3', { bucket: 'events', region: 'eu-central-1', accessKeyId: 'id', secretAccessKey: SECRETS.s3, endpoint }],
      ['r2', { bucket: 'events', accessKeyId: 'id', endpoint }],
      ['gcs', { bucket: 'events', projectId: 'project', serviceAccountKey: account, endpoint }],
      ['azure_blob', { ...azureConfig(SECRETS.azure), endpoint }],
    ];
    this.#store = await startQuotingStore();
    configs.push(['s3', { ...configs[0]?.[1], endpoint: this.#store.url }]);
    const { client } = this.testInstance;
    const ids: string[] = [];
    for (const [type, config] of configs) {
      const { id } = await client.create('/api/destinations', {
        ...{ name: `Lake ${type} ${ids.length}`, type, config: { ...config, batchWindowSeconds: 1 } },
      });
      await client.post(`/api/destinations/${id}/test`);
      await client.get(`/api/destinations/${id}`);
      ids.push(id);
    }
    const source = await this.records.source();
    await this.records.route(source.id, ids);
    await this.records.accepted(source, body(5));
    const thrown = await this.records.source();
    // Of its own: a file that cannot be written keeps those behind it waiting.
    const { id: other } = await client.create('/api/destinations', {
      ...{ name: 'Lake for errors', type: 's3', config: { ...configs[0]?.[1], batchWindowSeconds: 1 } },
    });
    await this.records.route(thrown.id, [other], { transformId: await this.#throwingTransform() });
    const eventId = await this.records.accepted(thrown, body(6));
    await this.records.deliveryWith('failed', eventId);
    for (const id of ids) {
      await until(`a file of ${id} that cannot be written`, async () => {
        const { data } = await client.list<{ lastError: string | null }>(`/api/destinations/${id}/batches`);
        return data.some(({ lastError }) => lastError !== null);
      });
    }
  }

  async #exchange(): Promise<void> {
    const { client } = this.testInstance;
    for (const kind of ['destinations', 'routes']) {
      const file = await client.get(`/api/${kind}/export`);
      for (const conflictStrategy of ['skip', 'rename', 'overwrite']) {
        const validateOnly = conflictStrategy === 'rename';
        await client.post(`/api/${kind}/import`, { ...file, conflictStrategy, validateOnly });
      }
    }
    const secret = { name: 'New', type: 'http', url: 'https://new.example/', authType: 'bearer' };
    await client.post('/api/destinations/import', {
      ...{ conflictStrategy: 'rename', destinations: [{ ...secret, authConfig: { token: `${SECRETS.refused}\r\n` } }] },
    });
  }

  /** Secrets where they are refused: the message must not quote them. */
  async #refusals(): Promise<void> {
    const { client, base } = this.testInstance;
    const url = 'https://receiver.example/';
    const secret = SECRETS.refused;
    const gcs = { bucket: 'events', projectId: 'p' };
    const destinations: object[] = [
      { url, authType: 'bearer', authConfig: { token: `${secret}\n` } },
      { url, authType: 'basic', authConfig: { username: 'a:b', password: [secret] } },
      { url, authType: 'api_key', authConfig: { headerName: 'Host', key: secret } },
      { url, authType: secret, authConfig: {} },
      { url, authType: 'none', authConfig: secret },
      { url, signingSecret: secret },
      { url, signingSecret: `whsec_${secret}` },
      { url, headers: { 'X-Token': `${secret}\n` } },
      { url: `https://user:${secret}@receiver.example/` },
      { type: 's3', config: { bucket: 'x', region: 'r', accessKeyId: 'id', secretAccessKey: secret } },
      { type: 'gcs', config: { ...gcs, serviceAccountKey: `{"a":"${secret}"` } },
      { type: 'gcs', config: { ...gcs, serviceAccountKey: secret } },
      { type: 'azure_blob', config: { ...azureConfig('x'), accountKey: `!${secret}!` } },
    ];
    const verifications: object[] = [
      { type: 'hmac', secret, algorithm: secret },
      { type: secret },
      { type: 'github', secret: [secret] },
    ];
    const bad: [string, object][] = [
      ...destinations.map((fields): [string, object] => ['/api/destinations', fields]),
      ...verifications.map((config): [string, object] => [
        `${base}/sources`,
        { slug: 'x', verificationConfig: config },
      ]),
    ];
    for (const [path, sent] of bad) expectStatus(await client.request('POST', path, { name: 'x', ...sent }), 400);
    const headers = { 'Content-Type': 'application/json' };
    const raw = { raw: `{"name": "x", "authConfig": {"token": "${secret}`, headers };
    expectStatus(await client.request('POST', '/api/destinations', undefined, raw), 400);
    const wrong = { headers: { Authorization: `Bearer whr_${secret}` } };
    expectStatus(await client.request('GET', '/api/destinations', undefined, wrong), 401);
    const options = { headers: { 'Idempotency-Key': randomUUID() } };
    for (let time = 0; time < 2; time += 1) {
      const { body: created } = await client.request('POST', '/api/api-keys', { name: 'Shown once' }, options);
      this.createdTokens.push(String(created.token));
    }
    const code = await makeConsoleCode(this.testInstance.pool, this.testInstance.organizationId, 'a start');
    const { body: signedIn } = await client.request('POST', '/api/auth/sign-in', { code });
    this.createdTokens.push(String(signedIn.token), code);
    expectStatus(await client.request('POST', '/api/auth/sign-in', { code }), 401);
    await client.list('/api/api-keys');
    await client.get('/api/auth/me');
  }

  async #commands(): Promise<void> {
    const { run } = commandLine({ api: this.testInstance.client, token: SECRETS.apiKey });
    const [id = ''] = this.destinationIds;
    for (const args of [
      ['destinations', 'list'],
      ['destinations', 'show', id, '--json'],
      ['destinations', 'test', id],
      ['sources', 'list'],
      ['deliveries', 'list'],
      ['destinations', 'export'],
      ['destinations', 'list', '--api-key', `whr_${SECRETS.refused}`],
      ['destinations', 'create', 'x', `https://user:${SECRETS.refused}@receiver.example/`],
    ]) {
      const { stdout, stderr } = await run(args);
      this.printed.push(`${stdout}\n${stderr}`);
    }
  }
}

const signingSecret = (text: string) => `whsec_${Buffer.from(text).toString('base64')}`;

function azureConfig(key: string): Record<string, string> {
  return { accountName: 'hookyard', accountKey: Buffer.from(key).toString('base64'), containerName: 'events' };
}

function expectStatus(answer: { status: number; body: unknown }, status: number): void {
  if (answer.status !== status)
    throw new Error(`${answer.status} instead of ${status}: ${JSON.stringify(answer.body)}`);
}
