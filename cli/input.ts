// Input of commands: JSON from an argument, a file or stdin; names instead of ids; pages.
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { Client, HttpDestinationSummary, Route, Source, WarehouseDestinationSummary } from '../client/index.ts';
import { parseExact } from '../core/text/exact-json.ts';
import { notFound, usage } from './errors.ts';
import { cell } from './output.ts';

/** `--data`: the members of a record that have no option of their own. */
export function withData(command: Command): Command {
  return command.option(
    '--data <json>',
    'more members as JSON; @file reads a file, - reads stdin; options win over it',
  );
}

/** @throws CliError when it is not a JSON object, or cannot be read */
export function dataOf(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  const json = text === '-' ? readInput('/dev/stdin') : text.startsWith('@') ? readInput(text.slice(1)) : text;
  const isWritten = json === text;
  const advice = isWritten
    ? `write it in single quotes, --data '{"name": "CRM"}', or in a file, --data @file`
    : 'correct it';
  const value = parseJson(json, isWritten ? '--data' : `--data ${text}`, advice);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usage('--data must be a JSON object: {"name": ...}');
  return value as Record<string, unknown>;
}

/** @param name of the file; /dev/stdin is stdin on every system */
export const readInput = (name: string): string => readBytes(name).toString('utf8');

/** The same, byte by byte. */
export function readBytes(name: string): Buffer {
  try {
    return readFileSync(name === '/dev/stdin' || name === '-' ? 0 : name);
  } catch (error) {
    throw usage(`${name} cannot be read: ${(error as Error).message}`);
  }
}

/** @param advice what to do when it is none */
export function parseJson(text: string, what: string, advice: string): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    // The parser quotes the text, line ends and all.
    const reason = cell((error as Error).message);
    throw usage(text.trim() === '' ? `${what} is empty; ${advice}` : `${what} is not JSON: ${reason}; ${advice}`);
  }
}

/** What may be without a value: it removes a description, and sends a webhook without a body. */
const MAY_BE_EMPTY = ['--description', '--data'];

/**
 * Refuses options and arguments without a value, such as those that a script makes of a variable that is not set: a command that acts
 * on what filters select would act on more than intended.
 * @throws CliError
 */
export function refuseEmpty(command: Command): void {
  const isEmpty = (value: unknown): boolean => [value].flat().includes('');
  const empty = command.registeredArguments
    .filter((_argument, index) => isEmpty(command.processedArgs[index]))
    .map((argument) => `<${argument.name()}>`);
  for (let each: Command | null = command; each !== null; each = each.parent) {
    for (const option of each.options)
      if (isEmpty(each.getOptionValue(option.attributeName()))) empty.push(option.long ?? option.flags);
  }
  const refused = empty.find((name) => !MAY_BE_EMPTY.includes(name));
  if (refused !== undefined) throw usage(`${refused} is empty; give it a value, or leave it out`);
}

/** The members that were given. */
export function given<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;
}

export function integer(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^-?\d+$/.test(text)) throw usage(`${option} must be a whole number, not "${text}"`);
  return Number(text);
}

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time: ISO 8601 as it is, or how long ago: `30m`, `1h`, `7d`. */
export function time(text: string | undefined): string | undefined {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text ?? '') ?? [];
  if (count === undefined || unit === undefined) return text;
  return new Date(Date.now() - Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS]).toISOString();
}

/** `--from` and `--to` of a list. */
export function withTimes(command: Command): Command {
  return command.option('--from <time>', 'ISO 8601, or how long ago: 30m, 1h, 7d').option('--to <time>', 'the same');
}

/** For options that may be repeated. */
export const collect = (text: string, before: string[] = []) => [...before, text];

export function trueOrFalse(text: string | undefined, option: string): boolean | undefined {
  if (text === undefined) return undefined;
  if (text !== 'true' && text !== 'false') throw usage(`${option} must be true or false, not ${text}`);
  return text === 'true';
}

/** `--page` and `--page-size`. */
export function withPages(command: Command): Command {
  return command.option('--page <n>', 'which page (1)').option('--page-size <n>', 'items on a page, at most 100 (20)');
}

/** The pages of a list that grows, or `--cursor`. */
export function withParts(command: Command): Command {
  const cursor = new Option(
    '--cursor <cursor>',
    'instead of a page: first, or what the part before says continues with',
  );
  return withPages(command).addOption(cursor.conflicts('page'));
}

export function pageOf(options: { page?: string; pageSize?: string }): { page?: number; pageSize?: number } {
  return { page: integer(options.page, '--page'), pageSize: integer(options.pageSize, '--page-size') };
}

/** `--enable` and `--disable`. */
export function withEnabled(command: Command): Command {
  return command.addOption(new Option('--enable').conflicts('disable')).addOption(new Option('--disable'));
}

export function enabledOf({ enable, disable }: { enable?: boolean; disable?: boolean }): boolean | undefined {
  return enable ? true : disable ? false : undefined;
}

/** A source by its id or slug. @throws CliError when there is none */
export async function findSource(client: Client, idOrSlug: string): Promise<Source> {
  if (/^src_/.test(idOrSlug)) return client.getSource({ id: idOrSlug });
  for await (const source of client.each('listSources', { search: idOrSlug }))
    if (source.slug === idOrSlug) return source;
  throw notFound(`There is no source ${idOrSlug}; hookyard sources list shows those there are`);
}

/** A destination's id by itself or by its name. @throws CliError when there is none, or more than one */
export async function findDestination(client: Client, idOrName: string): Promise<string> {
  if (/^dst_/.test(idOrName)) return idOrName;
  const found: (HttpDestinationSummary | WarehouseDestinationSummary)[] = [];
  for await (const one of client.each('listDestinations', { search: idOrName }))
    if (one.name === idOrName) found.push(one);
  return only(found, 'destination', idOrName);
}

/** A route's id by itself or by its name. @throws CliError when there is none, or more than one */
export async function findRoute(client: Client, idOrName: string): Promise<string> {
  if (/^rte_/.test(idOrName)) return idOrName;
  const found: Route[] = [];
  for await (const route of client.each('listRoutes')) if (route.name === idOrName) found.push(route);
  return only(found, 'route', idOrName);
}

function only(found: { id: string }[], kind: string, name: string): string {
  const [first, ...others] = found;
  if (!first) throw notFound(`There is no ${kind} ${name}; hookyard ${kind}s list shows those there are`);
  if (others.length > 0)
    throw usage(`${found.length} ${kind}s are named ${name}; give an id: ${found.map(({ id }) => id).join(', ')}`);
  return first.id;
}
