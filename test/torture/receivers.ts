// Destinations that note what arrives and can be taken away: refusing or resetting connections, or answering late.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request that was answered with 200. */
export interface Arrival {
  eventId: string;
  deliveryId: string;
  attempt: number;
  body: string;
  /** Within its ordering key; NaN without one. */
  sequence: number;
}

export interface ReceiverOptions {
  name: string;
  /** Decides the answer to a request; 200 takes it. */
  status: (body: string, attempt: number) => number;
  /** How long an answer takes, ms; 0 by default. */
  latency?: (body: string, attempt: number) => number;
  /** Hears of every request that was taken. */
  onArrival: (arrival: Arrival, receiver: { name: string }) => void;
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Starts a receiver on a free port of 127.0.0.1. */
export async function startReceiver({ name, status, latency, onArrival }: ReceiverOptions) {
  const arrivals: Arrival[] = [];
  const sockets = new Set<Socket>();
  let resetting = false;
  let delayMs = 0;
  const server = createServer((request, response) => {
    readBody(request)
      .then((body) => answer(request, response, body))
      .catch(() => undefined); // the connection broke
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => {
    if (resetting) return void socket.resetAndDestroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });

  async function answer({ headers }: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const attempt = Number(headers['x-hookyard-attempt']);
    const waitMs = Math.max(delayMs, latency?.(body, attempt) ?? 0);
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (response.destroyed) return; // its sender has given up, or it was cut: nobody was told that it is taken
    const code = status(body, attempt);
    response.writeHead(code).end('ok');
    if (code !== 200) return;
    const [eventId, deliveryId] = [headers['x-hookyard-event-id'], headers['x-hookyard-delivery-id']].map(String);
    const sequence = Number(headers['x-hookyard-sequence']);
    const arrival = { eventId: eventId ?? '', deliveryId: deliveryId ?? '', attempt, body, sequence };
    arrivals.push(arrival);
    onArrival(arrival, receiver);
  }

  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  /** From now on connections are refused, and those that are open end. */
  const refuse = async () => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  const receiver = {
    name,
    url: `http://127.0.0.1:${port}/${name}`,
    arrivals,
    refuse,
    /** From now on every connection is reset, those that are open too. */
    reset(): void {
      resetting = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    /** From now on answers take so many ms. */
    delay(ms: number): void {
      delayMs = ms;
    },
    /** As it was in the beginning, at the same address. */
    async mend(): Promise<void> {
      resetting = false;
      delayMs = 0;
      if (!server.listening) await listen(port);
    },
    close: refuse,
  };
  return receiver;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
