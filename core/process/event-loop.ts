// Delays of the event loop and the work that caused them, and the processor time of threads. A blocked loop serves nothing else, so the log names work
// that takes long.
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { eventLoopDelay } from '../metrics/process.ts';
import type { Log } from './log.ts';

const LOOK_EVERY_MS = 50;
const WARN_MS = 200;
/** Work that is shorter is not told. */
const NOTED_MS = 10;
const MAX_NOTED = 10;
const WARN_EVERY_MS = 1000;

interface LoopWork {
  kind: string;
  organizationId: string | null;
  ms: number;
}

let noted: LoopWork[] = [];

/** Notes work that the loop has just done. Ids only: it goes to the log. */
export function noteLoopWork(kind: string, organizationId: string | null, ms: number): void {
  if (ms < NOTED_MS) return;
  noted.push({ kind, organizationId, ms: Math.round(ms) });
  if (noted.length > MAX_NOTED) noted = noted.toSorted((a, b) => b.ms - a.ms).slice(0, MAX_NOTED);
}

/** Watches the loop of this process. @param delay gets each delay, in seconds. @returns ends it */
export function watchLoop(log: Pick<Log, 'warn'>, delay: Pick<typeof eventLoopDelay, 'observe'>): () => void {
  let expectedAt = performance.now() + LOOK_EVERY_MS;
  let lastWarning = Number.NEGATIVE_INFINITY;
  const timer = setInterval(() => {
    const now = performance.now();
    const lateMs = now - expectedAt;
    expectedAt = now + LOOK_EVERY_MS;
    delay.observe({}, lateMs / 1000);
    const ran = noted;
    noted = [];
    if (lateMs < WARN_MS || now - lastWarning < WARN_EVERY_MS) return;
    lastWarning = now;
    log.warn({ lateMs: Math.round(lateMs), ran }, 'the event loop was blocked');
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

// Keeps the event loop free for others between two pieces of work that take milliseconds: passes over a large body
// (hash, copy, search), of which a webhook of 10 MB needs a dozen, and management requests, of which one organization
// may send many at once.

/** A pass over fewer bytes is as short as other work of the loop. */
export const LARGE_BYTES = 1024 * 1024;

let last: Promise<void> = Promise.resolve();

/**
 * Waits, behind a pass over so many bytes, until the loop has served what was waiting for it; behind a short one not at
 * all. Of several large bodies one goes on in each turn of the loop.
 */
export async function othersFirst(bytes: number): Promise<void> {
  if (bytes >= LARGE_BYTES) await ownTurn();
}

/** Waits for a turn of the loop in which nobody else goes on who waits here. */
export function ownTurn(): Promise<void> {
  last = last.then(() => turn());
  return last;
}

// Processor time of threads: how much one has used, and which gets it first when there is not enough.

/** Between 0, which all threads begin with, and 19: about a third of the time that a thread of 0 beside it gets. */
const NICENESS = 5;

/**
 * Lets all other threads go before this one, for work of a size that others choose: transforms, filters, schemas,
 * mappings. On a machine with time to spare it is as fast as before. Linux alone has a niceness for each thread
 * (setpriority(2)); elsewhere, and without `/proc`, nothing changes.
 */
export function letOthersGoFirst(): void {
  if (process.platform !== 'linux') return;
  try {
    // The thread's own id is the last part of where it leads.
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
  } catch {
    // A container without `/proc`, or a platform that forbids it.
  }
}

/** Processor time that this thread has used so far, in ms. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
