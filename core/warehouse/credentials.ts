// How a warehouse proves who it is: with keys, with a token, or as this service, whose own identity the operator gives
// to organizations (operator-access.ts). And what of it is secret.
import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { originOf } from '../http/urls.ts';
import { isRedacted, keepRedactedMembers, redactMembers } from '../text/redaction.ts';
import { isShortRsa, MAX_RSA_BITS } from '../verification/published-keys.ts';
import { jsonOf } from '../verification/scheme.ts';
import type { WarehouseType } from './config.ts';

/** The values of `credentials`, the default first. `r2` has no such member. */
export const CREDENTIALS = {
  s3: ['keys', 'identity'],
  gcs: ['keys', 'identity'],
  azure_blob: ['keys', 'sas', 'identity'],
} as const;

type Mode = 'keys' | 'sas' | 'identity';
type Config = Readonly<Record<string, unknown>>;

const NEEDED: Readonly<Record<WarehouseType, Partial<Record<Mode, readonly string[]>>>> = {
  s3: { keys: ['accessKeyId', 'secretAccessKey'] },
  // What is missing comes from the operator.
  r2: {},
  gcs: { keys: ['serviceAccountKey'] },
  azure_blob: { keys: ['accountKey'], sas: ['sasToken'] },
};

/**
 * Members that are for some modes only. The operator says where its own identity goes, so a destination has no endpoint
 * then.
 */
const ONLY_WITH: Readonly<Record<string, readonly Mode[]>> = {
  accessKeyId: ['keys'],
  secretAccessKey: ['keys'],
  serviceAccountKey: ['keys'],
  accountKey: ['keys'],
  sasToken: ['sas'],
  roleArn: ['identity'],
  endpoint: ['keys', 'sas'],
};

/**
 * Names of buckets, as HOOKYARD_WAREHOUSE_IDENTITY has them. An account of Azure has containers, so a bucket is two
 * names there.
 */
export const BUCKET_NAMES: Readonly<Record<WarehouseType, RegExp>> = {
  s3: /[a-z0-9.-]+/,
  gcs: /[a-z0-9._-]+/,
  azure_blob: /[a-z0-9]+\/[a-z0-9-]+/,
  r2: /[a-z0-9.-]+/,
};
const modeOf = ({ credentials }: Config): Mode =>
  credentials === 'sas' || credentials === 'identity' ? credentials : 'keys';

export const usesIdentity = (config: Config): boolean => modeOf(config) === 'identity';

const fits = (member: string, mode: Mode): boolean => (ONLY_WITH[member] ?? [mode]).includes(mode);

/**
 * The members of a stored config that go with what it becomes: a change of `credentials` drops those of the way before.
 */
export function fittingMembers(stored: Config, becomes: Config): Record<string, unknown> {
  const mode = modeOf(becomes);
  return Object.fromEntries(Object.entries(stored).filter(([member]) => fits(member, mode)));
}

export function credentialProblems(
  type: WarehouseType,
  config: Config,
): { kind: 'missing' | 'foreign'; member: string; message: string }[] {
  const mode = modeOf(config);
  const missing = (NEEDED[type][mode] ?? []).filter((member) => config[member] === undefined);
  const foreign = Object.keys(config).filter((member) => config[member] !== undefined && !fits(member, mode));
  return [
    ...missing.map((member) => ({ kind: 'missing' as const, member, message: 'is required and must be a string' })),
    ...foreign.map((member) => ({
      kind: 'foreign' as const,
      member,
      message: `cannot be combined with "credentials": "${mode}"; omit ${member} or send null for it`,
    })),
  ];
}

export const WAREHOUSE_SECRET_FIELD: Readonly<Record<WarehouseType, string>> = {
  s3: 'secretAccessKey',
  r2: 'secretAccessKey',
  gcs: 'serviceAccountKey',
  azure_blob: 'accountKey',
};

/** The member of this config that is its secret; null: it has none. */
export function secretFieldOf(type: WarehouseType, config: Config): string | null {
  const mode = modeOf(config);
  if (mode === 'identity') return null;
  return mode === 'sas' ? 'sasToken' : WAREHOUSE_SECRET_FIELD[type];
}

export const secretFieldsOf = (type: WarehouseType): readonly string[] =>
  type === 'azure_blob' ? ['accountKey', 'sasToken'] : [WAREHOUSE_SECRET_FIELD[type]];

/**
 * Whether a stored secret would go to another host, without having been sent once more.
 * @param sent the members that came, `config` what they and the stored ones become
 */
export function leadsSecretElsewhere(type: WarehouseType, stored: Config, sent: Config, config: Config): boolean {
  const field = secretFieldOf(type, config);
  if (field === null || config[field] === undefined || config[field] !== stored[field]) return false;
  const again = sent[field];
  const isSentAgain = typeof again === 'string' && !isRedacted(again);
  return !isSentAgain && hostOf(type, config) !== hostOf(type, stored);
}

/**
 * Scheme, host and port of a store; without `endpoint` it is the provider's, by the account that is part of its name.
 */
function hostOf(type: WarehouseType, { endpoint, accountId, accountName }: Config): string | null {
  if (typeof endpoint === 'string') return originOf(endpoint);
  return JSON.stringify([type, type === 'r2' ? accountId : type === 'azure_blob' && accountName]);
}

export const redactWarehouseConfig = (type: WarehouseType, config: Config) =>
  redactMembers(config, secretFieldsOf(type));

export const keepRedactedWarehouseConfig = (type: WarehouseType, incoming: Config, stored: Config | null) =>
  keepRedactedMembers(incoming, secretFieldsOf(type), stored);

const NO_KEY = 'must be the JSON text of a service account key, as downloaded from Google Cloud';

// Other kinds of Google credentials name files, programs and addresses to ask; they are refused.
const serviceAccount = z
  .object({
    type: z.literal('service_account'),
    client_email: z.email(),
    private_key: z.string().min(1),
    private_key_id: z.string().optional(),
    universe_domain: z.literal('googleapis.com').optional(),
  })
  .transform(({ client_email, private_key, private_key_id }) => ({
    ...{ clientEmail: client_email, privateKey: private_key, privateKeyId: private_key_id },
  }));
export type ServiceAccount = z.output<typeof serviceAccount>;

/**
 * Reads a service account key for use.
 * @throws Error whose message is the end of a sentence that starts with the field; it never quotes the key
 */
export function readServiceAccountKey(json: string): ServiceAccount {
  const { data: account, error } = serviceAccount.safeParse(jsonOf(json));
  if (account === undefined) throw new Error(problemIn(error));
  if (isRsaKey(account.privateKey)) return account;
  throw new Error(`${NO_KEY}; its "private_key" is not a PEM-encoded RSA private key of at most ${MAX_RSA_BITS} bits`);
}

function isRsaKey(pem: string): boolean {
  try {
    return isShortRsa(createPrivateKey(pem));
  } catch {
    return false;
  }
}

/**
 * What is wrong with the members of a key, as the end of a sentence that starts with its name; null when nothing is.
 * Whether the private key is one is found out when it is used: a test upload says so.
 */
export function serviceAccountProblem(json: string): string | null {
  const { error } = serviceAccount.safeParse(jsonOf(json));
  return error === undefined ? null : problemIn(error);
}

function problemIn(error: z.ZodError): string {
  const member = error.issues[0]?.path[0];
  return member === undefined ? NO_KEY : `${NO_KEY}; its "${String(member)}" is missing or invalid`;
}
