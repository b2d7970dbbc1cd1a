// How every process reaches Temporal: the SDK's own environment variables (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
// TEMPORAL_API_KEY, TEMPORAL_TLS_*), with the embedded server as the default.
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { ConnectionOptions } from '@temporalio/client';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { currentSecret } from '../core/config/secret-files.ts';

export interface TemporalConnection {
  /** For `NativeConnection.connect`. */
  connectionOptions: NativeConnectionOptions & { address: string };
  namespace: string;
  /** Of TEMPORAL_API_KEY_FILE, as it is now: the file may be replaced. */
  currentApiKey?: () => string;
}

/**
 * Channel options of the SDK's client connection, which would otherwise use the proxies named by `http_proxy` and its
 * kin, for an embedded server too. Workers' connections never do.
 */
export const WITHOUT_PROXY = { 'grpc.enable_http_proxy': 0 };

/** For `Connection.connect` and `Connection.lazy`. */
export function clientOptions({ connectionOptions }: TemporalConnection): ConnectionOptions & { address: string } {
  const { grpcCompression: _forWorkers, ...others } = connectionOptions;
  return { ...others, channelArgs: WITHOUT_PROXY };
}

/**
 * For a connection of a worker that is made now. It is told of a key that comes later by itself
 * (worker/temporal/upkeep.ts).
 */
export function nativeOptions({ connectionOptions, currentApiKey }: TemporalConnection): NativeConnectionOptions {
  return { ...connectionOptions, ...(currentApiKey && { apiKey: currentApiKey() }) };
}

export const defaultNamespace = 'hookyard';
const defaultAddress = '127.0.0.1:7233';

/** @throws Error when a certificate file named by TEMPORAL_TLS_* cannot be read */
export function temporalConnectionOptions(env: Record<string, string | undefined> = process.env): TemporalConnection {
  const set: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value) set[name] = value;
  const { connectionOptions, namespace } = loadClientConnectConfig({ disableFile: true, overrideEnvVars: set });
  const address = connectionOptions.address ?? defaultAddress;
  return {
    // Compression saves bandwidth on a network and only costs CPU on one machine.
    connectionOptions: {
      ...connectionOptions,
      address,
      ...(isLoopback(address) && { grpcCompression: { codec: 'none' } }),
    },
    namespace: namespace ?? defaultNamespace,
    ...(env.TEMPORAL_API_KEY_FILE && { currentApiKey: currentSecret(env, 'TEMPORAL_API_KEY') }),
  };
}

function isLoopback(address: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?$/i.test(address);
}
