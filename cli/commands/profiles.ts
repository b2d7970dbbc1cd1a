import type { Command } from 'commander';
import { checkedUrl, type GlobalOptions, profilesFile, readProfiles, writeProfiles } from '../context.ts';
import { notFound, usage } from '../errors.ts';
import { secretOf } from '../input.ts';
import { createOutput, type Output } from '../output.ts';

const HINT_LENGTH = 4;

export function addProfiles(program: Command): void {
  const profiles = program.command('profiles').description('Manage profiles, which store a service URL and an API key');
  profiles
    .command('list')
    .description('List profiles')
    .action((_options, command: Command) => {
      const stored = Object.entries(readProfiles()).map(([name, { url, apiKey }]) => ({
        name,
        url: url ?? null,
        apiKey: apiKey === undefined ? null : `••••${apiKey.slice(-HINT_LENGTH)}`,
      }));
      const output = outputOf(command);
      output.result(stored, () => {
        output.table(
          ['name', 'service', 'key'],
          stored.map(({ name, url, apiKey }) => [name, url, apiKey]),
        );
        output.note(profilesFile());
      });
    });
  profiles
    .command('set <name>')
    .description('Store --url, --api-key or both as a profile')
    .action((name: string, _options, command: Command) => {
      const { url, apiKey } = command.optsWithGlobals<GlobalOptions>();
      if (!url && !apiKey) throw usage('Specify --url, --api-key or both for the profile');
      const key = secretOf(apiKey);
      const stored = readProfiles();
      const profile = { ...stored[name], ...(url && { url: checkedUrl(url) }), ...(key && { apiKey: key }) };
      writeProfiles({ ...stored, [name]: profile });
      const message = `Use the profile with --profile ${name} or HOOKYARD_PROFILE=${name}`;
      outputOf(command).result({ name, message }, () => outputOf(command).line(message));
    });
  profiles
    .command('remove <name>')
    .description('Remove a profile')
    .action((name: string, _options, command: Command) => {
      const { [name]: gone, ...others } = readProfiles();
      if (gone === undefined) throw notFound(`No profile named ${name}. List profiles with: hookyard profiles list`);
      writeProfiles(others);
      outputOf(command).result({ name }, () => outputOf(command).line(`${name} was removed`));
    });
}

const outputOf = (command: Command): Output => createOutput(command.optsWithGlobals<GlobalOptions>().json === true);
