// Bytes that are no HTTP, or HTTP that breaks its own rules (RFC 9112), sent over plain sockets.
import { connect } from 'node:net';
import fc from 'fast-check';

export interface RawRequest {
  what: string;
  bytes: Buffer;
  /** Whether the sender ends its side after the bytes. */
  ends: boolean;
}

export interface RawAnswer {
  /** 0 when the connection was closed without an answer. */
  status: number;
  body: Record<string, unknown>;
}

const DEADLINE_MS = 15_000;

/** Sends bytes and reads the first answer. @throws Error when nothing happens for a long time */
export function sendRaw(port: number, { what, bytes, ends }: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const parts: Buffer[] = [];
    const timer = setTimeout(() => reject(new Error(`${what}: no answer and no end`)), DEADLINE_MS);
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(parseAnswer(Buffer.concat(parts)));
    };
    socket.on('connect', () => (ends ? socket.end(bytes) : socket.write(bytes)));
    socket.on('data', (part) => {
      parts.push(part);
      if (isComplete(Buffer.concat(parts))) finish();
    });
    // A reset counts as an end.
    socket.on('error', finish).on('close', finish);
  });
}

function isComplete(bytes: Buffer): boolean {
  const [head = '', body] = bytes.toString('latin1').split('\r\n\r\n', 2);
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  return body !== undefined && length !== undefined && body.length >= Number(length);
}

function parseAnswer(bytes: Buffer): RawAnswer {
  const text = bytes.toString();
  const end = text.indexOf('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0);
  try {
    return { status, body: JSON.parse(text.slice(end + 4)) };
  } catch {
    return { status, body: {} };
  }
}

const raw = (what: string, text: string | Buffer, ends = false): RawRequest => ({
  what,
  bytes: typeof text === 'string' ? Buffer.from(text, 'latin1') : text,
  ends,
});

/** @param key an API key, so that requests come as far as they can */
export function rawRequests(key: string, options: { seed: number; count: number }): RawRequest[] {
  const head = (line: string, ...headers: string[]) => [line, 'Host: x', ...headers, '', ''].join('\r\n');
  const post = (...headers: string[]) =>
    head(
      'POST /api/destinations HTTP/1.1',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      ...headers,
    );
  const known = [
    raw('no Host', 'GET /api/destinations HTTP/1.1\r\n\r\n'),
    raw('version 9.9', head('GET / HTTP/9.9')),
    raw('no version', 'GET /\r\n\r\n'),
    raw('HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    raw('lower case', 'get / http/1.1\r\nhost: x\r\n\r\n'),
    raw('TLS', Buffer.from('16030100c8010000c40303', 'hex')),
    raw('unknown method', head('BREW / HTTP/1.1')),
    raw('proxy', head('CONNECT other.example:443 HTTP/1.1')),
    raw('another proxy form', head('GET http://other.example/api/x HTTP/1.1')),
    raw('asterisk', head('OPTIONS * HTTP/1.1')),
    raw('websocket', head('GET /api/x HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket')),
    raw('expectation', post('Expect: 200-ok', 'Content-Length: 2')),
    raw('two lengths', `${post('Content-Length: 2', 'Content-Length: 3')}{}`),
    raw('negative length', post('Content-Length: -1')),
    raw('length with a letter', post('Content-Length: 1x')),
    raw('huge length', post(`Content-Length: ${'9'.repeat(25)}`)),
    raw('length beyond the limit', `${post('Content-Length: 999999999')}{}`),
    raw('length and chunked', `${post('Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`),
    raw('unknown transfer encoding', post('Transfer-Encoding: gzip')),
    raw('chunked twice', `${post('Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n`),
    raw('bad chunk size', `${post('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`),
    raw('chunk longer than its size', `${post('Transfer-Encoding: chunked')}1\r\n{}\r\n0\r\n\r\n`),
    raw('huge chunk extension', `${post('Transfer-Encoding: chunked')}1;${'x'.repeat(40_000)}\r\n`),
    raw('body cut off', `${post('Content-Length: 100')}{"name":"x"`, true),
    raw('chunks cut off', `${post('Transfer-Encoding: chunked')}5\r\n{"na`, true),
    raw('headers cut off', 'GET / HTTP/1.1\r\nHost: x\r\nX-A', true),
    raw('space before the colon', head('GET / HTTP/1.1', 'X-A : 1')),
    raw('no colon', head('GET / HTTP/1.1', 'nonsense')),
    raw('folded header', head('GET / HTTP/1.1', 'X-A: 1', ' folded')),
    raw('NUL in a header', head('GET / HTTP/1.1', 'X-A: a\0b')),
    raw('CR in a header', head('GET / HTTP/1.1', 'X-A: a\rb')),
    raw('NUL in the path', head('GET /api/\0 HTTP/1.1')),
    raw('space in the path', head('GET /api/a b HTTP/1.1')),
    raw('bytes in the path', head('GET /api/\xff\xfe HTTP/1.1')),
    raw('long path', head(`GET /api/${'a'.repeat(40_000)} HTTP/1.1`)),
    raw('large header', head('GET / HTTP/1.1', `X-A: ${'a'.repeat(40_000)}`)),
    raw('many headers', head('GET / HTTP/1.1', ...Array.from({ length: 5000 }, (_, n) => `X-${n}: 1`))),
    raw('ingest cut off', `${head('POST /ingest/none/none HTTP/1.1', 'Content-Length: 50')}{"a"`, true),
  ];
  const right = `${post('Content-Length: 12')}{"name":"D"}`;
  // A right request in which some bytes are others.
  const spoilt = fc
    .array(fc.tuple(fc.nat(right.indexOf('\r\n') - 1), fc.constantFrom(0, 1, 10, 13, 32, 127, 200, 255)), {
      minLength: 1,
      maxLength: 4,
    })
    .map((changes) => {
      const bytes = Buffer.from(right, 'latin1');
      for (const [at, byte] of changes) bytes[at] = byte;
      return raw(`spoilt ${JSON.stringify(changes)}`, bytes, true);
    });
  const noise = fc
    .uint8Array({ minLength: 1, maxLength: 300 })
    .map((bytes) => raw('noise', Buffer.concat([Buffer.from(bytes), Buffer.from('\r\n\r\n')]), true));
  const generated = fc.sample(fc.oneof(spoilt, noise), { seed: options.seed, numRuns: options.count - known.length });
  return [...known, ...generated];
}
