import type { Settings } from '../../core/config/config.ts';
import type { Log } from '../../core/process/log.ts';
import { ownServices } from '../../core/http/service-addresses.ts';
import type { Tuning } from '../../core/config/tuning.ts';
import { operatorAccess } from '../../core/warehouse/operator-access.ts';
import type { EncryptionKey, SecretBox } from '../../db/encryption/secret-box.ts';
import { CountedIssues } from '../../db/issues/counted.ts';
import { createStandings, transformBudgets } from '../../db/hot-path/routing.ts';
import { createThreads } from '../../outbound/threads/index.ts';
import { currentAllowList } from '../../outbound/http/address-guard.ts';
import { createLookUps, systemResolve } from '../../outbound/http/guarded-connect.ts';
import { createOwnServices } from '../../outbound/http/protected-services.ts';
import { createSender } from '../../outbound/http/sender.ts';
import { smtpOf } from '../../outbound/mail.ts';
import { createProviderKeys } from '../../outbound/provider-keys.ts';
import { createWarehouses } from '../../outbound/warehouses/index.ts';
import { senderOf } from '../../providers/index.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { startTracing } from '../../telemetry/tracing.ts';
import { lazyClient } from '../../temporal-config/client.ts';
import { temporalConnectionOptions } from '../../temporal-config/connection.ts';
import { temporalDataConverter } from '../../temporal-config/payload-codec.ts';
import { Backlog } from '../ingest/backlog.ts';
import { acceptHandshakeSecret, Handshakes } from '../ingest/handshakes.ts';
import { createRouteMatcher } from '../ingest/route-matching.ts';
import { createIngest } from '../ingest/ingest.ts';
import { IngestIssues } from '../ingest/ingest-issues.ts';
import { IngestLimits } from '../ingest/ingest-limits.ts';
import { Refusals } from '../ingest/refusals.ts';
import type { ServiceDatabase } from './service-database.ts';
import { createSignals } from './signals.ts';

export interface ServiceContext {
  settings: Settings;
  tuning: Tuning;
  env: Record<string, string | undefined>;
  keys: EncryptionKey[];
  secretBox: SecretBox;
  baseUrl: () => string;
  log: Log;
}

export type Temporal = ReturnType<typeof openTemporal>;
export type Outbound = ReturnType<typeof openOutbound>;
export type Receiving = Awaited<ReturnType<typeof openReceiving>>;

export function openTemporal({ settings, env, keys, log }: ServiceContext, { pool }: Pick<ServiceDatabase, 'pool'>) {
  const options = temporalConnectionOptions(env);
  const dataConverter = temporalDataConverter(settings.HOOKYARD_TEMPORAL_CODEC, keys);
  const client = lazyClient(options, { dataConverter, prefix: settings.HOOKYARD_TEMPORAL_PREFIX });
  return { options, client, signals: createSignals(client, pool, log) };
}

export function openOutbound(
  { settings, env, baseUrl, log }: ServiceContext,
  { servicePool, organizations }: Pick<ServiceDatabase, 'servicePool' | 'organizations'>,
  { options }: Pick<Temporal, 'options'>,
) {
  const own = createOwnServices(ownServices(settings, options.connectionOptions.address), systemResolve);
  const { areSeveral } = organizations;
  const lookUp = createLookUps({ resolve: systemResolve });
  const reach = { allow: settings.HOOKYARD_DELIVERY_ALLOW, own, lookUp, severalOrganizations: areSeveral };
  const access = operatorAccess(settings, env);
  return {
    own,
    access,
    allowList: currentAllowList(settings.HOOKYARD_DELIVERY_ALLOW, areSeveral),
    sender: createSender({ ...reach, publicUrl: baseUrl }),
    warehouses: createWarehouses({ ...reach, access }),
    smtp: smtpOf(settings),
    threads: createThreads({
      threads: settings.HOOKYARD_THREADS,
      budgetOf: transformBudgets(createStandings(servicePool)),
      log,
    }),
  };
}

export async function openReceiving(
  { settings, env, secretBox, baseUrl, log }: ServiceContext,
  { ingestPool, servicePool, slowPool }: Pick<ServiceDatabase, 'ingestPool' | 'servicePool' | 'slowPool'>,
  { sender, threads }: Pick<Outbound, 'sender' | 'threads'>,
) {
  const backlog = new Backlog({ pool: slowPool, settings, log });
  await backlog.watch();
  const ingestLimits = new IngestLimits({ pool: ingestPool, settings, log });
  const issueCounts = new CountedIssues({ pool: servicePool, log });
  const issues = new IngestIssues(issueCounts);
  const refusals = new Refusals({ pool: servicePool, issues, log });
  const traces = await startTracing({ role: 'api', version: packageJson.version, env, log });
  const { tracing } = traces;
  const handshakes = new Handshakes({ pool: servicePool, secretBox, log });
  const providerKeys = createProviderKeys({ sender, log, mirror: settings.HOOKYARD_PROVIDER_KEYS_URL });
  const ingest = createIngest({
    ...{ pool: ingestPool, settings, secretBox, backlog, ingestLimits, refusals, handshakes, issues, tracing },
    ...{
      routeMatcher: createRouteMatcher(threads),
      acceptSecret: acceptHandshakeSecret,
      providerKeys,
      senderOf,
      baseUrl,
    },
  });
  return { backlog, ingestLimits, issueCounts, refusals, traces, handshakes, ingest };
}
