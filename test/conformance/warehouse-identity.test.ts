// Warehouses without keys: the identity of this service, as the libraries of the clouds find it, and tokens of Azure.
import { GetObjectTaggingCommand, S3Client } from '@aws-sdk/client-s3';
import {
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from '@azure/storage-blob';
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operatorAccess } from '../../core/warehouse/operator-access.ts';
import { azureIdentity } from '../../outbound/warehouses/azure-blob.ts';
import { identityTokens } from '../../outbound/warehouses/gcs.ts';
import { createWarehouses, type StoreResult } from '../../outbound/warehouses/index.ts';
import { closeAll, httpServer } from '../http/servers.ts';
import { useEach, useStarted } from '../support/use-hookyard.ts';
import { ROLE, startCloud, STS_WORDS } from '../support/warehouse/cloud-identity.ts';
import { withEnvironment } from '../support/programs/environment.ts';
import { AZURE_ACCOUNT, AZURE_KEY, S3_ACCESS_KEY, S3_SECRET_KEY } from '../support/warehouse/object-stores.ts';
import { useStore } from '../support/warehouse/warehouse-instance.ts';
import { caseOf, failed, targetOf } from '../support/warehouse/warehouse-targets.ts';

const DEADLINE_MS = 30_000;
const KEYS = { accessKeyId: S3_ACCESS_KEY, secretAccessKey: S3_SECRET_KEY };
const NO_KEYS = { accessKeyId: undefined, secretAccessKey: undefined };
const IN_ENVIRONMENT = { AWS_ACCESS_KEY_ID: S3_ACCESS_KEY, AWS_SECRET_ACCESS_KEY: S3_SECRET_KEY };

const object = (key: string) => ({ key, body: Buffer.from('{}\n'), contentType: 'application/x-ndjson', metadata: {} });

