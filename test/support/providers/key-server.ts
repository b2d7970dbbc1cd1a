// A server in the place of the providers that publish keys: what is asked at https://host/path comes as /host/path.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  method: string;
  /** Host, path and query. */
  address: string;
  body: string;
}

interface Published {
  status?: number;
  headers?: Record<string, string>;
  body: string;
}

export interface KeyServer {
  url: string;
  /** In the order in which they came. */
  asked: Asked[];
  /** By their host and path; null: what is asked there is never answered. */
  documents: Map<string, ((asked: Asked) => Published) | null>;
  /** Whether everything is answered with 500. */
  state: 'up' | 'failing';
  close(): Promise<void>;
}

export async function startKeyServer(): Promise<KeyServer> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('error', () => undefined);
    request.on('end', () => {
      const address = (request.url ?? '').slice(1);
      const asked = { method: request.method ?? '', address, body: Buffer.concat(parts).toString() };
      keyServer.asked.push(asked);
      const document = keyServer.documents.get(address.replace(/\?.*/, ''));
      if (keyServer.state === 'failing') answer(response, { status: 500, body: '' });
      else if (document !== null) answer(response, document?.(asked));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const keyServer: KeyServer = {
    url: `http://127.0.0.1:${port}`,
    asked: [],
    documents: new Map(),
    state: 'up',
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return keyServer;
}

function answer(response: ServerResponse, { status = 200, headers = {}, body }: Published = { status: 404, body: '' }) {
  response.writeHead(status, headers).end(body);
}
