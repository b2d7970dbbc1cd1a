// The load of an upgrade: webhooks at a steady pace, whatever the answers are, to routes with different fates; and what became of each.
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from '../../support/receiver.ts';
import { onceMore } from '../../support/records.ts';
import type { Requests } from '../upgrade/requests.ts';

const PER_SECOND = Number(process.env.ROLLING_PER_SECOND ?? 20);
export const RETRY_MS = 4000;
const SLOW_MS = 2000;
const HOUR_MS = 3_600_000;

interface Kind {
  /** Of so many webhooks that this kind gets of ten; 0: by hand only. */
  share: number;
  destination?: object;
  route?: object;
  answer: (attempt: number, isDown: boolean) => Answer;
}

// What fails is not to open the circuit of its route, but where that is meant.
const OPENS_NEVER = { circuitFailureThreshold: 10_000 };
const KINDS = {
  plain: { share: 6, answer: () => ({ status: 200 }) },
  retried: {
    share: 2,
    destination: { retryPolicy: onceMore(5, RETRY_MS) },
    route: OPENS_NEVER,
    answer: (attempt) => ({ status: attempt === 1 ? 500 : 200 }),
  },
  // At every moment some of its attempts are under way, also when a worker is told to end.
  slow: { share: 1, answer: () => ({ status: 200, after: delay(SLOW_MS) }) },
  // Its circuit opens before the upgrade and probes meanwhile; what it holds is for the new release.
  held: {
    share: 1,
    destination: { retryPolicy: onceMore(50, RETRY_MS) },
    route: { circuitFailureThreshold: 2, circuitCooldownSeconds: 5, circuitProbeSuccessThreshold: 1 },
    answer: (_attempt, isDown) => ({ status: isDown ? 500 : 200 }),
  },
  // Wait for their second attempt for longer than the upgrade.
  waiting: {
    share: 0,
    destination: { retryPolicy: onceMore(5, HOUR_MS) },
    route: OPENS_NEVER,
    answer: (attempt) => ({ status: attempt === 1 ? 500 : 200 }),
  },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

/** What a receiver has seen of an event. Times are those of `performance.now()`. */
interface Arrival {
  /** Each request that it answered with 200. */
  takenAt: number[];
  /** Empty until the first request. */
  deliveryId: string;
}

/** An acknowledged webhook. */
export interface Sent {
  kind: KindName;
  acknowledgedAt: number;
  arrival: Arrival;
}

export interface Traffic {
  /** By event id. */
  sent: Map<string, Sent>;
  routes: Record<KindName, string>;
  /** How many webhooks got which answer: a status, or why there was none. */
  answers: Map<string, number>;
  /** Sends one webhook. @returns its event id */
  send(kind: KindName): Promise<string>;
  /** The receiver of what is held takes everything from now on. */
  mend(): void;
  /** Ends the load. @returns when every webhook has its answer */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** Makes the routes and begins to send. @param base where webhooks are sent to */
export async function startTraffic(requests: Requests, base: string): Promise<Traffic> {
  const receiver = await startReceiver();
  try {
    return await start(requests, base, receiver);
  } catch (error) {
    await receiver.close();
    throw error;
  }
}

async function start(requests: Requests, base: string, receiver: Receiver): Promise<Traffic> {
  const sent: Traffic['sent'] = new Map();
  const arrivals = new Map<string, Arrival>();
  const answers: Traffic['answers'] = new Map();
  let isDown = true;

  /** An event may arrive before its sender has the answer. */
  const arrivalOf = (eventId: string): Arrival => {
    const arrival = arrivals.get(eventId) ?? { takenAt: [], deliveryId: '' };
    arrivals.set(eventId, arrival);
    return arrival;
  };

  const answering = (kind: Kind) => {
    const answer = ({ headers }: ReceivedRequest): Answer => {
      const header = (name: string) => String(headers[`x-hookyard-${name}`]);
      const given = kind.answer(Number(header('attempt')), isDown);
      const arrival = arrivalOf(header('event-id'));
      arrival.deliveryId = header('delivery-id');
      if (given.status === 200) arrival.takenAt.push(performance.now());
      return given;
    };
    return receiver.endpoint(answer).url;
  };
  const names = Object.keys(KINDS) as KindName[];
  const made = new Map<KindName, { path: string; routeId: string }>();
  for (const name of names) made.set(name, await makeRoute(requests, name, answering(KINDS[name])));

  const send = async (kind: KindName): Promise<string> => {
    const { eventId, what } = await post(`${base}${made.get(kind)?.path}`);
    answers.set(what, (answers.get(what) ?? 0) + 1);
    if (eventId !== '') sent.set(eventId, { kind, acknowledgedAt: performance.now(), arrival: arrivalOf(eventId) });
    return eventId;
  };
  const order = names.flatMap((name) => Array.from({ length: KINDS[name].share }, () => name));
  const underWay: Promise<string>[] = [];
  let isSending = true;
  const pace = (async () => {
    const began = performance.now();
    while (isSending) {
      underWay.push(send(order[underWay.length % order.length] ?? 'plain'));
      await delay(Math.max(0, began + (underWay.length * 1000) / PER_SECOND - performance.now()));
    }
  })();
  const stop = async () => {
    isSending = false;
    await pace;
    await Promise.all(underWay);
  };
  return {
    sent,
    routes: Object.fromEntries([...made].map(([name, { routeId }]) => [name, routeId])) as Traffic['routes'],
    answers,
    send,
    mend() {
      isDown = false;
    },
    stop,
    async close() {
      await stop();
      await receiver.close();
    },
  };
}

async function makeRoute(requests: Requests, name: KindName, url: string): Promise<{ path: string; routeId: string }> {
  const { destination, route }: Kind = KINDS[name];
  const me = await requests.get<{ organization: { id: string } }>('/api/auth/me');
  const source = await requests.make(`/api/organizations/${me.organization.id}/sources`, { name, slug: name });
  const to = await requests.make('/api/destinations', { name, url, ...destination });
  const { id } = await requests.make('/api/routes', { name, sourceId: source.id, destinationIds: [to.id], ...route });
  return { path: `/ingest/default/${name}`, routeId: id };
}

async function post(url: string): Promise<{ eventId: string; what: string }> {
  try {
    const response = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
    const text = await response.text();
    const eventId = response.status === 200 ? (JSON.parse(text) as { eventId: string }).eventId : '';
    return { eventId, what: String(response.status) };
  } catch (error) {
    return { eventId: '', what: String(error) };
  }
}
