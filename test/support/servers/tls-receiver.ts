// A destination on loopback that speaks TLS, with a certificate of its own for `localhost`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from './certificates.ts';
import { listen } from './listen.ts';

export async function startTlsReceiver() {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-tls-'));
  const certificateFile = join(folder, 'certificate.pem');
  const pair = selfSigned('localhost');
  writeFileSync(certificateFile, pair.cert);
  const server = createServer(pair, (request, response) => {
    request.resume().on('end', () => response.end());
  });
  // Clients that do not trust it are part of the tests.
  server.on('tlsClientError', () => undefined);
  const { port, close } = await listen(server);
  return {
    /** Answers 200. */
    url: `https://localhost:${port}/`,
    /** For NODE_EXTRA_CA_CERTS of those who shall trust it. */
    certificateFile,
    async close() {
      await close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
