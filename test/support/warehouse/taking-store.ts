// An object store that speaks S3 and takes every object, unless it is told to answer something else.
import { listenHttp } from '../servers/listen.ts';

export type TakingStore = Awaited<ReturnType<typeof startTakingStore>>;

export async function startTakingStore() {
  const objects: string[] = [];
  let status = 200;
  const { url, close } = await listenHttp((request, response, body) => {
    if (request.method === 'PUT' && status === 200) objects.push(body.toString());
    response.writeHead(status, { etag: '"1"' }).end();
  });
  return {
    url,
    /** What was written, as text, in order. */
    objects,
    /** What it answers; 200 at first. Other than 200: nothing is written. */
    answer(next: number) {
      status = next;
    },
    close,
  };
}
