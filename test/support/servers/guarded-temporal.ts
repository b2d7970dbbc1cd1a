// A Temporal that asks who calls: its own authorizer and its own mapping of tokens to roles, as operators have them.
// Beside the stack's.
// https://docs.temporal.io/self-hosted-guide/security#authorization
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { cacheFolder } from '../../../core/config/folders.ts';
import { ensureBinaries } from '../../../local/temporal/binaries.ts';
import { freePorts } from '../../../local/ports.ts';
import { startChild } from '../../../local/process.ts';
import { serverConfig, services } from '../../../local/temporal/server.ts';
import { updateTemporalSchemas } from '../../../local/temporal/schema.ts';
import { httpServer } from '../../http/servers.ts';
import { createDatabase } from '../database/own-database.ts';
import { tokenOf } from '../providers/published-signers.ts';
import { until } from '../until.ts';

const KEY_ID = 'tests';
const READY_MS = 120_000;
const STOP_MS = 10_000;
const HOUR_SECONDS = 3600;

export type GuardedTemporal = Awaited<ReturnType<typeof startGuardedTemporal>>;

export async function startGuardedTemporal() {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-guarded-'));
  mkdirSync(join(folder, 'logs'));
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'RS256', use: 'sig' }];
  const keysPort = await httpServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ keys }));
  });
  const name = `guarded_${process.pid}`;
  const [store, visibility, programs, [port = 0, internal = 0, membership = 0, ...others]] = await Promise.all([
    createDatabase(name),
    createDatabase(`${name}_visibility`),
    ensureBinaries({ ui: false, cache: cacheFolder(), log: () => undefined }),
    freePorts(3 + 2 * services.length),
  ]);
  const urls = { databaseUrl: store.databaseUrl, visibilityUrl: visibility.databaseUrl };
  await updateTemporalSchemas({ sqlTool: programs.sqlTool, ...urls });
  const ports = { grpc: others.slice(services.length), membership: others.slice(0, services.length) };
  // The server's own work goes through a frontend that asks nobody.
  const { publicClient: _, ...config } = serverConfig({ port, ...urls }, ports);
  const inside = { rpc: { grpcPort: internal, membershipPort: membership, bindOnIP: '127.0.0.1' } };
  const authorization = {
    authorizer: 'default',
    claimMapper: 'default',
    jwtKeyProvider: { keySourceURIs: [`http://127.0.0.1:${keysPort}/`], refreshInterval: '1m' },
  };
  const guarded = {
    ...config,
    global: { ...config.global, authorization },
    services: { ...config.services, 'internal-frontend': inside },
  };
  const file = join(folder, 'server.yaml');
  writeFileSync(file, JSON.stringify(guarded), { mode: 0o600 });
  const started = [...services, 'internal-frontend'].flatMap((service) => ['--service', service]);
  const child = await startChild({
    name: 'guarded-temporal',
    dataDir: folder,
    command: programs.server,
    args: ['--config-file', file, 'start', ...started],
  });
  const address = `127.0.0.1:${port}`;
  /** A token with these permissions: `<namespace>:<role>`, in `temporal-system` for the cluster. */
  const token = (...permissions: string[]): string => {
    const exp = Math.floor(Date.now() / 1000) + HOUR_SECONDS;
    return tokenOf({ alg: 'RS256', typ: 'JWT', kid: KEY_ID }, { sub: 'tests', permissions, exp }, privateKey);
  };
  /** A connection with such a token; the caller closes it. */
  const connect = (...permissions: string[]): Connection =>
    Connection.lazy({ address, tls: false, apiKey: token(...permissions) });
  const close = async () => {
    await child.stop('SIGTERM', STOP_MS);
    await Promise.all([store.drop(), visibility.drop()]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until(
      'the server to answer',
      async () => {
        if (!child.running) throw new Error(child.output());
        const connection = connect('temporal-system:read');
        try {
          await connection.workflowService.listNamespaces({});
          return true;
        } finally {
          await connection.close();
        }
      },
      READY_MS,
    );
  } catch (error) {
    await close();
    throw error;
  }
  return { address, token, connect, close };
}
