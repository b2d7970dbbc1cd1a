// hookyard keys create --org: the first key of an organization whose keys are lost, for example. No key of it is
// needed.
import type { CreateApiKeyRequest } from '../../client/index.ts';
import { SCOPES } from '../../core/config/plans-and-scopes.ts';
import { normalRange } from '../../core/http/addresses.ts';
import { newId } from '../../core/text/ids.ts';
import { parseIsoTime } from '../../core/text/timestamps.ts';
import { recordOperator } from '../../db/organizations/audit.ts';
import { inTransaction } from '../../db/connections/pool.ts';
import { createKey } from '../../db/organizations/keys.ts';
import { CliError, EXIT, usage } from '../errors.ts';
import { onDatabase } from './database.ts';
import { findOrganizationOf } from './organizations.ts';

/** @param organization slug or id @throws CliError */
export async function createKeyOf(organization: string, request: CreateApiKeyRequest) {
  const { name, scopes: given = ['read', 'write'], allowedAddresses: ranges, expiresAt: expires } = request;
  const scopes = SCOPES.filter((each) => given.includes(each));
  const unknown = given.find((each) => !SCOPES.some((known) => known === each));
  if (unknown !== undefined) throw usage(`Invalid scope ${unknown}. Valid scopes: ${SCOPES.join(', ')}`);
  if (name.trim() === '') throw usage('The key name must not be empty');
  const expiresAt = expires ? new Date(parseIsoTime(expires) ?? Number.NaN) : null;
  if (expiresAt !== null && !(expiresAt.getTime() > Date.now()))
    throw usage(`--expires must be a time in the future (for example 2036-01-01T00:00:00Z), not ${expires}`);
  const allowedAddresses = ranges?.map(rangeOf) ?? null;
  return onDatabase(async (pool) => {
    const { id: organizationId, slug } = await findOrganizationOf(pool, organization);
    const id = newId('key');
    const entry = { action: 'createApiKey', resource: 'keys', recordIds: [id], members: Object.keys(request) };
    return recordOperator(pool, { organizationId, command: 'hookyard keys create', ...entry }, async () => {
      const values = { id, name, scopes, allowedAddresses, expiresAt };
      const key = await inTransaction(pool, (db) => createKey(db, organizationId, values));
      if (!key) throw new CliError(EXIT.refused, `${slug} is being deleted; no key was created`);
      return key;
    });
  });
}

function rangeOf(text: string): string {
  const range = normalRange(text);
  if (range === null) throw usage(`Invalid address or range ${text}. Example of a valid range: 203.0.113.0/24`);
  return range;
}
