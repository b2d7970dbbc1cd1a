// An object store that speaks S3, takes nothing, and quotes in its errors what it was sent.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface QuotingStore {
  url: string;
  close(): Promise<void>;
}

export async function startQuotingStore(): Promise<QuotingStore> {
  const server = createServer(async (request, response) => {
    const sent = (await text(request)).replace(/[<&]/g, ' ');
    response.writeHead(400, { 'content-type': 'application/xml' });
    response.end(`<Error><Code>InvalidRow</Code><Message>No such row: ${sent.slice(-200)}</Message></Error>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
