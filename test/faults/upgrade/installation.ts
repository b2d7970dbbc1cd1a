// An installation that was upgraded: a saved state on servers of its own, with processes of this release.
import { Client, Connection } from '@temporalio/client';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createPool } from '../../../db/connections/pool.ts';
import { type Stack, startStack } from '../../../local/stack.ts';
import { createClient } from '../../support/api-client.ts';
import type { Hookyard } from '../../support/hookyard.ts';
import { type MailServer, startMailServer } from '../../support/mail-server.ts';
import { type Answer, type Endpoint, type Receiver, startReceiver } from '../../support/receiver.ts';
import { type Service, startService } from '../../support/service.ts';
import { installState, type State } from './state.ts';
import { ENDPOINTS, type EndpointName, placeholder } from './story.ts';

const project = join(import.meta.dirname, '..', '..', '..');

/** What the receiver answers to this release. */
const ANSWERS: Partial<Record<EndpointName, (Answer | number)[]>> = {
  flaky: [500, 200],
  down: [500, 200],
  primary: [500],
};

export interface Upgraded extends Hookyard {
  endpoints: Record<EndpointName, Endpoint>;
  mailServer: MailServer;
  /** @param folder a checkout of another release, by default this one */
  startWorker(folder?: string): Promise<Service>;
}

/** Installs a state on servers of its own and starts this release's API on it, no worker yet. */
export async function upgrade(state: State): Promise<Upgraded> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of closing.toReversed()) await step();
  };
  try {
    return await startUpgraded(state, closing, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function startUpgraded(
  state: State,
  closing: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<Upgraded> {
  const [receiver, mailServer] = await Promise.all([startReceiver(), startMailServer()]);
  closing.push(receiver.close, mailServer.close);
  const endpoints = makeEndpoints(receiver);
  const stack = await startInstalled(state, endpoints);
  closing.push(async () => {
    await stack.stop();
    rmSync(stack.dataDir, { recursive: true, force: true });
  });
  const { settings, story } = state.head;
  const env = {
    ...settings,
    DATABASE_URL: stack.databaseUrl,
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TEMPORAL_NAMESPACE: stack.namespace,
    // However old the state is, its events are kept.
    HOOKYARD_PAYLOAD_RETENTION_DAYS: '0',
    HOOKYARD_EVENT_RETENTION_DAYS: '0',
    SMTP_URL: mailServer.url,
    HOOKYARD_NOTIFY_FROM: 'hookyard@sender.example',
  };
  const services: Service[] = [];
  const start = async (role: 'api' | 'worker', folder?: string) => {
    const service = await startService(role, env, folder);
    services.push(service);
    closing.push(service.stop);
    return service;
  };
  const api = await start('api');
  const pool = createPool(stack.databaseUrl, { max: 2, statementTimeoutMs: 20_000, onError: () => {} });
  const connection = Connection.lazy({ address: stack.temporalAddress });
  closing.push(() => Promise.all([pool.end(), connection.close()]));
  return {
    client: createClient(api.url, settings.HOOKYARD_API_KEY),
    organizationId: story.organizationId,
    base: `/api/organizations/${story.organizationId}`,
    pool,
    temporal: new Client({ connection, namespace: stack.namespace }),
    logs: () => services.map((service) => service.output()).join('\n'),
    endpoints,
    mailServer,
    startWorker: (folder) => start('worker', folder),
    close,
  };
}

function makeEndpoints(receiver: Receiver): Record<EndpointName, Endpoint> {
  const made = ENDPOINTS.map((name) => [name, receiver.endpoint(...(ANSWERS[name] ?? [200]))]);
  return Object.fromEntries(made) as Record<EndpointName, Endpoint>;
}

/** The embedded stack as it starts in the data folder that the release before has left. */
function startInstalled(state: State, endpoints: Record<EndpointName, Endpoint>): Promise<Stack> {
  const addresses = Object.fromEntries(ENDPOINTS.map((name) => [placeholder(name), endpoints[name].url]));
  const dataDir = join(project, '.test-data', `upgrade-${process.pid}-${randomBytes(3).toString('hex')}`);
  return startStack({
    dataDir,
    postgresPort: 0,
    temporalPort: 0,
    uiPort: null,
    onLocked: () => installState(dataDir, state, addresses),
    log: () => {},
  });
}
