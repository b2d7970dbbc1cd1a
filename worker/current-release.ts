// Which release Temporal gives workflows to, and whether a worker of it still asks for them.

// Temporal notes when workers ask for workflows. They do at least once a minute, however little there is to do.
const SILENT_AFTER_MS = 120_000;

/** What Temporal knows of the task queue of workflows. */
export interface Routing {
  /** The release that gets workflows; null: workers without a release. */
  current: string | null;
  /** When one of its workers asked for workflows last, ms of Temporal's clock; 0: not in the last minutes. */
  askedAt: number;
}

export interface Heard extends Routing {
  /** When this process learned of it, ms of its own clock. */
  since: number;
}

/** @param before null: nothing is known */
export function hear(before: Heard | null, routing: Routing, now: number): Heard {
  const isKnown = before?.current === routing.current && routing.askedAt <= before.askedAt;
  return isKnown ? before : { ...routing, since: now };
}

/** Whether no worker of the current release has asked for workflows for two minutes. */
export const isSilent = ({ since }: Heard, now: number): boolean => now - since >= SILENT_AFTER_MS;
