import type { Command } from 'commander';
import type { Provider } from '../../providers/index.ts';
import { contextOf } from '../context.ts';
import { usage } from '../errors.ts';

export function addProviders(program: Command): void {
  program
    .command('providers [name]')
    .description('List providers, or show how to connect one')
    .action(async (name: string | undefined, _options, command: Command) => {
      const { providerNamed, providers } = await import('../../providers/index.ts');
      const { output } = contextOf(command);
      if (name === undefined)
        return output.result(providers.map(shown), () => {
          for (const { name: its, title } of providers) output.line(`${its.padEnd(20)} ${title}`);
        });
      const provider = providerNamed(name);
      if (provider === undefined) throw usage(`No provider named ${name}. List providers with: hookyard providers`);
      output.result(shown(provider), () => {
        output.line(`${provider.title} (${provider.docs})`);
        output.line(provider.instructions);
        if (provider.secret.is !== null) output.line(`--secret: ${provider.secret.is}`);
        if (provider.verifyToken !== undefined) output.line(`--verify-token: ${provider.verifyToken}`);
        output.line(`samples: ${provider.samples.map(({ event }) => event).join(', ')}`);
      });
    });
}

function shown({ name, title, docs, secret, verifyToken, instructions, samples }: Provider) {
  return {
    ...{ name, title, docs, secret: secret.is, verifyToken: verifyToken ?? null, instructions },
    samples: samples.map(({ event }) => event),
  };
}
