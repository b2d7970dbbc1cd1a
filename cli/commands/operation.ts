// A command that calls one operation of the API: its arguments and options are the parameters and the members of the
// body, and a row (resources.ts) says what is special about it.
import { type Command, Option } from 'commander';
import type { Client, RawAnswer } from '../../client/index.ts';
import { type Context, contextOf } from '../context.ts';
import { CliError, EXIT, usage } from '../errors.ts';
import { collect, dataOf, integer, jsonOf, secretOf, time, trueOrFalse } from '../input.ts';
import {
  callOperation,
  type Member,
  type Operation,
  OPERATIONS,
  type OperationName,
  findId,
  isRecordKind,
  namesOf,
  type RecordKind,
} from '../operations.ts';
import { type Columns, fill, showDone, showList, showRecord } from '../show.ts';

export type Values = Record<string, unknown>;

export const valuesOf = (operation: OperationName, member: string): readonly string[] =>
  OPERATIONS[operation].body.find(({ name }) => name === member)?.values ?? [];

export interface Call {
  context: Context;
  path: Record<string, string>;
  query: Values;
  body: Values;
  options: Values;
  /** The record as it was named, else the first argument. */
  named: string;
}

export interface Row {
  operation: OperationName;
  name?: string;
  about?: string;
  /** Members of the body that are arguments; `?` at the end: it may be left out. */
  args?: readonly string[];
  /** Options for members, instead of those made of their names; null: none. */
  flags?: Record<string, readonly [flags: string, about?: string] | null>;
  columns?: Columns;
  /**
   * One line about what was done: `{path.to.member}` stands for one of the answer, `{_}` for the record as it was
   * named.
   */
  done?: string;
  extra?: (command: Command) => Command;
  prepare?: (call: Call) => void | Promise<void>;
  /** Shows the answer, instead of the usual. */
  show?: (call: Call, answer: never) => void;
  after?: (call: Call, answer: never) => void;
  /** Instead of the one call. */
  run?: (call: Call) => Promise<void>;
}

/** Options that stand for a member of whatever operation. */
const COMMON: Record<string, { flags: string; about?: string; of?: RecordKind } | null> = {
  page: { flags: '--page <n>', about: 'Page number (default: 1)' },
  pageSize: { flags: '--page-size <n>', about: 'Items per page, up to 100 (default: 20)' },
  cursor: {
    flags: '--cursor <cursor>',
    about: '"first", or the cursor printed after the previous page',
  },
  withTotal: null,
  sourceId: { flags: '--source <source>', of: 'source' },
  routeId: { flags: '--route <route>', of: 'route' },
  destinationId: { flags: '--destination <destination>', of: 'destination' },
  sourceIds: { flags: '--source <source>', of: 'source' },
  routeIds: { flags: '--route <route>', of: 'route' },
  destinationIds: { flags: '--destination <destination>', of: 'destination' },
  failoverDestinationIds: { flags: '--failover <destination>', of: 'destination' },
  transformId: { flags: '--transform <transform>', of: 'transform' },
  filterId: { flags: '--filter <filter>', of: 'filter' },
  schemaId: { flags: '--schema <schema>', of: 'schema' },
  eventId: { flags: '--event <id>' },
  recordId: { flags: '--record <id>', about: 'Only entries about this record (ID)' },
  keyId: { flags: '--key <id>', about: 'Only entries for requests with this API key (ID)' },
  statusCode: { flags: '--code <n>', about: 'Status code of the latest attempt' },
  from: { flags: '--from <time>', about: 'Start time: ISO 8601, or how long ago (for example 30m, 1h or 7d)' },
  to: { flags: '--to <time>', about: 'End time: ISO 8601, or how long ago (for example 30m, 1h or 7d)' },
  routed: {
    flags: '--routed <boolean>',
    about: 'Only routed events (true), or only events that no route matched (false)',
  },
  timeoutMs: { flags: '--timeout-ms <n>', about: 'Timeout for each attempt, in milliseconds' },
  // --url is the address of the service.
  url: { flags: '--target-url <url>' },
};
/** Texts that may also be in a file: secrets, and code. */
const MAY_BE_FILE = /secret|token|key|code/i;

