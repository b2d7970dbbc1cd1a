// Tools that act on many records, above the number that they act on: what a dry run answers then.
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { expect } from 'chai';
import type { Client } from '../../client/index.ts';
import type { Tool } from '../../cli/mcp/tool.ts';
import { actOnDeliveries, retryIssue } from '../../cli/mcp/tools/changes.ts';

type Handler = (args: object, call: { mcpReq: { signal: AbortSignal } }) => Promise<CallToolResult>;

describe('a tool of hookyard mcp that acts on many records', () => {
  const issue = 'iss_06f3k2v8q0e7x1c5b9m4n6p8qr';
  const cases: [string, Tool, (found: number) => Partial<Client>, args: object, most: number][] = [
    ['act_on_deliveries', actOnDeliveries, ofDeliveries, { action: 'cancel', status: ['retrying'] }, 1000],
    ['retry_issue', retryIssue, ofIssue, { issue }, 5000],
  ];
  for (const [name, tool, clientOf, args, most] of cases) {
    it(`tells how to proceed up to its maximum: ${name}`, async () => {
      const { text, data } = await called(tool, clientOf(most), args);
      expect(text).to.include('To proceed, call this tool again with');
      expect(data).to.have.nested.property('next.expectedCount', most);
    });

    it(`tells to act on less above its maximum, not to proceed: ${name}`, async () => {
      const { text, data } = await called(tool, clientOf(most + 1), args);
      expect(text).to.include(`maximum (${most})`);
      expect(text).to.match(/Nothing was changed\.$/);
      expect(data).to.deep.equal({ dryRun: true, count: most + 1 });
    });
  }
});

async function called(tool: Tool, client: Partial<Client>, args: object) {
  const handlers: Handler[] = [];
  const server = { registerTool: (_name: string, _about: object, handler: Handler) => handlers.push(handler) };
  tool.register(server as unknown as McpServer, () => ({
    client: client as Client,
    address: { url: 'http://localhost:3000', from: 'a test' },
  }));
  const answer = await handlers[0]?.(args, { mcpReq: { signal: new AbortController().signal } });
  const [first] = answer?.content ?? [];
  return { text: first?.type === 'text' ? first.text : '', data: answer?.structuredContent };
}

function ofDeliveries(found: number): Partial<Client> {
  const answer = { dryRun: true, deliveriesFound: found, deliveriesChanged: 0, nextCursor: null };
  return { actOnDeliveries: () => Promise.resolve(answer) } as unknown as Partial<Client>;
}

function ofIssue(found: number): Partial<Client> {
  const answer = { deliveriesFound: found, deliveriesCreated: 0, next: null };
  return { retryIssue: () => Promise.resolve(answer) } as unknown as Partial<Client>;
}
