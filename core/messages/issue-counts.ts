// Failures and successes of about a second, until they are stored together. Tenants and strangers cause them, as many
// as they like, so all of it is bounded: subjects, and causes of a subject. What is beyond is counted by organization
// and kind.
import { FairQueue } from '../fairness/fair-queue.ts';
import { type IssueFailure, type IssueSink, type IssueSubject, MAX_CAUSES, OTHER_CAUSE } from './issues.ts';

const MAX_FAILING = 1000;
const MAX_WORKING = 4000;
const MAX_TOGETHER = 1000;

export interface CauseCount {
  cause: string;
  count: number;
  /** ms since 1970 */
  firstAt: number;
  lastAt: number;
  isFinal: boolean;
  eventId: string | null;
  deliveryId: string | null;
}

export interface SubjectCount {
  subject: IssueSubject;
  streak: number;
  /** Whether it has worked, before the streak. */
  worked: boolean;
  /** None: it has only worked. */
  causes: Map<string, CauseCount>;
}

export class IssueCounts implements IssueSink {
  readonly #failing = new Map<string, SubjectCount>();
  readonly #working = new Map<string, IssueSubject>();
  readonly #failingPlaces = new FairQueue(MAX_FAILING);
  readonly #workingPlaces = new FairQueue(MAX_WORKING);
  #together = 0;
  #uncounted = 0;

  /** Stands for what is counted together: of a second. */
  get window(): object {
    return this;
  }

  get isEmpty(): boolean {
    return this.#failing.size === 0 && this.#working.size === 0;
  }

  failed(subject: IssueSubject, { cause, at, isFinal = false, eventId = null, deliveryId = null }: IssueFailure): void {
    const counted = this.#failingOf(subject);
    if (counted === null) {
      this.#uncounted += 1;
      return;
    }
    counted.streak += 1;
    addCause(counted, { cause, count: 1, firstAt: at, lastAt: at, isFinal, eventId, deliveryId });
  }

  worked(subject: IssueSubject): void {
    const key = keyOf(subject);
    const failing = this.#failing.get(key);
    if (failing !== undefined) Object.assign(failing, { streak: 0, worked: true });
    else if (!this.#working.has(key) && this.#workingPlaces.hold(subject.organizationId))
      this.#working.set(key, subject);
  }

  subjects(): { failing: SubjectCount[]; working: IssueSubject[] } {
    return { failing: [...this.#failing.values()], working: [...this.#working.values()] };
  }

  /** Puts what was counted before this before it, as far as there is room. */
  precede(earlier: IssueCounts): void {
    for (const { subject, streak, worked, causes } of earlier.#failing.values()) {
      const counted = this.#failingOf(subject);
      if (counted === null) {
        for (const { count } of causes.values()) this.#uncounted += count;
        continue;
      }
      if (!counted.worked) counted.streak += streak;
      counted.worked ||= worked;
      for (const cause of causes.values()) addCause(counted, cause);
    }
    for (const subject of earlier.#working.values()) {
      const failing = this.#failing.get(keyOf(subject));
      if (failing !== undefined) failing.worked = true;
      else this.worked(subject);
    }
    this.#uncounted += earlier.takeUncounted();
  }

  /** How many failures found no place since the last call. */
  takeUncounted(): number {
    const uncounted = this.#uncounted;
    this.#uncounted = 0;
    return uncounted;
  }

  #failingOf(subject: IssueSubject): SubjectCount | null {
    const key = keyOf(subject);
    const known = this.#failing.get(key);
    if (known !== undefined) return known;
    if (!this.#failingPlaces.hold(subject.organizationId)) return this.#togetherOf(subject);
    const worked = this.#working.delete(key);
    if (worked) this.#workingPlaces.release(subject.organizationId);
    const counted: SubjectCount = { subject, streak: 0, worked, causes: new Map() };
    this.#failing.set(key, counted);
    return counted;
  }

  /** What finds no place of its own. */
  #togetherOf({ organizationId, kind }: IssueSubject): SubjectCount | null {
    const subject = { organizationId, kind, sourceId: null, routeId: null, destinationId: null };
    const key = keyOf(subject);
    const known = this.#failing.get(key);
    if (known !== undefined) return known;
    if (this.#together >= MAX_TOGETHER) return null;
    this.#together += 1;
    const counted: SubjectCount = { subject, streak: 0, worked: false, causes: new Map() };
    // Full: whatever the cause, it is counted as another one.
    counted.causes.set(OTHER_CAUSE, {
      ...{ cause: OTHER_CAUSE, count: 0, firstAt: Infinity, lastAt: 0, isFinal: true, eventId: null, deliveryId: null },
    });
    this.#failing.set(key, counted);
    return counted;
  }
}

const keyOf = ({ kind, organizationId, sourceId, routeId, destinationId }: IssueSubject): string =>
  `${kind} ${organizationId} ${sourceId} ${routeId} ${destinationId}`;

function addCause({ causes }: SubjectCount, added: CauseCount): void {
  const hasRoom = causes.size < MAX_CAUSES && !causes.has(OTHER_CAUSE);
  const cause = causes.has(added.cause) || hasRoom ? added.cause : OTHER_CAUSE;
  const known = causes.get(cause);
  if (known === undefined) {
    causes.set(cause, { ...added, cause });
    return;
  }
  const isLater = added.lastAt >= known.lastAt;
  known.count += added.count;
  known.firstAt = Math.min(known.firstAt, added.firstAt);
  known.lastAt = Math.max(known.lastAt, added.lastAt);
  known.isFinal ||= added.isFinal;
  known.eventId = (isLater ? added.eventId : null) ?? known.eventId ?? added.eventId;
  known.deliveryId = (isLater ? added.deliveryId : null) ?? known.deliveryId ?? added.deliveryId;
}
