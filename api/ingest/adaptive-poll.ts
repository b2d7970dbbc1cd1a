// When something that costs more the more there is of it is looked at again: after a while, sooner when asked to, and never
// so often that looking takes a large part of a core.

const EVERY_MS = 1000;
// A look is followed by a rest of this many times as long as it took: a twentieth of a core at most, and a fifth when hurried.
const REST = 19;
const SHORT_REST = 4;
const SHORTEST_REST_MS = 50;

export interface AdaptivePoll {
  /** Brings the next look forward, as far as its rest allows. Does nothing while a look is under way. */
  hurry(): void;
  /** Ends it; resolves when no look is under way. */
  close(): Promise<void>;
}

/** Looks once, then again and again. @param look never rejects @returns after the first look */
export async function startAdaptivePoll(look: () => Promise<void>): Promise<AdaptivePoll> {
  let closed = false;
  let underWay: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  // performance.now() ms; null when the next look cannot be brought forward (any further).
  let hurryNotBefore: number | null = null;

  async function lookAndRest(): Promise<void> {
    hurryNotBefore = null;
    const startedAt = performance.now();
    await look();
    const endedAt = performance.now();
    const took = endedAt - startedAt;
    hurryNotBefore = endedAt + Math.max(SHORTEST_REST_MS, took * SHORT_REST);
    lookIn(Math.max(EVERY_MS, took * REST));
  }

  function lookIn(ms: number): void {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(() => {
      underWay = lookAndRest();
    }, ms).unref();
  }

  await lookAndRest();
  return {
    hurry() {
      if (hurryNotBefore === null) return;
      const notBefore = hurryNotBefore;
      hurryNotBefore = null;
      lookIn(Math.max(0, notBefore - performance.now()));
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}
