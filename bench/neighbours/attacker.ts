// Starts an attack in a thread of its own (thread.ts), with the destinations of its webhooks: the event loop that sends
// and receives for the other organization has nothing else to do, so what is measured is the service.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Attacker } from './means.ts';

/** What the thread is given. */
export interface Order {
  /** Name of the attack. */
  attack: string;
  organization: Omit<Attacker['service'], 'call'>;
  apiKey: string;
}

/** How often the service answered in which way. */
export type Answers = Map<string, number>;

export interface RunningAttack {
  /** Rejects when the attack fails; else it never ends. */
  failed: Promise<never>;
  /** Ends the attack. Its destinations answer until `end`. */
  stop(): Promise<Answers>;
  end(): Promise<void>;
}

/** Resolves when the attack continues. @throws when its records cannot be made */
export async function startAttack(order: Order): Promise<RunningAttack> {
  const thread = new Worker(new URL('./thread.ts', import.meta.url), { workerData: order });
  const failed = new Promise<never>((_resolve, reject) => thread.once('error', reject));
  // It may fail while nobody waits for it: `stop` tells of it then.
  failed.catch(() => {});
  await Promise.race([once(thread, 'message'), failed]);
  return {
    failed,
    async stop() {
      thread.postMessage('stop');
      const [answers] = await Promise.race([once(thread, 'message'), failed]);
      return answers as Answers;
    },
    async end() {
      await thread.terminate();
    },
  };
}
