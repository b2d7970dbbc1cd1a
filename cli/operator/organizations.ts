import type { Plan } from '../../core/config/plans-and-scopes.ts';
import { plural } from '../../core/text/words.ts';
import { recordOperator } from '../../db/organizations/audit.ts';
import { inTransaction, type Pool } from '../../db/connections/pool.ts';
import {
  findOrganization,
  type OrganizationView,
  requestDeletion,
  resumeOrganization,
  setLimits,
  setPlan,
  suspendOrganization,
} from '../../db/organizations/organizations.ts';
import { CliError, EXIT, notFound } from '../errors.ts';

export { createOrganization, listOrganizations } from '../../db/organizations/organizations.ts';

export interface Change {
  word: ChangeName;
  members: Record<string, string | number | null>;
  /** The slug once more, of a deletion. */
  confirm?: string | undefined;
}
type Work = (pool: Pool, organization: OrganizationView, change: Change) => Promise<string>;

/** By their words, the actions of the audit log, and what does them and says what was done. */
const CHANGES = {
  suspend: ['suspendOrganization', suspend],
  resume: ['resumeOrganization', resume],
  'set-plan': ['setPlan', choosePlan],
  'set-limit': ['setLimit', changeLimits],
  delete: ['deleteOrganization', deleteOne],
} as const satisfies Record<string, readonly [action: string, work: Work]>;
export type ChangeName = keyof typeof CHANGES;

/** Changes an organization, recorded in its audit log. @param name slug or id @throws CliError when there is none */
export async function changeOrganization(pool: Pool, name: string, change: Change) {
  const found = await findOrganizationOf(pool, name);
  const [action, work] = CHANGES[change.word];
  const entry = { action, resource: 'organization', recordIds: [found.id], members: Object.keys(change.members) };
  const own = { organizationId: found.id, command: `hookyard orgs ${change.word}` };
  const line = await recordOperator(pool, { ...own, ...entry }, () => work(pool, found, change));
  return { line, organization: await findOrganizationOf(pool, name) };
}

/** @throws CliError when there is none */
export async function findOrganizationOf(pool: Pool, idOrSlug: string): Promise<OrganizationView> {
  const found = await findOrganization(pool, idOrSlug);
  if (!found)
    throw notFound(`No organization with the ID or slug ${idOrSlug}. List organizations with: hookyard orgs list`);
  return found;
}

export function rowOf({ slug, name, id, plan, status, eventsRemoved, limits, createdAt }: OrganizationView): unknown[] {
  const shown = status === 'deleting' ? `deleting (${plural(eventsRemoved, 'event')} removed)` : status;
  const set = Object.entries(limits).map(([limit, value]) => `${limit} ${value ?? 'none'}`);
  return [slug, name, id, plan, shown, set.length === 0 ? 'plan default' : set.join(', '), createdAt.toISOString()];
}

const unchanged = (slug: string, status: OrganizationView['status'], otherwise: string): string =>
  `${slug} is ${status === 'deleting' ? 'being deleted' : otherwise}`;

async function suspend(pool: Pool, { id, slug, status }: OrganizationView): Promise<string> {
  if (!(await inTransaction(pool, (db) => suspendOrganization(db, id))))
    return unchanged(slug, status, 'already suspended');
  return `${slug} has been suspended. Its webhooks are refused now, and its deliveries will be held within seconds.`;
}

async function resume(pool: Pool, { id, slug, status }: OrganizationView): Promise<string> {
  if (!(await resumeOrganization(pool, id))) return unchanged(slug, status, 'not suspended');
  return `${slug} has been resumed. Its deliveries will continue within seconds, and its event replays within half a minute.`;
}

async function choosePlan(pool: Pool, { id, slug }: OrganizationView, { members: { plan } }: Change): Promise<string> {
  await inTransaction(pool, (db) => setPlan(db, id, plan as Plan));
  return `${slug} is now on the ${plan} plan. The new limits will take effect within seconds.`;
}

async function changeLimits(pool: Pool, { id, slug }: OrganizationView, { members }: Change): Promise<string> {
  await inTransaction(pool, (db) => setLimits(db, id, members as Parameters<typeof setLimits>[2]));
  const [[name = '', value = null] = []] = Object.entries(members);
  return `The ${name} limit of ${slug} was set to ${value ?? 'none'}. The change will take effect within seconds.`;
}

async function deleteOne(pool: Pool, { id, slug }: OrganizationView, { confirm }: Change): Promise<string> {
  if (confirm !== slug)
    throw new CliError(EXIT.refused, `--confirm must be the organization's slug, ${slug}; nothing was deleted`);
  await requestDeletion(pool, id);
  return `${slug} is being deleted. Its API keys and ingest URLs no longer work, and its records are being deleted in the background. Until the deletion is complete, hookyard orgs list still shows the organization.`;
}
