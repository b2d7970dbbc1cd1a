// Amazon S3 and compatible stores, such as Cloudflare R2.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { PutObjectCommandInput, S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import type { WarehouseConfig } from '../../core/warehouse/config.ts';
import { usesIdentity } from '../../core/warehouse/credentials.ts';
import { describeStoreError, type Wording } from './errors.ts';
import type { GuardedHttp } from './guarded-http.ts';
import { type OperatorR2, usesOperatorsKeys } from '../../core/warehouse/operator-access.ts';
import { named, ownWords } from '../../core/text/error-summary.ts';
import {
  asIdentity,
  type ObjectName,
  type ObjectStore,
  type OpenStore,
  type PartsUnderWay,
  StoreSettingsError,
  type StoreUser,
} from './store.ts';

export type Target = {
  bucket: string;
  region: string;
  /** None: the provider's own for the region, or with an identity that of the environment. */
  endpoint: string | undefined;
  forcePathStyle: boolean;
  credentials: NonNullable<S3ClientConfig['credentials']>;
  isIdentity: boolean;
  put?: Partial<PutObjectCommandInput>;
  owner?: Pick<PutObjectCommandInput, 'ExpectedBucketOwner'>;
};

export const openS3: OpenStore<WarehouseConfig<'s3'>> = async (config, http, user) => {
  const { bucket, region, endpoint, accessKeyId = '', secretAccessKey = '', bucketOwner, kmsKeyId } = config;
  // Self-hosted servers seldom have a DNS name per bucket.
  const forcePathStyle =
    config.forcePathStyle ?? (endpoint !== undefined && !/\.amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname));
  const isIdentity = usesIdentity(config);
  const credentials = isIdentity ? await s3Identity(config, user) : { accessKeyId, secretAccessKey };
  const owner = bucketOwner === undefined ? {} : { ExpectedBucketOwner: bucketOwner };
  const put: Partial<PutObjectCommandInput> = {
    ...(kmsKeyId !== undefined && { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: kmsKeyId }),
    StorageClass: config.storageClass,
    Tagging: config.tags,
  };
  return open({ bucket, region, endpoint, forcePathStyle, credentials, isIdentity, put, owner }, http, {
    service: 'S3',
    bucket: `bucket "${bucket}"`,
    credentials: isIdentity ? 'the service identity' : 'accessKeyId and secretAccessKey',
    address: endpoint === undefined ? 'the network' : 'endpoint',
    permission: permissionOf(config),
    region,
  });
};

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

function permissionOf({ bucketOwner, kmsKeyId, tags }: WarehouseConfig<'s3'>): string {
  const rights = [
    's3:PutObject',
    's3:GetObject',
    ...(tags === undefined ? [] : ['s3:PutObjectTagging']),
    ...(kmsKeyId === undefined ? [] : ['kms:GenerateDataKey', 'kms:Decrypt']),
  ];
  return bucketOwner === undefined
    ? listed(rights)
    : `${listed(rights)}, and the bucket must be in account ${bucketOwner}`;
}

export const openR2: OpenStore<WarehouseConfig<'r2'>> = async (config, http, user) => {
  const { bucket, region } = config;
  const { endpoint, credentials } = r2Access(config, user.r2);
  return open({ bucket, region, endpoint, forcePathStyle: true, credentials, isIdentity: false }, http, {
    service: 'R2',
    bucket: `bucket "${bucket}"`,
    credentials: 'accessKeyId and secretAccessKey (or R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY)',
    address: 'endpoint or accountId',
    permission: 'the "Object Read & Write" permission',
    region,
  });
};

/**
 * Values missing in the config come from the operator.
 * @throws StoreSettingsError when neither has one, or when the operator's keys would go elsewhere
 */
