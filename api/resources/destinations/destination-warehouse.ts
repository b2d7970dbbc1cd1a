// Warehouse destinations of the flat family: their `config` and `fieldMapping`, checked on input, stored encrypted,
// redacted in answers.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { DEFAULT_RETRY_POLICY } from '../../../core/delivery/backoff.ts';
import { newId } from '../../../core/text/ids.ts';
import { nearestName } from '../../../core/text/words.ts';
import { NEEDS_FULL_SECRET } from '../../../core/text/redaction.ts';
import { isPrefixGranted, operatorsBucket } from '../../../core/warehouse/operator-access.ts';
import {
  conflictIn,
  WAREHOUSE_TYPES,
  type WarehouseConfig,
  warehouseConfigSchemas,
  type WarehouseType,
  withoutItsSecret,
} from '../../../core/warehouse/config.ts';
import {
  fittingMembers,
  keepRedactedWarehouseConfig,
  leadsSecretElsewhere,
  redactWarehouseConfig,
  secretFieldOf,
} from '../../../core/warehouse/credentials.ts';
import { type FieldMappingRule, fieldMappingSchema } from '../../../core/warehouse/field-mapping.ts';
import type { Destination } from '../../../db/records/entities.ts';
import { encryptedWarehouseConfig, type OpenedConfig, openWarehouseConfig } from '../../../db/warehouse/config.ts';
import { secretOfAnotherHost } from '../../auth/scopes.ts';
import type { ApiDeps, Caller } from '../../request/context.ts';
import { ApiError } from '../../request/errors.ts';
import { alternatives, checkMember } from '../../request/validation.ts';
import { destinationDefaults, type WarehouseInput } from './destination-members.ts';

type Deps = Pick<ApiDeps, 'secretBox'>;
export interface ChangeRights {
  /** Whether the key may see secrets: only then stored ones may go to another host. */
  maySeeSecrets: boolean;
  /** Whether the destination may still lack its credentials (imports). */
  incomplete?: boolean;
}

export type Warehouse = Destination & { type: WarehouseType };

export function isWarehouse(destination: Destination): destination is Warehouse {
  return destination.type !== 'http';
}

/**
 * The columns of a new warehouse, without its slug.
 * @param incomplete whether its config may lack the secret, or be missing altogether (imports)
 * @throws ApiError 400
 */
export function newWarehouse(
  { secretBox }: Deps,
  organizationId: string,
  type: WarehouseType,
  input: WarehouseInput,
  incomplete = false,
) {
  const id = newId('dst_wh');
  const { slug: _slug, config, fieldMapping, ...rest } = input;
  const stored =
    incomplete && config === undefined
      ? null
      : encryptedWarehouseConfig(secretBox, id, checkConfig(type, config, null, incomplete));
  return {
    ...destinationDefaults,
    ...rest,
    id,
    organizationId,
    type,
    url: '',
    authConfig: null,
    signingSecret: null,
    retryPolicy: DEFAULT_RETRY_POLICY,
    config: stored,
    fieldMapping: checkFieldMapping(fieldMapping),
  };
}

/**
 * The columns that a patch of a warehouse changes: members of `config` that are not sent stay as they are, null removes
 * one (RFC 7396), and a secret that is sent back redacted is kept. `fieldMapping` is replaced as a whole.
 * @throws ApiError 400, 403 when its secret would go to another host
 */
export function changedWarehouse(
  { secretBox }: Deps,
  stored: Warehouse,
  patch: Partial<WarehouseInput>,
  { maySeeSecrets, incomplete = false }: ChangeRights,
) {
  const { config, fieldMapping, ...rest } = patch;
  const known = openWarehouseConfig(secretBox, stored);
  const changed = config === undefined ? undefined : checkConfig(stored.type, config, known, incomplete);
  if (changed && !maySeeSecrets) refuseOtherHost(stored.type, known, config, changed);
  // A warehouse that was imported without its credentials cannot be enabled before it has them.
  if (patch.enabled === true && changed === undefined && !incomplete) checkConfig(stored.type, {}, known);
  return {
    ...rest,
    ...(changed && { config: encryptedWarehouseConfig(secretBox, stored.id, changed) }),
    ...(fieldMapping !== undefined && { fieldMapping: checkFieldMapping(fieldMapping) }),
  };
}

/**
 * The columns of a warehouse that is replaced. Its secret stays if the config leaves it out, or has it redacted.
 * @throws ApiError 400, 403 when its secret would go to another host
 */
export function replacedWarehouse(
  { secretBox }: Deps,
  stored: Warehouse,
  { slug: _slug, config, fieldMapping, ...rest }: WarehouseInput,
  { maySeeSecrets }: ChangeRights,
) {
  const known = openWarehouseConfig(secretBox, stored);
  const given = z.record(z.string(), z.unknown()).safeParse(config).data ?? {};
  const secret = secretFieldOf(stored.type, given);
  const kept = secret === null || known?.[secret] === undefined ? null : { [secret]: known[secret] };
  const checked = checkConfig(stored.type, config, kept);
  if (!maySeeSecrets) refuseOtherHost(stored.type, known, given, checked);
  const { enabled, description } = destinationDefaults;
  return {
    ...{ enabled, description },
    ...rest,
    // Encrypted again, what is the same would look changed.
    ...(!isDeepStrictEqual(checked, known) && { config: encryptedWarehouseConfig(secretBox, stored.id, checked) }),
    fieldMapping: checkFieldMapping(fieldMapping),
  };
}

