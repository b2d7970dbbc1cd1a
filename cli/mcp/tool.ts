// A tool: what it takes, what it does, and how its answers and failures reach the model.
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Client } from '../../client/index.ts';
import { bounded } from './bounded.ts';
import { type Address, problemOf } from './problems.ts';

/** The service as it is known now. @throws CliError when the profile, or what else names it, is wrong */
export type Connect = () => { client: Client; address: Address };

export interface Call {
  client: Client;
  address: Address;
  /** Aborted when the caller gives the call up. */
  signal: AbortSignal;
}

export interface Answer<Data> {
  /** What people, and models that read no data, are told. */
  summary: string;
  data: Data;
}

interface Definition<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  /** Tools that change something are there with --write only; `destroys` says that what they do cannot be taken back. */
  effect: 'reads' | 'adds' | 'destroys';
  input: Input;
  output: Output;
  /** How to get what does not fit into one answer. */
  more: string;
  run(call: Call, args: z.output<Input>): Promise<Answer<z.input<Output>>>;
}

export interface Tool {
  isReadOnly: boolean;
  register(server: McpServer, connect: Connect): void;
}

export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(typed: Definition<Input, Output>): Tool {
  // Its types bind `run` to the schemas; from here on the SDK checks both.
  const definition = typed as unknown as Definition<z.ZodObject, z.ZodObject>;
  const { name, title, description, effect, input: inputSchema, output: outputSchema } = definition;
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
        { title, description, inputSchema, outputSchema, annotations },
        (args, { mcpReq: { signal } }) => answered(definition, connect, args, signal),
      ),
  };
}

async function answered(
  { run, more }: Definition<z.ZodObject, z.ZodObject>,
  connect: Connect,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  let address: Address = { url: '', from: '' };
  try {
    const connection = connect();
    address = connection.address;
    const { summary, data } = await run({ ...connection, signal }, args);
    return shown(summary, data, more);
  } catch (error) {
    return { content: [{ type: 'text', text: problemOf(error, address) }], isError: true };
  }
}

function shown(summary: string, whole: Record<string, unknown>, more: string): CallToolResult {
  const { data, isCut } = bounded(whole);
  const note = `This answer was cut to fit. ${more}`;
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
