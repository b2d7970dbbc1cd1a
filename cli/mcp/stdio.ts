// MCP over stdin and stdout: the client starts this process, and ends it.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { onEndRequest } from '../../core/process/end-request.ts';
import { onUnread } from '../output.ts';
import { createMcpServer } from './server.ts';
import type { Connect } from './tool.ts';

/** Serves until the client closes stdin, or somebody ends the process. */
export async function serveOverStdio(connect: Connect, canWrite: boolean): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => resolve());
    onUnread(resolve);
    onEndRequest(() => resolve());
  });
  const served = serveStdio(() => createMcpServer(connect, canWrite), {
    onerror: ({ message }) => void process.stderr.write(`hookyard: ${message}\n`),
  });
  await ended;
  await served.close();
  // It may still be open, and would keep the process alive.
  process.stdin.destroy();
}
