// Which release each process runs. An upgrade moves them to the next one, worker by worker and then API by API, so that
// two releases run side by side meanwhile, as docs/operate/upgrading.md has it with worker versioning. All of them are
// this version, each under a name of its own.
import { setTimeout as pause } from 'node:timers/promises';
import type { Part } from './parts.ts';

// They stay side by side for so long.
const BETWEEN_MS = 2000;

interface Release {
  buildId: string;
}

export class Deployment {
  #latest: Release = { buildId: 'release-0' };
  #upgrades = 0;
  readonly #of = new Map<string, Release>();

  /** @param label of a process, which it starts with from now on; one that is new runs the latest */
  releaseOf(label: string): Release {
    const release = this.#of.get(label) ?? this.#latest;
    this.#of.set(label, release);
    return release;
  }

  /** Moves the processes to the next release, one by one. @param parts in the order in which it is done */
  async upgrade(parts: Part[]): Promise<void> {
    this.#upgrades += 1;
    this.#latest = { buildId: `release-${this.#upgrades}` };
    for (const part of parts) {
      this.#of.set(part.name, this.#latest);
      await part.stop();
      await part.start();
      await pause(BETWEEN_MS);
    }
  }
}
