// Reads what was written to the object stores of tests, with each provider's own client.
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { ContainerClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { parseExact } from '../../../core/text/exact-json.ts';
import * as stores from './object-stores.ts';
import { parquetRows } from './parquet.ts';
import type { ProviderCase } from './warehouse-targets.ts';

export interface WrittenObject {
  key: string;
  body: Buffer;
  contentType: string;
  metadata: Record<string, string>;
}

/** Every object below a prefix, by key. @param url of the store */
export async function readObjects(provider: ProviderCase, url: string, prefix: string): Promise<WrittenObject[]> {
  const objects = await readers[provider.type](provider, url, prefix);
  return objects.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

type Reader = (provider: ProviderCase, url: string, prefix: string) => Promise<WrittenObject[]>;

const s3: Reader = async (provider, url, prefix) => {
  const { bucket, region = 'auto' } = provider.config(url) as { bucket: string; region?: string };
  const credentials = { accessKeyId: stores.S3_ACCESS_KEY, secretAccessKey: stores.S3_SECRET_KEY };
  const client = new S3Client({ region, endpoint: url, forcePathStyle: true, credentials });
  const objects: WrittenObject[] = [];
  for (let token: string | undefined; ; ) {
    const list = await client.send(
      new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token }),
    );
    for (const { Key: key = '' } of list.Contents ?? []) {
      // Folders of the file system below.
      if (key.endsWith('/')) continue;
      const answer = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      const body = Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
      objects.push({ key, body, contentType: answer.ContentType ?? '', metadata: answer.Metadata ?? {} });
    }
    token = list.NextContinuationToken;
    if (token === undefined) break;
  }
  client.destroy();
  return objects;
};

const gcs: Reader = async (provider, url, prefix) => {
  const { bucket } = provider.config(url) as { bucket: string };
  const base = `${url}/storage/v1/b/${bucket}/o`;
  const list = (await (await fetch(`${base}?prefix=${encodeURIComponent(prefix)}`)).json()) as {
    items?: { name: string; contentType: string; metadata?: Record<string, string> }[];
  };
  return Promise.all(
    (list.items ?? []).map(async ({ name: key, contentType, metadata = {} }) => {
      const answer = await fetch(`${base}/${encodeURIComponent(key)}?alt=media`);
      return { key, contentType, metadata, body: Buffer.from(await answer.arrayBuffer()) };
    }),
  );
};

const azure: Reader = async (provider, url, prefix) => {
  const { containerName } = provider.config(url) as { containerName: string };
  const credential = new StorageSharedKeyCredential(stores.AZURE_ACCOUNT, stores.AZURE_KEY);
  const container = new ContainerClient(`${url}/${stores.AZURE_ACCOUNT}/${containerName}`, credential);
  const objects: WrittenObject[] = [];
  for await (const { name: key } of container.listBlobsFlat({ prefix })) {
    const blob = container.getBlobClient(key);
    const { contentType = '', metadata = {} } = await blob.getProperties();
    objects.push({ key, contentType, metadata, body: await blob.downloadToBuffer() });
  }
  return objects;
};

const readers: Record<ProviderCase['type'], Reader> = { s3, r2: s3, gcs, azure_blob: azure };

export type Row = Record<string, unknown>;

/** The content of an object without its compression. */
function plainContent({ key, body }: WrittenObject): Buffer {
  if (key.endsWith('.gz')) return gunzipSync(body);
  return key.endsWith('.zst') ? zstdDecompressSync(body) : body;
}

/** The rows of an object of any format; of Parquet with times as text, as in the others. */
export const allRowsOf = async (object: WrittenObject): Promise<Row[]> =>
  object.key.endsWith('.parquet') ? parquetRows(object.body) : rowsOf(object);

/** The rows of an object of text. */
export function rowsOf(object: WrittenObject): Row[] {
  const { key } = object;
  const text = plainContent(object).toString('utf8');
  if (/\.json(\.|$)/.test(key)) return parseExact(text) as Row[];
  const lines = text.split('\n');
  // A line ends with its line break, the last one too.
  if (lines.pop() !== '') throw new Error(`${key} does not end with a line break`);
  return lines.map((line) => parseExact(line) as Row);
}
