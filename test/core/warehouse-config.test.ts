import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect } from 'chai';
import {
  conflictIn,
  WAREHOUSE_TYPES,
  type WarehouseType,
  warehouseConfigSchemas,
  withoutItsSecret,
} from '../../core/warehouse/config.ts';
import {
  fittingMembers,
  keepRedactedWarehouseConfig,
  leadsSecretElsewhere,
  readServiceAccountKey,
  redactWarehouseConfig,
  WAREHOUSE_SECRET_FIELD,
} from '../../core/warehouse/credentials.ts';
import { oddPrivateKey } from '../support/attacks/odd-keys.ts';
import { warehouseDefaults } from '../support/warehouse/warehouse-records.ts';

const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const pem = pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
const account = { type: 'service_account', client_email: 'a@b-c.iam.gserviceaccount.com', private_key: pem };

const good: Record<WarehouseType, Record<string, unknown>> = {
  s3: { bucket: 'events', region: 'eu-central-1', accessKeyId: 'AKIA123', secretAccessKey: 'secret/key+123' },
  r2: { bucket: 'events' },
  gcs: { bucket: 'events_1', projectId: 'my-project', serviceAccountKey: JSON.stringify(account) },
  azure_blob: { accountName: 'account1', accountKey: 'c2VjcmV0LWtleQ==', containerName: 'events' },
};

