// What must never be in a log. Tests mark secrets and payloads with PLANTED.
import type { Hookyard } from '../hookyard.ts';

/** Part of every payload and secret that the end-to-end tests use. */
export const PLANTED = 'planted-7f3a91c2';

/** Log lines of all processes that hold a marker. */
export function leakedLines(testInstance: Hookyard, marker: string = PLANTED): string[] {
  return testInstance
    .logs()
    .split('\n')
    .filter((line) => line.includes(marker));
}
