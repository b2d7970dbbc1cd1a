// What the `config` of a warehouse destination holds for each provider. Messages are ends of sentences that start with
// the field.
import { z } from 'zod';
import { credentialProblems, CREDENTIALS, secretFieldOf, serviceAccountProblem } from './credentials.ts';
import { PAYLOAD_COLUMNS } from './rows.ts';
import {
  COMPRESSIONS,
  FILE_FORMATS,
  isTextCompression,
  KEY_ORDERS,
  PARTITIONS,
  prefixProblem,
  TEXT_COMPRESSIONS,
} from './files-and-keys.ts';

const MIB = 1024 * 1024;

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
    .meta({ description: "Compression of the file, or of a Parquet file's pages. `snappy` is for Parquet only." })
    .default('none'),
  payloadColumn: oneOf(PAYLOAD_COLUMNS)
    .meta({
      description:
        'Format of the payload in files without a field mapping: `text` or `json`. Parquet files require `text`.',
    })
    .default('text'),
  partitionBy: oneOf(PARTITIONS).default('date'),
  keyOrder: oneOf(KEY_ORDERS)
    .meta({
      description:
        'The time that file names start with: when the file was written (`written`), or when its first event was received (`received`).',
    })
    .default('written'),
  batchSize: within(1, 10_000).meta({ description: 'Maximum number of events per file.' }).prefault(1000),
  /** ... or its payloads have so many bytes, ... */
  batchBytes: within(1, 128 * MIB)
    .meta({ description: 'Maximum payload bytes per file. An event with a larger payload gets its own file.' })
    .prefault(5 * MIB),
  /** ... or when its first event has waited this long, in seconds. */
  batchWindowSeconds: within(1, 3600).prefault(60),
};

const LENGTH = 'must be 3 to 63 characters long';

/** Names of buckets of S3 (user guide, "General purpose bucket naming rules") and R2. */
function bucketProblem(name: string, characters = 'lowercase letters, digits, dots and hyphens'): string | null {
  if (name.length < 3 || name.length > 63) return LENGTH;
  if (!/^[a-z0-9][a-z0-9.-]*[a-z0-9]$/.test(name) || name.includes('..'))
    return `must contain only ${characters} (no two dots in a row), and start and end with a letter or digit`;
  return /^\d+\.\d+\.\d+\.\d+$/.test(name) ? 'must not look like an IP address' : null;
}

/** Names of buckets of Google Cloud Storage ("About Cloud Storage buckets"): underscores too. */
const gcsBucketProblem = (name: string): string | null =>
  bucketProblem(name.replaceAll('_', '-'), 'lowercase letters, digits, dots, hyphens and underscores');

/** Names of containers (Azure, "Naming and referencing containers, blobs, and metadata"). */
function containerProblem(name: string): string | null {
  if (name.length < 3 || name.length > 63) return LENGTH;
  return /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)
    ? null
    : 'must contain only lowercase letters, digits and single hyphens, and start and end with a letter or digit';
}

function endpointProblem(address: string): string | null {
  const url = URL.parse(address);
  if (!url || !/^https?:\/\/[^\s\p{Cc}]+$/iu.test(address) || address.length > 2048)
    return 'must be an absolute http:// or https:// URL';
  if (url.username !== '' || url.password !== '') return 'must not contain credentials';
  return url.search !== '' || url.hash !== '' ? 'must not contain a query or a fragment' : null;
}

/** The address of a server that holds buckets itself; a path would become part of every key. */
const hostProblem = (address: string): string | null =>
  endpointProblem(address) ?? (new URL(address).pathname === '/' ? null : 'must not contain a path');

const endpoint = checked(z.string('must be a string'), hostProblem);
const hasNoControlCharacters = (value: string) =>
  /[\s\p{Cc}]/u.test(value) ? 'must not contain spaces or control characters' : null;
const credential = checked(
  text('must be a string').max(1024, 'must be at most 1024 characters long'),
  hasNoControlCharacters,
);
const credentials = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  oneOf(values)
    .meta({
      description:
        'The kind of credentials. Defaults to `keys`. `identity` uses the service identity, if the operator allows it.',
    })
    .optional();
