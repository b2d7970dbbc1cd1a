// How often something happened in the current window of time, by name, in this process. Windows are those of the clock,
// so twice as much may pass around the end of one.

/** More names than a limit share one count. */
const OTHERS = 'others';

export interface WindowCountsOptions {
  /** ms */
  windowMs: number;
  /** Names that are counted apart in a window; by default all. To be given where strangers choose them. */
  mostNames?: number;
  /** Called when a window has passed in which something was counted, at the next use. */
  onPassed?: (counts: ReadonlyMap<string, number>) => void;
}

export class WindowCounts {
  readonly #options: WindowCountsOptions;
  #window = -1;
  #counts = new Map<string, number>();

  constructor(options: WindowCountsOptions) {
    this.#options = options;
  }

  /** Counts one more. @returns how many there are in this window, with this one */
  add(name: string): number {
    this.#begin();
    const place = this.#placeOf(name);
    const count = (this.#counts.get(place) ?? 0) + 1;
    this.#counts.set(place, count);
    return count;
  }

  of(name: string): number {
    this.#begin();
    return this.#counts.get(this.#placeOf(name)) ?? 0;
  }

  /** When the current window ends, ms since 1970. */
  get endsAt(): number {
    return (this.#current + 1) * this.#options.windowMs;
  }

  get #current(): number {
    return Math.floor(Date.now() / this.#options.windowMs);
  }

  #placeOf(name: string): string {
    const { mostNames = Number.POSITIVE_INFINITY } = this.#options;
    return this.#counts.has(name) || this.#counts.size < mostNames ? name : OTHERS;
  }

  #begin(): void {
    const current = this.#current;
    if (current === this.#window) return;
    const passed = this.#counts;
    this.#window = current;
    this.#counts = new Map();
    if (passed.size > 0) this.#options.onPassed?.(passed);
  }
}
