// Work that a loop starts and does not wait for.

export class BackgroundTasks {
  readonly #running = new Set<Promise<void>>();
  readonly #failed: () => void;
  #error: unknown;

  /** @param failed called when a task fails */
  constructor(failed: () => void = () => {}) {
    this.#failed = failed;
  }

  run(task: Promise<void>): void {
    const watched = task
      .catch((error: unknown) => {
        this.#error ??= error;
        this.#failed();
      })
      .finally(() => this.#running.delete(watched));
    this.#running.add(watched);
  }

  /** Throws the first error of a task since the last call; the loop handles it like its own error. */
  throwError(): void {
    const error = this.#error;
    this.#error = undefined;
    if (error !== undefined) throw error;
  }

  /** Resolves when no task is running, those included that others have begun meanwhile. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

/** @returns a function that runs the task; it does nothing while the task is running */
export function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await task();
    } finally {
      isRunning = false;
    }
  };
}