const region = text('must be a region, for example eu-central-1').regex(
  /^[a-z0-9-]{1,64}$/,
  'must be a region, for example eu-central-1',
);
const flag = z
  .union([z.boolean(), z.enum(['true', 'false'])], 'must be true or false')
  .transform((value) => String(value) === 'true')
  .pipe(z.boolean());

function base64Problem(key: string): string | null {
  const wrong = 'must be base64 text, as shown under "Access keys" in the Azure portal';
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(key) && key !== '' ? null : wrong;
}

/** Those of S3 whose files can be read at once; from the others a file has to be restored first. */
const STORAGE_CLASSES = ['STANDARD', 'STANDARD_IA', 'ONEZONE_IA', 'INTELLIGENT_TIERING', 'GLACIER_IR'] as const;

const MAX_TAGS = 10;

/** Tags of an object as S3 takes them in a header ("Categorizing your objects using tags"): `team=data&stage=test`. */
function tagsProblem(text: string): string | null {
  const tags = text.split('&').map((tag) => tag.split('='));
  const isTag = ([name = '', value, more]: string[]) =>
    name !== '' && isTagText(name, 128) && isTagText(value, 256) && more === undefined;
  if (!tags.every(isTag)) return 'must be tags of the form name=value, separated by & and percent-encoded';
  if (tags.length > MAX_TAGS) return `must contain at most ${MAX_TAGS} tags`;
  return new Set(tags.map(([name = '']) => decodeURIComponent(name))).size < tags.length
    ? 'must not contain the same name twice'
    : null;
}