/** @throws ApiError 403 */
function refuseOtherHost(
  type: WarehouseType,
  known: Record<string, unknown> | null,
  sent: unknown,
  config: Record<string, unknown>,
): void {
  const members = z.record(z.string(), z.unknown()).safeParse(sent).data ?? {};
  if (known === null || !leadsSecretElsewhere(type, known, members, config)) return;
  throw secretOfAnotherHost('config', `config with its ${secretFieldOf(type, config)}`);
}

/** The members that only warehouses have, as the API shows them. */
export function showWarehouse({ secretBox }: Deps, stored: Warehouse) {
  return {
    config: redactWarehouseConfig(stored.type, openWarehouseConfig(secretBox, stored) ?? {}),
    fieldMapping: stored.fieldMapping ?? [],
  };
}

/** Refuses a config without a type, which would otherwise be dropped silently. @throws ApiError 400 */
export function refuseConfig(body: unknown): void {
  const { config } = z.looseObject({ config: z.unknown() }).safeParse(body).data ?? {};
  if (typeof config !== 'object' || config === null || Object.keys(config).length === 0) return;
  throw invalidMember(
    'config',
    `is only for destinations of type ${alternatives(WAREHOUSE_TYPES)}; omit it for an HTTP destination`,
  );
}

/** A config merged over the stored one, with defaults, secret in clear. @throws ApiError 400 without a code */
export function checkConfig(
  type: WarehouseType,
  given: unknown,
  stored: Record<string, unknown> | null,
  incomplete = false,
): Record<string, unknown> {
  const sent = checkUncoded('config', z.record(z.string(), z.unknown()), given);
  refuseUnknown(type, sent);
  const kept = keepRedactedWarehouseConfig(type, sent, stored);
  if (!kept.ok) throw invalidMember(`config.${kept.field}`, NEEDS_FULL_SECRET);
  const merged = { ...fittingMembers(stored ?? {}, { ...stored, ...kept.config }), ...kept.config };
  const present = Object.entries(merged).filter(([, value]) => value !== null);
  const schema: z.ZodObject = incomplete ? withoutItsSecret(type) : warehouseConfigSchemas[type];
  const checked = checkUncoded('config', schema, Object.fromEntries(present));
  const conflict = conflictIn(checked as WarehouseConfig);
  if (conflict !== null) throw invalidMember(`config.${conflict.member}`, conflict.message);
  return checked;
}

/** Checks a mapping; a missing one, and one without rules, is null. @throws ApiError 400 without a code */
export function checkFieldMapping(given: unknown): FieldMappingRule[] | null {
  const rules = checkUncoded('fieldMapping', fieldMappingSchema.nullable().default(null), given);
  return rules === null || rules.length === 0 ? null : rules;
}

/** A misspelt member, and one of another provider, would not do what it says. */
function refuseUnknown(type: WarehouseType, config: Record<string, unknown>): void {
  const own = Object.keys(warehouseConfigSchemas[type].shape);
  const unknown = Object.keys(config).find((member) => config[member] != null && !own.includes(member));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, own);
  const hint = nearest === null ? `, which has ${own.join(', ')}` : `; did you mean ${nearest}?`;
  throw invalidMember(`config.${unknown}`, `is not a config field for type ${type}${hint}`);
}

/** @throws ApiError 400 without a code */
function checkUncoded<Schema extends z.ZodType>(member: string, schema: Schema, value: unknown): z.output<Schema> {
  try {
    return checkMember(member, schema, value);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const [first, ...others] = error.details ?? [];
    if (first === undefined) throw error;
    const absent = isAbsent({ [member]: value }, first.path) && !first.message.startsWith('is required');
    const problem = absent ? { ...first, message: `is required and ${first.message}` } : first;
    throw new ApiError(400, undefined, `${problem.path} ${problem.message}`, [problem, ...others]);
  }
}

function isAbsent(body: Record<string, unknown>, path: string): boolean {
  let at: unknown = body;
  for (const name of path.split('.')) at = (at as Record<string, unknown> | null | undefined)?.[name];
  return at === undefined;
}

/** A 400 without a code. */
function invalidMember(path: string, message: string): ApiError {
  return new ApiError(400, undefined, `${path} ${message}`, [{ path, message }]);
}

// What of the operator's access a warehouse may use: refused when it is written. Uploads check it again.

type AccessDeps = Pick<ApiDeps, 'secretBox' | 'operatorAccess'>;

/**
 * Refuses a config that works with the operator's access only, where that is not for it.
 * @throws ApiError 400 without a code
 */
export function requireAccess(
  { secretBox, operatorAccess }: AccessDeps,
  { slug: organization }: Caller['organization'],
  { id, type: given, config: stored }: { id: string; type: string; config?: string | null },
): void {
  const type = WAREHOUSE_TYPES.find((known) => known === given);
  if (type === undefined || !stored) return;
  const opened = openWarehouseConfig(secretBox, { id, config: stored });
  const config = warehouseConfigSchemas[type].safeParse(opened).data;
  if (!config) return;
  const target = { type, config } as OpenedConfig;
  const bucket = operatorsBucket(target, operatorAccess.r2);
  const { prefix } = config;
  if (bucket === null || isPrefixGranted(operatorAccess.grants, { type, organization, bucket, prefix })) return;
  if (target.type !== 'r2')
    throw invalidMember(
      'config.credentials',
      `must not be identity: this organization may not use the service identity for ${bucket}/${prefix ?? ''}; use another kind of credentials, or ask the operator to allow the prefix in HOOKYARD_WAREHOUSE_IDENTITY`,
    );
  throw invalidMember(
    target.config.accessKeyId === undefined ? 'config.accessKeyId' : 'config.secretAccessKey',
    "is required because this organization may not use the service's keys for this bucket and prefix; set it, or ask the operator to allow the prefix in HOOKYARD_WAREHOUSE_IDENTITY",
  );
}
