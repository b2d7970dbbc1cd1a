// The MCP server as clients run it, called by the official client.
import { join } from 'node:path';
import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import type { TestOrganization } from '../service.ts';

const BIN = join(import.meta.dirname, '..', '..', '..', 'cli', 'hookyard.js');

/** What a tool said. */
export interface Told {
  isError: boolean;
  /** For people. */
  summary: string;
  data: Record<string, unknown>;
  /** Bytes of the whole answer. */
  size: number;
}

export interface McpClient {
  client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<Told>;
  /** What a tool answered; an error fails the test. */
  data<Data = Record<string, unknown>>(name: string, args?: Record<string, unknown>): Promise<Data>;
  /** Why a tool refused. */
  refusal(name: string, args?: Record<string, unknown>): Promise<string>;
}

/** The calls of a client that is connected. */
export function callsOf(client: Client): McpClient {
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    toldBy((await client.callTool({ name, arguments: args })) as CallToolResult);
  return {
    client,
    call,
    async data<Data>(name: string, args?: Record<string, unknown>) {
      const { isError, summary, data } = await call(name, args);
      expect(isError, summary).to.equal(false);
      return data as Data;
    },
    async refusal(name, args) {
      const { isError, summary } = await call(name, args);
      expect(isError, summary).to.equal(true);
      return summary;
    },
  };
}

function toldBy(result: CallToolResult): Told {
  const [first, second] = result.content.map((part) => (part.type === 'text' ? part.text : ''));
  const data = (result.structuredContent ?? {}) as Record<string, unknown>;
  // Clients that know no structured content get the same as text.
  if (second !== undefined) expect(JSON.parse(second)).to.deep.equal(data);
  const size = Buffer.byteLength(JSON.stringify(result));
  return { isError: result.isError === true, summary: first ?? '', data, size };
}

const opened = new Set<Client>();

/** Starts `hookyard mcp` with the key of an organization, and connects to it. */
export async function startMcp(
  { api, token }: Pick<TestOrganization, 'api' | 'token'>,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<McpClient> {
  const client = new Client({ name: 'tests', version: '1.0.0' });
  opened.add(client);
  const given = { HOOKYARD_URL: api.url, HOOKYARD_API_KEY: token, ...env };
  const command = { command: process.execPath, args: [BIN, 'mcp', ...args], env: given };
  await client.connect(new StdioClientTransport(command));
  return callsOf(client);
}

after('closes the clients of MCP', async () => {
  for (const client of opened) await client.close();
});
