// hookyard profiles: services and keys by a name.
import type { Command } from 'commander';
import { checkedUrl, type GlobalOptions } from '../context.ts';
import { notFound, usage } from '../errors.ts';
import { secretOf } from '../input.ts';
import { createOutput, type Output } from '../output.ts';
import { profilesFile, readProfiles, writeProfiles } from '../profile-store.ts';

const HINT_LENGTH = 4;

export function addProfiles(program: Command): void {
  const profiles = program.command('profiles').description('named services and keys, for --profile');
  profiles
    .command('list')
    .description('list them')
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
    .description('store --url, --api-key (@file reads a file), or both, under a name')
    .action((name: string, _options, command: Command) => {
      const { url, apiKey } = command.optsWithGlobals<GlobalOptions>();
      if (!url && !apiKey) throw usage('Give what the profile is to hold: --url, --api-key, or both');
      const key = secretOf(apiKey);
      const stored = readProfiles();
      const profile = { ...stored[name], ...(url && { url: checkedUrl(url) }), ...(key && { apiKey: key }) };
      writeProfiles({ ...stored, [name]: profile });
      const message = `--profile ${name} uses it, and so does HOOKYARD_PROFILE=${name}`;
      outputOf(command).result({ name, message }, () => outputOf(command).line(message));
    });
  profiles
    .command('remove <name>')
    .description('forget it')
    .action((name: string, _options, command: Command) => {
      const { [name]: gone, ...others } = readProfiles();
      if (gone === undefined)
        throw notFound(`There is no profile ${name}; hookyard profiles list shows those there are`);
      writeProfiles(others);
      outputOf(command).result({ name }, () => outputOf(command).line(`${name} is forgotten`));
    });
}

const outputOf = (command: Command): Output => createOutput(command.optsWithGlobals<GlobalOptions>().json === true);
