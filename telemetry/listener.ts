// The listener for metrics and probes: for the operator's own network, on this machine by default. It serves few paths,
// reads no body, and what it costs is bounded, however often it is asked.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';

const MAX_CONNECTIONS = 50;
const LIMITS = {
  headersTimeout: 5000,
  requestTimeout: 5000,
  connectionsCheckingInterval: 1000,
  // Longer than the usual interval of scrapes.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 8192,
};
// An answer is used again for as long, so that a flood of requests costs no more than one a second.
const KEPT_MS = 1000;
// When the port is taken, by a process that ends for example, it is tried again.
const TRY_AGAIN_MS = 10_000;

export interface Answer {
  status: number;
  type: 'text/plain; version=0.0.4; charset=utf-8' | 'application/json; charset=utf-8';
  body: string;
}

type Pages = Record<string, () => Promise<Answer>>;

interface ListenerOptions {
  host: string;
  port: number;
  pages: Pages;
  log: Log;
}

export type Listener = Awaited<ReturnType<typeof startListener>>;

/**
 * Starts to listen; resolves when it does, or when it could not. Failure policy: a process without its listener does
 * its work all the same. It says so and tries again every ten seconds.
 */
export async function startListener({ host, port, pages, log }: ListenerOptions) {
  const kept = Object.fromEntries(Object.entries(pages).map(([path, page]) => [path, onceInAWhile(page)]));
  const server = createServer(LIMITS, (request, response) => void answer(kept, request, response, log));
  server.maxConnections = MAX_CONNECTIONS;
  // An error event without a listener ends the process.
  server.on('error', () => {});
  let isEnding = false;
  let retry: NodeJS.Timeout | undefined;
  let hasWarned = false;

  async function listen(): Promise<void> {
    try {
      server.listen({ host, port, exclusive: true });
      await once(server, 'listening');
      const url = `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
      log.info({ url }, `metrics are served at ${url}/metrics`);
    } catch (error) {
      if (isEnding) return;
      if (!hasWarned)
        log.warn({ host, port, cause: causeOf(error) }, `metrics are not served: ${adviceFor(error, host, port)}`);
      hasWarned = true;
      retry = setTimeout(() => void listen(), TRY_AGAIN_MS).unref();
    }
  }

  await listen();
  return {
    async close() {
      isEnding = true;
      clearTimeout(retry);
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function adviceFor(error: unknown, host: string, port: number): string {
  const { code } = error as NodeJS.ErrnoException;
  const goesOn = `trying again every ${TRY_AGAIN_MS / 1000} s`;
  if (code === 'EADDRINUSE')
    return `port ${port} is in use; set OTEL_EXPORTER_PROMETHEUS_PORT to another port, or to 0 to turn the metrics port off; ${goesOn}`;
  if (code === 'EACCES')
    return `port ${port} cannot be opened without privileges; set OTEL_EXPORTER_PROMETHEUS_PORT to a port above 1023; ${goesOn}`;
  return `cannot listen on ${host}; set OTEL_EXPORTER_PROMETHEUS_HOST to an address of this machine; ${goesOn}`;
}

/** One call at a time for all callers; its result is kept for a moment. */
function onceInAWhile(page: () => Promise<Answer>): () => Promise<Answer> {
  let last: { answer: Promise<Answer>; at: number } | undefined;
  return () => {
    const now = performance.now();
    if (last && now - last.at < KEPT_MS) return last.answer;
    const running = { answer: page(), at: Number.POSITIVE_INFINITY };
    // From its end on: a slow one is not asked for a second time meanwhile.
    running.answer.then(
      () => Object.assign(running, { at: performance.now() }),
      () => Object.assign(running, { at: Number.NEGATIVE_INFINITY }),
    );
    last = running;
    return running.answer;
  };
}

async function answer(pages: Pages, request: IncomingMessage, response: ServerResponse, log: Log): Promise<void> {
  // A body would be read to its end.
  if (request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined) {
    response.setHeader('Connection', 'close');
  }
  const path = request.url?.split('?', 1)[0] ?? '';
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (page === undefined) return end(response, 404, 'Not found\n');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return end(response, 405, 'Method not allowed\n');
  }
  try {
    const { status, type, body } = await page();
    response.setHeader('Content-Type', type);
    end(response, status, body);
  } catch (error) {
    log.warn({ path, cause: causeOf(error) }, 'failed to respond to a request on the metrics port');
    end(response, 500, 'Internal error\n');
  }
}

function end(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status;
  response.setHeader('Cache-Control', 'no-store');
  response.end(body);
}
