// npm run bench -- adaptive [--seconds 20 --rounds 2 --rates 20,50,100,200,400,800]: the lane `adaptive` beside `express`, at
// each rate and saturated. Where workflows take at most half of the machine, nearly all deliveries have to be workflows; at every
// rate it has to be about as quick as `express`, and a jump from the lowest rate to the highest has to be absorbed.
import { cpus } from 'node:os';
import type { Stack } from '../../local/stack.ts';
import { type Bar, barLine } from '../support/bars.ts';
import { median } from '../support/measure.ts';
import type { BenchOptions } from '../support/options.ts';
import type { Percentiles, Receiver } from '../support/traffic.ts';
import { ABSORBED_SECONDS, type AtRate, line, type Measured, measure } from './measure.ts';

interface Round {
  express: Measured;
  adaptive: Measured;
}

const LEAST_WORKFLOWS = 0.99;
const SLOWER_AT_MOST = 1.5;
const SLOWER_MS = 20;
const LEAST_SATURATED = 0.9;
const MACHINE_SHARE = 0.5;

/** Measures, prints each rate and the bars. */
export async function measureAdaptive(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const { body, seconds, repeats } = options;
  const rates = options.rates.toSorted((a, b) => a - b);
  const rounds: Round[] = [];
  for (let number = 1; number <= options.rounds; number += 1) {
    const label = `round ${number} of ${options.rounds}`;
    console.log(`${label}: p50 / p99 over ${seconds} s at each rate`);
    const common = { rates, seconds, body, repeats, label };
    const express = await measure(stack, receiver, { ...common, lane: 'express' });
    const adaptive = await measure(stack, receiver, { ...common, lane: 'adaptive' });
    rounds.push({ express, adaptive });
  }
  const bars = barsOf(rounds);
  console.log(report(rounds, bars, seconds));
}

function barsOf(rounds: Round[]): Bar[] {
  const bar = (what: string, unit: string, limit: Pick<Bar, 'atLeast' | 'atMost'>, pick: (round: Round) => number) => {
    const values = rounds.map(pick);
    return { what, unit, ...limit, value: median(values), rounds: values };
  };
  const most = (express: number) => SLOWER_AT_MOST * express + SLOWER_MS;
  const medianOf = (pick: (round: Round) => number) => median(rounds.map(pick));
  const atRates = (rounds[0]?.adaptive.rates ?? []).flatMap(({ perSecond }, at) => {
    const compared = (what: string, pick: (figures: AtRate) => Percentiles): Bar => {
      const p99 = (lane: keyof Round) => (round: Round) => pick(round[lane].rates[at] as AtRate).p99;
      const atMost = Number(most(medianOf(p99('express'))).toFixed(1));
      return bar(`${perSecond}/s: ${what} p99`, ' ms', { atMost }, p99('adaptive'));
    };
    const workflows = bar(
      `${perSecond}/s: deliveries that are workflows`,
      ' %',
      { atLeast: LEAST_WORKFLOWS * 100 },
      (round) => (round.adaptive.rates[at]?.workflows ?? Number.NaN) * 100,
    );
    return [
      ...(perSecond <= medianOf(({ adaptive }) => affordable(adaptive)) ? [workflows] : []),
      compared('acknowledged', ({ ack }) => ack),
      compared('end to end', ({ endToEnd }) => endToEnd),
    ];
  });
  const afterJump = Number(most(medianOf(({ express }) => express.jump.later.p99)).toFixed(1));
  return [
    ...atRates,
    bar('saturated, of express', '', { atLeast: LEAST_SATURATED }, (r) => r.adaptive.saturated / r.express.saturated),
    bar(
      'workflows at the lowest rate, afterwards',
      ' %',
      { atLeast: LEAST_WORKFLOWS * 100 },
      (round) => round.adaptive.afterwards.workflows * 100,
    ),
    bar(
      `jump: end to end p99 from ${ABSORBED_SECONDS} s on`,
      ' ms',
      { atMost: afterJump },
      (round) => round.adaptive.jump.later.p99,
    ),
  ];
}

/** Webhooks per second that take half of the machine as workflows: by what one costs where all of them are. */
function affordable({ rates }: Measured): number {
  const costs = rates.filter(({ workflows }) => workflows >= LEAST_WORKFLOWS).map(({ cpuMs }) => cpuMs);
  return (cpus().length * 1000 * MACHINE_SHARE) / Math.min(...costs);
}

function report(rounds: Round[], bars: Bar[], seconds: number): string {
  const lines = rounds.flatMap(({ express, adaptive }, at) => [
    `round ${at + 1}, p50 / p99`,
    ...express.rates.flatMap((figures, rate) => [
      line('express', figures),
      line('adaptive', adaptive.rates[rate] as AtRate),
    ]),
    `  saturated: express ${express.saturated.toFixed(0)}/s, adaptive ${adaptive.saturated.toFixed(0)}/s`,
    ...(['express', 'adaptive'] as const).map((lane) => {
      const { first, later } = { express, adaptive }[lane].jump;
      return `  ${lane}, jump: end to end ${first.p50} / ${first.p99} ms in the first ${ABSORBED_SECONDS} s, then ${later.p50} / ${later.p99} ms`;
    }),
  ]);
  return [
    '',
    `${cpus().length} cores; ${rounds.length} rounds of ${seconds} s at each rate; load and receiver run on the same machine`,
    ...lines,
    '',
    ...bars.map(barLine),
    '',
  ].join('\n');
}
