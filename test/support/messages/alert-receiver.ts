// The services that alerts go to, on loopback: one server, whose paths stand for Slack, Teams, PagerDuty and a tenant's
// own tool. It takes everything, unless it is told otherwise, and keeps what came.
import type { IncomingHttpHeaders } from 'node:http';
import { listenHttp } from '../servers/listen.ts';

export interface ReceivedAlert {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export async function startAlertReceiver() {
  const received: ReceivedAlert[] = [];
  const answers = new Map<string, { status: number; headers: Record<string, string> }[]>();
  const { url, close } = await listenHttp((request, response, body) => {
    const path = request.url ?? '';
    received.push({ method: request.method ?? '', path, headers: request.headers, body });
    const scripted = [...answers].find(([prefix]) => path.startsWith(prefix))?.[1] ?? [];
    const answer = (scripted.length > 1 ? scripted.shift() : scripted[0]) ?? { status: 202, headers: {} };
    response.writeHead(answer.status, answer.headers).end('taken');
  });
  return {
    url,
    /** What came to paths that begin like this, in the order in which it arrived. */
    at: (path: string) => received.filter((each) => each.path.startsWith(path)),
    /** From now on requests to a path are answered with these statuses in turn, the last one for ever. */
    answer(path: string, ...statuses: (number | { status: number; headers: Record<string, string> })[]): void {
      answers.set(
        path,
        statuses.map((each) => (typeof each === 'number' ? { status: each, headers: {} } : each)),
      );
    },
    close,
  };
}

export const jsonOf = <Body = Record<string, unknown>>({ body }: ReceivedAlert): Body => JSON.parse(body.toString());
