// A tool: what it takes, what it does, and how its answers and failures reach the model.
import { isUtf8 } from 'node:buffer';
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Client, HookyardError } from '../../client/index.ts';
import { ConfigError } from '../../core/config/secret-files.ts';
import { ExactNumber } from '../../core/text/exact-json.ts';
import { plural } from '../../core/text/words.ts';
import type { ServiceAddress } from '../context.ts';
import { usage, CliError, endingOf } from '../errors.ts';
import { momentOf } from '../input.ts';
import { type Member, OPERATIONS, type OperationName, findId, type RecordKind } from '../operations.ts';

// Keeps answers small: a model reads every byte, and clients refuse answers that are too long.

/** Bytes of an answer. It travels twice, as structured content and as text; with its summary it stays below 50 KiB. */
const MOST_BYTES = 48 * 1024;

// Tried one after the other: how much of each text and each list is kept.
const STEPS = [
  { characters: 8192, items: 100 },
  { characters: 2048, items: 50 },
  { characters: 1024, items: 25 },
  { characters: 512, items: 12 },
  { characters: 256, items: 6 },
  { characters: 128, items: 3 },
];
type Step = (typeof STEPS)[number];

interface Bounded {
  data: Record<string, unknown>;
  isCut: boolean;
}

/** What fits: long texts lose their end, long lists their last items. @throws CliError when nothing helps */
export function bounded(data: Record<string, unknown>): Bounded {
  if (isSmall(data)) return { data, isCut: false };
  for (const step of STEPS) {
    const smaller = membersCut(data, step);
    if (isSmall(smaller)) return { data: smaller, isCut: true };
  }
  throw usage('The result is too large; request less data');
}

function isSmall(data: object): boolean {
  const json = JSON.stringify(data);
  // Quotes in a text are longer.
  return Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json)) <= MOST_BYTES;
}

function cut(value: unknown, step: Step): unknown {
  if (typeof value === 'string') return shortText(value, step.characters);
  if (Array.isArray(value)) return value.slice(0, step.items).map((item) => cut(item, step));
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  return membersCut(value, step);
}

const membersCut = (value: object, step: Step): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member, step)]));

