// The routes that are tortured: one source, route and destination for each kind and lane, each with a receiver of its
// own.
import type { ManagementCall } from '../../bench/support/call.ts';
import type { LaneSetting } from '../../core/delivery/delivery.ts';
import { numberOf } from './ledger.ts';
import { chanceOf } from './random.ts';
import { type ReceiverOptions, type Receiver, startReceiver } from './receivers.ts';

/** Delays in ms; together about 25 s: longer than any fault, so that nothing fails that is not meant to. */
const RETRY_POLICY = { maxRetries: 12, initialDelay: 300, maxDelay: 3000, backoffMultiplier: 2 };
const TIMEOUT_MS = 5000;
// Circuits open often and close soon.
const CIRCUIT = { circuitFailureThreshold: 5, circuitCooldownSeconds: 2, circuitProbeSuccessThreshold: 1 };
const FLAKY_SHARE = 0.2;
/** Answers take up to so many ms, so that at any moment some attempts are under way. */
const LATENCY_MS = 400;
/** Of the webhooks of a flaky route, so many are never taken: they have to end as failed, where everybody sees it. */
const POISONED_SHARE = 0.05;

interface Kind {
  destination?: object;
  route?: object;
  /** Has a failover destination with a receiver of its own. */
  backup?: boolean;
  /** The status its receiver answers with; 200 by default. */
  status?: (seed: number, number: number, attempt: number) => number;
}

const KINDS = {
  plain: {},
  failover: { backup: true, route: { failoverAfterAttempts: 2 } },
  flaky: {
    destination: { retryPolicy: { maxRetries: 4, initialDelay: 200, maxDelay: 1000, backoffMultiplier: 2 } },
    route: {
      circuitFailureThreshold: 10,
      notifyOnFailure: true,
      notifyOnRecovery: true,
      notifyEmails: 'operator@example.com',
    },
    status: (seed, number, attempt) =>
      chanceOf(seed, number, 0) < POISONED_SHARE || chanceOf(seed, number, attempt) < FLAKY_SHARE ? 500 : 200,
  },
  // The receiver that is cut most often, behind a circuit that opens at the first sign of it.
  outage: { route: { circuitFailureThreshold: 2, circuitCooldownSeconds: 3, circuitProbeSuccessThreshold: 2 } },
  limited: { destination: { rateLimitPerMinute: 120 } },
  // Retries outlast the faults, so nothing of it may be overtaken.
  ordered: { route: { ordering: { key: 'payload.key' } } },
  filtered: { route: { filterConditions: [{ field: 'payload.wanted', operator: 'equals', value: true }] } },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as KindName[];

export interface Pipe {
  kind: KindName;
  lane: LaneSetting;
  /** Of its ingest address. */
  path: string;
  sourceId: string;
  routeId: string;
  /** Its receivers by the id of the destination that leads to them, the primary one first. */
  receivers: Map<string, Receiver>;
}

export interface PipeOptions {
  call: ManagementCall;
  organizationId: string;
  seed: number;
  lanes: LaneSetting[];
  kinds: KindName[];
  onArrival: ReceiverOptions['onArrival'];
}

/** Makes each of these kinds of route in every lane. */
export async function createPipes(options: PipeOptions): Promise<Pipe[]> {
  const pipes: Pipe[] = [];
  for (const lane of options.lanes) {
    for (const kind of options.kinds) pipes.push(await createPipe(options, kind, lane));
  }
  return pipes;
}

async function createPipe(options: PipeOptions, kind: KindName, lane: LaneSetting): Promise<Pipe> {
  const { call, organizationId, seed, onArrival } = options;
  const rules: Kind = KINDS[kind];
  const name = `${kind}-${lane}`;
  const receivers = new Map<string, Receiver>();
  const destination = async (receiverName: string, status: ReceiverOptions['status']) => {
    const latency = (body: string, attempt: number) => LATENCY_MS * chanceOf(seed, numberOf(body), -attempt);
    const receiver = await startReceiver({ name: receiverName, status, latency, onArrival });
    const id = await create(call, '/api/destinations', {
      name: receiverName,
      url: receiver.url,
      timeoutMs: TIMEOUT_MS,
      retryPolicy: RETRY_POLICY,
      ...rules.destination,
    });
    receivers.set(id, receiver);
    return id;
  };
  const primary = await destination(name, (body, attempt) => rules.status?.(seed, numberOf(body), attempt) ?? 200);
  const backup = rules.backup ? await destination(`${name}-backup`, () => 200) : null;
  const sourceId = await create(call, `/api/organizations/${organizationId}/sources`, {
    name,
    slug: name,
    idempotencyKey: { header: 'X-Webhook-Id', windowSeconds: 86_400 },
  });
  const routeId = await create(call, '/api/routes', {
    name,
    sourceId,
    destinationIds: [primary],
    failoverDestinationIds: backup === null ? [] : [backup],
    lane,
    ...CIRCUIT,
    ...rules.route,
  });
  return { kind, lane, path: `/ingest/default/${name}`, sourceId, routeId, receivers };
}

async function create(call: ManagementCall, path: string, body: object): Promise<string> {
  return ((await call('POST', path, body)) as { id: string }).id;
}

/** Names of the receivers to disturb: those behind a failover or a sensitive circuit three times, the others once. */
export function receiversToDisturb(pipes: Pipe[]): string[] {
  return pipes.flatMap(({ kind, receivers }) => {
    const names = [...receivers.values()].map((receiver) => receiver.name);
    return kind === 'outage' || kind === 'failover' ? [...names, ...names.slice(0, 1), ...names.slice(0, 1)] : names;
  });
}