describe('the identity of this service', () => {
  const s3 = caseOf('s3');
  const server = useStore(s3);
  const bucket = String(s3.config().bucket);
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-identity-'));
  const cloud = useEach(() => startCloud(KEYS));
  // It stands for S3 where credentials are for a session only: versitygw has none of these.
  let recorder: string;
  const signed: IncomingMessage['headers'][] = [];
  beforeEach(async () => {
    signed.length = 0;
    const port = await httpServer((request, response) => {
      signed.push(request.headers);
      request.resume().on('end', () => response.end());
    });
    recorder = `http://127.0.0.1:${port}`;
  });
  afterEach(closeAll);
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Writes with the identity, in an environment that has this and nothing else of AWS. */
  async function put(
    environment: Record<string, string>,
    { key = 'hooks/a.jsonl', roleArn }: { key?: string; roleArn?: string } = {},
  ) {
    const settings = { HOOKYARD_WAREHOUSE_IDENTITY: [`acme:s3:${bucket}/hooks`] };
    const warehouses = createWarehouses({ allow: ['127.0.0.1'], access: operatorAccess(settings, {}) });
    const changes = { ...NO_KEYS, credentials: 'identity', forcePathStyle: true, roleArn };
    const nothing = join(folder, 'nothing');
    const usual = {
      ...{ AWS_CONFIG_FILE: nothing, AWS_SHARED_CREDENTIALS_FILE: nothing, AWS_EC2_METADATA_DISABLED: 'true' },
      ...{ AWS_ENDPOINT_URL_S3: server.url, AWS_ENDPOINT_URL_STS: cloud.url },
    };
    let result: StoreResult<unknown> | undefined;
    await withEnvironment({ ...usual, ...environment }, async () => {
      result = await warehouses.put(targetOf(s3, undefined, changes), object(key), DEADLINE_MS);
      await warehouses.close();
    });
    if (!result) throw new Error('there is no result');
    return result;
  }

  /** An upload that was signed with the credentials of the cloud. */
  async function expectSession(environment: Record<string, string>, roleArn?: string): Promise<void> {
    const options = roleArn === undefined ? {} : { roleArn };
    expect(await put({ ...environment, AWS_ENDPOINT_URL_S3: recorder }, options)).to.deep.include({ ok: true });
    expect(signed[0]).to.include({ 'x-amz-security-token': 'session' });
    expect(signed[0]?.authorization).to.include(`Credential=${S3_ACCESS_KEY}/`);
  }

  it('is found in the environment', async () => {
    expect(await put(IN_ENVIRONMENT)).to.deep.include({ ok: true });
    expect(cloud.asked).to.deep.equal([]);
  });

  it('is given to a container', async () => {
    const environment = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${cloud.url}/container`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'of the container',
    };
    await expectSession(environment);
    expect(cloud.asked[0]?.headers).to.include({ authorization: 'of the container' });
  });

  it('is given to an instance', async () => {
    const environment = { AWS_EC2_METADATA_DISABLED: 'false', AWS_EC2_METADATA_SERVICE_ENDPOINT: cloud.url };
    await expectSession(environment);
    expect(cloud.asked.map(({ path }) => path)).to.include('/latest/api/token');
  });

  it('is given for a web identity', async () => {
    const token = join(folder, 'token');
    writeFileSync(token, 'of-the-cluster');
    await expectSession({ AWS_WEB_IDENTITY_TOKEN_FILE: token, AWS_ROLE_ARN: ROLE });
    const form = Object.fromEntries(cloud.asked[0]?.form ?? []);
    expect(form).to.include({ Action: 'AssumeRoleWithWebIdentity', RoleArn: ROLE, WebIdentityToken: 'of-the-cluster' });
  });

  it('assumes a role, with the id of the organization as external id', async () => {
    await expectSession(IN_ENVIRONMENT, ROLE);
    const [asked] = cloud.asked;
    expect(Object.fromEntries(asked?.form ?? [])).to.include({
      ...{ Action: 'AssumeRole', RoleArn: ROLE, ExternalId: 'org_acme', RoleSessionName: 'hookyard-org_acme' },
    });
    expect(asked?.headers.authorization).to.include(`Credential=${S3_ACCESS_KEY}/`);
  });

  it('is retried when a role refuses it, and nothing of the operator is shown', async () => {
    cloud.refuse('AccessDenied');
    const { kind, detail, retryable } = failed(await put(IN_ENVIRONMENT, { roleArn: ROLE }));
    expect({ kind, retryable }).to.deep.equal({ kind: 'credentials', retryable: true });
    expect(detail).to.match(/^The service identity has no credentials for S3 \(AccessDenied\); /);
    expect(detail).to.not.include(STS_WORDS.slice(5, 40));
  });

  it('says so when there is none', async () => {
    expect(failed(await put({}))).to.include({ kind: 'credentials', retryable: true });
  });

  it('is for what the operator lists, and for nothing else', async () => {
    for (const key of ['logs/a.jsonl', 'hooks-of-others/a.jsonl', 'a.jsonl', '_test/a.jsonl']) {
      const { kind, detail } = failed(await put(IN_ENVIRONMENT, { key }));
      expect(kind, key).to.equal('settings');
      expect(detail).to.match(/HOOKYARD_WAREHOUSE_IDENTITY$/);
    }
    expect(await put(IN_ENVIRONMENT, { key: '_test/hooks/a.jsonl' }), 'a test of it').to.deep.include({ ok: true });
    expect(cloud.asked).to.deep.equal([]);
  });

  it('has tokens of Google, for Google only', async () => {
    const environment = { GCE_METADATA_HOST: cloud.address, METADATA_SERVER_DETECTION: 'assume-present' };
    await withEnvironment({ ...environment, HOME: folder }, async () => {
      const authorize = await identityTokens('hookyard-test');
      expect(await authorize(new URL('https://elsewhere.example/'))).to.deep.equal({});
      expect(cloud.asked).to.deep.equal([]);
      const google = new URL('https://storage.googleapis.com/upload/storage/v1/b/events/o');
      expect(await authorize(google)).to.deep.equal({ authorization: 'Bearer google-token' });
    });
    expect(cloud.asked.at(-1)?.headers).to.include({ 'metadata-flavor': 'Google' });
  });

  it('has tokens of Azure', async () => {
    await withEnvironment({ IDENTITY_ENDPOINT: `${cloud.url}/azure`, IDENTITY_HEADER: 'of the app' }, async () => {
      const token = await (await azureIdentity()).getToken('https://storage.azure.com/.default');
      expect(token?.token).to.equal('azure-token');
    });
    expect(cloud.asked[0]?.headers).to.include({ 'x-identity-header': 'of the app' });
  });
});

describe('a SAS token of Azure', () => {
  const azure = caseOf('azure_blob');
  const server = useStore(azure);
  const warehouses = useStarted(async () => createWarehouses({ allow: ['127.0.0.1'] }));

  function targetWith(permissions: string, endsInMs: number, mark = '') {
    const expiresOn = new Date(Date.now() + endsInMs);
    const { containerName } = azure.config() as { containerName: string };
    const sas = generateBlobSASQueryParameters(
      { containerName, permissions: ContainerSASPermissions.parse(permissions), expiresOn },
      new StorageSharedKeyCredential(AZURE_ACCOUNT, AZURE_KEY),
    ).toString();
    return targetOf(azure, server.url, { accountKey: undefined, credentials: 'sas', sasToken: `${mark}${sas}` });
  }

  it('writes and looks, as the portal shows it', async () => {
    for (const mark of ['', '?']) {
      const [target, key] = [targetWith('rcw', 60_000, mark), `sas${mark.length}.jsonl`];
      expect(await warehouses.put(target, object(key), DEADLINE_MS)).to.deep.include({ ok: true });
      const head = await warehouses.head(target, key, DEADLINE_MS);
      expect(head.ok && head.value?.size).to.equal(3);
    }
  });

  it('is refused when it has ended, or does not permit to write', async () => {
    for (const target of [targetWith('rcw', -60_000), targetWith('r', 60_000)]) {
      const { kind, detail, retryable } = failed(await warehouses.put(target, object('never.jsonl'), DEADLINE_MS));
      expect(['credentials', 'permission']).to.include(kind);
      expect({ retryable }).to.deep.equal({ retryable: false });
      expect(detail).to.include('sasToken, its permissions and its expiry').and.not.include('sig=');
    }
  });
});

describe('what S3 alone has', () => {
  const s3 = caseOf('s3');
  const server = useStore(s3);
  const warehouses = useStarted(async () => createWarehouses({ allow: ['127.0.0.1'] }));
  after(closeAll);

  it('is sent with each file: a KMS key, a storage class, tags, the owner of the bucket', async () => {
    const requests: IncomingMessage[] = [];
    const port = await httpServer((request, response) => {
      requests.push(request);
      request.resume().on('end', () => response.end());
    });
    const config = { bucketOwner: '123456789012', kmsKeyId: 'alias/files', storageClass: 'STANDARD_IA' };
    const target = targetOf(s3, `http://127.0.0.1:${port}`, { ...config, tags: 'team=data&a=b%20c' });
    await warehouses.put(target, object('a.jsonl'), DEADLINE_MS);
    await warehouses.head(target, 'a.jsonl', DEADLINE_MS);
    const owner = { 'x-amz-expected-bucket-owner': '123456789012' };
    expect(requests[0]?.headers).to.include({
      ...owner,
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'alias/files',
      'x-amz-storage-class': 'STANDARD_IA',
      'x-amz-tagging': 'team=data&a=b%20c',
    });
    expect(requests[1]?.headers).to.include(owner);
    expect(requests[1]?.headers).to.not.have.property('x-amz-tagging');
  });

  it('is kept by a store that has it', async () => {
    const target = targetOf(s3, server.url, { tags: 'team=data&a=b%20c' });
    expect(await warehouses.put(target, object('tagged.jsonl'), DEADLINE_MS)).to.deep.include({ ok: true });
    const credentials = { ...KEYS };
    const client = new S3Client({ region: 'eu-central-1', endpoint: server.url, forcePathStyle: true, credentials });
    const Bucket = String(s3.config().bucket);
    const { TagSet } = await client.send(new GetObjectTaggingCommand({ Bucket, Key: 'tagged.jsonl' }));
    client.destroy();
    expect(TagSet).to.have.deep.members([
      { Key: 'team', Value: 'data' },
      { Key: 'a', Value: 'b c' },
    ]);
  });
});
