// A blob in blocks (Azure, "Put Block" and "Put Block List"). Blocks that nobody commits are dropped by the next commit to the blob, or
// after a week.
import { createHash, randomUUID } from 'node:crypto';
import type { BlockBlobClient } from '@azure/storage-blob';
import type { ObjectName, PartsUnderWay } from './store.ts';

export function azureParts(blob: BlockBlobClient, { contentType }: Pick<ObjectName, 'contentType'>): PartsUnderWay {
  // Two uploads of one blob, one of a worker that seemed dead, must not commit blocks of each other. All ids have the same length.
  const upload = randomUUID();
  const blocks: string[] = [];

  async function send(part: Buffer, abortSignal: AbortSignal): Promise<void> {
    const id = Buffer.from(`${upload}-${String(blocks.length).padStart(5, '0')}`).toString('base64');
    const transactionalContentMD5 = createHash('md5').update(part).digest();
    await blob.stageBlock(id, part, part.length, { abortSignal, transactionalContentMD5 });
    blocks.push(id);
  }

  return {
    send,
    async complete(last, metadata, abortSignal) {
      await send(last, abortSignal);
      const blobHTTPHeaders = { blobContentType: contentType };
      await blob.commitBlockList(blocks, { abortSignal, blobHTTPHeaders, metadata: { ...metadata } });
    },
    abort: async () => undefined,
  };
}
