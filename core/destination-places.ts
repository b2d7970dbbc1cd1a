// The places of this process at each destination: how many attempts may be under way there, and how many are.
//
// What it promises: what takes a place counts until it leaves, first attempts and retries alike; `limitOf` is this process's
// share of what all workers together may have (concurrency-limit.ts, and the destination's own maximum); a lower limit ends nothing
// that is under way. It costs memory only, and nothing per delivery in the database.
//
// A destination with a maximum below the number of workers is used in turns (destination-turn.ts), and so is one to which a place for
// each worker is too much: its limit is shared then (shared-limit.ts).
import { type Answer, type AnswerKind, ConcurrencyLimit, type LimitRange } from './concurrency-limit.ts';
import { DestinationTurn, type TurnAnswer, type TurnRequest } from './destination-turn.ts';
import { type Excess, FEWEST_PLACES, PlaceUse, SharedTally } from './shared-limit.ts';

/** What is known of a destination before its first answer: so many attempts at a time, all workers together. */
export const INITIAL_PLACES = 50;
// Below every place: the limit is shared then.
const PART_OF_A_PLACE = 0.5;
// Destinations with shared limits that this process uses. Each costs statements, and when everything is out there are many: at the
// others every worker may have one attempt under way.
const MOST_SHARED = 20;
// An attempt that is under way for longer waits for a slow destination.
const LONG_MS = 1000;
// A destination that nothing was sent to for this long starts again: what was learned is old.
const FORGOTTEN_MS = 60_000;

/** What came of a request; `unrelated`: nothing that says anything of the destination's load, as when its address cannot be resolved. */
export type Outcome = AnswerKind | 'unrelated';

/** How the limits are shared. */
export interface WorkerShare {
  /** Live workers, at least 1. */
  workers: number;
  /** The place of this one in their order, 0 for the first. */
  rank: number;
  /** Live ones, and those that end; null: not known, so there may be any number. */
  alive: number | null;
}

interface Entry {
  destinationId: string;
  limit: ConcurrencyLimit;
  /** Of the destination; null: none of its own. */
  maximum: number | null;
  taken: number;
  /** When each request that is not answered was sent, the oldest first. */
  sent: Map<number, number>;
  usedAt: number;
  turn: DestinationTurn;
  use: PlaceUse;
}

/** A destination that this process uses. */
export interface UsedDestination {
  destinationId: string;
  /** Attempts that it may have under way there. */
  limit: number;
  /** Whether that is a part of a limit of all workers. */
  isShared: boolean;
}

export class DestinationPlaces {
  readonly #entries = new Map<string, Entry>();
  /** Those with a shared limit, and what is seen there. */
  readonly #shared = new Map<Entry, SharedTally>();
  /** Those with a maximum below the number of workers. */
  readonly #belowWorkers = new Set<Entry>();
  /** Those with something under way. */
  readonly #busy = new Set<Entry>();
  readonly #ceiling: number;
  readonly #now: () => number;
  #share: WorkerShare = { workers: 1, rank: 0, alive: 1 };
  /** What others have learned, all workers together, and until when that is taken for true. */
  #known = { places: new Map<string, number>(), until: Number.NEGATIVE_INFINITY };
  #requests = 0;

  /**
   * @param ceiling of destinations without a maximum of their own, all workers together
   * @param now a monotonic clock in ms
   */
  constructor(ceiling: number, now: () => number = () => performance.now()) {
    this.#ceiling = ceiling;
    this.#now = now;
  }

  /** Live workers, as `setShare` told. */
  get workers(): number {
    return this.#share.workers;
  }

  /** How many attempts this process may have under way there: at least 1, but for a destination that is used in turns. */
  limitOf(destinationId: string): number {
    const entry = this.#entries.get(destinationId);
    return entry ? this.#limitOf(entry) : this.#rangeOf(null).initial;
  }

  /** Whether one more may be claimed. Of a destination that is used in turns, it is found out that something waits. */
  hasRoom(destinationId: string): boolean {
    const entry = this.#entries.get(destinationId);
    return entry === undefined || this.#hasRoom(entry);
  }