describe('warehouse configuration', () => {
  for (const type of WAREHOUSE_TYPES) {
    it(`of ${type} needs no more than its required fields and fills in the common ones`, () => {
      const config = warehouseConfigSchemas[type].parse({ ...good[type], unknown: 1 });
      expect(config).to.deep.include({ ...good[type], ...warehouseDefaults });
      expect(config).not.to.have.property('unknown');
    });

    for (const field of Object.keys(good[type])) {
      it(`of ${type} is refused without ${field}, by name`, () => {
        expect(firstIssue(type, { [field]: undefined })?.path).to.deep.equal([field]);
      });
    }
  }

  const identity = { credentials: 'identity', accessKeyId: undefined, secretAccessKey: undefined };
  const ways: [WarehouseType, Record<string, unknown>][] = [
    ['s3', identity],
    ['s3', { ...identity, roleArn: 'arn:aws-cn:iam::123456789012:role/path/hookyard' }],
    ['s3', { credentials: 'keys', tags: 'team=data&empty=&a=b%20%C3%BC', kmsKeyId: 'alias/files' }],
    ['gcs', { credentials: 'identity', serviceAccountKey: undefined }],
    ['azure_blob', { credentials: 'sas', accountKey: undefined, sasToken: '?sv=2025-01-05&sr=c&sig=a%2Fb%3D' }],
    ['azure_blob', { credentials: 'identity', accountKey: undefined }],
  ];
  for (const [type, members] of ways) {
    it(`of ${type} is taken with ${JSON.stringify(members)}`, () => {
      expect(firstIssue(type, members)).to.equal(undefined);
    });
  }

  const key = (changes: object) => JSON.stringify({ ...account, ...changes });
  const tags = (count: number) => Array.from({ length: count }, (_, n) => `t${n}=`).join('&');
  const noSignature = { accountKey: undefined, credentials: 'sas' };
  const accountName = /^must contain only lowercase letters and digits \(3 to 24 characters\)$/;
  const notNumbers = ['0', '', ' 5', '5 ', '1.5', '1e3', '+5', '0x5', '10001', '9'.repeat(400), true, null];
  const notTags = ['team', '=data', 'a=b=c', 'a b=c', 'a=%zz', 'a=%3C', 'a=1&', `${'a'.repeat(129)}=1`];
  type Refusal = [WarehouseType, Record<string, unknown>, message: RegExp, field?: string];
  // The field that is named is the last of the members, unless it is said.
  const refusals: Refusal[] = [
    ['s3', { bucket: 'ab' }, /^must be 3 to 63 characters long$/],
    ['s3', { bucket: 'a'.repeat(64) }, /^must be 3 to 63 characters long$/],
    ['s3', { bucket: 'Events' }, /^must contain only lowercase/],
    ['s3', { bucket: 'a..b' }, /^must contain only lowercase/],
    ['s3', { bucket: 'with_underscore' }, /^must contain only lowercase/],
    ['s3', { bucket: '192.168.0.1' }, /IP address/],
    ['s3', { region: 'EU Central' }, /^must be a region/],
    ['s3', { region: 'evil.example/' }, /^must be a region/],
    ['s3', { secretAccessKey: '' }, /^must not be empty$/],
    ['s3', { accessKeyId: 'with\nbreak' }, /control characters/],
    ['s3', { endpoint: 'ftp://example.com' }, /^must be an absolute http/],
    ['s3', { endpoint: 'https://user:pass@example.com' }, /credentials/],
    ['s3', { endpoint: 'https://example.com/path' }, /path/],
    ['s3', { endpoint: 'https://example.com/?a=1' }, /query or a fragment/],
    ['s3', { endpoint: 'https://example.com/#a' }, /query or a fragment/],
    ['s3', { endpoint: 'https://exam ple.com/' }, /^must be an absolute http/],
    ['azure_blob', { endpoint: 'https://example.com/account1?a' }, /query or a fragment/],
    ['s3', { forcePathStyle: 'perhaps' }, /^must be true or false$/],
    ['s3', { prefix: 'a//b' }, /empty segments/],
    ['s3', { prefix: '../up' }, /end in a dot/],
    ['s3', { prefix: 'a\u0000b' }, /control characters/],
    ['s3', { prefix: 'ü'.repeat(257) }, /^must be at most 512 bytes long$/],
    ['s3', { prefix: '/'.repeat(513) }, /^must be at most 512 bytes long$/],
    ['s3', { fileFormat: 'csv' }, /^must be jsonl, json or parquet$/],
    ['s3', { partitionBy: 'day' }, /^must be date, hour or source$/],
    ['s3', { batchSize: 0 }, /from 1 to 10000$/],
    ['s3', { batchBytes: 128 * 1024 * 1024 + 1 }, /^must be a whole number from 1 to 134217728$/],
    ['s3', { batchWindowSeconds: 1.5 }, /^must be a whole number/],
    ['s3', { bucketOwner: '12' }, /^must be an AWS account ID: 12 digits$/],
    ['s3', { kmsKeyId: 'a b' }, /spaces/],
    ['s3', { storageClass: 'GLACIER' }, /^must be STANDARD, .* or GLACIER_IR$/],
    ['s3', { tags: 'a=1&%61=2' }, /^must not contain the same name twice$/],
    ['s3', { credentials: 'sas' }, /^must be keys or identity$/],
    ['s3', { roleArn: 'arn:aws:iam::123456789012:role/x' }, /^cannot be combined with "credentials": "keys"/],
    [
      's3',
      { credentials: 'identity' },
      /^cannot be combined with "credentials": "identity"; .*send null for it$/,
      'accessKeyId',
    ],
    ['s3', { ...identity, roleArn: 'role/x' }, /^must be a role ARN/],
    ['gcs', { credentials: 'identity' }, /^cannot be combined with "credentials": "identity"/, 'serviceAccountKey'],
    ['azure_blob', { ...noSignature }, /^is required/, 'sasToken'],
    ['azure_blob', { ...noSignature, sasToken: 'sv=1' }, /^must be a SAS token/],
    ['azure_blob', { ...noSignature, sasToken: 'sv=1&sig=x y' }, /spaces/],
    ['azure_blob', { ...noSignature, sasToken: 'sv=1&sig=x#' }, /or #$/],
    ['azure_blob', { sasToken: 'sv=1&sig=x' }, /^cannot be combined with "credentials": "keys"/],
    ['s3', { compression: 'brotli' }, /^must be none, snappy, gzip or zstd$/],
    ['s3', { payloadColumn: 'variant' }, /^must be text or json$/],
    ['r2', { accountId: 'evil.example/' }, /32 lowercase hex digits/],
    ['gcs', { bucket: 'a' }, /^must be 3 to 63/],
    ['gcs', { projectId: 'UPPER' }, /project ID/],
    ['gcs', { serviceAccountKey: '{' }, /^must be the JSON text of a service account key/],
    ['gcs', { serviceAccountKey: key({ type: 'external_account' }) }, /"type"/],
    ['gcs', { serviceAccountKey: key({ private_key: undefined }) }, /"private_key"/],
    ['gcs', { serviceAccountKey: key({ client_email: undefined }) }, /"client_email"/],
    ['gcs', { serviceAccountKey: key({ universe_domain: 'evil.example' }) }, /"universe_domain"/],
    ['azure_blob', { accountName: 'evil.example/' }, /3 to 24 characters/],
    ['azure_blob', { accountKey: 'not base64!' }, /^must be base64 text/],
    ['azure_blob', { accountKey: '' }, /^must be base64 text/],
    ['azure_blob', { containerName: 'a--b' }, /single hyphens/],
    ['azure_blob', { accountName: 'ab' }, accountName],
    ['s3', { tags: tags(11) }, /^must contain at most 10 tags$/],
    ['s3', { ...identity, endpoint: 'https://s3.example' }, /^cannot be combined with "credentials": "identity"/],
    ...notNumbers.flatMap((value): Refusal[] => [
      ['s3', { batchSize: value }, /^must be a whole number from 1 to 10000$/],
      ['s3', { batchWindowSeconds: value }, /^must be a whole number from 1 to 3600$/],
    ]),
    ...notTags.map((tags): Refusal => ['s3', { tags }, /^must be tags/]),
  ];
  for (const [type, members, message, field = Object.keys(members).at(-1)] of refusals) {
    it(`of ${type} is refused with ${JSON.stringify(members).slice(0, 60)}`, () => {
      const issue = firstIssue(type, members);
      expect(issue?.path).to.deep.equal([field]);
      expect(issue?.message).to.match(message);
    });
  }

  for (const [what, privateKey] of [
    ['no key', 'x'],
    ['a key of another kind', pemOf(generateKeyPairSync('ed25519').privateKey)],
    ['a key by which a signature takes seconds', pemOf(oddPrivateKey(8192))],
  ]) {
    it(`a service account key with ${what} is found out when it is used`, () => {
      const text = key({ private_key: privateKey });
      expect(firstIssue('gcs', { serviceAccountKey: text })).to.equal(undefined);
      expect(() => readServiceAccountKey(text)).to.throw(/"private_key" is not a PEM-encoded RSA private key/);
    });
  }

  it('takes a service account key that is longer than Google makes them', () => {
    const privateKey = pemOf(oddPrivateKey(4096));
    expect(readServiceAccountKey(key({ private_key: privateKey }))).to.include({ privateKey });
  });

  it('never quotes a service account key', () => {
    const issue = firstIssue('gcs', { serviceAccountKey: key({ client_email: 5 }) });
    expect(issue?.message).not.to.contain('PRIVATE').and.not.to.contain(account.private_key.slice(40, 60));
  });

  it('keeps a prefix as it was sent, and takes forcePathStyle and every number as text too', () => {
    const texts = { forcePathStyle: 'false', batchSize: '1000', batchBytes: '134217728', batchWindowSeconds: '0060' };
    const config = warehouseConfigSchemas.s3.parse({ ...good.s3, prefix: '/a/b/', ...texts });
    const read = { forcePathStyle: false, batchSize: 1000, batchBytes: 134_217_728, batchWindowSeconds: 60 };
    expect(config).to.deep.include({ prefix: '/a/b/', ...read });
  });
});

it('a configuration may lack its secret in an import, and nothing else', () => {
  const missing = (type: WarehouseType, config: object) =>
    withoutItsSecret(type)
      .safeParse(config)
      .error?.issues.map(({ path }) => path.join('.')) ?? [];
  const { secretAccessKey: _secret, ...s3 } = good.s3;
  expect(missing('s3', s3)).to.deep.equal([]);
  expect(missing('s3', { ...s3, accessKeyId: undefined })).to.deep.equal(['accessKeyId']);
  expect(missing('s3', { ...s3, sasToken: 'x', roleArn: 'arn:aws:iam::123456789012:role/x' })).to.include('roleArn');
  expect(missing('azure_blob', { ...good.azure_blob, accountKey: undefined })).to.deep.equal([]);
  expect(missing('azure_blob', { accountName: 'account1', containerName: 'events', credentials: 'sas' })).to.be.empty;
});

describe('members of a configuration that do not go together', () => {
  const rows: [Parameters<typeof conflictIn>[0], member: string | null][] = [
    [{ fileFormat: 'parquet', compression: 'snappy', payloadColumn: 'text' }, null],
    [{ fileFormat: 'parquet', compression: 'gzip', payloadColumn: 'json' }, 'payloadColumn'],
    [{ fileFormat: 'jsonl', compression: 'snappy', payloadColumn: 'json' }, 'compression'],
    [{ fileFormat: 'jsonl', compression: 'gzip', payloadColumn: 'json' }, null],
  ];
  for (const [config, member] of rows)
    it(`${Object.values(config).join(' ')}: ${member ?? 'none'}`, () =>
      expect(conflictIn(config)?.member ?? null).to.equal(member));
});

describe('a stored secret of a warehouse', () => {
  const s3 = { bucket: 'events', accessKeyId: 'a', secretAccessKey: 'stored', endpoint: 'https://s3.example/' };
  const azure = { accountName: 'one', accountKey: 'stored' };
  const r2 = { accountId: 'one', secretAccessKey: 'stored' };
  // The type, what is stored, what is sent, whether the secret would go elsewhere.
  const rows: [WarehouseType, object, Record<string, unknown>, boolean][] = [
    ['s3', s3, { bucket: 'other' }, false],
    ['s3', s3, { endpoint: 'https://s3.example' }, false],
    ['s3', s3, { endpoint: 'https://evil.example' }, true],
    ['s3', s3, { endpoint: 'http://s3.example' }, true],
    ['s3', s3, { endpoint: undefined }, true],
    ['s3', s3, { endpoint: 'https://evil.example', secretAccessKey: '••••ored' }, true],
    ['s3', s3, { endpoint: 'https://evil.example', secretAccessKey: 'stored' }, false],
    ['s3', s3, { endpoint: 'https://evil.example', secretAccessKey: 'new' }, false],
    ['s3', s3, { endpoint: 'https://evil.example', credentials: 'identity' }, false],
    ['azure_blob', azure, { accountName: 'two' }, true],
    ['azure_blob', { ...azure, credentials: 'sas', sasToken: 's' }, { accountName: 'two' }, true],
    ['gcs', { serviceAccountKey: 'stored' }, { bucket: 'other', accountName: 'two' }, false],
    ['r2', r2, { accountId: 'two' }, true],
    ['r2', { accountId: 'one' }, { accountId: 'two' }, false],
  ];
  for (const [type, stored, sent, isLed] of rows)
    it(`of ${type} ${isLed ? 'does not stay' : 'stays'} with ${JSON.stringify(sent)}`, () => {
      const hidden = sent.secretAccessKey === '••••ored' ? { ...sent, secretAccessKey: 'stored' } : sent;
      const becomes = { ...stored, ...hidden };
      expect(leadsSecretElsewhere(type, { ...stored }, sent, becomes)).to.equal(isLed);
    });
});

function firstIssue(type: WarehouseType, members: Record<string, unknown>) {
  return warehouseConfigSchemas[type].safeParse({ ...good[type], ...members }).error?.issues[0];
}

describe('redaction of warehouse credentials', () => {
  it('shows of a SAS token the last 4 characters, and keeps it when that comes back', () => {
    const stored = { credentials: 'sas', sasToken: 'sv=1&sig=abcd1234' };
    const shown = { credentials: 'sas', sasToken: '••••1234' };
    expect(redactWarehouseConfig('azure_blob', stored)).to.deep.equal(shown);
    expect(keepRedactedWarehouseConfig('azure_blob', shown, stored)).to.deep.equal({ ok: true, config: stored });
  });

  it('drops what belongs to the way before', () => {
    const stored = { bucket: 'events', accessKeyId: 'a', secretAccessKey: 'b', endpoint: 'https://s3.example' };
    expect(fittingMembers(stored, { ...stored, credentials: 'identity' })).to.deep.equal({ bucket: 'events' });
    expect(fittingMembers(stored, stored)).to.deep.equal(stored);
    const role = { bucket: 'events', credentials: 'identity', roleArn: 'arn' };
    const { roleArn: _, ...fitting } = role;
    expect(fittingMembers(role, { ...role, credentials: null })).to.deep.equal(fitting);
  });

  for (const type of WAREHOUSE_TYPES) {
    const field = WAREHOUSE_SECRET_FIELD[type];
    const stored = { bucket: 'events', [field]: 'a-secret-of-1234' };

    it(`shows of ${type} four bullets and the last 4 characters of ${field}`, () => {
      expect(redactWarehouseConfig(type, stored)).to.deep.equal({ bucket: 'events', [field]: '••••1234' });
    });

    it(`keeps the stored ${field} of ${type} when the redacted one comes back, and takes a new one`, () => {
      const sentBack = { ...redactWarehouseConfig(type, stored), bucket: 'other' };
      expect(keepRedactedWarehouseConfig(type, sentBack, stored)).to.deep.equal({
        ok: true,
        config: { bucket: 'other', [field]: 'a-secret-of-1234' },
      });
      const rotated = { bucket: 'events', [field]: 'new' };
      expect(keepRedactedWarehouseConfig(type, rotated, stored)).to.deep.equal({ ok: true, config: rotated });
    });

    it(`names ${field} of ${type} when a redacted one has nothing stored behind it`, () => {
      expect(keepRedactedWarehouseConfig(type, { [field]: '••••1234' }, null)).to.deep.equal({ ok: false, field });
    });
  }
});
