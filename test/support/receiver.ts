// A destination on loopback: answers by a script and records what it was sent.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { listen } from './servers/listen.ts';

/** What a request is answered with; `after` holds the answer back until it resolves. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  after?: Promise<unknown>;
}

/** Decides by the request. */
export type Answering = (request: ReceivedRequest) => Answer;

export interface ReceivedRequest {
  method: string;
  /** Path and query as they came. */
  target: string;
  headers: IncomingHttpHeaders;
  /** Names and values as they came over the wire. */
  rawHeaders: string[];
  body: Buffer;
}

export interface Endpoint {
  url: string;
  /** In the order in which they arrived complete. */
  requests: ReceivedRequest[];
  /** Requests whose sender waits for the answer now. */
  readonly waiting: number;
}

export interface Receiver {
  /** A new address; its requests are answered in turn, the last answer for ever. Without answers: 200. */
  endpoint(...answers: (Answer | Answering | number)[]): Endpoint;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const endpoints = new Map<
    string,
    { requests: ReceivedRequest[]; waiting: number; answers: (Answer | Answering)[] }
  >();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const target = request.url ?? '';
      // A path below an endpoint leads to it, too.
      const endpoint = endpoints.get(/^\/[^/?]*/.exec(target)?.[0] ?? '');
      const received = {
        method: request.method ?? '',
        target,
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(parts),
      };
      endpoint?.requests.push(received);
      if (endpoint) {
        endpoint.waiting += 1;
        response.on('close', () => {
          endpoint.waiting -= 1;
        });
      }
      const answers = endpoint?.answers ?? [{ status: 404 }];
      const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? {};
      void reply(response, typeof answer === 'function' ? answer(received) : answer);
    });
    request.on('error', () => undefined);
  });
  server.keepAliveTimeout = 60_000;
  const { url, close } = await listen(server);
  return {
    endpoint(...answers) {
      const path = `/endpoint-${endpoints.size + 1}`;
      const scripted = answers.map((answer) => (typeof answer === 'number' ? { status: answer } : answer));
      const endpoint = { requests: [], waiting: 0, answers: scripted.length > 0 ? scripted : [{}] };
      endpoints.set(path, endpoint);
      return {
        url: url + path,
        requests: endpoint.requests,
        get waiting() {
          return endpoint.waiting;
        },
      };
    },
    close,
  };
}

async function reply(response: ServerResponse, { status = 200, headers = {}, body = '', after }: Answer) {
  await after;
  if (response.destroyed) return;
  // Node writes the headers in the encoding of a body that is text.
  response.writeHead(status, headers).end(Buffer.from(body as string));
}
