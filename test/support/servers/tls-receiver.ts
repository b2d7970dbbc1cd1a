// A destination on loopback that speaks TLS, with a certificate of its own for `localhost`.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateOf } from './certificates.ts';

const DAY_MS = 86_400_000;

export type TlsReceiver = Awaited<ReturnType<typeof startTlsReceiver>>;

export async function startTlsReceiver() {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-tls-'));
  const certificateFile = join(folder, 'certificate.pem');
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const cert = certificateOf(pair, 'localhost', { fromMs: Date.now() - DAY_MS, toMs: Date.now() + DAY_MS });
  writeFileSync(certificateFile, cert);
  const key = pair.privateKey.export({ format: 'pem', type: 'pkcs8' });
  const server = createServer({ key, cert }, (request, response) => {
    request.resume().on('end', () => response.end());
  });
  // Clients that do not trust it are part of the tests.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    /** Answers 200. */
    url: `https://localhost:${port}/`,
    /** For NODE_EXTRA_CA_CERTS of those who shall trust it. */
    certificateFile,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
