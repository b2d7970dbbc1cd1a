// An object store that speaks S3 and takes every object.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface TakingStore {
  url: string;
  /** What was written, as text, in order. */
  objects: string[];
  close(): Promise<void>;
}

export async function startTakingStore(): Promise<TakingStore> {
  const objects: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.method === 'PUT') objects.push(body);
    response.writeHead(200, { etag: '"1"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    objects,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
