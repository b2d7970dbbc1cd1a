// Values of options: JSON and secrets from an argument, a file or stdin, numbers, times.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { parseExact } from '../core/text/exact-json.ts';
import { parseIsoTime } from '../core/text/timestamps.ts';
import { usage } from './errors.ts';
import { cell } from './output.ts';

/** @param name of the file; `-` or /dev/stdin is stdin on every system @throws CliError when it cannot be read */
export function readBytes(name: string): Buffer {
  try {
    return readFileSync(name === '/dev/stdin' || name === '-' ? 0 : name);
  } catch (error) {
    throw usage(`${name} cannot be read: ${(error as Error).message}`);
  }
}

export const readInput = (name: string): string => readBytes(name).toString('utf8');

/**
 * Replaces a file as a whole by one that only its owner can read: what breaks off, or reads it meanwhile, has the one
 * of before. A device or a pipe is written to.
 * @throws CliError when it cannot be written
 */
export function replaceFile(file: string, text: string): void {
  try {
    const known = statSync(file, { throwIfNoEntry: false });
    if (known && !known.isFile()) return void writeFileSync(file, text, { flag: 'a' });
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const target = known ? realpathSync(file) : file;
    const beside = `${target}.${process.pid}.part`;
    try {
      writeFileSync(beside, text, { mode: 0o600, flag: 'wx', flush: true });
      renameSync(beside, target);
    } catch (error) {
      // It may hold credentials.
      rmSync(beside, { force: true });
      throw error;
    }
  } catch (error) {
    throw usage(`${file} cannot be written: ${(error as Error).message}`);
  }
}

/** A secret as it was given, or from a file with `@`, where neither `ps` nor the shell's history shows it. */
export const secretOf = (text: string | undefined): string | undefined =>
  text?.startsWith('@') ? readInput(text.slice(1)).trim() : text;

/** The private key in a file. @throws CliError when there is none that can be used */
export function privateKeyOf(file: string | undefined): KeyObject | undefined {
  if (file === undefined) return undefined;
  const text = readInput(file);
  try {
    return createPrivateKey(text);
  } catch {
    // What the parser says quotes nothing, but is no help either.
    throw usage(`${file} is not an unencrypted private key in PEM format`);
  }
}

/** JSON from an argument, `@file`, or `-` for stdin. @throws CliError */
export function jsonOf(text: string, option: string): unknown {
  if (text === '-') return parseJson(readInput('-'), `${option} -`, 'pass valid JSON');
  if (text.startsWith('@')) return parseJson(readInput(text.slice(1)), `${option} ${text}`, 'pass valid JSON');
  const advice = `put it in single quotes (${option} '{"name": "CRM"}') or in a file (${option} @file)`;
  return parseJson(text, option, advice);
}

/** The object of `--data`. @throws CliError when it is none */
export function dataOf(text: string | undefined): Record<string, unknown> {
  const value = text === undefined ? {} : jsonOf(text, '--data');
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usage('--data must be a JSON object, such as {"name": ...}');
  return value as Record<string, unknown>;
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
 * Refuses options and arguments without a value, such as those that a script makes of a variable that is not set: a
 * command that acts on what filters select would act on more than intended.
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
  if (refused !== undefined) throw usage(`${refused} is empty; set a value or omit it`);
}

export function given<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;
}

export function integer(text: string, option: string): number {
  if (!/^-?\d+$/.test(text)) throw usage(`${option} must be a whole number, not "${text}"`);
  return Number(text);
}

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time in ISO 8601, or how long ago: `30m`, `1h`, `7d`. In ms since 1970; null when it is neither. */
export function momentOf(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return parseIsoTime(text);
  return Date.now() - Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

/** The same for an option, in ISO 8601. @throws CliError */
export function time(text: string, option: string): string {
  const moment = momentOf(text);
  if (moment === null)
    throw usage(`${option} must be an ISO 8601 time, or how long ago (for example 30m, 1h or 7d), not "${text}"`);
  return new Date(moment).toISOString();
}

export const collect = (text: string, before: string[] = []) => [...before, text];

export function trueOrFalse(text: string, option: string): boolean {
  if (text !== 'true' && text !== 'false') throw usage(`${option} must be true or false, not "${text}"`);
  return text === 'true';
}
