// Where the attacker's webhooks go.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const SLOW_ANSWER_MS = 10_000;

export interface Targets {
  /** Answers at once. */
  quick: string;
  /** Answers after 10 s. */
  slow: string;
  /** Refuses connections. */
  dead: string;
}

/** They end with the thread. */
export async function startTargets(): Promise<Targets> {
  const quick = await listen((request, response) => request.resume().on('end', () => response.end('ok')));
  const slow = await listen((request, response) => {
    request.resume();
    setTimeout(() => response.end('ok'), SLOW_ANSWER_MS);
  });
  const dead = await listen(() => {});
  const urls = { quick: urlOf(quick), slow: urlOf(slow), dead: urlOf(dead) };
  await new Promise((resolve) => dead.close(resolve));
  return urls;
}

async function listen(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
