// A destination as its form holds it, and back as the API takes it.
import type { Destination, FieldMappingRule } from '@hookyard/client';
import { area, choice, type Field, type Lines, type Pair, pathsIn, text, whole } from '../../forms/fields.tsx';
import { type Member, NAMED, optional, asStored, type ValuesOf, wordsIn } from '../../forms/members.ts';

type HttpDestination = Extract<Destination, { type: 'http' }>;
type DestinationType = Destination['type'];
export type StoreType = Exclude<DestinationType, 'http'>;
type AuthType = HttpDestination['authType'];
/** Of a warehouse: texts, and the sizes of a file. */
type Config = Record<string, string | number | null>;

export const TYPES: Readonly<Record<DestinationType, string>> = {
  http: 'HTTP endpoint',
  s3: 'Amazon S3 or S3-compatible',
  r2: 'Cloudflare R2',
  gcs: 'Google Cloud Storage',
  azure_blob: 'Azure Blob Storage',
};

const needed = (path: string, label: string, placeholder?: string): Field =>
  text(path, label, { placeholder, isRequired: true });

/** What each `authType` needs, in the order of the form. */
export const CREDENTIALS: Record<AuthType, Field[]> = {
  none: [],
  basic: [needed('username', 'Username'), text('password', 'Password')],
  bearer: [needed('token', 'Token')],
  api_key: [needed('headerName', 'Header', 'X-Api-Key'), needed('key', 'API key')],
  custom_header: [needed('headerName', 'Header', 'X-Secret'), needed('headerValue', 'Value')],
};

export const AUTH_TYPES: Readonly<Record<AuthType, string>> = {
  none: 'None',
  basic: 'Basic',
  bearer: 'Bearer token',
  api_key: 'API key in a header',
  custom_header: 'Custom header',
};

/** @member only the values of `credentials` that have it; without: all */
type StoreField = Field & { only?: readonly string[] };

const KEYS = ['keys'];
const bucket = needed('bucket', 'Bucket');
const folder = text('prefix', 'Folder', { placeholder: 'webhooks' });
const endpoint = text('endpoint', 'Endpoint', {
  help: 'Leave empty for the default endpoint.',
  placeholder: 'https://',
});
const ownEndpoint: StoreField = { ...endpoint, only: ['keys', 'sas'] };
/** The kinds of credentials, the default first. */
const credentials = (ways: Record<string, string>) =>
  choice('credentials', 'Credentials', { ...ways, identity: 'Service identity' });

/** What each store has, in the order of the form. */
export const STORES: Record<StoreType, StoreField[]> = {
  s3: [
    credentials({ '': 'Access key' }),
    bucket,
    needed('region', 'Region', 'eu-central-1'),
    { ...needed('accessKeyId', 'Access key ID'), only: KEYS },
    { ...needed('secretAccessKey', 'Secret access key'), only: KEYS },
    {
      ...text('roleArn', 'Role to assume', {
        help: 'The external ID is your organization ID.',
        placeholder: 'arn:aws:iam::123456789012:role/hookyard',
      }),
      only: ['identity'],
    },
    ownEndpoint,
    text('bucketOwner', 'Bucket owner', { placeholder: '123456789012' }),
    text('kmsKeyId', 'KMS key', { help: 'Encrypts the files.' }),
    text('storageClass', 'Storage class', { placeholder: 'STANDARD' }),
    text('tags', 'Object tags', { placeholder: 'team=data&stage=test' }),
    choice('forcePathStyle', 'Addressing style', { '': 'Automatic', false: 'Virtual-hosted', true: 'Path' }),
    folder,
  ],
  r2: [
    bucket,
    text('accountId', 'Cloudflare account ID'),
    text('accessKeyId', 'Access key ID'),
    text('secretAccessKey', 'Secret access key'),
    endpoint,
    folder,
  ],
  gcs: [
    credentials({ '': 'Service account key' }),
    bucket,
    needed('projectId', 'Project ID'),
    {
      ...area('serviceAccountKey', 'Service account key', {
        help: 'JSON, as downloaded from Google Cloud.',
        isRequired: true,
      }),
      only: KEYS,
    },
    ownEndpoint,
    folder,
  ],
  azure_blob: [
    credentials({ '': 'Account key', sas: 'SAS token' }),
    needed('accountName', 'Storage account'),
    { ...needed('accountKey', 'Account key'), only: KEYS },
    {
      ...text('sasToken', 'SAS token', { help: 'The query string with sv= and sig=.', isRequired: true }),
      only: ['sas'],
    },
    needed('containerName', 'Container'),
    ownEndpoint,
    folder,
  ],
};

/** Those of a config with its kind of credentials. */
export const fieldsOfStore = (type: StoreType, config: Config): Field[] =>
  STORES[type].filter(({ only }) => only === undefined || only.includes(String(config.credentials || 'keys')));

/** What every store takes. */
export const FILES: Lines = [
  [
    choice('fileFormat', 'File format', ['jsonl', 'json', 'parquet']),
    choice('compression', 'Compression', ['none', 'gzip', 'zstd', 'snappy']),
    choice('payloadColumn', 'Payload column', ['text', 'json']),
    choice('partitionBy', 'Partition by', ['date', 'hour', 'source']),
    choice('keyOrder', 'Time in file name', ['written', 'received']),
  ],
  [
    whole('batchSize', 'Maximum events'),
    whole('batchBytes', 'Maximum total payload size', { unit: 'bytes' }),
    whole('batchWindowSeconds', 'Maximum wait', { unit: 'seconds' }),
  ],
];