function isTagText(encoded: string | undefined, most: number): boolean {
  if (encoded === undefined || !/^(?:[\w.~*'()!-]|%[\dA-Fa-f]{2})*$/.test(encoded)) return false;
  try {
    const text = decodeURIComponent(encoded);
    return text.length <= most && /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u.test(text);
  } catch {
    return false;
  }
}

/** The query of a shared access signature, as the portal shows it. */
function sasProblem(token: string): string | null {
  const query = new URLSearchParams(token);
  if (/[\s\p{Cc}#]/u.test(token)) return 'must not contain spaces, control characters or #';
  return query.get('sig') && query.get('sv') ? null : 'must be a SAS token: a query string that contains sv= and sig=';
}

const string = () => z.string('must be a string');

/** Adds what does not fit together. @param mayLackSecret as in an import without credentials */
function whole<Shape extends z.ZodObject>(type: WarehouseType, shape: Shape, mayLackSecret = false): Shape {
  return shape.superRefine((config, context) => {
    for (const { kind, member, message } of credentialProblems(type, config)) {
      if (mayLackSecret && kind === 'missing' && member === secretFieldOf(type, config)) continue;
      context.addIssue({ code: 'custom', path: [member], message });
    }
  });
}

const shapes = {
  s3: z.object({
    bucket: checked(string(), bucketProblem),
    region,
    credentials: credentials(CREDENTIALS.s3),
    accessKeyId: credential.optional(),
    secretAccessKey: credential.optional(),
    roleArn: string()
      .regex(
        /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/,
        'must be a role ARN, for example arn:aws:iam::123456789012:role/hookyard',
      )
      .meta({
        description: 'The role to assume if `credentials` is `identity`. The external ID is the organization ID.',
      })
      .optional(),
    endpoint: endpoint.optional(),
    forcePathStyle: flag.optional(),
    bucketOwner: string()
      .regex(/^\d{12}$/, 'must be an AWS account ID: 12 digits')
      .meta({ description: 'The AWS account that owns the bucket. Uploads to a bucket of another account fail.' })
      .optional(),
    kmsKeyId: checked(
      text('must be a string').max(2048, 'must be at most 2048 characters long'),
      hasNoControlCharacters,
    )
      .meta({ description: 'ID, ARN or alias of the KMS key that encrypts the files.' })
      .optional(),
    storageClass: oneOf(STORAGE_CLASSES).optional(),
    tags: checked(string(), tagsProblem)
      .meta({ description: 'Tags of each file: name=value&name=value, percent-encoded.' })
      .optional(),
    ...common,
  }),
  // What is missing comes from R2_* in the environment.
  r2: z.object({
    bucket: checked(string(), bucketProblem),
    accountId: string()
      .regex(/^[0-9a-f]{32}$/, 'must be a Cloudflare account ID: 32 lowercase hex digits')
      .optional(),
    endpoint: endpoint.optional(),
    region: region.default('auto'),
    accessKeyId: credential.optional(),
    secretAccessKey: credential.optional(),
    ...common,
  }),
  gcs: z.object({
    bucket: checked(string(), gcsBucketProblem),
    projectId: string().regex(/^(?:[a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/, 'must be a Google Cloud project ID'),
    credentials: credentials(CREDENTIALS.gcs),
    serviceAccountKey: checked(
      string().max(16_384, 'must be at most 16384 characters long'),
      serviceAccountProblem,
    ).optional(),
    endpoint: endpoint.optional(),
    ...common,
  }),
  azure_blob: z.object({
    accountName: string().regex(
      /^[a-z0-9]{3,24}$/,
      'must contain only lowercase letters and digits (3 to 24 characters)',
    ),
    credentials: credentials(CREDENTIALS.azure_blob),
    accountKey: checked(string().max(1024, 'must be at most 1024 characters long'), base64Problem).optional(),
    sasToken: checked(
      text('must be a string').max(4096, 'must be at most 4096 characters long'),
      sasProblem,
    ).optional(),
    containerName: checked(string(), containerProblem),
    // The address of the blob service; emulators have the account's name in its path.
    endpoint: checked(string(), endpointProblem).optional(),
    ...common,
  }),
} as const;

/**
 * The schema of `config`, by the destination's `type`; its id names it in the API's description. It drops unknown
 * members, which a later release may have stored; the API refuses them. A new store is a schema here, its secret in
 * credentials.ts, a file in outbound/warehouses/ and its line in the registry there.
 */
export const warehouseConfigSchemas = {
  s3: whole('s3', shapes.s3).meta({ id: 'S3Config' }),
  r2: whole('r2', shapes.r2).meta({ id: 'R2Config' }),
  gcs: whole('gcs', shapes.gcs).meta({ id: 'GcsConfig' }),
  azure_blob: whole('azure_blob', shapes.azure_blob).meta({ id: 'AzureBlobConfig' }),
} as const;

export const withoutItsSecret = (type: WarehouseType): z.ZodObject => whole<z.ZodObject>(type, shapes[type], true);

export type WarehouseType = keyof typeof shapes;
export type WarehouseConfig<Type extends WarehouseType = WarehouseType> = z.output<(typeof shapes)[Type]>;

export const WAREHOUSE_TYPES = Object.keys(warehouseConfigSchemas) as [WarehouseType, ...WarehouseType[]];

export type DestinationType = 'http' | WarehouseType;
export const DESTINATION_TYPES: [DestinationType, ...DestinationType[]] = ['http', ...WAREHOUSE_TYPES];

/** The member to change of those that do not go together, and what is wrong with it; null when all do. */
export function conflictIn(
  config: Pick<WarehouseConfig, 'fileFormat' | 'compression' | 'payloadColumn'>,
): { member: string; message: string } | null {
  const { fileFormat, compression, payloadColumn } = config;
  if (fileFormat === 'parquet' && payloadColumn === 'json') {
    const why = 'must be text with fileFormat parquet, because each column has one type';
    const message = `${why}; send "payloadColumn": "text", and map the fields that you need`;
    return { member: 'payloadColumn', message };
  }
  if (fileFormat !== 'parquet' && !isTextCompression(compression)) {
    const message = `must be ${listed(TEXT_COMPRESSIONS)} with fileFormat ${fileFormat}; ${compression} is only for parquet`;
    return { member: 'compression', message };
  }
  return null;
}
