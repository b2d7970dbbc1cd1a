// Requests exactly as a test writes them: no header is added except Host and what frames the body.
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';
import { expectDescribed } from '../providers/described.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

export interface HttpAnswer<Body = Record<string, unknown>> {
  status: number;
  headers: IncomingHttpHeaders;
  /** Parsed when it is JSON, else undefined. */
  body: Body;
  bytes: Buffer;
}

/**
 * Sends a request.
 * @param target instead of the path and the query of the address, to the byte
 * @param localAddress of the sender: every 127.x.y.z is one of this machine; on a connection of its own
 * @throws when the connection fails before the answer is complete, or when the API's is not as described
 */
export function send<Body = Record<string, unknown>>(
  method: string,
  url: string,
  headers: Record<string, string | string[]> = {},
  body?: string | Buffer,
  target?: string,
  localAddress?: string,
): Promise<HttpAnswer<Body>> {
  return new Promise((resolve, reject) => {
    const path = target !== undefined && { path: target };
    const options = { method, headers, localAddress, agent: localAddress === undefined ? agent : false, ...path };
    const request = httpRequest(url, options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(parts);
        try {
          expectAsDescribed(method, url, response, bytes);
        } catch (error) {
          reject(error);
          return;
        }
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed(bytes) as Body, bytes });
      });
    });
    request.on('error', reject);
    // Node writes the headers in the encoding of a body that is text.
    request.end(body === undefined ? undefined : Buffer.from(body as string));
  });
}

/** Asks with an API key, from an address of this machine. */
export function askFrom(localAddress: string, url: string, token: string) {
  const headers = { Authorization: `Bearer ${token}` };
  return send('GET', url.replace('localhost', '127.0.0.1'), headers, undefined, undefined, localAddress);
}

function expectAsDescribed(method: string, url: string, response: IncomingMessage, bytes: Buffer): void {
  const { pathname: path } = new URL(url);
  if (!/^\/(api|ingest)\//.test(path)) return;
  const { statusCode: status = 0, headers } = response;
  expectDescribed({ method, path, status, contentType: headers['content-type'] ?? null, text: bytes.toString() });
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