export interface MappingRow {
  source: string;
  target: string;
  type: FieldMappingRule['type'];
  /** Of decimals. */
  precision: number | null;
  scale: number | null;
  default: string;
}

/** Every text of the form has a value: a field without one would not be controlled. */
const emptyOf = (fields: Field[][]) => Object.fromEntries(fields.flat().map(({ path }) => [path, '']));
const EMPTY_CREDENTIALS: Record<string, string> = emptyOf(Object.values(CREDENTIALS));
const EMPTY_CONFIG: Record<string, string> = {
  ...emptyOf(Object.values(STORES)),
  ...{ fileFormat: 'jsonl', compression: 'none', payloadColumn: 'text', partitionBy: 'date', keyOrder: 'written' },
};

interface Typed {
  type: DestinationType;
  authType: AuthType;
}

/** Of the HTTP type, or of warehouses. */
const http = <Value>(member: Member<Value>): Member<Value> => ({
  ...member,
  write: (value, values: Typed, isNew) =>
    values.type === 'http' ? member.write(value, values as never, isNew) : undefined,
});

const BATCH = { batchSize: 1000, batchBytes: 5 * 1024 * 1024, batchWindowSeconds: 60 };

/**
 * What is sent of the config of a warehouse: what is empty is left out of a new one, and removed from one that is
 * stored.
 */
function configIn(config: Config, type: StoreType, isNew: boolean) {
  const shown = pathsIn([...fieldsOfStore(type, config), ...FILES]);
  const members = pathsIn([...STORES[type], ...FILES]).map((name): [string, unknown] => [
    name,
    (shown.includes(name) && config[name]) || null,
  ]);
  return Object.fromEntries(members.filter(([, value]) => !isNew || value !== null));
}

/** As the form holds it, with the defaults of the API. */
export const members = {
  ...NAMED,
  type: {
    ...asStored<DestinationType>('http'),
    write: (type, _, isNew) => (isNew ? type : undefined),
  } as Member<DestinationType>,
  enabled: asStored(true),
  url: http(asStored('')),
  method: http(asStored<HttpDestination['method']>('POST')),
  headers: http({
    start: [],
    read: (stored: Record<string, string> | undefined) =>
      Object.entries(stored ?? {}).map(([name, value]) => ({ name, value })),
    write: (pairs) =>
      Object.fromEntries(pairs.filter(({ name }) => name !== '').map(({ name, value }) => [name, value])),
  } as Member<Pair[]>),
  forwardHeaders: http({
    start: { mode: 'usual', names: '' },
    read: (stored: HttpDestination['forwardHeaders'] | undefined) =>
      Array.isArray(stored) ? { mode: 'names', names: stored.join(', ') } : { mode: stored ?? 'usual', names: '' },
    write: ({ mode, names }) => (mode === 'usual' ? null : mode === 'names' ? wordsIn(names) : mode),
  } as Member<{ mode: string; names: string }>),
  forwardQuery: http(asStored(false)),
  forwardPath: http(asStored(false)),
  authType: http({ ...asStored<AuthType>('none'), with: ['authConfig'] }),
  authConfig: http({
    start: EMPTY_CREDENTIALS,
    read: (stored: Record<string, string> | null | undefined) => ({ ...EMPTY_CREDENTIALS, ...stored }),
    write: (config, { authType }: Typed) =>
      authType === 'none' ? null : Object.fromEntries(CREDENTIALS[authType].map(({ path }) => [path, config[path]])),
    with: ['authType'],
  } as Member<Record<string, string>>),
  signingSecret: http(optional),
  timeoutMs: http(asStored<number | null>(30_000)),
  rateLimitPerMinute: http(asStored<number | null>(null)),
  maxConcurrency: http(asStored<number | null>(null)),
  retryPolicy: http(
    asStored<Record<keyof HttpDestination['retryPolicy'], number | null>>({
      ...{ maxRetries: 5, initialDelay: 1000, maxDelay: 60_000, backoffMultiplier: 2 },
    }),
  ),
  config: {
    start: { ...EMPTY_CONFIG, ...BATCH },
    read: ({ batchSize = null, batchBytes = null, batchWindowSeconds = null, ...config }: Config = {}) => ({
      ...EMPTY_CONFIG,
      ...Object.fromEntries(Object.entries(config).map(([name, value]) => [name, String(value ?? '')])),
      ...{ batchSize, batchBytes, batchWindowSeconds },
    }),
    write: (config, { type }: Typed, isNew) => (type === 'http' ? undefined : configIn(config, type, isNew)),
  } as Member<Config>,
  fieldMapping: {
    start: [],
    read: (stored: FieldMappingRule[] = []) =>
      stored.map(({ precision = 38, scale = 9, ...rule }) => ({
        ...{ ...rule, precision, scale },
        default: rule.default ?? '',
      })),
    write: (rows, { type }: Typed) =>
      type === 'http'
        ? undefined
        : rows.map(({ default: other, precision, scale, ...rule }) => ({
            ...rule,
            ...(rule.type === 'decimal' && { precision, scale }),
            ...(other !== '' && { default: other }),
          })),
  } as Member<MappingRow[]>,
};

export type DestinationValues = ValuesOf<typeof members>;
