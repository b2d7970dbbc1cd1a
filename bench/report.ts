// The bench's report: plain text, one figure a line, medians over the rounds.
import type { BareResult } from './bare/worker.ts';
import type { HookyardFigures } from './hookyard.ts';
import { median } from './support/measure.ts';

export interface Report {
  cores: number;
  seconds: number;
  bare: BareResult[];
  hookyard: HookyardFigures[];
}

export function printReport({ cores, seconds, bare, hookyard }: Report): void {
  const of = (pick: (figures: HookyardFigures) => number) => median(hookyard.map(pick));
  const ms = (pick: (figures: HookyardFigures) => number) => `${of(pick).toFixed(2)} ms`;
  const spread = (values: number[]) => values.map((value) => value.toFixed(1)).join(', ');
  const latency = (name: 'ack' | 'endToEnd') =>
    `p50 ${of((h) => h.half[name].p50).toFixed(1)} ms, p95 ${of((h) => h.half[name].p95).toFixed(1)} ms, p99 ${of((h) => h.half[name].p99).toFixed(1)} ms`;
  // Paired by round: the two of a round ran one after the other, so a machine that changes its speed changes both.
  const ratios = hookyard.map((h, round) => h.perSecond / (bare[round]?.perSecond ?? Number.NaN));
  const total = of((h) => Object.values(h.cost.cpuMs).reduce((sum, value) => sum + value, 0));
  const lines = [
    '',
    `${cores} cores; every figure is the median of ${bare.length} rounds of ${seconds} s; load and receiver run on the same machine`,
    `bare delivery workflow     ${median(bare.map((b) => b.perSecond)).toFixed(1)} /s   (rounds: ${spread(bare.map((b) => b.perSecond))})`,
    `Hookyard, saturated        ${of((h) => h.perSecond).toFixed(1)} /s   (rounds: ${spread(hookyard.map((h) => h.perSecond))})`,
    `ratio                      ${median(ratios).toFixed(2)}   (rounds: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`,
    '',
    'per delivery, saturated',
    `  CPU                      ${total.toFixed(2)} ms without load and receiver`,
    `    worker                 ${ms((h) => h.cost.cpuMs.worker)}   (of the bare workflow: ${median(bare.map((b) => b.cpuMs)).toFixed(2)} ms)`,
    `    API                    ${ms((h) => h.cost.cpuMs.api)}`,
    `    Temporal server        ${ms((h) => h.cost.cpuMs.temporal)}`,
    `    PostgreSQL             ${ms((h) => h.cost.cpuMs.postgres)}`,
    `  commits                  ${of((h) => h.cost.hookyardCommits).toFixed(2)} Hookyard's, ${of((h) => h.cost.temporalCommits).toFixed(2)} Temporal's`,
    `  WAL                      ${(of((h) => h.cost.walBytes) / 1024).toFixed(1)} KiB`,
    `memory                     worker ${of((h) => h.memoryMiB.worker).toFixed(0)} MiB, API ${of((h) => h.memoryMiB.api).toFixed(0)} MiB`,
    '',
    `at half load (${of((h) => h.half.perSecond).toFixed(1)} /s)`,
    `  acknowledged             ${latency('ack')}`,
    `  end to end               ${latency('endToEnd')}`,
    '',
  ];
  console.log(lines.join('\n'));
}
