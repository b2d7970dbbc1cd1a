// What of the operator's access a warehouse may use: refused when it is written. Uploads check it again.
// Rules: WH-29, WH-43, ERR-09.
import { type WarehouseConfig, WAREHOUSE_TYPES, warehouseConfigSchemas } from '../../../core/warehouse/config.ts';
import { isPrefixGranted } from '../../../core/warehouse/bucket-grants.ts';
import type { CREDENTIALS } from '../../../core/warehouse/credentials.ts';
import { identityNeeds } from '../../../core/warehouse/identity.ts';
import { usesOperatorsKeys } from '../../../core/warehouse/r2-operator.ts';
import { openWarehouseConfig } from '../../../db/warehouse/config.ts';
import type { ApiDeps, Caller } from '../../request/context.ts';
import { invalidMember } from './destination-warehouse.ts';

type Deps = Pick<ApiDeps, 'secretBox' | 'operatorAccess'>;

/**
 * Refuses a config that works with the operator's access only, where that is not for it.
 * @throws ApiError 400 without a code
 */
export function requireAccess(
  { secretBox, operatorAccess }: Deps,
  { slug: organization }: Caller['organization'],
  { id, type: given, config: stored }: { id: string; type: string; config?: string | null },
): void {
  const type = WAREHOUSE_TYPES.find((known) => known === given);
  if (type === undefined || !stored) return;
  const config = openWarehouseConfig(secretBox, { id, config: stored });
  if (type === 'r2') requireKeys(warehouseConfigSchemas.r2.safeParse(config).data, organization, operatorAccess);
  else requireIdentity(type, warehouseConfigSchemas[type].safeParse(config).data, organization, operatorAccess);
}

type Identified = Extract<Parameters<typeof identityNeeds>[0], { type: keyof typeof CREDENTIALS }>;

function requireIdentity(
  type: Identified['type'],
  config: Identified['config'] | undefined,
  organization: string,
  { identity }: Deps['operatorAccess'],
): void {
  const needs = config && identityNeeds({ type, config } as Identified, identity);
  if (!needs || isPrefixGranted(needs.grants, { organization, bucket: needs.bucket, prefix: config.prefix })) return;
  throw invalidMember(
    'config.credentials',
    `must not be identity: that of this service is not for ${needs.bucket}/${config.prefix ?? ''} of this organization (HOOKYARD_WAREHOUSE_IDENTITY)`,
  );
}

function requireKeys(
  config: WarehouseConfig<'r2'> | undefined,
  organization: string,
  { r2 }: Deps['operatorAccess'],
): void {
  if (!config || !usesOperatorsKeys(config, r2)) return;
  if (isPrefixGranted(r2.buckets, { organization, bucket: config.bucket, prefix: config.prefix })) return;
  throw invalidMember(
    config.accessKeyId === undefined ? 'config.accessKeyId' : 'config.secretAccessKey',
    'is required: the keys of this service are not for this bucket and prefix of this organization (HOOKYARD_WAREHOUSE_IDENTITY)',
  );
}
