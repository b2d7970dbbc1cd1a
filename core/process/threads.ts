// Processor time of threads: how much one has used, and which gets it first when there is not enough.
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

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
