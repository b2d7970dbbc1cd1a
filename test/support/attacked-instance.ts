// One Hookyard on which every attack is made once: with limits so small that a few webhooks reach them, and with everything around it
// that an attack may aim at. Its processes know from the start that there are several organizations.
import { closeAll, socketServer } from '../http/servers.ts';
import { type OwnHookyard, startHookyard } from './hookyard.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { type OperatorR2, startOperatorR2 } from './operator-r2.ts';
import { insertSource, ownDatabase } from './own-database.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { stackAddresses } from './stack.ts';

const MEBIBYTE = 1024 * 1024;

export const SMALL = {
  /** Deliveries that may wait, of all organizations. */
  backlog: 300,
  /** Deliveries that the worker makes at a time. */
  inFlight: 10,
  connections: 300,
  payloadBytes: MEBIBYTE,
  /** Of bodies; ingest has three quarters of it. */
  bufferedBytes: 16 * MEBIBYTE,
  /** What the database may grow. */
  databaseBytes: 14 * MEBIBYTE,
};

/** Where the service says that it is. Nobody listens there. */
export const PUBLIC_URL = 'http://127.0.0.1:9';

export interface AttackedInstance {
  testInstance: OwnHookyard;
  receiver: Receiver;
  mail: MailServer;
  r2: OperatorR2;
  /** Ports of its own services, by name. */
  ownPorts: Record<string, number>;
  /** How often somebody has connected to the Temporal UI. */
  uiConnections(): number;
  close(): Promise<void>;
}

/** The API without a worker. */
export async function startAttackedInstance(): Promise<AttackedInstance> {
  let connections = 0;
  const [receiver, mail, r2, ui, database] = await Promise.all([
    startReceiver(),
    startMailServer(),
    startOperatorR2(),
    socketServer((socket) => {
      connections += 1;
      socket.destroy();
    }),
    ownDatabase('attacked'),
  ]);
  await insertSource(database.pool);
  const { rows } = await database.pool.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes');
  const settings = {
    ...r2.environment,
    HOOKYARD_WAREHOUSE_IDENTITY: 'default:r2:events/hooks',
    HOOKYARD_LANE: 'express',
    HOOKYARD_MAX_BACKLOG: String(SMALL.backlog),
    HOOKYARD_MAX_PAYLOAD_BYTES: String(SMALL.payloadBytes),
    HOOKYARD_MAX_DATABASE_BYTES: String((rows[0]?.bytes ?? 0) + SMALL.databaseBytes),
    HOOKYARD_DELIVERY_ALLOW: '127.0.0.1,::1,localhost',
    HOOKYARD_PUBLIC_URL: PUBLIC_URL,
    TEMPORAL_UI_URL: `http://localhost:${ui}`,
    SMTP_URL: mail.url,
    HOOKYARD_NOTIFY_FROM: 'hookyard@sender.example',
    tuning: { maxInFlight: SMALL.inFlight, maxConnections: SMALL.connections, bufferedBytes: SMALL.bufferedBytes },
  };
  const { databaseUrl } = database;
  const existing = { database: { databaseUrl, drop: () => database.close() } };
  const testInstance = await startHookyard(undefined, settings, existing);
  const { temporalAddress } = stackAddresses();
  return {
    testInstance,
    receiver,
    mail,
    r2,
    ownPorts: {
      'the API': Number(new URL(testInstance.api.url).port),
      Temporal: Number(temporalAddress.split(':').at(-1)),
      'the Temporal UI': ui,
      PostgreSQL: Number(new URL(databaseUrl).port),
      'the mail server': mail.port,
    },
    uiConnections: () => connections,
    async close() {
      await testInstance.close();
      await Promise.all([receiver.close(), mail.close(), closeAll()]);
    },
  };
}
