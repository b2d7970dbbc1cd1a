// A multipart upload to S3 ("Uploading and copying objects using multipart upload"). One that nobody completes or aborts, as after a kill,
// stays in the bucket, unseen, until a lifecycle rule removes it.
import { createHash } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Target } from './s3.ts';
import type { ObjectName, PartsUnderWay } from './store.ts';

export async function beginS3Parts(
  client: S3Client,
  { key, contentType }: ObjectName,
  { bucket, put, owner }: Pick<Target, 'bucket' | 'put' | 'owner'>,
  abortSignal: AbortSignal,
): Promise<PartsUnderWay> {
  const sdk = await import('@aws-sdk/client-s3');
  const object = { Bucket: bucket, Key: key, ...owner };
  const begin = new sdk.CreateMultipartUploadCommand({ ...object, ContentType: contentType, ...put });
  const upload = { ...object, UploadId: (await client.send(begin, { abortSignal })).UploadId };
  const parts: { PartNumber: number; ETag: string | undefined }[] = [];

  async function send(part: Buffer, signal: AbortSignal): Promise<void> {
    const PartNumber = parts.length + 1;
    const ContentMD5 = createHash('md5').update(part).digest('base64');
    const command = new sdk.UploadPartCommand({ ...upload, PartNumber, Body: part, ContentMD5 });
    const { ETag } = await client.send(command, { abortSignal: signal });
    parts.push({ PartNumber, ETag });
  }

  return {
    send,
    async complete(last, _metadata, signal) {
      await send(last, signal);
      const command = new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } });
      await client.send(command, { abortSignal: signal });
    },
    async abort(signal) {
      await client.send(new sdk.AbortMultipartUploadCommand(upload), { abortSignal: signal });
    },
  };
}
