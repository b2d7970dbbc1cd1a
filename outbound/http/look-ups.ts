// Look-ups of names that tenants chose. The system's resolver takes a thread for each, until a server answers or it gives up by itself;
// libuv has few, which the names of PostgreSQL, Temporal and the mail server need too. So organizations share the threads, and take turns.
import { FairQueue, type Leave } from '../../core/fairness/fair-queue.ts';
import type { Resolve, ResolvedAddress } from './guarded-connect.ts';

// The system's resolver gives up after 5 to 40 s.
const WAIT_MS = 10_000;
const DEFAULT_THREADS = 4;
// Threads for the names of Hookyard's own services.
const KEPT_FREE = 2;

/** Resolves a name for an organization. @throws what the resolver says, or EAI_AGAIN when there is no answer in time */
export type LookUp = (hostname: string, organizationId: string) => Promise<ResolvedAddress[]>;

interface LookUpOptions {
  resolve: Resolve;
  /** How many may be under way. */
  places?: number;
  /** How long one waits for its turn and its answer. */
  waitMs?: number;
}

interface Caller {
  waits: boolean;
}

interface Running {
  since: number;
  answer: Promise<ResolvedAddress[]>;
}

/** One serves a whole process. */
export function createLookUps(options: LookUpOptions): LookUp {
  const { resolve, places = lookUpPlaces(process.env.UV_THREADPOOL_SIZE), waitMs = WAIT_MS } = options;
  const queue = new FairQueue(places);
  const running = new Map<string, Running>();

  // The place is that of a thread: it is given back when the resolver is done, however long others wait.
  function begin(hostname: string, leave: Leave): Running {
    const answer = ask(resolve, hostname).finally(() => {
      running.delete(hostname);
      leave();
    });
    const begun = { since: performance.now(), answer };
    running.set(hostname, begun);
    return begun;
  }

  /** The look-up that is under way, or one in the turn of the organization. */
  async function answerOf(hostname: string, organizationId: string, caller: Caller): Promise<ResolvedAddress[]> {
    const known = running.get(hostname);
    if (known !== undefined) {
      if (performance.now() - known.since >= waitMs) throw notInTime(hostname);
      return known.answer;
    }
    const leave = await queue.take(organizationId, { waitMs });
    if (leave === null) throw notInTime(hostname);
    // It may have begun for another one meanwhile, and who asked may wait no longer.
    const meanwhile = running.get(hostname);
    if (meanwhile === undefined && caller.waits) return begin(hostname, leave).answer;
    leave();
    return meanwhile?.answer ?? [];
  }

  return (hostname, organizationId) =>
    new Promise((found, failed) => {
      const caller = { waits: true };
      const deadline = setTimeout(() => {
        caller.waits = false;
        failed(notInTime(hostname));
      }, waitMs);
      void answerOf(hostname, organizationId, caller)
        .then(found, failed)
        .finally(() => clearTimeout(deadline));
    });
}

/** Of so many threads; libuv uses half of them for look-ups. @param threads as UV_THREADPOOL_SIZE says */
export function lookUpPlaces(threads: string | undefined): number {
  const atOnce = Math.floor(((Number(threads) || DEFAULT_THREADS) + 1) / 2);
  return Math.max(1, atOnce - KEPT_FREE);
}

function ask(resolve: Resolve, hostname: string): Promise<ResolvedAddress[]> {
  return new Promise((found, failed) => {
    resolve(hostname, (error, addresses) => (error === null ? found(addresses) : failed(error)));
  });
}

function notInTime(hostname: string): Error {
  return Object.assign(new Error(`The look-up of ${hostname} was not answered in time`), {
    code: 'EAI_AGAIN',
    hostname,
  });
}
