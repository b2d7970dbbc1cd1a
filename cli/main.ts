// The command line: its commands, its options, and how it ends.
import { Command } from 'commander';
import { addCompletion } from './commands/completion.ts';
import { deliveries } from './commands/deliveries.ts';
import { addDiagnose } from './commands/diagnose.ts';
import { destinations } from './commands/destinations.ts';
import { events } from './commands/events.ts';
import { addExchange } from './commands/exchange.ts';
import { alertChannels, issues } from './commands/issues.ts';
import { addListen } from './listen/command.ts';
import { addMcp } from './mcp/command.ts';
import { addResource } from './commands/operation.ts';
import { addOrganization } from './commands/organization.ts';
import { addProfiles } from './commands/profiles.ts';
import { addProviders, sources } from './commands/sources.ts';
import { routes } from './commands/routes.ts';
import { filters, schemas, transforms } from './commands/rules.ts';
import { addSend } from './commands/send.ts';
import { addStart } from './commands/start.ts';
import { type GlobalOptions, type ServiceAddress, serviceAddress, VERSION } from './context.ts';
import { endingOf } from './errors.ts';
import { refuseEmpty } from './input.ts';
import { addMigrate, addPruneVisibility } from './operator/migrate.ts';
import { addOrganizations } from './operator/orgs.ts';
import { watchOutput } from './output.ts';

const program = new Command('hookyard')
  .description('Receive, route and deliver webhooks from the command line.')
  .version(VERSION, '-V, --version', 'Show the version')
  .option(
    '--url <url>',
    'Service URL (HOOKYARD_URL, HOOKYARD_PUBLIC_URL, HOOKYARD_PORT; default: the service running in the data folder, else http://localhost:3000)',
  )
  .option(
    '--api-key <key>',
    'API key (whr_..., or @file; HOOKYARD_API_KEY; default for the service on this machine: the file keys/api-key in the data folder)',
  )
  .option('--profile <name>', 'Profile to use, created with hookyard profiles set (HOOKYARD_PROFILE)')
  .option(
    '--timeout <seconds>',
    'Maximum seconds to wait for each response, and in total between retries (default: 30)',
  )
  .option('--json', 'Print results as JSON to stdout, and errors as JSON to stderr')
  .helpOption('-h, --help', 'Show help')
  .helpCommand('help [command]', 'Show help for a command')
  .showHelpAfterError('Add --help to see the commands and options.')
  .exitOverride()
  .hook('preAction', (_program, command) => refuseEmpty(command))
  .addHelpText(
    'after',
    `
A source receives webhooks, a destination is where they are delivered, and a route connects a source to destinations.

  hookyard listen 4000 --source orders        Receive the webhooks of "orders" on this machine
  hookyard send --source orders --provider github
  hookyard events list --status failed

Exit codes: 0 success; 1 rejected by the API, or a delivery, test or import failed; 2 usage error; 3 not found; 4 missing or invalid API key, missing scope or invalid signature; 5 service unreachable, or a 5xx or 429 response.
See docs/guide/cli.md.`,
  );

addStart(program);
addListen(program);
addSend(program);
addProviders(program);
for (const resource of [
  sources,
  destinations,
  routes,
  filters,
  transforms,
  schemas,
  events,
  deliveries,
  issues,
  alertChannels,
])
  addResource(program, resource);
addMcp(program);
addExchange(program);
addOrganization(program);
addOrganizations(program);
addMigrate(program);
addPruneVisibility(program);
addProfiles(program);
addDiagnose(program);
addCompletion(program);

watchOutput();

try {
  await program.parseAsync();
} catch (error) {
  const options = program.opts<GlobalOptions>();
  const { exitCode, line, body } = endingOf(error, () => addressOrNothing(options));
  if (line !== '') process.stderr.write(options.json ? `${JSON.stringify({ error: body })}\n` : `hookyard: ${line}\n`);
  process.exitCode = exitCode;
}

function addressOrNothing(options: GlobalOptions): Pick<ServiceAddress, 'url' | 'from'> {
  try {
    return serviceAddress(options);
  } catch {
    return { url: '', from: '' };
  }
}