  /** Destinations without room. Each claim asks for them, so of those without anything under way it looks at few. */
  full(): string[] {
    const mayBeFull = new Set([...this.#busy, ...this.#belowWorkers, ...this.#shared.keys()]);
    return [...mayBeFull].filter((entry) => !this.#hasRoom(entry)).map(({ destinationId }) => destinationId);
  }

  /** Whether more is under way than may be now. */
  isOver(destinationId: string): boolean {
    return (this.#entries.get(destinationId)?.taken ?? 0) > this.limitOf(destinationId);
  }

  /** Takes a place, whatever the limit: for work that asked before, or is limited elsewhere. */
  enter(destinationId: string): void {
    const entry = this.#usedEntryOf(destinationId);
    entry.taken += 1;
    this.#busy.add(entry);
    if (this.#isShort(entry)) entry.turn.tried(entry.taken <= this.#limitOf(entry), this.#now());
  }

  /** Takes a place if there is one. */
  take(destinationId: string): boolean {
    const entry = this.#usedEntryOf(destinationId);
    if (entry.taken < this.#limitOf(entry)) {
      this.enter(destinationId);
      return true;
    }
    if (this.#isShort(entry)) entry.turn.tried(false, this.#now());
    return false;
  }

  /** Gives a place back. To be called once for each. */
  leave(destinationId: string): void {
    const entry = this.#entries.get(destinationId);
    if (!entry) return;
    entry.taken -= 1;
    if (entry.taken === 0) this.#busy.delete(entry);
  }

  /**
   * The maximum of a destination (`maxConcurrency`), as it is now; null: none of its own. This is no use of it: workers ask for the
   * maxima of used destinations again and again, and each would count as used for ever.
   */
  setMaximum(destinationId: string, maximum: number | null): void {
    const entry = this.#entryOf(destinationId);
    if (entry.maximum === maximum) return;
    entry.maximum = maximum;
    this.#setRange(entry);
  }

  /** There is a shared limit, as others have found. This is no use of it either. */
  share(destinationId: string): void {
    this.#beginSharing(this.#entryOf(destinationId));
  }

  /** Who the limits are shared with, as it is now. */
  setShare(share: WorkerShare): void {
    const { workers, rank, alive } = this.#share;
    if (share.workers === workers && share.rank === rank && share.alive === alive) return;
    this.#share = share;
    for (const entry of this.#entries.values()) this.#setRange(entry, workers / share.workers);
  }

  /**
   * What others may have under way, all together, where that is less than a destination starts with. A worker that begins starts with its
   * share of that: they have learned how much is too much.
   */
  startFrom(known: ReadonlyMap<string, number>): void {
    this.#known = { places: new Map(known), until: this.#now() + FORGOTTEN_MS };
  }

  /** A request is being sent. @returns to be called with what came of it */
  sending(destinationId: string): (kind: Outcome) => void {
    const entry = this.#usedEntryOf(destinationId);
    const startedAt = this.#now();
    this.#requests += 1;
    const number = this.#requests;
    entry.sent.set(number, startedAt);
    const atSending = entry.sent.size;
    return (kind) => {
      const underWay = Math.max(atSending, entry.sent.size);
      entry.sent.delete(number);
      if (kind !== 'unrelated') this.#observe(entry, { startedAt, at: this.#now(), underWay, kind });
    };
  }

  /** Whether a request to it has waited long for an answer. */
  isWaitedFor(destinationId: string): boolean {
    const [oldest] = this.#entries.get(destinationId)?.sent.values() ?? [];
    return oldest !== undefined && this.#now() - oldest > LONG_MS;
  }

  /** The limits of the destinations in use, in ascending order. */
  limits(): number[] {
    return [...this.#entries.values()].map((entry) => this.#limitOf(entry)).toSorted((a, b) => a - b);
  }

  /** The destinations that had something under way since this moment (ms of the clock), with their limits. Old ones are forgotten. */
  usedSince(since: number): UsedDestination[] {
    const now = this.#now();
    const used: UsedDestination[] = [];
    for (const [destinationId, entry] of this.#entries) {
      if (entry.taken > 0 || entry.sent.size > 0 || entry.turn.wants) entry.usedAt = now;
      if (entry.usedAt >= since) {
        used.push({ destinationId, limit: this.#limitOf(entry), isShared: this.#shared.has(entry) });
      } else if (now - entry.usedAt > FORGOTTEN_MS) {
        this.#entries.delete(destinationId);
        this.#shared.delete(entry);
        this.#belowWorkers.delete(entry);
      }
    }
    return used;
  }

  /** What this process wants of the destinations that are used in turns, and whether it is to be asked for at once. */
  turnRequests(): { requests: TurnRequest[]; isUrgent: boolean } {
    const now = this.#now();
    // What is not named below is given up in the database.
    for (const entry of this.#entries.values()) if (!this.#isShort(entry)) entry.turn.end();
    const isNews = (entry: Entry) => this.#shared.get(entry)?.isNews === true;
    const isAsked = (entry: Entry) => this.#isShort(entry) && (entry.turn.isWanted || isNews(entry));
    const asked = [...this.#entries].filter(([, entry]) => isAsked(entry));
    return {
      isUrgent: asked.some(([, entry]) => entry.turn.isUrgent(entry.taken) || isNews(entry)),
      requests: asked.map(([destinationId, entry]) => ({ destinationId, ...this.#requestOf(entry, now) })),
    };
  }

  /**
   * @param requests what was asked for. A destination without an answer was deleted, or needs no turns any more
   * @param askedAt when, ms of the clock
   */
  applyTurns(requests: TurnRequest[], answers: TurnAnswer[], askedAt: number): void {
    const answerOf = new Map(answers.map(({ destinationId, ...answer }) => [destinationId, answer]));
    const now = this.#now();
    for (const { destinationId, shared } of requests) {
      const entry = this.#entries.get(destinationId);
      if (!entry) continue;
      const answer = answerOf.get(destinationId);
      if (answer) entry.turn.told(answer, askedAt, entry.taken, now);
      else entry.turn.end();
      if (!shared) continue;
      if (answer?.shared) this.#shared.get(entry)?.told(answer.shared, now, shared.seen);
      else this.#shareNoMore(entry, now);
    }
  }

  #requestOf(entry: Entry, now: number): Omit<TurnRequest, 'destinationId'> {
    const { turn, taken, maximum } = entry;
    const tally = this.#shared.get(entry);
    const below = maximum ?? Number.POSITIVE_INFINITY;
    const asked = turn.request(taken, { most: tally ? 1 : below, below }, now);
    if (!tally) return asked;
    const { version, seen } = tally;
    // Once it is known, it is for all to see when it is needed no more.
    return { ...asked, shared: { version, seen, excess: version === null ? this.#excessAt(entry, now) : null } };
  }

  #excessAt({ limit: { excess }, use }: Entry, now: number): Excess | null {
    return excess && { isHanging: excess === 'hanging', busy: use.busy(now) };
  }

  #observe(entry: Entry, answer: Answer): void {
    const tally = this.#shared.get(entry);
    if (tally) {
      if (tally.count(answer)) entry.turn.pause(answer.at);
      return;
    }
    entry.use.add(answer);
    entry.limit.observe(answer);
    if (entry.limit.excess !== null) this.#beginSharing(entry);
  }

  #beginSharing(entry: Entry): void {
    const now = this.#now();
    if (this.#shared.size < MOST_SHARED) this.#shared.set(entry, this.#shared.get(entry) ?? new SharedTally(now));
    else if (entry.limit.excess !== null) entry.limit.backToOne(now);
  }

  #shareNoMore(entry: Entry, now: number): void {
    this.#shared.delete(entry);
    entry.limit.backToOne(now);
  }

  /** @param growth of the part of this process, as a multiple */
  #setRange(entry: Entry, growth = 1): void {
    const range = this.#rangeOf(entry.maximum);
    if (growth === 1) entry.limit.range = range;
    else entry.limit.reshare(range, growth, this.#now());
    if (this.#isBelowWorkers(entry.maximum)) this.#belowWorkers.add(entry);
    else this.#belowWorkers.delete(entry);
  }

  #hasRoom(entry: Entry): boolean {
    return entry.taken < this.#limitOf(entry) || (entry.taken === 0 && this.#isShort(entry) && !entry.turn.isWanted);
  }

  #limitOf(entry: Entry): number {
    const limit = entry.limit.value;
    return this.#isShort(entry) ? Math.min(limit, entry.turn.limit(this.#now())) : limit;
  }

  /** Whether there are fewer places than workers. */
  #isShort(entry: Entry): boolean {
    return this.#belowWorkers.has(entry) || this.#shared.has(entry);
  }

  #isBelowWorkers(maximum: number | null): boolean {
    return maximum !== null && maximum < (this.#share.alive ?? Number.POSITIVE_INFINITY);
  }

  #usedEntryOf(destinationId: string): Entry {
    const entry = this.#entryOf(destinationId);
    entry.usedAt = this.#now();
    return entry;
  }

  #entryOf(destinationId: string): Entry {
    const known = this.#entries.get(destinationId);
    if (known) return known;
    const limit = new ConcurrencyLimit(this.#rangeOf(null), this.#startOf(destinationId));
    const turn = new DestinationTurn();
    const entry: Entry = {
      destinationId,
      limit,
      maximum: null,
      taken: 0,
      sent: new Map(),
      usedAt: this.#now(),
      turn,
      use: new PlaceUse(),
    };
    this.#entries.set(destinationId, entry);
    return entry;
  }

  #startOf(destinationId: string): number | undefined {
    const known = this.#now() < this.#known.until ? this.#known.places.get(destinationId) : undefined;
    return known === undefined ? undefined : this.#shareOf(known);
  }

  #shareOf(places: number): number {
    const { workers, rank } = this.#share;
    return Math.max(1, Math.floor(places / workers) + (rank < places % workers ? 1 : 0));
  }

  /** The shares of this process, one place at least. Where there are more workers than the fewest places, one may be too much. */
  #rangeOf(maximum: number | null): LimitRange {
    const ceiling =
      maximum !== null && this.#isBelowWorkers(maximum) ? maximum : this.#shareOf(maximum ?? this.#ceiling);
    return {
      floor: this.#share.workers > FEWEST_PLACES ? PART_OF_A_PLACE : Math.min(ceiling, this.#shareOf(FEWEST_PLACES)),
      initial: Math.min(ceiling, this.#shareOf(INITIAL_PLACES)),
      ceiling,
    };
  }
}
