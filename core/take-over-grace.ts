// What a relay may take from others whose lease has run out (db/hot-path/relay-leases.ts).
//
// What kept a relay from renewing its own lease may have kept others from it: the database was away or read-only, the machine or all of its
// processes stood still. They live, and may hold results of attempts that are not recorded yet: a process that takes their deliveries over
// sends those again. So they get time to renew, those that are known to live more than others.

/** `none`: of nobody; `ended`: of relays whose process is gone, as far as that can be known; `expired`: of all whose lease has run out. */
export type TakeOver = 'none' | 'ended' | 'expired';

interface GraceOptions {
  /** How long a lease lasts, ms. */
  leaseMs: number;
  /** A relay without its lock that was silent for so long is gone, ms. */
  silenceMs: number;
  /** A monotonic clock in ms. */
  now?: () => number;
}

// Renewed later than this part of a lease, it was held up by something that may have held up others.
const LATE = 1 / 2;
// Leases that relays which live get to renew after trouble. They drop connections that the outage has left to them one by one, and may have
// little of the processor.
const LEASES_OF_LIVING = 5;

export class TakeOverGrace {
  readonly #leaseMs: number;
  readonly #now: () => number;
  #noneUntil: number;
  #endedUntil: number;
  #renewedAt: number;

  constructor({ leaseMs, silenceMs, now = () => performance.now() }: GraceOptions) {
    this.#leaseMs = leaseMs;
    this.#now = now;
    this.#renewedAt = now();
    // At the start it does not know of trouble. When the database was away until now, those that live renew soon.
    this.#noneUntil = now() + silenceMs;
    this.#endedUntil = now() + leaseMs;
  }

  /** This relay may have been cut off from the database, and others with it. */
  cutOff(): void {
    this.#noneUntil = this.#now() + this.#leaseMs;
    this.#endedUntil = this.#now() + LEASES_OF_LIVING * this.#leaseMs;
  }

  /** Its lease was renewed. */
  renewed(): void {
    if (this.#isLate()) this.cutOff();
    this.#renewedAt = this.#now();
  }

  allowed(): TakeOver {
    if (this.#isLate() || this.#now() < this.#noneUntil) return 'none';
    return this.#now() < this.#endedUntil ? 'ended' : 'expired';
  }

  #isLate(): boolean {
    return this.#now() - this.#renewedAt > LATE * this.#leaseMs;
  }
}
