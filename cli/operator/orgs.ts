// hookyard orgs: what an operator does with organizations. On the database itself, because an API key belongs to one
// organization and can do nothing with others.
import { type Command, Option } from 'commander';
import { PLANS } from '../../core/config/plans-and-scopes.ts';
import { LIMIT_NAMES, LIMITS } from '../../core/fairness/organization-limits.ts';
import { contextOf } from '../context.ts';
import { usage } from '../errors.ts';
import { ON_THE_DATABASE, onDatabase } from './database.ts';
import type { Change, ChangeName } from './organizations.ts';

// Loaded when needed, so that the other commands start without the database driver.
const organizations = () => import('./organizations.ts');

export function addOrganizations(program: Command): void {
  const orgs = program
    .command('orgs')
    .description('Manage organizations; accesses the database directly')
    .addHelpText('after', ON_THE_DATABASE);
  orgs
    .command('list')
    .description('List organizations with their plan and status (active, suspended or deleting)')
    .action(async (_options, command: Command) => {
      const { output } = contextOf(command);
      const { listOrganizations, rowOf } = await organizations();
      const all = await onDatabase(listOrganizations);
      const columns = ['slug', 'name', 'id', 'plan', 'status', 'limits', 'created'];
      output.result(all, () => output.table(columns, all.map(rowOf)));
    });
  orgs
    .command('create <name>')
    .description('Create an organization and its first API key, which is printed only once')
    .requiredOption('--slug <slug>', 'Part of the ingest URLs (lowercase letters, digits and single hyphens)')
    .addOption(new Option('--plan <plan>', 'Plan').choices(PLANS).default('pro'))
    .action(async (name: string, { slug, plan }: { slug: string; plan: string }, command: Command) => {
      const { output } = contextOf(command);
      const { createOrganization } = await organizations();
      const created = await onDatabase((pool) => createOrganization(pool, { name, slug, plan }));
      output.result(created, () => {
        output.line(created.token);
        const { id } = created.organization;
        output.note(
          `${name} was created (${id}, ${plan} plan). This is its first API key, which will not be shown again.`,
        );
      });
    });
  addChange(
    orgs,
    'suspend',
    'Suspend an organization (slug or ID): refuse its webhooks and all API requests except GET, and hold its deliveries',
  );
  addChange(orgs, 'resume', 'Resume an organization; its held deliveries continue');
  addChange(orgs, 'set-plan', `Set an organization's plan (${PLANS.join(', ')}); limits set with set-limit are kept`)
    .argument('<plan>')
    .action((name: string, plan: string, _options, command: Command) => {
      const members = { plan: oneOf(PLANS, plan, 'plan') };
      return change(command, name, 'set-plan', members);
    });
  addChange(
    orgs,
    'set-limit',
    "Set a limit of an organization to a whole number, none (no limit) or default (the plan's limit)",
  )
    .argument('<limit>')
    .argument('<value>')
    .addHelpText('after', `\nLimits:\n${LIMIT_NAMES.map((name) => `  ${name}: ${LIMITS[name].unit}`).join('\n')}`)
    .action((name: string, limit: string, value: string, _options, command: Command) =>
      change(command, name, 'set-limit', { [oneOf(LIMIT_NAMES, limit, 'limit')]: limitOf(value) }),
    );
  addChange(
    orgs,
    'delete',
    'Delete an organization and everything that belongs to it, in the background; this cannot be undone',
  )
    .requiredOption('--confirm <slug>', "The organization's slug, to confirm")
    .action((name: string, { confirm }: { confirm: string }, command: Command) =>
      change(command, name, 'delete', {}, confirm),
    );
}

const addChange = (orgs: Command, word: ChangeName, about: string): Command =>
  orgs
    .command(`${word} <organization>`)
    .description(about)
    .action((name: string, _options, command: Command) => change(command, name, word, {}));

function oneOf<Name extends string>(names: readonly Name[], text: string, what: string): Name {
  const name = names.find((each) => each === text);
  if (name === undefined) throw usage(`Invalid ${what} ${text}. Valid ${what}s: ${names.join(', ')}`);
  return name;
}

function limitOf(text: string): number | null | 'default' {
  if (text === 'default') return text;
  if (text === 'none') return null;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw usage(`Invalid value ${text}; a limit must be a whole number, none or default`);
  return value;
}

async function change(
  command: Command,
  name: string,
  word: ChangeName,
  members: Change['members'],
  confirm?: string,
): Promise<void> {
  const { output } = contextOf(command);
  const { changeOrganization } = await organizations();
  const { line, organization } = await onDatabase((pool) => changeOrganization(pool, name, { word, members, confirm }));
  output.result(organization, () => output.line(line));
}
