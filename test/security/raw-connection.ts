// Connections exactly as a test writes them, and everything that comes back on them until the server closes.
import { connect, type Server, type Socket } from 'node:net';
import { listen } from '../support/servers/listen.ts';

export interface RawAnswer {
  status: number;
  /** Lowercase names. */
  headers: Record<string, string>;
  /** The parsed JSON; undefined when it is none. */
  body: Record<string, unknown> | undefined;
}

export interface RawConnection {
  socket: Socket;
  /** What has come back so far. */
  answers(): RawAnswer[];
  /** Resolves when the server has ended the connection, orderly or not. @throws Error when it does not within 30 s */
  closed: Promise<RawAnswer[]>;
}

const DEADLINE_MS = 30_000;

/**
 * @param options.from the client's own address, one of the machine's loopback addresses
 * @param options.staysOpen the client does not end its side when the server does
 */
export function openConnection(
  port: number,
  options: { from?: string; staysOpen?: boolean } = {},
): Promise<RawConnection> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    localAddress: options.from,
    allowHalfOpen: options.staysOpen === true,
  });
  const parts: Buffer[] = [];
  const answers = () => parseAnswers(Buffer.concat(parts).toString('latin1'));
  socket.on('data', (part: Buffer) => parts.push(part));
  const closed = new Promise<RawAnswer[]>((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection is still open; it got ${JSON.stringify(answers())}`));
    }, DEADLINE_MS);
    const finish = () => {
      clearTimeout(timer);
      resolve(answers());
    };
    socket.on('end', finish).on('close', finish);
  });
  // No error for a caller that does not wait for the end.
  closed.catch(() => undefined);
  return new Promise((resolve, reject) => {
    // Later errors are ends like any other.
    socket.on('error', reject);
    socket.once('connect', () => resolve({ socket, answers, closed }));
  });
}

/** Call it inside a `describe`: servers and connections, which end after each of its tests. */
export function endedAfterEach() {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });
  return {
    async serve(server: Server): Promise<number> {
      const { port, close } = await listen(server);
      ends.push(close);
      return port;
    },
    /** @param text is sent at once */
    async open(port: number, text = '', from?: string): Promise<RawConnection> {
      const connection = await openConnection(port, { from });
      ends.unshift(() => connection.socket.destroy());
      connection.socket.write(text);
      return connection;
    },
  };
}

/** Sends bytes, and returns every answer until the server closes the connection. */
export async function answersTo(port: number, bytes: string | Buffer): Promise<RawAnswer[]> {
  const { socket, closed } = await openConnection(port);
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  const answers = await closed;
  socket.destroy();
  return answers;
}

function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return answers;
    const [line = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((header) => header.split(/:\s*/, 2).map((part, i) => (i ? part : part.toLowerCase()))),
    );
    const length = Number(headers['content-length'] ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    answers.push({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1] ?? 0), headers, body: parsed(body) });
    rest = rest.slice(end + 4 + length);
  }
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
