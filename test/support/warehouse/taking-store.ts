// An object store that speaks S3 and takes every object, unless it is told to answer something else.
import { listenHttp } from '../servers/listen.ts';

/** A destination of type S3. */
export const lakeAt = (endpoint: string, config: object = {}) => ({
  ...{ name: 'Lake', type: 's3' },
  config: {
    ...{ bucket: 'events', region: 'eu-central-1', accessKeyId: 'key', secretAccessKey: 'secret-of-the-lake' },
    ...{ endpoint, forcePathStyle: true, batchWindowSeconds: 1, ...config },
  },
});

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
    /** A destination of which it takes the files. */
    lake: (config: object = {}) => lakeAt(url, config),
    close,
  };
}
