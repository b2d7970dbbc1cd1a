// A server in the place of the providers that publish keys: what is asked at https://host/path comes as /host/path.
import type { ServerResponse } from 'node:http';
import { listenHttp } from '../servers/listen.ts';

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
  const { url, close } = await listenHttp((request, response, body) => {
    const address = (request.url ?? '').slice(1);
    const asked = { method: request.method ?? '', address, body: body.toString() };
    keyServer.asked.push(asked);
    const document = keyServer.documents.get(address.replace(/\?.*/, ''));
    if (keyServer.state === 'failing') answer(response, { status: 500, body: '' });
    else if (document !== null) answer(response, document?.(asked));
  });
  const keyServer: KeyServer = { url, asked: [], documents: new Map(), state: 'up', close };
  return keyServer;
}

function answer(response: ServerResponse, { status = 200, headers = {}, body }: Published = { status: 404, body: '' }) {
  response.writeHead(status, headers).end(body);
}