interface Bound {
  options: Option[];
  member: Member;
  flag: string;
  /** @returns undefined when it was not given @throws CliError */
  read(options: Values, client: Client): unknown;
}

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function bind(members: readonly Member[], place: 'query' | 'body', flags: Row['flags'] = {}): Bound[] {
  return members.flatMap((member) => {
    const own = flags[member.name];
    const common = COMMON[member.name];
    if (own === null || (own === undefined && common === null)) return [];
    if (place === 'body' && member.kind === 'boolean' && own === undefined && !common) return [switchOf(member)];
    const of = common?.of;
    const word = common?.flags ?? `--${kebab(member.name)}${placeholderOf(member, place)}`;
    const hasChoices = place === 'query' && member.kind !== 'list' && member.values !== undefined;
    const [text, about = common?.about ?? aboutOf(member, hasChoices, of)] = own ?? [word];
    const option = new Option(text, about);
    if (member.kind === 'list') option.argParser(collect);
    else if (hasChoices) option.choices(member.values ?? []);
    if (member.name === 'cursor') option.conflicts('page');
    const flag = option.long ?? text;
    const read = (options: Values, client: Client) => {
      const value = options[option.attributeName()];
      return value === undefined ? undefined : parsed(member, value, { flag, of, client });
    };
    return [{ options: [option], member, flag, read }];
  });
}

/** On and off: `--allow-paths` and `--no-allow-paths`. */
function switchOf(member: Member): Bound {
  const isEnabled = member.name === 'enabled';
  const [on, off] = isEnabled ? ['--enable', '--disable'] : [`--${kebab(member.name)}`, `--no-${kebab(member.name)}`];
  const options = [new Option(on, isEnabled ? '' : aboutOf(member, false)), new Option(off)];
  if (isEnabled) options[0]?.conflicts('disable');
  const read = ({ enable, disable, ...others }: Values) =>
    isEnabled ? (enable ?? (disable === true ? false : undefined)) : others[options[0]?.attributeName() ?? ''];
  return { options, member, flag: on, read };
}

function placeholderOf({ kind, name }: Member, place: 'query' | 'body'): string {
  if (kind === 'boolean') return /^include/.test(name) || place === 'body' ? '' : ' <boolean>';
  if (kind === 'json') return ' <json>';
  return kind === 'integer' || kind === 'number' ? ' <n>' : ` <${kebab(name).split('-').at(-1)}>`;
}

/** @param hasChoices its values are shown already */
function aboutOf({ about, values = [], kind }: Member, hasChoices: boolean, of?: RecordKind): string {
  const parts = [
    of === undefined ? about.replace(/\.$/, '') : `${upperFirst(of)} (${namesOf(of)})`,
    !hasChoices && kind !== 'json' && values.length > 1 && values.length < 15 ? values.join(', ') : '',
    kind === 'list' ? 'repeatable' : '',
    kind === 'json' ? `${about === '' ? 'JSON' : 'as JSON'}, or @file to read it from a file` : '',
  ];
  return parts.filter((part) => part !== '').join('; ');
}

function parsed(
  { kind, name, values }: Member,
  value: unknown,
  { flag, of, client }: { flag: string; of: RecordKind | undefined; client: Client },
): unknown {
  if (Array.isArray(value)) {
    if (of !== undefined) return Promise.all(value.map((each: string) => findId(client, of, each)));
    return values === undefined ? value : value.flatMap((each: string) => each.split(','));
  }
  if (typeof value !== 'string') return value;
  if (of !== undefined) return findId(client, of, value);
  if (kind === 'integer') return integer(value, flag);
  if (kind === 'boolean') return trueOrFalse(value, flag);
  if (kind === 'json') return jsonOf(value, flag);
  if (name === 'from' || name === 'to') return time(value, flag);
  return MAY_BE_FILE.test(name) ? secretOf(value) : value;
}

async function read(bound: readonly Bound[], options: Values, client: Client): Promise<Values> {
  const members: Values = {};
  for (const each of bound) {
    const value = await each.read(options, client);
    if (value !== undefined) members[each.member.name] = value;
  }
  return members;
}