function r2Access(config: WarehouseConfig<'r2'>, r2: OperatorR2) {
  const accountId = config.accountId ?? r2.accountId;
  // An address in the config wins over the operator's, in whichever way it is given.
  const own = config.endpoint ?? (config.accountId && endpointOf(config.accountId));
  const endpoint = own ?? r2.endpoint ?? (accountId && endpointOf(accountId));
  const accessKeyId = config.accessKeyId ?? r2.accessKeyId;
  const secretAccessKey = config.secretAccessKey ?? r2.secretAccessKey;
  const missing = [
    endpoint === undefined && 'accountId (or R2_ACCOUNT_ID)',
    accessKeyId === undefined && 'accessKeyId (or R2_ACCESS_KEY_ID)',
    secretAccessKey === undefined && 'secretAccessKey (or R2_SECRET_ACCESS_KEY)',
  ].filter((name) => name !== false);
  if (endpoint === undefined || accessKeyId === undefined || secretAccessKey === undefined)
    throw new StoreSettingsError(ownWords`R2 is not configured: set ${named(listed(missing))}`);
  if (usesOperatorsKeys(config, r2) && !isOperators(endpoint, r2))
    throw new StoreSettingsError(
      ownWords`Hookyard's R2 keys cannot be used with a different endpoint; set the destination's accessKeyId and secretAccessKey`,
    );
  return { endpoint, credentials: { accessKeyId, secretAccessKey } };
}

/** An operator who names no account leaves it to the destination; it is one of Cloudflare's then. */
function isOperators(endpoint: string, { endpoint: named, accountId }: OperatorR2): boolean {
  if (endpoint === named) return true;
  if (accountId !== undefined) return endpoint === endpointOf(accountId);
  return named === undefined && /\.r2\.cloudflarestorage\.com$/.test(new URL(endpoint).hostname);
}

const endpointOf = (accountId: string): string => `https://${accountId}.r2.cloudflarestorage.com`;

async function open(target: Target, http: GuardedHttp, wording: Wording): Promise<ObjectStore> {
  const { S3Client, PutObjectCommand, HeadObjectCommand, NotFound } = await import('@aws-sdk/client-s3');
  const client = new S3Client(clientConfig(target, http));
  const { bucket: Bucket, put, owner } = target;
  return {
    async put({ key, body, contentType, metadata }, abortSignal) {
      const command = new PutObjectCommand({
        Bucket,
        Key: key,
        Body: body,
        ContentType: contentType,
        // Every S3 server checks this one; the newer checksums only some.
        ContentMD5: createHash('md5').update(body).digest('base64'),
        Metadata: { ...metadata },
        ...put,
        ...owner,
      });
      await client.send(command, { abortSignal });
    },
    begin: (object, abortSignal) => beginS3Parts(client, object, { bucket: Bucket, put, owner }, abortSignal),
    async head(key, abortSignal) {
      try {
        const head = await client.send(new HeadObjectCommand({ Bucket, Key: key, ...owner }), { abortSignal });
        return { size: head.ContentLength ?? 0, contentType: head.ContentType ?? '', metadata: head.Metadata ?? {} };
      } catch (error) {
        if (error instanceof NotFound) return null;
        throw error;
      }
    },
    describeError: (error) => describeStoreError(error, wording),
  };
}

/** Everything is set, so that the machine's AWS settings, roles and profiles are not used, but with an identity. */
function clientConfig(target: Target, http: GuardedHttp): S3ClientConfig {
  const { credentials, region, endpoint, forcePathStyle, isIdentity } = target;
  return {
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    forcePathStyle,
    credentials,
    maxAttempts: 1,
    retryMode: 'standard',
    defaultsMode: 'standard',
    followRegionRedirects: false,
    // The operator's, for the operator's identity only: AWS_ENDPOINT_URL_S3.
    ignoreConfiguredEndpointUrls: !isIdentity,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    useArnRegion: false,
    disableS3ExpressSessionAuth: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    userAgentAppId: 'hookyard',
    requestHandler: requestHandler(http),
  } as S3ClientConfig;
}

type Handler = NonNullable<S3ClientConfig['requestHandler']>;

type SdkRequest = {
  method: string;
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query?: Record<string, string | string[] | null>;
  headers: Record<string, string>;
  body?: Uint8Array | string;
};

