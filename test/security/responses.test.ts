// What a hostile destination or object store can answer: it costs a bounded amount of memory and time, whatever it is.
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { asResponse, closedAfterEach, request } from '../http/senders.ts';
import { closeAll, handshakeServer, httpServer, socketServer } from '../http/servers.ts';
import { selfSigned } from '../support/servers/certificates.ts';
import { until } from '../support/until.ts';
import { callers } from './outbound-callers.ts';

const MEBIBYTE = 1024 * 1024;
const SHORT_MS = 500;

setFlagsFromString('--expose-gc');

/** Writes a piece again and again, as quickly as it is taken. */
function pour(socket: Socket, piece: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
/** An answer without an end: how it begins, and what comes for ever. */
const endless: [string, string, string][] = [
  ['headers', OK, `X-A: ${'a'.repeat(1000)}\r\n`],
  ['one header', `${OK}X-A: `, 'a'.repeat(1000)],
  ['interim answers', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(20)],
  ['one chunk extension', `${CHUNKED}1;`, 'a'.repeat(1000)],
  ['chunk extensions', CHUNKED, `1;${'a'.repeat(1000)}\r\na\r\n`],
  ['trailers', `${CHUNKED}0\r\n`, `X-A: ${'a'.repeat(1000)}\r\n`],
  ['body', `${OK}\r\n`, 'a'.repeat(65_536)],
  ['chunks', CHUNKED, `1000\r\n${'a'.repeat(4096)}\r\n`],
];

for (const caller of callers) {
  describe(`Answers to ${caller.name}`, () => {
    afterEach(closeAll);

    for (const [what, start, piece] of endless) {
      it(`end although there is no end to their ${what}`, async () => {
        const open = new Set<Socket>();
        const port = await socketServer((socket) => {
          socket.once('data', () => {
            socket.write(start);
            pour(socket, piece);
          });
          open.add(socket);
          socket.on('close', () => open.delete(socket));
        });
        const client = caller.open({ timeoutMs: SHORT_MS });
        const held = process.memoryUsage().rss;
        const outcome = await client.call(`http://127.0.0.1:${port}`);
        // The connection goes with the answer, not with the client.
        await until('the connection to be closed', () => open.size === 0);
        await client.close();
        // A body is read to its limit, and the status counts; everything else is no answer.
        if (outcome.ok) expect(what).to.be.oneOf(['body', 'chunks', 'chunk extensions']);
        else expect(outcome.message).to.be.a('string').that.is.not.empty;
        expect(process.memoryUsage().rss - held).to.be.below(256 * MEBIBYTE);
      });
    }

    // With a prime of 8,192 bits, which the server chooses, one such handshake holds the event loop for half a second
    // and more.
    it('come through no key exchange over a finite field', async () => {
      const ciphers = 'DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-SHA256';
      const options = { ...selfSigned('localhost'), ciphers, dhparam: 'auto', maxVersion: 'TLSv1.2' } as const;
      const { port, handshakes } = await handshakeServer(options);
      const client = caller.open();
      const outcome = await client.call(`https://127.0.0.1:${port}`);
      await client.close();
      expect(outcome).to.include({ ok: false, refused: false });
      await until('the handshake to end', () => handshakes.length > 0);
      expect(handshakes).to.deep.equal(['ERR_SSL_NO_SHARED_CIPHER']);
    });

    it('are never decompressed', async () => {
      const bomb = gzipSync(Buffer.alloc(50 * MEBIBYTE), { level: 1 });
      const asked: (string | undefined)[] = [];
      const port = await httpServer((received, response) => {
        asked.push(received.headers['accept-encoding']);
        received.resume().on('end', () => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb));
      });
      const client = caller.open();
      const outcome = await client.call(`http://127.0.0.1:${port}`);
      await client.close();
      expect(outcome.message.length).to.be.below(MEBIBYTE);
      expect(asked).to.deep.equal([undefined]);
    });
  });
}

describe('Answers of a destination', () => {
  const open = closedAfterEach();

  it('are kept as the bytes that came, compressed or not', async () => {
    const bytes = gzipSync('a short text that would be recognized');
    const port = await httpServer((_received, response) =>
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bytes),
    );
    const result = asResponse(await open().send(request(`http://127.0.0.1:${port}`)));
    expect(result.bodyText).to.equal(bytes.toString('utf8').replaceAll('\0', '\ufffd'));
    expect(result.headers['content-encoding']).to.equal('gzip');
  });

  it('reach no other destination: an answer too many stays with the one that sent it', async () => {
    const answer = (text: string) => `${OK}Content-Length: ${text.length}\r\n\r\n${text}`;
    const port = await socketServer((socket) => {
      socket.on('data', (bytes) => {
        const isHostile = bytes.toString().startsWith('POST /hostile ');
        socket.write(isHostile ? answer('hostile') + answer('forged') : answer('honest'));
      });
    });
    const sender = open();
    for (let round = 0; round < 20; round += 1) {
      const [hostile, honest] = await Promise.all([
        sender.send(request(`http://127.0.0.1:${port}/hostile`, { poolKey: 'dst_hostile' })),
        sender.send(request(`http://127.0.0.1:${port}/honest`, { poolKey: 'dst_honest' })),
      ]);
      expect(asResponse(honest).bodyText).to.equal('honest');
      // What it says is its own affair.
      if (hostile.kind === 'response') expect(hostile.bodyText).to.be.oneOf(['hostile', 'forged']);
    }
  });

  it('with more headers than are taken are no answer, which may be tried again', async () => {
    const port = await socketServer((socket) => {
      socket.once('data', () => socket.end(`${OK}X-A: ${'a'.repeat(40_000)}\r\nContent-Length: 0\r\n\r\n`));
    });
    const result = await open().send(request(`http://127.0.0.1:${port}`));
    expect(result).to.include({ kind: 'error', code: 'UND_ERR_HEADERS_OVERFLOW', retryable: true });
  });
});