export function shortText(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}… (${text.length} characters)`;
}

interface Payload extends Record<string, unknown> {
  text?: string;
  /** What is no text. */
  base64?: string;
  /** bytes of the whole */
  size: number;
  isCut: boolean;
}

/** The first bytes of a payload, as text where all of it is. */
export function shownBytes(bytes: Uint8Array, most: number): Payload {
  const isCut = bytes.length > most;
  const shown = { size: bytes.length, isCut };
  const part = Buffer.from(bytes.subarray(0, most));
  if (!isUtf8(bytes)) return { base64: part.toString('base64'), ...shown };
  const text = part.toString('utf8');
  // A character at the end may be cut in two.
  return { text: isCut ? text.replace(/\uFFFD$/, '') : text, ...shown };
}

/** The same of a text, or of base64, that the API gave. @param size bytes of the whole */
export function shownText(body: string, encoding: 'base64' | undefined, size: number, most: number): Payload {
  const shown = shownBytes(Buffer.from(body, encoding ?? 'utf8'), most);
  return { ...shown, size, isCut: shown.isCut || shown.size < size };
}

type Address = Pick<ServiceAddress, 'url' | 'from'>;
/** The service as it is known now. @throws CliError when the profile, or what else names it, is wrong */
export type Connect = () => { client: Client; address: Address };

export interface Call {
  client: Client;
  address: Address;
  signal: AbortSignal;
}

interface Answer {
  /** What people, and models that read no data, are told. */
  summary: string;
  data: object;
}

interface Definition<Input extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  /**
   * Tools that change something are there with --write only; `destroys` says that what they do cannot be taken back.
   */
  effect?: 'reads' | 'adds' | 'destroys';
  input: Input;
  /** How to get what does not fit into one answer. */
  more: string;
  run(call: Call, args: z.output<Input>): Promise<Answer>;
}

export interface Tool {
  isReadOnly: boolean;
  register(server: McpServer, connect: Connect): void;
}

/** What the description of each tool says: the records of the API, or parts of them. */
const OUTPUT = z.looseObject({});

export function tool<Input extends z.ZodObject>(typed: Definition<Input>): Tool {
  // Its type binds `run` to the schema; from here on the SDK checks it.
  const definition = typed as unknown as Definition<z.ZodObject>;
  const { name, title, description, effect = 'reads', input: inputSchema } = definition;
  const annotations = {
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'destroys',
    idempotentHint: effect === 'reads',
    openWorldHint: false,
  };
  return {
    isReadOnly: effect === 'reads',
    register: (server, connect) =>
      void server.registerTool(
        name,
        { title, description, inputSchema, outputSchema: OUTPUT, annotations },
        (args, { mcpReq: { signal } }) => answered(definition, connect, args, signal),
      ),
  };
}

async function answered(
  { run, more }: Definition<z.ZodObject>,
  connect: Connect,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  let address: Address = { url: '', from: '' };
  try {
    const connection = connect();
    address = connection.address;
    const { summary, data } = await run({ ...connection, signal }, args);
    return shown(summary, data as Record<string, unknown>, more);
  } catch (error) {
    return { content: [{ type: 'text', text: problemOf(error, address) }], isError: true };
  }
}

function shown(summary: string, whole: Record<string, unknown>, more: string): CallToolResult {
  const { data, isCut } = bounded(whole);
  const note = `This result was truncated. ${more}`;
  const structuredContent = isCut ? { ...data, cut: note } : data;
  const text = isCut ? `${summary}\n${note}` : summary;
  return {
    // Clients that know no structured content pass on texts only.
    content: [
      { type: 'text', text },
      { type: 'text', text: JSON.stringify(structuredContent) },
    ],
    structuredContent,
  };
}

/** What is wrong, and what to do next; never a stack. @param address of the service, for messages */
export function problemOf(error: unknown, address: Address): string {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof HookyardError || error instanceof CliError)) {
    // The cause is for who runs the server.
    process.stderr.write(`hookyard: ${error instanceof Error ? error.stack : String(error)}\n`);
    return 'The Hookyard MCP server failed. See its log (stderr) for the cause.';
  }
  // The advice of the command line, with tools in place of its commands.
  const { line } = endingOf(error, () => address);
  const lines = [
    line
      .replace(
        /List (events|deliveries|sources|routes|destinations) with: hookyard \w+ list$/,
        'List $1 with the tool list_$1',
      )
      .replace(/\. List [\w ]+ with: hookyard \S+ list$/, ''),
  ];
  if (error instanceof CliError) return lines.join('\n');
  const { details, retryAfterMs } = error;
  // The message names the only one.
  if (details.length > 1) lines.push(...details.map(({ path, message }) => `- ${path}: ${message}`));
  if (retryAfterMs !== null) lines.push(`Try again in ${plural(Math.ceil(retryAfterMs / 1000), 'second')}.`);
  return lines.join('\n');
}

// What tools take: the members of the operations of the API, with names instead of ids, and times as people say them.

const name = z.string().min(1).max(200);
const when = z
  .string()
  .refine((text) => momentOf(text) !== null, 'must be an ISO 8601 time, or how long ago (for example 30m, 1h or 7d)');

export const inputs = {
  source: name.describe('Source slug or ID').optional(),
  route: name.describe('Route name or ID').optional(),
  destination: name.describe('Destination name or ID').optional(),
  since: when.describe('An ISO 8601 time, or how long ago (for example 30m, 1h or 7d)').optional(),
  until: when.describe('An ISO 8601 time, or how long ago (for example 30m, 1h or 7d); default: now').optional(),
  limit: z.int().min(1).max(50).default(20).describe('Maximum number of items'),
  page: z.int().min(1).default(1).describe('Page number, starting at 1'),
  cursor: z.string().min(1).max(100).describe("The previous page's nextCursor").optional(),
  event: z.string().min(1).max(100).describe('Event ID (evt_...)'),
  payloadBytes: z.int().min(1).max(16_384).default(4096).describe('Maximum bytes of the payload or body to show'),
};

type Read = (client: Client, text: string) => string | Promise<string>;
const idOf =
  (kind: RecordKind): Read =>
  (client, wanted) =>
    findId(client, kind, wanted);
export const isoTime = (text: string): string => new Date(momentOf(text) ?? Number.NaN).toISOString();

/** By the members of the API that tools call otherwise: the input, and how it is read. */
const OWN: Record<string, { input: keyof typeof inputs; read: Read }> = {
  sourceId: { input: 'source', read: idOf('source') },
  routeId: { input: 'route', read: idOf('route') },
  destinationId: { input: 'destination', read: idOf('destination') },
  eventId: { input: 'event', read: (_client, id) => id },
  from: { input: 'since', read: (_client, text) => isoTime(text) },
  to: { input: 'until', read: (_client, text) => isoTime(text) },
};
const PAGING = ['page', 'pageSize', 'cursor', 'withTotal', 'limit', 'dryRun'];

/** What a tool takes for an operation, each of it optional. @param leftOut members of the API */
export function inputsOf(operation: OperationName, leftOut: readonly string[] = []): Record<string, z.ZodType> {
  const { query, body } = OPERATIONS[operation];
  const members = [...query, ...body].filter((member) => ![...PAGING, ...leftOut].includes(member.name));
  return Object.fromEntries(
    members.map((member) => {
      const own = OWN[member.name];
      return own ? [own.input, z.optional(inputs[own.input])] : [member.name, schemaOf(member).optional()];
    }),
  );
}

function schemaOf({ kind, values, about }: Member): z.ZodType {
  const text = values === undefined ? name : z.enum(values);
  const schemas = {
    text,
    integer: z.int(),
    number: z.number(),
    boolean: z.boolean(),
    list: z.array(text).min(1),
    json: z.unknown(),
  };
  return about === '' ? schemas[kind] : schemas[kind].describe(about);
}

/** The input of the API for the arguments of a tool. @throws CliError when no record has a given name */
export async function membersOf(client: Client, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const members: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined) continue;
    const [member, own] = Object.entries(OWN).find(([, { input }]) => input === name) ?? [name];
    members[member] = own ? await own.read(client, String(value)) : value;
  }
  return members;
}
