// hookyard orgs: what an operator does with organizations. On the database itself, because an API key belongs to one organization and
// can do nothing with others.
import { type Command, Option } from 'commander';
import { PLANS, type Plan } from '../../core/config/access.ts';
import { LIMIT_NAMES, LIMITS, type LimitName } from '../../core/fairness/limits.ts';
import type { OrganizationView } from '../../db/organizations/organizations.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { contextOf } from '../context.ts';
import { ON_THE_DATABASE, onDatabase } from './database.ts';
import { CliError, EXIT, notFound, usage } from '../errors.ts';
import type { Output } from '../output.ts';

export function addOrganizations(program: Command): void {
  const orgs = program
    .command('orgs')
    .description('organizations of the service; works on its database')
    .addHelpText('after', ON_THE_DATABASE);
  addList(orgs);
  addCreate(orgs);
  addSuspendAndResume(orgs);
  addPlanAndLimits(orgs);
  addDelete(orgs);
}

function addList(orgs: Command): void {
  orgs
    .command('list')
    .description('list organizations with their plan and status: active, suspended, or deleting')
    .action(async (_options, command: Command) => {
      const { output } = contextOf(command);
      const { listOrganizations } = await statements();
      const organizations = await onDatabase(listOrganizations);
      output.result(organizations, () =>
        output.table(
          ['slug', 'name', 'id', 'plan', 'status', 'limits', 'created'],
          organizations.map((each) => [
            each.slug,
            each.name,
            each.id,
            each.plan,
            shownStatus(each),
            shownLimits(each),
            each.createdAt.toISOString(),
          ]),
        ),
      );
    });
}

function shownStatus({ status, eventsRemoved }: OrganizationView): string {
  return status === 'deleting' ? `deleting (${eventsRemoved} events removed)` : status;
}

function shownLimits({ limits }: OrganizationView): string {
  const set = Object.entries(limits).map(([name, value]) => `${name} ${value ?? 'none'}`);
  return set.length === 0 ? 'of the plan' : set.join(', ');
}

function addCreate(orgs: Command): void {
  orgs
    .command('create <name>')
    .description('create an organization and its first key, which is printed once')
    .requiredOption('--slug <slug>', 'part of the addresses of its sources; lowercase letters, digits, single hyphens')
    .addOption(new Option('--plan <plan>', 'pro has a limit of everything').choices(PLANS).default('pro'))
    .action(async (name: string, { slug, plan }: { slug: string; plan: string }, command: Command) => {
      const { output } = contextOf(command);
      const { createOrganization } = await import('../../db/schema/prepare.ts');
      const created = await onDatabase((pool) => createOrganization(pool, { name, slug, plan }));
      output.result(created, () => {
        output.line(created.token);
        output.note(
          `${name} was created (${created.organization.id}, plan ${plan}); this is its first key, not shown again`,
        );
      });
    });
}

function addSuspendAndResume(orgs: Command): void {
  orgs
    .command('suspend <organization>')
    .description('refuse its webhooks and changes, and let its deliveries wait; slug or id')
    .action(async (name: string, _options, command: Command) => {
      const [{ suspendOrganization }, { inTransaction }] = await Promise.all([
        import('../../db/organizations/organizations.ts'),
        import('../../db/connections/pool.ts'),
      ]);
      await change(command, name, 'suspend', [], async (pool, { id, slug }) => {
        if (!(await inTransaction(pool, (db) => suspendOrganization(db, id)))) return `${slug} is suspended already`;
        return `${slug} is suspended: its webhooks are refused now, and its deliveries wait from within seconds on`;
      });
    });
  orgs
    .command('resume <organization>')
    .description('end a suspension; what has waited continues')
    .action(async (name: string, _options, command: Command) => {
      const { resumeOrganization } = await import('../../db/organizations/organizations.ts');
      await change(command, name, 'resume', [], async (pool, { id, slug }) => {
        if (!(await resumeOrganization(pool, id))) return `${slug} is not suspended`;
        return `${slug} is resumed: its deliveries continue within seconds, a replay of events within half a minute`;
      });
    });
}

