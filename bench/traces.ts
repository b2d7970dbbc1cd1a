// npm run bench -- traces [--seconds 60 --rounds 4]: what traces cost in the lane `express`, where a delivery costs least: without them,
// and beside it with every webhook recorded and sent by OTLP to a receiver that takes all.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Stack } from '../local/stack.ts';
import { addedBy, describeAdded, measureBeside, type Pair } from './support/beside.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import type { Receiver } from './support/traffic.ts';
import { waitFor } from './support/wait.ts';

const FIRST_SPANS_MS = 30_000;

export async function measureTraces(stacks: [Stack, Stack], receiver: Receiver, options: BenchOptions): Promise<void> {
  let bytes = 0;
  const collector = createServer((request, response) => {
    request.on('data', (part: Buffer) => {
      bytes += part.length;
    });
    request.on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const off = { OTEL_EXPORTER_PROMETHEUS_PORT: '0' };
  const on = {
    ...off,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`,
  };
  const arrive = async () => {
    await waitFor('the first spans', async () => bytes > 0, FIRST_SPANS_MS);
  };
  try {
    const rounds = await measureBeside(stacks, receiver, options, async () => ({
      without: { api: off, worker: off },
      withFeature: { api: on, worker: on, during: arrive },
    }));
    console.log(report(rounds));
  } finally {
    collector.close();
    collector.closeAllConnections();
  }
}

function report(rounds: Pair[][]): string {
  const added = addedBy(rounds, ({ without, withFeature }) => (withFeature / without - 1) * 100);
  const pairs = rounds.flat();
  const of = (pick: (pair: Pair) => number) => median(pairs.map(pick)).toFixed(3);
  return [
    '',
    `lane express, saturated; medians of ${pairs.length} pairs of turns in ${rounds.length} rounds`,
    `  CPU per delivery without traces    ${of(({ without }) => without)} ms`,
    `  every webhook recorded and sent    ${of(({ withFeature }) => withFeature)} ms`,
    `  more with traces                   ${describeAdded(added, pairs.length)}`,
    `  rounds                             ${added.rounds.map((percent) => percent.toFixed(2)).join(', ')} %`,
  ].join('\n');
}
