// npm run bench -- outage [--events 10000 --rounds 5 --lane express]: what a route with an open circuit does. How
// quickly attempts stop and are tried again, what webhooks cost meanwhile, and how they come out afterwards.
import { RELEASE_PER_SECOND } from '../../activities/circuit.ts';
import type { Stack } from '../../local/stack.ts';
import { type Bar, barLine } from '../support/bars.ts';
import { totalCpuMs } from '../support/cost.ts';
import { median } from '../support/measure.ts';
import type { BenchOptions } from '../support/options.ts';
import { saveResults } from '../support/save.ts';
import { startService } from '../support/service.ts';
import type { Receiver } from '../support/traffic.ts';
import { type Flood, measureFlood } from './flood.ts';
import { LOAD, measureOpening, type Opening, THRESHOLD } from './opening.ts';
import { undisturbed } from '../support/undisturbed.ts';

export async function measureOutage(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const { rounds, events, lane } = options;
  const service = await startService(stack, { HOOKYARD_LANE: lane });
  const openings: Opening[] = [];
  try {
    console.log('an outage that is not counted: the worker runs its first workflows');
    await measureOpening(service, receiver, options);
    for (let number = 1; number <= rounds; number += 1) {
      const label = `outage ${number} of ${rounds}`;
      console.log(`${label}: ${LOAD[lane]} webhooks a second`);
      openings.push(await undisturbed(label, options, () => measureOpening(service, receiver, options)));
    }
    console.log(`${events} webhooks for an open circuit, then released at ${RELEASE_PER_SECOND} a second`);
    const flood = await undisturbed('the flood', options, () => measureFlood(service, receiver, options));
    const bars = barsOf(openings, flood);
    console.log(report(options, openings, flood, bars));
    if (options.save) saveResults(`outage-${lane}`, { lane, events, bars, openings, flood });
  } finally {
    await service.stop();
  }
}

/** Of the openings, the slowest counts. */
function barsOf(openings: Opening[], { held, released }: Flood): Bar[] {
  const slowest = (what: string, atMost: number, pick: (opening: Opening) => number): Bar => {
    const values = openings.map(pick);
    return { what, unit: ' ms', atMost, value: Math.max(...values), rounds: values };
  };
  const none = (what: string, value: number): Bar => ({ what, unit: '', atMost: 0, value });
  return [
    slowest('slowest stop of attempts', 50, (opening) => opening.stoppedAfterMs),
    slowest('last attempt begun', 50, (opening) => opening.begunUntilMs),
    slowest('slowest probe after the cooldown', 1000, (opening) => opening.probeAfterMs),
    none('attempts while open', held.attempts),
    none('workflows started while open', held.workflowsStarted),
    none('events that did not arrive', released.missing),
    none('events that arrived more than once', released.repeated),
  ];
}

function report({ events, lane }: BenchOptions, openings: Opening[], { held, released }: Flood, bars: Bar[]): string {
  const medianOf = (pick: (opening: Opening) => number) => median(openings.map(pick)).toFixed(0);
  return [
    '',
    `lane ${lane}, threshold ${THRESHOLD}; ${openings.length} outages at ${LOAD[lane]} webhooks a second`,
    `  attempts stop after      ${medianOf((opening) => opening.stoppedAfterMs)} ms (median), with ${medianOf((opening) => opening.late)} after the one that reached the threshold`,
    `  the bench stood still    ${openings.map((opening) => opening.stalledMs).join(', ')} ms meanwhile`,
    `  the probe comes after    ${medianOf((opening) => opening.probeAfterMs)} ms (median)`,
    `${events} webhooks while the circuit is open`,
    `  acknowledged             ${held.ingestPerSecond.toFixed(0)} /s; all of them held at ${held.heldPerSecond.toFixed(0)} /s`,
    `  CPU per webhook          ${totalCpuMs(held.cost).toFixed(2)} ms`,
    `  history of the circuit   ${held.circuitHistory} events`,
    `  memory of the worker     ${held.before.worker} MiB before, ${held.after.worker} MiB after`,
    `  memory of the API        ${held.before.api} MiB before, ${held.after.api} MiB after`,
    'after the recovery',
    `  released                 ${released.perSecond.toFixed(1)} /s, ${released.busiestSecond} in the busiest second (at most ${RELEASE_PER_SECOND} /s)`,
    `  order of receipt         an event arrives ${released.displacement.median} places (median), at most ${released.displacement.largest}, from its own`,
    '',
    ...bars.map(barLine),
    '',
  ].join('\n');
}