function addPlanAndLimits(orgs: Command): void {
  orgs
    .command('set-plan <organization> <plan>')
    .description(`set its plan: ${PLANS.join(', ')}; limits that were set for it alone stay`)
    .action(async (name: string, text: string, _options, command: Command) => {
      const plan = planOf(text);
      const [{ setPlan }, { inTransaction }] = await Promise.all([
        statements(),
        import('../../db/connections/pool.ts'),
      ]);
      await change(command, name, 'set-plan', ['plan'], async (pool, { id, slug }) => {
        await inTransaction(pool, (db) => setPlan(db, id, plan));
        return `${slug} has the plan ${plan}; its limits are in force within seconds`;
      });
    });
  orgs
    .command('set-limit <organization> <limit> <value>')
    .description('set one of its limits: a whole number, none for no limit, default for that of its plan')
    .addHelpText('after', `\nLimits:\n${LIMIT_NAMES.map((name) => `  ${name}: ${LIMITS[name].unit}`).join('\n')}`)
    .action(async (name: string, limit: string, text: string, _options, command: Command) => {
      const [limitName, value] = [limitNameOf(limit), limitValueOf(text)];
      const [{ setLimits }, { inTransaction }] = await Promise.all([
        import('../../db/organizations/organizations.ts'),
        import('../../db/connections/pool.ts'),
      ]);
      await change(command, name, 'set-limit', [limitName], async (pool, { id, slug }) => {
        await inTransaction(pool, (db) => setLimits(db, id, { [limitName]: value }));
        return `${limitName} of ${slug} is ${text}, in force within seconds`;
      });
    });
}

function planOf(text: string): Plan {
  const plan = PLANS.find((each) => each === text);
  if (plan === undefined) throw usage(`${text} is no plan; there are ${PLANS.join(', ')}`);
  return plan;
}

function limitNameOf(text: string): LimitName {
  const name = LIMIT_NAMES.find((each) => each === text);
  if (name === undefined) throw usage(`${text} is no limit; there are ${LIMIT_NAMES.join(', ')}`);
  return name;
}

function limitValueOf(text: string): number | null | 'default' {
  if (text === 'default') return text;
  if (text === 'none') return null;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw usage(`A limit is a whole number, none, or default; not ${text}`);
  return value;
}

function addDelete(orgs: Command): void {
  orgs
    .command('delete <organization>')
    .description('delete it with everything that belongs to it, in the background; cannot be undone')
    .requiredOption('--confirm <slug>', 'its slug once more')
    .action(async (name: string, { confirm }: { confirm: string }, command: Command) => {
      const { requestDeletion } = await statements();
      await change(command, name, 'delete', [], async (pool, { id, slug }) => {
        if (confirm !== slug)
          throw new CliError(EXIT.refused, `--confirm must be its slug, ${slug}; nothing was deleted`);
        await requestDeletion(pool, id);
        return `${slug} is being deleted: its keys and addresses work no more, and the rest goes in the background; orgs list shows it until then`;
      });
    });
}

// Loaded when needed, so that the other commands start without the database driver.
const statements = () => import('../../db/organizations/organizations.ts');

/** In the audit log, by the word of the command. */
const ACTIONS = {
  suspend: 'suspendOrganization',
  resume: 'resumeOrganization',
  'set-plan': 'setPlan',
  'set-limit': 'setLimit',
  delete: 'deleteOrganization',
} as const;

/**
 * Changes an organization, records that in its audit log, and shows it as it is then.
 * @param members names of what is changed, without the values
 * @param work returns what to tell
 */
async function change(
  command: Command,
  name: string,
  word: keyof typeof ACTIONS,
  members: string[],
  work: (pool: Pool, organization: OrganizationView) => Promise<string>,
): Promise<void> {
  const { output } = contextOf(command);
  const told = await onDatabase(async (pool) => {
    const { recordOperator } = await import('../../db/organizations/audit.ts');
    const found = await findOrganizationOf(pool, name);
    const entry = { action: ACTIONS[word], resource: 'organization', recordIds: [found.id], members };
    const own = { organizationId: found.id, command: `hookyard orgs ${word}` };
    const line = await recordOperator(pool, { ...own, ...entry }, () => work(pool, found));
    return { line, organization: await findOrganizationOf(pool, name) };
  });
  show(output, told);
}

function show(output: Output, { line, organization }: { line: string; organization: OrganizationView }): void {
  output.result(organization, () => output.line(line));
}

/** @throws CliError when there is none */
export async function findOrganizationOf(pool: Pool, idOrSlug: string): Promise<OrganizationView> {
  const { findOrganization } = await statements();
  const found = await findOrganization(pool, idOrSlug);
  if (!found) throw notFound(`There is no organization ${idOrSlug}; hookyard orgs list shows those there are`);
  return found;
}