/** @param one what the group calls a record of it */
export function addOperation(group: Command, one: string, row: Row): Command {
  const operation = OPERATIONS[row.operation];
  const { args = [], flags } = row;
  const named = [...operation.path, ...args.map((arg) => arg.replace('?', ''))];
  const inPath = operation.path.map((name) =>
    name === 'id' && isRecordKind(one) ? `<${one.split('-').at(-1)}>` : `<${name}>`,
  );
  const inBody = args.map((arg) => (arg.endsWith('?') ? `[${arg.slice(0, -1)}]` : `<${arg.replace(/Id$/, '')}>`));
  const name = row.name ?? wordOf(row.operation, one);
  const command = group.command([name, ...inPath, ...inBody].join(' '));
  const query = bind(operation.query, 'query', flags);
  const unnamed = operation.body.filter((member) => !named.includes(member.name));
  const body = bind(unnamed, 'body', flags);
  for (const { options } of [...query, ...body]) for (const option of options) command.addOption(option);
  const hasData = operation.body.some(({ kind }) => kind === 'json');
  if (hasData)
    command.option(
      '--data <json>',
      'Fields as JSON (@file reads a file, - reads stdin); options override these fields',
    );
  command.description(row.about ?? operation.summary.replace(/^Get\b/, 'Show'));
  if (row.about === undefined && operation.description !== '')
    command.addHelpText('after', `\n${operation.description}`);
  return (row.extra?.(command) ?? command).action(async (...given: unknown[]) => {
    const options = given.at(-2) as Values & { data?: string };
    const texts = given.slice(0, -2) as (string | undefined)[];
    const context = contextOf(command);
    const call: Call = { context, options, named: texts[0] ?? '', path: {}, query: {}, body: {} };
    call.query = await read(query, options, context.client);
    if (operation.hasBody) {
      const arguments_ = Object.fromEntries(named.map((its, index) => [its, texts[index]]));
      const values = { ...(hasData && dataOf(options.data)), ...(await read(body, options, context.client)) };
      call.body = { ...values, ...ofBody(operation, arguments_, values) };
    }
    for (const [index, parameter] of operation.path.entries())
      call.path[parameter] =
        parameter === 'id' && isRecordKind(one)
          ? await findId(context.client, one, texts[index] ?? '')
          : (texts[index] ?? '');
    await row.prepare?.(call);
    const missing = body.find(({ member }) => member.isRequired && call.body[member.name] === undefined);
    if (missing) throw usage(`Specify ${missing.flag}: ${missing.options[0]?.description}`);
    if (row.run) return row.run(call);
    const input = { ...call.path, ...call.query, ...(operation.hasBody && { body: call.body }) };
    const answer = await callOperation(context.client, row.operation, input);
    show(row, call, answer);
    row.after?.(call, answer as never);
  });
}

/** The members that arguments give. A name that is not given is the slug. */
function ofBody({ path, body }: Operation, named: Record<string, string | undefined>, { name }: Values): Values {
  const has = (key: string, isOptional: boolean) =>
    body.some((member) => member.name === key && (isOptional || member.isRequired));
  const own = Object.entries(named).filter(([key, value]) => value !== undefined && has(key, !path.includes(key)));
  const isUnnamed = has('name', false) && named.name === undefined && name === undefined && named.slug !== undefined;
  return { ...Object.fromEntries(own), ...(isUnnamed && { name: named.slug }) };
}

function show(row: Row, call: Call, answer: unknown): void {
  const { context, named, path } = call;
  const values = (answer ?? {}) as Values;
  if (row.show) row.show(call, answer as never);
  else if (answer === undefined)
    showDone(context, { deleted: path.id }, fill(row.done ?? '{_} was deleted', values, named));
  else if (isBytes(values)) process.stdout.write(values.bytes);
  else if (Array.isArray(values.data)) showList(context, values as { data: Values[] }, row.columns);
  else showOutcome(context, values, fill(row.done ?? (values.message === undefined ? '' : '{message}'), values, named));
}

/** @param line empty: all of the answer is shown */
function showOutcome(context: Context, answer: Values, line: string): void {
  const isFailed = answer.success === false;
  if (isFailed && !context.output.json)
    throw new CliError(EXIT.refused, String(answer.message ?? JSON.stringify(answer.error)));
  if (isFailed) process.exitCode = EXIT.refused;
  if (line === '') showRecord(context, answer);
  else showDone(context, answer, line);
}

const isBytes = (answer: object): answer is RawAnswer => 'bytes' in answer && answer.bytes instanceof Uint8Array;
export const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const WORDS: Record<string, string> = { get: 'show', put: 'apply' };

/** `rotate-ingest-token` of `rotateIngestToken`, `statistics` of `getRouteStatistics`, `apply` of `putRoute`. */
function wordOf(operation: OperationName, one: string): string {
  const [verb = '', ...rest] = kebab(operation).split('-');
  const nouns = one.split('-');
  const others = rest.filter((word) => !nouns.includes(word.replace(/ies$/, 'y').replace(/(?<=\w)s$/, '')));
  if (others.length === 0) return WORDS[verb] ?? verb;
  return (verb === 'get' || verb === 'list' ? others : [verb, ...others]).join('-');
}

export interface Resource {
  name: string;
  tag: string;
  one: string;
  about: string;
  rows: readonly Row[];
  /** Operations without a command of their own. */
  leftOut?: readonly OperationName[];
  more?: (group: Command) => void;
}

export function addResource(program: Command, { name, tag, one, about, rows, leftOut = [], more }: Resource): void {
  const group = program.command(name).description(about);
  for (const row of rows) addOperation(group, one, row);
  const known = new Set([...leftOut, ...rows.map(({ operation }) => operation)]);
  for (const operation of Object.keys(OPERATIONS) as OperationName[])
    if (OPERATIONS[operation].tag === tag && !known.has(operation)) addOperation(group, one, { operation });
  more?.(group);
}
