// An operator who has R2 keys in the environment, and what stands for Cloudflare.
import type { IncomingMessage } from 'node:http';
import { httpServer } from '../../http/servers.ts';
import type { Json } from '../api-client.ts';

export interface OperatorR2 {
  /** Of all processes. */
  environment: Record<string, string>;
  /** The paths that were written with the operator's key. */
  byOperator(): string[];
}

/** Takes whatever is signed with any key, until `closeAll`. */
export async function startOperatorR2(): Promise<OperatorR2> {
  const written: { path: string; key: string | undefined }[] = [];
  const port = await httpServer((request: IncomingMessage, response) => {
    const signer = /Credential=([^/]+)/.exec(request.headers.authorization ?? '')?.[1];
    request.resume().on('end', () => {
      written.push({ path: request.url?.replace(/\?.*/, '') ?? '', key: signer });
      response.end();
    });
  });
  return {
    environment: {
      R2_ENDPOINT: `http://127.0.0.1:${port}`,
      R2_ACCESS_KEY_ID: 'operator',
      R2_SECRET_ACCESS_KEY: 'operators-secret',
    },
    byOperator: () => written.filter(({ key }) => key === 'operator').map(({ path }) => path),
  };
}

/** A destination of R2. Without keys in its config it asks for those of the operator. */
export const lake = (config: Json) => ({ name: 'Lake', type: 'r2', config: { batchSize: 1, ...config } });
