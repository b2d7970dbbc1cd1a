// What the `config` of a warehouse destination holds for each provider. Messages are ends of sentences that start with the field.
// Rules: WH-05 to WH-14, WH-31, WH-32, WH-37, WH-38, WH-40.
import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { type Kept, keepRedacted, redactSecret } from '../redaction.ts';
import { PAYLOAD_COLUMNS } from './event.ts';
import {
  COMPRESSIONS,
  FILE_FORMATS,
  isTextCompression,
  KEY_ORDERS,
  PARTITIONS,
  prefixProblem,
  TEXT_COMPRESSIONS,
} from './object-key.ts';

const text = (what: string) => z.string(what).min(1, 'must not be empty');
const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, `must be ${listed(values)}`);
const listed = (values: readonly string[]) => `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
/** A number, or its digits as text: clients may send every member of a config as text. */
const within = (least: number, most: number) => {
  const message = `must be a whole number from ${least} to ${most}`;
  const number = z.int(message).min(least, message).max(most, message);
  return z
    .union([number, z.string().regex(/^\d{1,9}$/, message)], message)
    .transform(Number)
    .pipe(number);
};

/** Adds what a function finds wrong with a text. */
const checked = (schema: z.ZodString, problem: (value: string) => string | null) =>
  schema.superRefine((value, context) => {
    const message = problem(value);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

const common = {
  // Kept as it was sent; the key of an object is made of its normal form.
  prefix: checked(z.string('must be a string'), prefixProblem).optional(),
  fileFormat: oneOf(FILE_FORMATS).default('jsonl'),
  compression: oneOf(COMPRESSIONS)
    .meta({ description: 'Of the whole file; in a Parquet file of its pages. snappy is for Parquet only.' })
    .default('none'),
  payloadColumn: oneOf(PAYLOAD_COLUMNS)
    .meta({
      description:
        'What rows without a mapping hold: text in every column, or the payload as JSON. text in Parquet files.',
    })
    .default('text'),
  partitionBy: oneOf(PARTITIONS).default('date'),
  keyOrder: oneOf(KEY_ORDERS)
    .meta({ description: 'How the keys of a folder sort: by the time of writing, or by that of the first event.' })
    .default('written'),
  /** A batch is written when it has this many events, ... */
  batchSize: within(1, 10_000).meta({ description: 'Events.' }).prefault(1000),
  /** ... or when its first event has waited this long, in seconds. */
  batchWindowSeconds: within(1, 3600).prefault(60),
};

const LENGTH = 'must be 3 to 63 characters long';

/** Names of buckets of S3 (user guide, "General purpose bucket naming rules") and R2. */
function bucketProblem(name: string): string | null {
  if (name.length < 3 || name.length > 63) return LENGTH;
  if (!/^[a-z0-9][a-z0-9.-]*[a-z0-9]$/.test(name) || name.includes('..')) {
    return 'must be lowercase letters, digits, dots and hyphens, with a letter or digit at both ends';
  }
  return /^\d+\.\d+\.\d+\.\d+$/.test(name) ? 'must not look like an IP address' : null;
}

/** Names of buckets of Google Cloud Storage ("About Cloud Storage buckets"): underscores too. */
function gcsBucketProblem(name: string): string | null {
  return name.length < 3 || name.length > 63 ? LENGTH : bucketProblem(name.replaceAll('_', '-'));
}

/** Names of containers (Azure, "Naming and referencing containers, blobs, and metadata"). */
function containerProblem(name: string): string | null {
  if (name.length < 3 || name.length > 63) return LENGTH;
  return /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)
    ? null
    : 'must be lowercase letters and digits with single hyphens between';
}

function endpointProblem(address: string): string | null {
  const url = URL.parse(address);
  if (!url || !/^https?:\/\/[^\s\p{Cc}]+$/iu.test(address) || address.length > 2048) {
    return 'must be an absolute http:// or https:// address';
  }
  if (url.username !== '' || url.password !== '') return 'must not contain credentials';
  return url.search !== '' || url.hash !== '' ? 'must not contain a query or a fragment' : null;
}

/** The address of a server that holds buckets itself; a path would become part of every key. */
const hostProblem = (address: string): string | null =>
  endpointProblem(address) ?? (new URL(address).pathname === '/' ? null : 'must not contain a path');

const endpoint = checked(z.string('must be a string'), hostProblem);
const hasNoControlCharacters = (value: string) =>
  /[\s\p{Cc}]/u.test(value) ? 'must not contain spaces or line breaks' : null;
const credential = checked(
  text('must be a string').max(1024, 'must be at most 1024 characters long'),
  hasNoControlCharacters,
);
const region = text('must be a region, for example eu-central-1').regex(
  /^[a-z0-9-]{1,64}$/,
  'must be a region, for example eu-central-1',
);
const flag = z
  .union([z.boolean(), z.enum(['true', 'false'])], 'must be true or false')
  .transform((value) => String(value) === 'true')
  .pipe(z.boolean());

function base64Problem(key: string): string | null {
  const wrong = 'must be base64 text, as the portal shows it under "Access keys"';
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(key) && key !== '' ? null : wrong;
}

/** The members of a service account key that are used. */
export type ServiceAccount = { clientEmail: string; privateKey: string; privateKeyId: string | undefined };

const serviceAccount = z.object({
  type: z.literal('service_account'),
  client_email: z.email(),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  universe_domain: z.literal('googleapis.com').optional(),
});

/**
 * Reads a service account key for use.
 * @throws Error whose message is the end of a sentence that starts with the field; it never quotes the key
 */
export function readServiceAccountKey(json: string): ServiceAccount {
  const account = parseServiceAccountKey(json);
  if (!isRsaKey(account.privateKey)) throw new Error(`${NO_KEY}; its "private_key" is not a private RSA key in PEM`);
  return account;
}

/**
 * Reads the members of a service account key. Other kinds of Google credentials name files, programs and addresses to ask;
 * they are refused. Whether the private key is one is found out when it is used: a test upload says so.
 */
function parseServiceAccountKey(json: string): ServiceAccount {
  const parsed = serviceAccount.safeParse(parseJson(json));
  if (!parsed.success) {
    const member = parsed.error.issues[0]?.path[0];
    throw new Error(
      member === undefined ? NO_KEY : `${NO_KEY}; its "${String(member)}" is missing or not of such a key`,
    );
  }
  const { client_email: clientEmail, private_key: privateKey, private_key_id: privateKeyId } = parsed.data;
  return { clientEmail, privateKey, privateKeyId };
}

const NO_KEY = 'must be the JSON text of a service account key, as downloaded from Google Cloud';

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function serviceAccountProblem(json: string): string | null {
  try {
    parseServiceAccountKey(json);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : NO_KEY;
  }
}

const string = () => z.string('must be a string');

/**
 * The schema of `config`, by the destination's `type`; its id names it in the API's description. It drops unknown members, which a
 * later release may have stored; the API refuses them. A new store is a schema and a secret here, a file in outbound/warehouses/ and
 * its line in the registry there.
 */
export const warehouseConfigSchemas = {
  s3: z
    .object({
      bucket: checked(string(), bucketProblem),
      region,
      accessKeyId: credential,
      secretAccessKey: credential,
      endpoint: endpoint.optional(),
      forcePathStyle: flag.optional(),
      ...common,
    })
    .meta({ id: 'S3Config' }),
  // What is missing comes from R2_* in the environment (WH-06).
  r2: z
    .object({
      bucket: checked(string(), bucketProblem),
      accountId: string()
        .regex(/^[0-9a-f]{32}$/, 'must be the 32 hexadecimal digits of a Cloudflare account ID')
        .optional(),
      endpoint: endpoint.optional(),
      region: region.default('auto'),
      accessKeyId: credential.optional(),
      secretAccessKey: credential.optional(),
      ...common,
    })
    .meta({ id: 'R2Config' }),
  gcs: z
    .object({
      bucket: checked(string(), gcsBucketProblem),
      projectId: string().regex(/^(?:[a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/, 'must be a Google Cloud project ID'),
      serviceAccountKey: checked(string().max(16_384, 'must be at most 16384 characters long'), serviceAccountProblem),
      endpoint: endpoint.optional(),
      ...common,
    })
    .meta({ id: 'GcsConfig' }),
  azure_blob: z
    .object({
      accountName: string().regex(/^[a-z0-9]{3,24}$/, 'must be 3 to 24 lowercase letters and digits'),
      accountKey: checked(string().max(1024, 'must be at most 1024 characters long'), base64Problem),
      containerName: checked(string(), containerProblem),
      // The address of the blob service; emulators have the account's name in its path.
      endpoint: checked(string(), endpointProblem).optional(),
      ...common,
    })
    .meta({ id: 'AzureBlobConfig' }),
} as const;

export type WarehouseType = keyof typeof warehouseConfigSchemas;
/** A checked `config`, secrets in clear. */
export type WarehouseConfig<Type extends WarehouseType = WarehouseType> = z.output<
  (typeof warehouseConfigSchemas)[Type]
>;

/** Every warehouse `type`, for schemas and messages. */
export const WAREHOUSE_TYPES = Object.keys(warehouseConfigSchemas) as [WarehouseType, ...WarehouseType[]];

/** Every `type` of a destination. */
export type DestinationType = 'http' | WarehouseType;
export const DESTINATION_TYPES: [DestinationType, ...DestinationType[]] = ['http', ...WAREHOUSE_TYPES];

/** The member to change of those that do not go together, and what is wrong with it; null when all do. */
export function conflictIn({
  fileFormat,
  compression,
  payloadColumn,
}: Pick<WarehouseConfig, 'fileFormat' | 'compression' | 'payloadColumn'>): { member: string; message: string } | null {
  if (fileFormat === 'parquet' && payloadColumn === 'json') {
    const why = 'must be text with fileFormat parquet, whose columns have one type each';
    return { member: 'payloadColumn', message: `${why}: send "payloadColumn": "text", and map members that you need` };
  }
  if (fileFormat !== 'parquet' && !isTextCompression(compression)) {
    const message = `must be ${listed(TEXT_COMPRESSIONS)} with fileFormat ${fileFormat}; ${compression} is for parquet`;
    return { member: 'compression', message };
  }
  return null;
}

/** What members mean that a config was stored without, because they were not there then: its files stay as they are. */
export const BEFORE_THEY_WERE_THERE = { payloadColumn: 'json', compression: 'none', keyOrder: 'received' } as const;

/** The field of each `config` that is a secret (AUTH-14). */
export const WAREHOUSE_SECRET_FIELD: Readonly<Record<WarehouseType, string>> = {
  s3: 'secretAccessKey',
  r2: 'secretAccessKey',
  gcs: 'serviceAccountKey',
  azure_blob: 'accountKey',
};

/** `config` as the API shows it: the secret reads `••••` and its last 4 characters. */
export function redactWarehouseConfig(
  type: WarehouseType,
  config: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const field = WAREHOUSE_SECRET_FIELD[type];
  const secret = config[field];
  return typeof secret === 'string' ? { ...config, [field]: redactSecret(secret) } : { ...config };
}

/**
 * Puts the stored secret back into a `config` whose secret came back redacted; call it before the schema.
 * @param stored the stored config, or null when there is none
 * @returns the config to check and store, or the field whose redacted value has nothing stored behind it (the caller refuses it)
 */
export function keepRedactedWarehouseConfig(
  type: WarehouseType,
  incoming: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, unknown>> | null,
): { ok: true; config: Record<string, unknown> } | { ok: false; field: string } {
  const field = WAREHOUSE_SECRET_FIELD[type];
  const [secret, before] = [incoming[field], stored?.[field]];
  if (typeof secret !== 'string') return { ok: true, config: { ...incoming } };
  const kept: Kept = keepRedacted(secret, typeof before === 'string' ? before : null);
  return kept.ok ? { ok: true, config: { ...incoming, [field]: kept.value } } : { ok: false, field };
}
