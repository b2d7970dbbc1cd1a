// Rotation of encryption keys, from the first key alone to the second one alone, while deliveries continue.
import { createHmac, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { SecretBox } from '../../db/encryption/secret-box.ts';
import { SEALED_COLUMNS } from '../../db/encryption/keys.ts';
import { logLines, problemsIn } from '../support/telemetry/log-lines.ts';
import { type Ended, runToEnd } from '../support/service.ts';
import { keepHouse } from '../support/database/housekeeping.ts';
import type { Endpoint } from '../support/receiver.ts';
import { type DestinationView, onceMore, type SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { wholeDatabase } from '../support/organizations/whole-database.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const newKey = () => randomBytes(32).toString('base64');
const whsec = () => `whsec_${randomBytes(24).toString('base64')}`;
const OLD = `first:${newKey()}`;
const NEW = `second:${newKey()}`;
const SECRET = 'a secret that the provider knows';
const MANY = 450;

describe('rotation of encryption keys', () => {
  const { testInstance, records, receiver } = useHookyard({
    settings: { HOOKYARD_ENCRYPTION_KEYS: OLD },
    workers: [{}],
  });
  let endpoint: Endpoint;
  let source: SourceView;
  let destination: DestinationView;
  let waiting: { eventId: string; endpoint: Endpoint };
  let createdKey: unknown;
  before(async () => {
    endpoint = receiver.endpoint();
    ({ source, destination } = await records.pipe(endpoint.url, {
      source: {
        verificationConfig: { type: 'github', secret: 'the secret before' },
        ingestToken: 'optional',
        handshake: { type: 'echo', parameter: 'hub.challenge', verifyToken: 'a verify token of many letters' },
      },
      destination: { authType: 'bearer', authConfig: { token: 'the-bearer-token' }, signingSecret: whsec() },
    }));
    await testInstance.client.post(`${testInstance.base}/sources/${source.id}/rotate-secret`, { secret: SECRET });
    await testInstance.client.post(`${testInstance.base}/sources/${source.id}/rotate-token`);
    await testInstance.client.post(`/api/destinations/${destination.id}/rotate-secret`, { secret: whsec() });
    await testInstance.client.create('/api/destinations', {
      name: 'Lake',
      type: 's3',
      config: { bucket: 'events', region: 'eu-central-1', accessKeyId: 'id', secretAccessKey: 'the-secret-key' },
    });
    const channel = await testInstance.client.create('/api/alert-channels', {
      ...{ name: 'Tool', type: 'webhook', config: { url: endpoint.url, secret: whsec() } },
    });
    await testInstance.client.post(`/api/alert-channels/${channel.id}/rotate-secret`, { secret: whsec() });
    createdKey = await createKey();
    // More than one page of values to re-encrypt.
    await insertSources(MANY);
    await deliver();
    waiting = await failOnce();
  });

  /** Sent twice it must be answered the same, which takes the stored answer. */
  async function createKey(): Promise<unknown> {
    const options = { headers: { 'Idempotency-Key': 'rotation' } };
    const answer = await testInstance.client.request('POST', '/api/api-keys', { name: 'Made once' }, options);
    expect(answer.status).to.equal(201);
    return answer.body;
  }

  async function insertSources(count: number): Promise<void> {
    const [id = '', key = ''] = OLD.split(':');
    const box = new SecretBox([{ id, key: Buffer.from(key, 'base64') }]);
    const ids = Array.from({ length: count }, () => newId('src'));
    await testInstance.pool.query(
      `insert into sources (id, organization_id, name, slug, verification, verification_secret)
       select id, $3, 'One of many', replace(id, '_', '-'), '{"type":"slack"}', sealed
       from unnest($1::text[], $2::text[]) as t (id, sealed)`,
      [ids, ids.map((sourceId) => box.encrypt('{"secret":"secret"}', sourceId)), testInstance.organizationId],
    );
    await testInstance.pool.query(
      `update sources
       set last_handshake_kind = 'subscription', last_handshake_at = clock_timestamp(), last_handshake_shown = $2
       where id = $1`,
      [source.id, box.encrypt('https://example.com/', source.id)],
    );
  }

  /** Sends a webhook through verification, and sees it arrive with the destination's credentials. */
  async function deliver(): Promise<void> {
    const body = `{"n":${endpoint.requests.length}}`;
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const eventId = await records.accepted(source, body, {
      'content-type': 'application/json',
      'x-hub-signature-256': `sha256=${signature}`,
    });
    await records.deliveryWith('delivered', eventId);
    const arrived = endpoint.requests.at(-1);
    expect(arrived?.headers.authorization).to.equal('Bearer the-bearer-token');
    expect(arrived?.headers['webhook-signature']).to.match(/^v1,/);
    expect((await records.post(source, body)).status, 'without a signature').to.equal(401);
  }

  /** A delivery that waits long for its second attempt. */
  async function failOnce() {
    const failing = receiver.endpoint(500, 200);
    const pipe = await records.pipe(failing.url, {
      destination: {
        authType: 'basic',
        authConfig: { username: 'hookyard', password: 'the-password' },
        retryPolicy: onceMore(1, 3_600_000),
      },
    });
    const eventId = await records.accepted(pipe.source, '{}');
    await records.deliveryWith('retrying', eventId);
    return { eventId, endpoint: failing };
  }

  async function restartWith(keys: string): Promise<void> {
    const before = [testInstance.api, ...testInstance.workers];
    await Promise.all(before.map((service) => service.stop()));
    const settings = { HOOKYARD_ENCRYPTION_KEYS: keys };
    await Promise.all([testInstance.startApi(settings), testInstance.startWorker(settings)]);
  }

  /** @returns with what it gives as its reason */
  const refusedWith = async (role: 'api' | 'worker', keys: string): Promise<Ended> => {
    const { code, output } = await runToEnd(role, {
      DATABASE_URL: testInstance.databaseUrl,
      TEMPORAL_NAMESPACE: testInstance.temporal.options.namespace,
      HOOKYARD_ENCRYPTION_KEYS: keys,
      LOG_LEVEL: 'error',
    });
    return { code, output: problemsIn(output) };
  };

  /** The columns in which cipher texts are, whatever their names, and the ids of the keys that made them. */
  async function cipherTexts(): Promise<Map<string, Set<string>>> {
    const found = new Map<string, Set<string>>();
    for (const { table, columns } of await wholeDatabase(testInstance.pool)) {
      for (const [column, text] of Object.entries(columns)) {
        const keyId = /^v1\.(first|second)\.[\w-]{30,}$/.exec(text ?? '')?.[1];
        if (keyId === undefined) continue;
        const name = `${table}.${column}`;
        found.set(name, (found.get(name) ?? new Set()).add(keyId));
      }
    }
    return found;
  }
  const sealedNames = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).toSorted();

  it('knows every column in which something is encrypted', async () => {
    const found = await cipherTexts();
    expect([...found.keys()].toSorted()).to.deep.equal(sealedNames);
    for (const keyIds of found.values()) expect([...keyIds]).to.deep.equal(['first']);
  });

  for (const role of ['api', 'worker'] as const) {
    it(`${role} without the key that is needed refuses to start, and says which it is and what needs it`, async () => {
      const { code, output } = await refusedWith(role, NEW);
      expect(code).to.equal(1);
      expect(output).to.match(/^HOOKYARD_ENCRYPTION_KEYS: no encryption key with ID "first"/m);
      expect(output).to.match(
        new RegExp(`${MANY + 1} in sources \\(src_\\w+, src_\\w+, src_\\w+ and ${MANY - 2} more\\)`),
      );
      expect(output)
        .to.match(/1 in destinations \(dst_wh_\w+\)/)
        .and.include(destination.id);
      expect(output).to.not.include(NEW.slice(7));
    });
  }

  it('refuses two keys of one name, and another key by the name of one that is needed', async () => {
    const [twice, wrong] = await Promise.all([
      refusedWith('api', `${OLD},first:${newKey()}`),
      refusedWith('api', `first:${newKey()}`),
    ]);
    expect(twice.code).to.equal(1);
    expect(twice.output).to.match(/^HOOKYARD_ENCRYPTION_KEYS has two keys with the ID "first"/);
    expect(wrong.code).to.equal(1);
    expect(wrong.output).to.match(/encryption key "first" cannot decrypt/);
  });

  it('with the new key in front everything continues, and what is written uses the new one', async () => {
    await restartWith(`${NEW},${OLD}`);
    await deliver();
    const other = await records.source({ verificationConfig: { type: 'slack', secret: 'another one of slack' } });
    const { rows } = await testInstance.pool.query<{ sealed: string }>(
      'select verification_secret as sealed from sources where id = $1',
      [other.id],
    );
    expect(rows[0]?.sealed).to.match(/^v1\.second\./);
  });

  it('housekeeping encrypts the rest again, changes nothing else, and says that the old key is needless', async () => {
    const shown = () => testInstance.client.get(`/api/destinations/${destination.id}`);
    const before = await shown();
    await keepHouse(testInstance);
    for (const [column, keyIds] of await cipherTexts()) expect([...keyIds], column).to.deep.equal(['second']);
    expect(await shown()).to.deep.equal(before);
    const line = await until('the log to say so', () =>
      logLines({ output: testInstance.logs }).find(({ msg }) =>
        msg.includes('encrypted with the first encryption key'),
      ),
    );
    expect(line).to.deep.include({ stillNeeded: ['second'], needless: ['first'] });
    expect(line.encrypted).to.be.greaterThan(MANY);
    await deliver();
  });

  it('with the old key gone everything continues: what waits for a retry, verification, answers kept for repeats', async () => {
    await restartWith(NEW);
    await deliver();
    expect(await createKey()).to.deep.equal(createdKey);
    const [delivery] = await records.deliveries(waiting.eventId);
    await testInstance.client.post(`/api/deliveries/${delivery?.id}/retry`);
    await records.deliveryWith('delivered', waiting.eventId);
    const basic = `Basic ${Buffer.from('hookyard:the-password').toString('base64')}`;
    expect(waiting.endpoint.requests.map(({ headers }) => headers.authorization)).to.deep.equal([basic, basic]);
    const { code, output } = await refusedWith('worker', OLD);
    expect(code).to.equal(1);
    expect(output).to.include('no encryption key with ID "second"');
  });

  it('a record that no key opens is named in the log, and hinders no other', async () => {
    const id = newId('src');
    await testInstance.pool.query(
      `insert into sources (id, organization_id, name, slug, verification, verification_secret)
       values ($1, $2, 'Broken', 'broken', '{"type":"slack"}', $3)`,
      [id, testInstance.organizationId, `v1.second.${randomBytes(40).toString('base64url')}`],
    );
    const third = `third:${newKey()}`;
    await restartWith(`${third},${NEW}`);
    await keepHouse(testInstance);
    const { rows } = await testInstance.pool.query<{ id: string }>(
      `select id from sources where verification_secret like 'v1.second.%'`,
    );
    expect(rows.map((row) => row.id)).to.deep.equal([id]);
    expect(testInstance.logs()).to.include('HOOKYARD_ENCRYPTION_KEYS cannot decrypt some data').and.include(id);
    await deliver();
  });
}).timeout(150_000);
