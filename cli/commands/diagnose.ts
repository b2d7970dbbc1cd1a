// hookyard diagnose: what a bug report needs. Shows no secrets and nothing of webhooks.
import { readdirSync, readFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Client, HookyardError } from '../../client/index.ts';
import { plural } from '../../core/text/words.ts';
import { contextOf, dataFolder, type GlobalOptions, serviceAddress, VERSION } from '../context.ts';
import { EXIT } from '../errors.ts';

const MOST_ISSUES = 10;
const MOST_LINES = 10;
const MOST_CHARACTERS = 300;

export function addDiagnose(program: Command): void {
  program
    .command('diagnose')
    .description('Print versions, health, the latest errors and settings (without secrets), for a bug report')
    .addHelpText(
      'after',
      `
Run this command where the service runs (for example, in its container or checkout), with the same environment. Settings and
logs come from this machine; health and issues come from the service.`,
    )
    .action(async (_options, command: Command) => {
      const { client, output } = contextOf(command);
      const { url, from } = serviceAddress(command.optsWithGlobals<GlobalOptions>());
      const [service, settings] = await Promise.all([lookAt(client), readOwnSettings()]);
      const report = {
        versions: {
          hookyard: VERSION,
          service: service.version,
          node: process.version,
          system: `${process.platform} ${release()} ${process.arch}`,
        },
        service: { url: withoutSecrets(url), from, health: service.health },
        settings,
        issues: service.issues,
        logs: errorsOfLogs(join(dataFolder(), 'logs')),
      };
      if (service.health.alive !== 'ok') process.exitCode = EXIT.unavailable;
      output.result(report, () => {
        const section = (title: string, lines: string[]) => {
          output.line(`${title}\n${lines.map((line) => `  ${line}`).join('\n') || '  none'}`);
        };
        const pairs = (values: object) => Object.entries(values).map(([name, value]) => `${name}: ${value}`);
        section('versions', pairs(report.versions));
        section('service', [...pairs({ url: report.service.url, from }), ...pairs(service.health)]);
        section('settings', settings);
        section('open issues', service.issues);
        for (const [file, lines] of Object.entries(report.logs)) section(`errors in ${file}`, lines);
      });
    });
}

async function lookAt(client: Client) {
  const alive = await stateOf(client.isAlive());
  if (alive !== 'ok') return { version: 'unknown', health: { alive }, issues: [] };
  const [ready, delivering, version, issues] = await Promise.all([
    stateOf(client.isReady()),
    stateOf(client.isReady({ deep: 'true' })),
    client.getDescription().then(versionOf, messageOf),
    client.listIssues({ state: 'open', pageSize: MOST_ISSUES }).then(
      ({ data }) =>
        data.map(
          ({ kind, cause, count, lastSeenAt }) => `${kind} ${cause}, ${plural(count, 'time')}, last at ${lastSeenAt}`,
        ),
      (error) => [`unknown: ${messageOf(error)}`],
    ),
  ]);
  return { version, health: { alive, ready, delivering }, issues };
}

const stateOf = (probe: Promise<object>): Promise<string> =>
  probe.then((answer) => {
    const { status, ...rest } = answer as { status: string };
    return Object.keys(rest).length === 0 ? status : `${status} ${JSON.stringify(rest)}`;
  }, messageOf);

const versionOf = (description: unknown): string =>
  (description as { info?: { version?: string } }).info?.version ?? 'unknown';

const messageOf = (error: unknown): string =>
  error instanceof HookyardError ? `${error.code ?? error.status}: ${error.message}` : String(error);

/** Of this process's environment; what is wrong with it when the service would not start with it. */
async function readOwnSettings(): Promise<string[]> {
  // Loaded here, so that the other commands start without zod.
  const { describeSettings, readSettings } = await import('../../core/config/config.ts');
  const { ConfigError, withSecretFiles } = await import('../../core/config/secret-files.ts');
  try {
    return describeSettings(readSettings(withSecretFiles(process.env))).map(withoutSecrets);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(withoutSecrets);
    throw error;
  }
}

/** The last lines that report errors, by the file in the data folder of npm start or hookyard-server. */
function errorsOfLogs(folder: string): Record<string, string[]> {
  const isError = /\b(?:ERROR|FATAL|PANIC)\b|"level":"(?:error|fatal)"/;
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith('.log'));
    const lastErrors = (name: string) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .filter((line) => isError.test(line))
        .slice(-MOST_LINES)
        .map((line) => withoutSecrets(line).slice(0, MOST_CHARACTERS));
    return Object.fromEntries(files.map((name) => [name, lastErrors(name)]));
  } catch {
    return {}; // not the machine of the service
  }
}

const withoutSecrets = (text: string): string =>
  text.replaceAll(/(:\/\/)[^\s/@]*@/g, '$1****@').replaceAll(/\b(whr_|whsec_)[\w+/=-]+/g, '$1****');
