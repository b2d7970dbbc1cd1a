// Measures what others disturbed again. A measurement during which they took much of the cores is repeated, some times at most; of
// its tries the one they took the least of is kept. What they took is printed, and saved with the results.
import { describeTaken, startMeter, type Taken, takenInAll } from './taken.ts';

/** What others may take of the cores during a measurement, percent. */
const MOST_TAKEN = 5;
/** How often a measurement is repeated at most, where the command line does not say it. */
export const REPEATS = 2;

/** A measurement whose figures are kept. */
interface Kept {
  label: string;
  /** Of the try that is kept; undefined where it is not counted. */
  taken: Taken | undefined;
  tries: number;
}

const kept: Kept[] = [];
const sinceStart = startMeter();

/**
 * Measures, and again while others take too much. Every round of a bench goes through it, and what is measured in phases, each
 * phase; but not what takes half an hour or changes what is measured next.
 * @param label of the measurement, for example "round 2 of 3"
 * @param options.repeats how often it is measured again at most
 * @param start measures what others take; by default of this machine
 * @returns what the least disturbed try gave
 */
export async function undisturbed<Result>(
  label: string,
  { repeats = REPEATS }: { repeats?: number },
  measure: () => Promise<Result>,
  start: () => () => Taken | undefined = startMeter,
): Promise<Result> {
  let best: { result: Result; taken: Taken | undefined } | undefined;
  for (let tries = 1; ; tries += 1) {
    const meter = start();
    const result = await measure();
    const taken = meter();
    if (!best || lost(taken) < lost(best.taken)) best = { result, taken };
    const isQuiet = lost(taken) <= MOST_TAKEN;
    if (isQuiet || tries > repeats) {
      kept.push({ label, taken: best.taken, tries });
      if (!isQuiet) console.log(`${label}: ${disturbed(best.taken)} in the best of ${tries} tries; given up`);
      return best.result;
    }
    console.log(`${label}: ${disturbed(taken)}; once more`);
  }
}

const lost = (taken: Taken | undefined): number => (taken ? takenInAll(taken) : 0);
const disturbed = (taken: Taken | undefined): string =>
  `others took ${taken ? describeTaken(taken) : 'an unknown part of the cores'}`;

/** What others took so far, for what is saved: in the whole run, and in each measurement whose figures are kept. */
export function disturbance() {
  const taken = sinceStart();
  const all = kept.length > 0 ? kept.map((each) => each.taken) : [taken];
  return { mostPercent: MOST_TAKEN, isQuiet: all.every((each) => lost(each) <= MOST_TAKEN), taken, kept };
}

/** The last lines of a run: what others took, and whether its figures are of a quiet machine. */
export function describeDisturbance(): string {
  const { taken, kept: all, isQuiet } = disturbance();
  if (!taken) return 'what others took of the cores is not counted on this system';
  const shares = all.map((each) => lost(each.taken).toFixed(1)).join(', ');
  const repeated = all.reduce((total, { tries }) => total + tries - 1, 0);
  return [
    `meanwhile others took ${describeTaken(taken)}`,
    ...(all.length > 0 ? [`during what is measured ${shares} %; ${repeated} repeated`] : []),
    ...(isQuiet ? [] : [`more than ${MOST_TAKEN} %: measure again in a quieter hour`]),
  ].join('\n');
}
