// Real object stores for tests, without Docker: versitygw (S3 and R2), fake-gcs-server and Azurite, as processes on
// loopback. The first two are built with Go from the versions that object-stores/go.mod pins, the third comes from npm
// by the lock file in object-stores/azurite. Both are kept in the cache folder that also holds Temporal, outside the
// project.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { oneLine } from '../../../local/errors.ts';
import { freePorts } from '../../../local/ports.ts';
import { COLD_START_MS, goProgram } from '../programs/go-program.ts';
import { npmPackages } from '../programs/npm-packages.ts';
import { until } from '../until.ts';

const pins = join(import.meta.dirname, 'object-stores');

export interface StoreServer {
  /** `host:port` */
  address: string;
  /** `http://host:port` */
  url: string;
  pid: number;
  stop(): Promise<void>;
}

export { COLD_START_MS };

export const S3_ACCESS_KEY = 'hookyard-test';
export const S3_SECRET_KEY = 'secret-of-the-tests-0123456789';
export const AZURE_ACCOUNT = 'hookyardtest';
export const AZURE_KEY = Buffer.from('account key of the tests').toString('base64');

/** A service account key as Google gives it out, of a project that does not exist. */
export function serviceAccountKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return JSON.stringify({
    type: 'service_account',
    project_id: 'hookyard-test',
    private_key_id: '0123456789abcdef',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'writer@hookyard-test.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
  });
}

/** Starts an S3 server that checks signatures for one region. */
export async function startS3Server(region: string): Promise<StoreServer> {
  const program = await storeProgram('versitygw', 'github.com/versity/versitygw/cmd/versitygw');
  const keys = ['--access', S3_ACCESS_KEY, '--secret', S3_SECRET_KEY, '--region', region];
  return startServer('versitygw', program, (port, folder) => {
    // Metadata in files of their own: not every file system has extended attributes.
    mkdirSync(join(folder, 'objects'));
    mkdirSync(join(folder, 'metadata'));
    const store = ['posix', '--sidecar', join(folder, 'metadata'), join(folder, 'objects')];
    return [...keys, '--port', `127.0.0.1:${port}`, '--quiet', ...store];
  });
}

/** Starts a Google Cloud Storage server; it takes every caller. */
export async function startGcsServer(): Promise<StoreServer> {
  const program = await storeProgram('fake-gcs-server', 'github.com/fsouza/fake-gcs-server');
  return startServer('fake-gcs-server', program, (port) => [
    ...['-scheme', 'http', '-host', '127.0.0.1', '-port', String(port), '-public-host', `127.0.0.1:${port}`],
    ...['-backend', 'memory', '-log-level', 'error'],
  ]);
}

/** Starts an Azure Blob server with the account `AZURE_ACCOUNT`. */
export async function startAzureServer(): Promise<StoreServer> {
  const script = join(await azurite(), 'node_modules', 'azurite', 'dist', 'src', 'blob', 'main.js');
  const options = ['--silent', '--disableTelemetry', '--skipApiVersionCheck', '--blobHost', '127.0.0.1'];
  return startServer(
    'azurite',
    process.execPath,
    (port, folder) => [script, ...options, '--blobPort', String(port), '--location', folder],
    { AZURITE_ACCOUNTS: `${AZURE_ACCOUNT}:${AZURE_KEY}` },
  );
}

async function startServer(
  name: string,
  command: string,
  args: (port: number, folder: string) => string[],
  env: Record<string, string> = {},
): Promise<StoreServer> {
  const folder = mkdtempSync(join(tmpdir(), `hookyard-${name}-`));
  const [port = 0] = await freePorts(1);
  const child = spawn(command, args(port, folder), {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part) => (output = (output + part).slice(-4000)));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()).once('error', () => resolve()));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    child.kill();
    await ended;
    process.off('exit', kill);
    rmSync(folder, { recursive: true, force: true });
  };
  const address = `127.0.0.1:${port}`;
  try {
    await until(`${name} answers`, () => answers(`http://${address}/`, child), 60_000);
  } catch (error) {
    await stop();
    throw new Error(`${oneLine(error)}. Its output: ${output}`, { cause: error });
  }
  return { address, url: `http://${address}`, pid: child.pid ?? 0, stop };
}

/** Whether there is any answer, be it a refusal. */
async function answers(url: string, child: ChildProcess): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
  await (await fetch(url, { signal: AbortSignal.timeout(2000) })).body?.cancel();
  return true;
}

const storeProgram = (name: string, source: string) =>
  goProgram({ name, source, pins }, 'test/conformance/warehouses.test.ts');

/** The folder in which Azurite is installed, installed first if need be. */
const azurite = (): Promise<string> => npmPackages({ name: 'azurite', what: 'Azurite', pins: join(pins, 'azurite') });
