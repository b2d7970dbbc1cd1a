// A destination as its form holds it, and back as the API takes it.
import type { Destination, FieldMappingRule } from '@hookyard/client';
import { type Pair, recordOf } from '../../forms/fields.tsx';
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

export interface ConfigField {
  name: string;
  label: string;
  help?: string;
  /** What an empty field means. */
  placeholder?: string;
  isOptional?: true;
  isLong?: true;
  /** The values of `credentials` that have it. Without: all. */
  only?: readonly string[];
}

/** What each `authType` needs, in the order of the form. */
export const CREDENTIALS: Record<AuthType, ConfigField[]> = {
  none: [],
  basic: [
    { name: 'username', label: 'Username' },
    { name: 'password', label: 'Password', isOptional: true },
  ],
  bearer: [{ name: 'token', label: 'Token' }],
  api_key: [
    { name: 'headerName', label: 'Header', placeholder: 'X-Api-Key' },
    { name: 'key', label: 'API key' },
  ],
  custom_header: [
    { name: 'headerName', label: 'Header', placeholder: 'X-Secret' },
    { name: 'headerValue', label: 'Value' },
  ],
};

export const AUTH_TYPES: Readonly<Record<AuthType, string>> = {
  none: 'None',
  basic: 'Basic',
  bearer: 'Bearer token',
  api_key: 'API key in a header',
  custom_header: 'Custom header',
};

const KEYS = ['keys'];
const bucket: ConfigField = { name: 'bucket', label: 'Bucket' };
const accessKeys: ConfigField[] = [
  { name: 'accessKeyId', label: 'Access key ID' },
  { name: 'secretAccessKey', label: 'Secret access key' },
];
const endpoint: ConfigField = {
  name: 'endpoint',
  label: 'Endpoint',
  help: 'Leave empty for the default endpoint.',
  placeholder: 'https://',
  isOptional: true,
};
const ownEndpoint: ConfigField = { ...endpoint, only: ['keys', 'sas'] };

const identity = { value: 'identity', label: 'Service identity' };

/** The kinds of credentials, the default first. */
export const WAYS: Partial<Record<StoreType, { value: string; label: string }[]>> = {
  s3: [{ value: '', label: 'Access key' }, identity],
  gcs: [{ value: '', label: 'Service account key' }, identity],
  azure_blob: [{ value: '', label: 'Account key' }, { value: 'sas', label: 'SAS token' }, identity],
};

/** Whether a field is one of this config. */
export const isFieldOf = (config: Config, { only }: ConfigField): boolean =>
  only === undefined || only.includes(String(config.credentials || 'keys'));

/** What each store needs, in the order of the form. */
export const STORES: Record<StoreType, ConfigField[]> = {
  s3: [
    bucket,
    { name: 'region', label: 'Region', placeholder: 'eu-central-1' },
    ...accessKeys.map((field) => ({ ...field, only: KEYS })),
    {
      name: 'roleArn',
      label: 'Role to assume',
      help: 'The external ID is your organization ID.',
      placeholder: 'arn:aws:iam::123456789012:role/hookyard',
      isOptional: true,
      only: ['identity'],
    },
    ownEndpoint,
    { name: 'bucketOwner', label: 'Bucket owner', placeholder: '123456789012', isOptional: true },
    { name: 'kmsKeyId', label: 'KMS key', help: 'Encrypts the files.', isOptional: true },
    { name: 'storageClass', label: 'Storage class', placeholder: 'STANDARD', isOptional: true },
    { name: 'tags', label: 'Object tags', placeholder: 'team=data&stage=test', isOptional: true },
  ],
  r2: [
    bucket,
    { name: 'accountId', label: 'Cloudflare account ID', isOptional: true },
    ...accessKeys.map((field) => ({ ...field, isOptional: true as const })),
    endpoint,
  ],
  gcs: [
    bucket,
    { name: 'projectId', label: 'Project ID' },
    {
      name: 'serviceAccountKey',
      label: 'Service account key',
      help: 'JSON, as downloaded from Google Cloud.',
      isLong: true,
      only: KEYS,
    },
    ownEndpoint,
  ],
  azure_blob: [
    { name: 'accountName', label: 'Storage account' },
    { name: 'accountKey', label: 'Account key', only: KEYS },
    { name: 'sasToken', label: 'SAS token', help: 'The query string with sv= and sig=.', only: ['sas'] },
    { name: 'containerName', label: 'Container' },
    ownEndpoint,
  ],
};

/** What every store takes. */
export const CHOICES = [
  { name: 'fileFormat', label: 'File format', data: ['jsonl', 'json', 'parquet'] },
  { name: 'compression', label: 'Compression', data: ['none', 'gzip', 'zstd', 'snappy'] },
  { name: 'payloadColumn', label: 'Payload column', data: ['text', 'json'] },
  { name: 'partitionBy', label: 'Partition by', data: ['date', 'hour', 'source'] },
  { name: 'keyOrder', label: 'Time in file name', data: ['written', 'received'] },
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
const emptyOf = (fields: ConfigField[][]) => Object.fromEntries(fields.flat().map(({ name }) => [name, '']));
const EMPTY_CREDENTIALS: Record<string, string> = emptyOf(Object.values(CREDENTIALS));
const EMPTY_CONFIG: Record<string, string> = {
  ...emptyOf(Object.values(STORES)),
  ...{ credentials: '', prefix: '', forcePathStyle: '', fileFormat: 'jsonl', compression: 'none' },
  ...{ payloadColumn: 'text', partitionBy: 'date', keyOrder: 'written' },
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
  const names = ['prefix', ...CHOICES.map(({ name }) => name), ...Object.keys(BATCH)];
  if (type in WAYS) names.push('credentials');
  if (type === 's3') names.push('forcePathStyle');
  const members: [string, unknown][] = [
    ...STORES[type].map((field): [string, unknown] => [
      field.name,
      (isFieldOf(config, field) && config[field.name]) || null,
    ]),
    ...names.map((name): [string, unknown] => [name, config[name] || null]),
  ];
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
    read: (stored: Record<string, string> | undefined) => Object.entries(stored ?? {}),
    write: recordOf,
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
      authType === 'none' ? null : Object.fromEntries(CREDENTIALS[authType].map(({ name }) => [name, config[name]])),
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
