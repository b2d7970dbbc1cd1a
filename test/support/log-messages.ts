// The messages of level info and above that the sources write to the log, read from the sources.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SOURCE_FOLDERS } from './source-folders.ts';

export interface LogMessage {
  level: 'info' | 'warn' | 'error' | 'fatal';
  /** With `<>` for what is put in. */
  message: string;
  file: string;
}

/** A call that writes to the log. */
export interface LogCall {
  level: 'debug' | LogMessage['level'];
  /** The text of each argument. */
  args: string[];
  file: string;
}

const PROJECT = join(import.meta.dirname, '..', '..');
const CALL = /(?:\blog|#log|\blogger\??|\b(?:throttled|logOf)\([\w.#]+\))\.(debug|info|warn|error|fatal)\(/g;
const PLACE = '<>';

/** Every message of the sources. @throws Error for a call whose message is not written where it is logged, or in a constant */
export function logMessages(): LogMessage[] {
  const files = sources();
  const constants = new Map(files.flatMap(({ text }) => constantsOf(text)));
  return callsIn(files).flatMap(({ level, args, file }) => {
    if (level === 'debug') return [];
    const messages = messagesIn(args, constants);
    if (messages.length === 0)
      throw new Error(`${file}: log.${level}(${args.join(',')}) has no message that can be read`);
    return messages.map((message) => ({ level, message, file }));
  });
}

/** Every call of the sources that writes to the log. */
export const logCalls = (): LogCall[] => callsIn(sources());

interface Source {
  file: string;
  text: string;
}

const sources = (): Source[] =>
  globSync(
    SOURCE_FOLDERS.map((folder) => `${folder}/**/*.ts`),
    { cwd: PROJECT },
  ).map((file) => ({ file, text: readFileSync(join(PROJECT, file), 'utf8') }));

const callsIn = (files: Source[]): LogCall[] =>
  files.flatMap(({ file, text }) =>
    [...text.matchAll(CALL)].map(({ 0: call, 1: level, index }) => ({
      level: level as LogCall['level'],
      args: argumentsAt(text, index + call.length),
      file,
    })),
  );

/** Where the page of messages and the sources name the same message, this is the same. */
export function comparable(message: string): string {
  return message.replaceAll(/<[^<>]*>/g, PLACE);
}

function constantsOf(text: string): [string, string][] {
  return [...text.matchAll(/^(?:export )?const ([A-Z][A-Z_]+) = (?=[`'])/gm)].map(
    ({ 0: start, 1: name = '', index }) => {
      const [literal = ''] = literalsIn(text, index + start.length, index + start.length + 1);
      return [name, literal];
    },
  );
}

/** The text of each argument of the call whose arguments begin here. */
function argumentsAt(text: string, start: number): string[] {
  const args: string[] = [];
  let depth = 0;
  let from = start;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (`'"\``.includes(char)) at = endOfLiteral(text, at);
    else if ('([{'.includes(char)) depth += 1;
    else if (')]}'.includes(char)) depth -= 1;
    if (depth < 0 || (depth === 0 && char === ',')) {
      args.push(text.slice(from, at).trim());
      from = at + 1;
    }
    if (depth < 0) break;
  }
  return args.filter((arg) => arg !== '');
}

/** The message is the first argument, or the one behind the facts. */
function messagesIn([first = '', second = '']: string[], constants: ReadonlyMap<string, string>): string[] {
  const arg = /^[`']/.test(first) || constants.has(first) ? first : second;
  const constant = constants.get(arg);
  return constant === undefined ? literalsIn(arg, 0, arg.length) : [constant];
}

/** The literals that begin between two places, with `<>` for what is put in. */
function literalsIn(text: string, from: number, to: number): string[] {
  const found: string[] = [];
  for (let at = from; at < to; at += 1) {
    if (!`'\``.includes(text[at] ?? '')) continue;
    const end = endOfLiteral(text, at);
    // Not what is compared to choose between messages.
    if (!text.slice(0, at).endsWith('=== ')) found.push(withoutPlaces(text.slice(at + 1, end)));
    at = end;
  }
  return found;
}

function withoutPlaces(literal: string): string {
  let message = '';
  for (let at = 0; at < literal.length; at += 1) {
    if (literal.startsWith('${', at)) {
      at = endOfPlace(literal, at + 2);
      message += PLACE;
    } else if (literal[at] === '\\') {
      at += 1;
      message += literal[at];
    } else message += literal[at];
  }
  return message;
}

function endOfLiteral(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[start] === '`' && text.startsWith('${', at)) at = endOfPlace(text, at + 2);
    else if (text[at] === text[start]) return at;
  }
  return text.length;
}

/** @param start behind `${`; @returns where its bracket closes */
function endOfPlace(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (`'"\``.includes(char)) at = endOfLiteral(text, at);
    else if (char === '{') depth += 1;
    else if (char === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}
