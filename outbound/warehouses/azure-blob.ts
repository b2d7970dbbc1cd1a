import { createHash, randomUUID } from 'node:crypto';
import type { TokenCredential } from '@azure/identity';
import type {
  BlockBlobClient,
  HttpHeaders,
  HttpOperationResponse,
  IHttpClient,
  newPipeline as NewPipeline,
  RestError,
  WebResource,
} from '@azure/storage-blob';
import type { WarehouseConfig } from '../../core/warehouse/config.ts';
import { describeStoreError } from './errors.ts';
import type { GuardedHttp } from './guarded-http.ts';
import { asIdentity, type ObjectName, type OpenStore, type PartsUnderWay } from './store.ts';

type Config = WarehouseConfig<'azure_blob'>;

export const openAzureBlob: OpenStore<Config> = async (config, http) => {
  const { accountName, containerName } = config;
  const { ContainerClient, newPipeline, RestError } = await import('@azure/storage-blob');
  const address = config.endpoint?.replace(/\/+$/, '') ?? `https://${accountName}.blob.core.windows.net`;
  const { credential, query, wording } = await proofOf(config);
  const pipeline = newPipeline(credential, {
    httpClient: httpClient(http),
    retryOptions: { maxTries: 1 },
    userAgentOptions: { userAgentPrefix: 'hookyard' },
  });
  const container = new ContainerClient(`${address}/${containerName}${query}`, pipeline);
  const isMissingBlob = (error: unknown): boolean =>
    error instanceof RestError && error.statusCode === 404 && codeOf(error) !== 'ContainerNotFound';
  return {
    async put({ key, body, contentType, metadata }, abortSignal) {
      await container.getBlockBlobClient(key).upload(body, body.length, {
        abortSignal,
        blobHTTPHeaders: { blobContentType: contentType },
        transactionalContentMD5: createHash('md5').update(body).digest(),
        metadata: { ...metadata },
      });
    },
    begin: async ({ key, contentType }) => azureParts(container.getBlockBlobClient(key), { contentType }),
    async head(key, abortSignal) {
      try {
        const head = await container.getBlockBlobClient(key).getProperties({ abortSignal });
        return { size: head.contentLength ?? 0, contentType: head.contentType ?? '', metadata: head.metadata ?? {} };
      } catch (error) {
        if (isMissingBlob(error)) return null;
        throw error;
      }
    },
    describeError: (error) =>
      describeStoreError(error, {
        service: 'Azure',
        bucket: `container "${containerName}"`,
        credentials: wording,
        address: config.endpoint === undefined ? 'accountName' : 'endpoint',
        permission: 'permission to read and write blobs',
        region: null,
      }),
  };
};

interface Proof {
  credential: Parameters<typeof NewPipeline>[0];
  query: string;
  wording: string;
}

async function proofOf({ credentials, accountName, accountKey = '', sasToken = '' }: Config): Promise<Proof> {
  const { AnonymousCredential, StorageSharedKeyCredential } = await import('@azure/storage-blob');
  if (credentials === 'identity') {
    const credential = await azureIdentity();
    return { credential, query: '', wording: 'the service identity' };
  }
  if (credentials === 'sas') {
    const wording = 'sasToken, its permissions and its expiry';
    return { credential: new AnonymousCredential(), query: `?${sasToken.replace(/^\?/, '')}`, wording };
  }
  const credential = new StorageSharedKeyCredential(accountName, accountKey);
  return { credential, query: '', wording: 'accountName and accountKey' };
}

/** HEAD answers have no body; their code is in a header. */
function codeOf(error: RestError): string | undefined {
  return error.code ?? error.response?.headers.get('x-ms-error-code');
}

function httpClient(http: GuardedHttp): IHttpClient {
  return {
    async sendRequest(request: WebResource): Promise<HttpOperationResponse> {
      const answer = await http.send({
        method: request.method,
        url: new URL(request.url),
        headers: request.headers.toJson({ preserveCase: true }),
        body: bytesOf(request.body),
        signal: request.abortSignal as AbortSignal | undefined,
      });
      // The SDK would follow it, with the signature of the first request.
      delete answer.headers.location;
      return {
        request,
        status: answer.status,
        headers: headersOf(answer.headers, request),
        bodyAsText: answer.body.toString(),
      };
    },
  } as IHttpClient;
}

function bytesOf(body: unknown): Uint8Array | string | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new TypeError('Only bytes that are in memory can be uploaded');
}

/** Headers of the SDK's own class, which it exports only as a type. */
function headersOf(received: Record<string, string>, request: WebResource): HttpHeaders {
  const headers = request.headers.clone();
  for (const name of headers.headerNames()) headers.remove(name);
  for (const [name, value] of Object.entries(received)) headers.set(name, value);
  return headers;
}

// A blob in blocks (Azure, "Put Block" and "Put Block List"). Blocks that nobody commits are dropped by the next commit
// to the blob, or after a week.

function azureParts(blob: BlockBlobClient, { contentType }: Pick<ObjectName, 'contentType'>): PartsUnderWay {
  // Two uploads of one blob, one of a worker that seemed dead, must not commit blocks of each other. All ids have the
  // same length.
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

// The identity of this service in Azure: a managed identity, or a workload identity of Kubernetes, by Azure's own
// library. It asks its own endpoints by its own transport, a link-local one among them; only for whom the operator
// allows it. Not the library's default chain, which runs programs of developers.

export async function azureIdentity(): Promise<TokenCredential> {
  const { ManagedIdentityCredential, WorkloadIdentityCredential } = await import('@azure/identity');
  const { AZURE_CLIENT_ID: clientId, AZURE_FEDERATED_TOKEN_FILE: federated } = process.env;
  const credential = federated
    ? new WorkloadIdentityCredential()
    : new ManagedIdentityCredential(clientId === undefined ? {} : { clientId });
  return { getToken: (scopes, options) => asIdentity(() => credential.getToken(scopes, options)) };
}