function requestHandler(http: GuardedHttp): Handler {
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request: SdkRequest, options?: { abortSignal?: AbortSignal }) {
      const port = request.port === undefined ? '' : `:${request.port}`;
      const answer = await http.send({
        method: request.method,
        url: new URL(`${request.protocol}//${request.hostname}${port}`),
        path: request.path + queryOf(request.query),
        headers: request.headers,
        body: request.body,
        signal: options?.abortSignal,
      });
      return { response: { statusCode: answer.status, headers: answer.headers, body: Readable.from([answer.body]) } };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    destroy: () => undefined,
  } as Handler;
}

/** The query as Signature Version 4 writes it: percent-encoded, a name without value with an empty one. */
function queryOf(query: Record<string, string | string[] | null> | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    [value ?? ''].flat().map((one) => `${encode(name)}=${encode(one)}`),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

// A multipart upload to S3 ("Uploading and copying objects using multipart upload"). One that nobody completes or
// aborts, as after a kill, stays in the bucket, unseen, until a lifecycle rule removes it.

async function beginS3Parts(
  client: S3Client,
  { key, contentType }: ObjectName,
  { bucket, put, owner }: Pick<Target, 'bucket' | 'put' | 'owner'>,
  abortSignal: AbortSignal,
): Promise<PartsUnderWay> {
  const sdk = await import('@aws-sdk/client-s3');
  const object = { Bucket: bucket, Key: key, ...owner };
  const begin = new sdk.CreateMultipartUploadCommand({ ...object, ContentType: contentType, ...put });
  const upload = { ...object, UploadId: (await client.send(begin, { abortSignal })).UploadId };
  const parts: { PartNumber: number; ETag: string | undefined }[] = [];

  async function send(part: Buffer, signal: AbortSignal): Promise<void> {
    const PartNumber = parts.length + 1;
    const ContentMD5 = createHash('md5').update(part).digest('base64');
    const command = new sdk.UploadPartCommand({ ...upload, PartNumber, Body: part, ContentMD5 });
    const { ETag } = await client.send(command, { abortSignal: signal });
    parts.push({ PartNumber, ETag });
  }

  return {
    send,
    async complete(last, _metadata, signal) {
      await send(last, signal);
      const command = new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } });
      await client.send(command, { abortSignal: signal });
    },
    async abort(signal) {
      await client.send(new sdk.AbortMultipartUploadCommand(upload), { abortSignal: signal });
    },
  };
}

// Credentials of S3 without keys in the destination: the SDK's own chain (environment, profile, web identity,
// container, instance), and a role that it assumes. The chain asks its own endpoints by the SDK's own transport,
// link-local ones among them, which the address guard refuses to everything else: nothing of a destination says where
// to, and it runs only for whom the operator allows it.

type Provider = Extract<NonNullable<S3ClientConfig['credentials']>, (...args: never[]) => unknown>;

// The longest for a role that assumes another one; the SDK asks again five minutes before the end.
const SESSION_SECONDS = 3600;

/** The SDK keeps what this gives until it ends. */
async function s3Identity(
  { region, roleArn }: Pick<WarehouseConfig<'s3'>, 'region' | 'roleArn'>,
  user: Pick<StoreUser, 'organizationId'>,
): Promise<Provider> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  const own = defaultProvider();
  if (roleArn === undefined) return (...args) => asIdentity(() => own(...args));
  const { AssumeRoleCommand, STSClient } = await import('@aws-sdk/client-sts');
  const sts = new STSClient({ region, credentials: own, maxAttempts: 2 });
  // An id that the service gives: a stranger who knows the role cannot have it assumed for an organization of theirs
  // (AWS, "The confused deputy problem").
  const command = new AssumeRoleCommand({
    RoleArn: roleArn,
    ExternalId: user.organizationId,
    RoleSessionName: `hookyard-${user.organizationId}`.slice(0, 64),
    DurationSeconds: SESSION_SECONDS,
  });
  const assumeRole = async () => {
    const { Credentials } = await sts.send(command);
    if (!Credentials?.AccessKeyId || !Credentials.SecretAccessKey) throw new Error('STS returned no credentials');
    const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken, Expiration } = Credentials;
    return {
      ...{ accessKeyId, secretAccessKey },
      ...(SessionToken !== undefined && { sessionToken: SessionToken }),
      ...(Expiration !== undefined && { expiration: Expiration }),
    };
  };
  return () => asIdentity(assumeRole);
}
