// The processes that are tortured: each can be killed, frozen and started again, and one that ends by itself is started
// again as a supervisor would do it, and counted.
import { setTimeout as pause } from 'node:timers/promises';
import { oneLine } from '../../local/errors.ts';
import type { Service } from '../../local/process.ts';

const LOOK_EVERY_MS = 500;
const START_AGAIN_MS = 500;
const START_DEADLINE_MS = 120_000;

export class Part {
  readonly name: string;
  /** How often it ended although nobody ended it. */
  endedByItself = 0;
  readonly #service: Service;
  readonly #log: (line: string) => void;
  readonly #watch: NodeJS.Timeout;
  #meant: 'up' | 'down' | 'closed' = 'up';
  #frozen: number[] = [];
  #starting: Promise<void> | undefined;

  constructor(name: string, service: Service, log: (line: string) => void) {
    this.name = name;
    this.#service = service;
    this.#log = log;
    this.#watch = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  get pid(): number | undefined {
    return this.#service.pid;
  }

  /** SIGKILL, as a crash would end it; it stays down until `start`. */
  async kill(): Promise<void> {
    this.#meant = 'down';
    await this.#service.kill();
  }

  /** Ends it in order; it stays down until `start`. */
  async stop(): Promise<void> {
    this.#meant = 'down';
    await this.#service.stop();
  }

  /** Ends it with a signal of its own; it stays down until `start`. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.#meant = 'down';
    const { exited } = this.#service;
    this.#signal(signal, [this.#service.pid]);
    await exited;
  }

  /**
   * Starts it, again and again: what it needs may be away itself.
   * @throws Error when it did not serve within two minutes
   */
  async start(): Promise<void> {
    if (this.#meant === 'closed') return;
    this.#meant = 'up';
    this.#starting ??= this.#startAgain().finally(() => {
      this.#starting = undefined;
    });
    await this.#starting;
  }

  /** SIGSTOP to it, and to other processes that belong to it. */
  freeze(others: number[] = []): void {
    this.#frozen = [this.#service.pid, ...others].filter((pid) => pid !== undefined);
    this.#signal('SIGSTOP', this.#frozen);
  }

  /** SIGCONT to all that are frozen. */
  thaw(): void {
    this.#signal('SIGCONT', this.#frozen);
    this.#frozen = [];
  }

  /** Ends it for good. */
  async close(): Promise<void> {
    this.#meant = 'closed';
    clearInterval(this.#watch);
    this.thaw();
    await this.#starting?.catch(() => undefined);
    await this.#service.stop();
  }

  #look(): void {
    if (this.#meant !== 'up' || this.#starting || this.#service.pid !== undefined) return;
    this.endedByItself += 1;
    this.#log(`${this.name} ended by itself; starting it again`);
    this.start().catch((error: unknown) => this.#log(oneLine(error)));
  }

  async #startAgain(): Promise<void> {
    const giveUpAt = performance.now() + START_DEADLINE_MS;
    let reason = '';
    while (this.#meant === 'up') {
      try {
        return await this.#service.start();
      } catch (error) {
        reason = oneLine(error);
      }
      if (performance.now() > giveUpAt) throw new Error(`${this.name} cannot be started: ${reason}`);
      await pause(START_AGAIN_MS);
    }
  }

  #signal(signal: NodeJS.Signals, pids: (number | undefined)[]): void {
    for (const pid of pids) {
      try {
        if (pid !== undefined) process.kill(pid, signal);
      } catch {
        // it has ended in between
      }
    }
  }
}
