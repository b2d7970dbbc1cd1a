// A destination as its form holds it, and back as the API takes it.
import type { Destination, FieldMappingRule } from '@hookyard/client';
import type { Input } from '../../api/client.ts';
import { type Pair, recordOf } from '../../forms/fields.tsx';

type HttpDestination = Extract<Destination, { type: 'http' }>;
type DestinationType = Destination['type'];
export type StoreType = Exclude<DestinationType, 'http'>;
type AuthType = HttpDestination['authType'];

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
  help: 'Only if the storage provider does not use its default URL.',
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
export const isFieldOf = (config: Record<string, string>, { only }: ConfigField): boolean =>
  only === undefined || only.includes(config.credentials || 'keys');

/** What each store needs, in the order of the form. */
export const STORES: Record<StoreType, ConfigField[]> = {
  s3: [
    bucket,
    { name: 'region', label: 'Region', placeholder: 'eu-central-1' },
    ...accessKeys.map((field) => ({ ...field, only: KEYS })),
    {
      name: 'roleArn',
      label: 'Role to assume',
      help: 'The external ID is the ID of the organization.',
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
    { name: 'sasToken', label: 'SAS token', help: 'The query string that contains sv= and sig=.', only: ['sas'] },
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
  { name: 'keyOrder', label: 'Key order', data: ['written', 'received'] },
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

export interface DestinationValues {
  name: string;
  description: string;
  type: DestinationType;
  enabled: boolean;
  url: string;
  method: HttpDestination['method'];
  headers: Pair[];
  /** `names`: those of `forwardedNames`. */
  forwardHeaders: 'usual' | 'all' | 'none' | 'names';
  forwardedNames: string;
  forwardQuery: boolean;
  forwardPath: boolean;
  authType: AuthType;
  authConfig: Record<string, string>;
  signingSecret: string;
  timeoutMs: number | null;
  rateLimitPerMinute: number | null;
  maxConcurrency: number | null;
  retryPolicy: Record<'maxRetries' | 'initialDelay' | 'maxDelay' | 'backoffMultiplier', number | null>;
  config: Record<string, string>;
  batchSize: number | null;
  batchBytes: number | null;
  batchWindowSeconds: number | null;
  fieldMapping: MappingRow[];
}

/** Every member of the form's texts has a value: a field without one would not be controlled. */
const emptyOf = (fields: ConfigField[][]) => Object.fromEntries(fields.flat().map(({ name }) => [name, '']));
const EMPTY_CREDENTIALS: Record<string, string> = emptyOf(Object.values(CREDENTIALS));
const EMPTY_CONFIG: Record<string, string> = {
  ...emptyOf(Object.values(STORES)),
  credentials: '',
  prefix: '',
  forcePathStyle: '',
  fileFormat: 'jsonl',
  compression: 'none',
  payloadColumn: 'text',
  partitionBy: 'date',
  keyOrder: 'written',
};

/** The defaults of the API. */
export const NEW: DestinationValues = {
  name: '',
  description: '',
  type: 'http',
  enabled: true,
  url: '',
  method: 'POST',
  headers: [],
  forwardHeaders: 'usual',
  forwardedNames: '',
  forwardQuery: false,
  forwardPath: false,
  authType: 'none',
  authConfig: EMPTY_CREDENTIALS,
  signingSecret: '',
  timeoutMs: 30_000,
  rateLimitPerMinute: null,
  maxConcurrency: null,
  retryPolicy: { maxRetries: 5, initialDelay: 1000, maxDelay: 60_000, backoffMultiplier: 2 },
  config: EMPTY_CONFIG,
  batchSize: 1000,
  batchBytes: 5 * 1024 * 1024,
  batchWindowSeconds: 60,
  fieldMapping: [],
};

/** Members of a config that are numbers. */
const NUMBERS = ['batchSize', 'batchBytes', 'batchWindowSeconds'] as const;

/** The members whose errors have a field. */
export const FIELDS = [
  ...Object.keys(NEW).filter((name) => name !== 'config' && name !== 'forwardedNames'),
  ...Object.keys(EMPTY_CREDENTIALS).map((name) => `authConfig.${name}`),
  ...Object.keys(NEW.retryPolicy).map((name) => `retryPolicy.${name}`),
  ...[...Object.keys(EMPTY_CONFIG), ...NUMBERS].map((name) => `config.${name}`),
];

export function valuesOf(destination: Destination): DestinationValues {
  const { name, type, enabled } = destination;
  const shared = { ...NEW, name, type, enabled, description: destination.description ?? '' };
  if (destination.type !== 'http') {
    const { batchSize, batchBytes, batchWindowSeconds, ...config } = destination.config;
    const texts = Object.entries(config).map(([member, value]) => [member, String(value ?? '')]);
    return {
      ...shared,
      config: { ...EMPTY_CONFIG, ...Object.fromEntries(texts) },
      batchSize: batchSize ?? null,
      batchBytes: batchBytes ?? null,
      batchWindowSeconds: batchWindowSeconds ?? null,
      fieldMapping: destination.fieldMapping.map(({ precision = 38, scale = 9, ...rule }) => ({
        ...{ ...rule, precision, scale },
        default: rule.default ?? '',
      })),
    };
  }
  const { forwardHeaders: forward } = destination;
  const isNames = Array.isArray(forward);
  return {
    ...shared,
    url: destination.url,
    method: destination.method,
    headers: Object.entries(destination.headers),
    forwardHeaders: isNames ? 'names' : (forward ?? 'usual'),
    forwardedNames: isNames ? forward.join(', ') : '',
    forwardQuery: destination.forwardQuery,
    forwardPath: destination.forwardPath,
    authType: destination.authType,
    authConfig: { ...EMPTY_CREDENTIALS, ...destination.authConfig },
    signingSecret: destination.signingSecret ?? '',
    timeoutMs: destination.timeoutMs,
    rateLimitPerMinute: destination.rateLimitPerMinute,
    maxConcurrency: destination.maxConcurrency,
    retryPolicy: { ...destination.retryPolicy },
  };
}

type Body = Input<'createDestination'>['body'];

/**
 * The members that are sent: of a new destination all of its type, else those that were changed. Masked secrets stay.
 */
export function bodyOf(values: DestinationValues, changed: ReadonlySet<string>, isNew: boolean): Body {
  const { name, type, enabled } = values;
  const shared = { name, enabled, description: values.description || null };
  const own = type === 'http' ? httpBody(values) : storeBody(values, type, isNew);
  const members = Object.entries({ ...shared, ...own }).filter(([member]) => isNew || isChanged(member, changed));
  return { ...Object.fromEntries(members), ...(isNew && { type }) } as unknown as Body;
}

// Members that are sent together.
const PARTS: Record<string, string[]> = {
  forwardHeaders: ['forwardHeaders', 'forwardedNames'],
  authConfig: ['authType', 'authConfig'],
  config: ['config', ...NUMBERS],
};
const isChanged = (member: string, changed: ReadonlySet<string>): boolean =>
  (PARTS[member] ?? [member]).some((part) => changed.has(part));

function httpBody(values: DestinationValues) {
  const { authType, authConfig, forwardHeaders: forward, forwardedNames } = values;
  const names = forwardedNames.split(/[\s,]+/).filter((name) => name !== '');
  const { url, method, forwardQuery, forwardPath, timeoutMs, rateLimitPerMinute, maxConcurrency, retryPolicy } = values;
  return {
    ...{ url, method, forwardQuery, forwardPath, timeoutMs, rateLimitPerMinute, maxConcurrency, retryPolicy, authType },
    headers: recordOf(values.headers),
    forwardHeaders: forward === 'usual' ? null : forward === 'names' ? names : forward,
    authConfig: authType === 'none' ? null : pick(authConfig, CREDENTIALS[authType]),
    signingSecret: values.signingSecret || null,
  };
}

const pick = (texts: Record<string, string>, fields: ConfigField[]) =>
  Object.fromEntries(fields.map(({ name }) => [name, texts[name]]));

function storeBody(values: DestinationValues, type: StoreType, isNew: boolean) {
  const { config, fieldMapping } = values;
  const names = ['prefix', ...CHOICES.map(({ name }) => name)];
  if (type in WAYS) names.push('credentials');
  if (type === 's3') names.push('forcePathStyle');
  // What is empty is left out of a new one, and removed from one that is stored.
  const members: [string, unknown][] = [
    ...STORES[type].map((field): [string, unknown] => [
      field.name,
      (isFieldOf(config, field) && config[field.name]) || null,
    ]),
    ...names.map((name): [string, unknown] => [name, config[name] || null]),
    ...NUMBERS.map((name): [string, unknown] => [name, values[name]]),
  ];
  return {
    config: Object.fromEntries(members.filter(([, value]) => !isNew || value !== null)),
    fieldMapping: fieldMapping.map(({ default: other, precision, scale, ...rule }) => ({
      ...rule,
      ...(rule.type === 'decimal' && { precision, scale }),
      ...(other !== '' && { default: other }),
    })),
  };
}
