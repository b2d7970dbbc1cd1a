// A tool: what it takes, what it does, and how its answers and failures reach the model.
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Client, HookyardError } from '../../client/index.ts';
import { ConfigError } from '../../core/config/secret-files.ts';
import { plural } from '../../core/text/plural.ts';
import type { ServiceAddress } from '../context.ts';
import { CliError, endingOf } from '../errors.ts';
import { bounded } from './bounded.ts';

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
