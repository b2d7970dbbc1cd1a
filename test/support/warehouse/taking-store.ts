// An object store that speaks S3 and takes every object, unless it is told to answer something else.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type TakingStore = Awaited<ReturnType<typeof startTakingStore>>;

export async function startTakingStore() {
  const objects: string[] = [];
  let status = 200;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.method === 'PUT' && status === 200) objects.push(body);
    response.writeHead(status, { etag: '"1"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** What was written, as text, in order. */
    objects,
    /** What it answers; 200 at first. Other than 200: nothing is written. */
    answer(next: number) {
      status = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
