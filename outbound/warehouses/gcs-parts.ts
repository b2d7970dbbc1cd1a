// A resumable upload to Google Cloud Storage (documentation, "Perform resumable uploads", chunks). The SDK's own sends them by transports
// of its own, so the requests are made here. A session that nobody ends is dropped after a week.
import { createHash } from 'node:crypto';
import type { ApiError as ApiErrorClass } from '@google-cloud/storage';
import { type Authorize, readAnswer } from './gcs-transport.ts';
import type { GuardedHttp, GuardedResponse } from './guarded-http.ts';
import type { ObjectName, PartsUnderWay } from './store.ts';

interface Place {
  http: GuardedHttp;
  authorize: Authorize;
  apiEndpoint: string;
  bucket: string;
  ApiError: typeof ApiErrorClass;
}

/** The status of a session that waits for more. */
const MORE = 308;

export async function beginGcsParts(
  { http, authorize, apiEndpoint, bucket, ApiError }: Place,
  { key, contentType }: ObjectName,
  signal: AbortSignal,
): Promise<PartsUnderWay> {
  const query = new URLSearchParams({ uploadType: 'resumable', name: key });
  const url = new URL(`${apiEndpoint}/upload/storage/v1/b/${encodeURIComponent(bucket)}/o?${query}`);
  const headers = { 'content-type': 'application/json', 'x-upload-content-type': contentType };
  const body = JSON.stringify({ contentType });
  const begun = await http.send({
    ...{ method: 'POST', url, body, signal },
    headers: { ...headers, ...(await authorize(url)) },
  });
  readAnswer(begun, ApiError);
  // Whoever has this address may upload: it takes no token, and gets none.
  const session = URL.parse(begun.headers.location ?? '');
  if (session === null) throw new Error('The answer to a new upload has no address');
  const digest = createHash('md5');
  let sent = 0;

  const put = (part: Buffer, from: number, total: number | '*', partSignal: AbortSignal): Promise<GuardedResponse> => {
    const range = `bytes ${from}-${from + part.length - 1}/${total}`;
    const partHeaders = { 'content-range': range, 'content-type': contentType };
    return http.send({ method: 'PUT', url: session, headers: partHeaders, body: part, signal: partSignal });
  };

  return {
    async send(part, partSignal) {
      digest.update(part);
      const end = sent + part.length;
      // The store may keep less than it was sent.
      while (sent < end) {
        const answer = await put(part.subarray(part.length - (end - sent)), sent, '*', partSignal);
        if (answer.status !== MORE) {
          readAnswer(answer, ApiError);
          throw new Error('The upload was ended before its last part');
        }
        const kept = keptBytes(answer);
        if (kept <= sent || kept > end) throw new Error(`The store has ${kept} bytes of an upload of ${end}`);
        sent = kept;
      }
    },
    async complete(last, _metadata, partSignal) {
      digest.update(last);
      const answer = await put(last, sent, sent + last.length, partSignal);
      if (answer.status === MORE) throw new Error('The store has not kept the last part of an upload');
      const [object] = readAnswer(answer, ApiError);
      const { md5Hash } = object as { md5Hash?: string };
      if (md5Hash !== digest.digest('base64')) throw new Error('The store has other bytes than were sent');
    },
    async abort(partSignal) {
      await http.send({ method: 'DELETE', url: session, headers: { 'content-length': '0' }, signal: partSignal });
    },
  };
}

/** From `bytes=0-524287`. */
function keptBytes({ headers }: GuardedResponse): number {
  const last = /-(\d+)$/.exec(headers.range ?? '')?.[1];
  return last === undefined ? 0 : Number(last) + 1;
}
