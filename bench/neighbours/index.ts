// npm run bench -- neighbours [--seconds 20 --rounds 3 --lane express --attack imports --plan pro]: what an
// organization notices of another that attacks the service (attacks.ts, floods.ts), one attack after the other. It is
// measured alone first, in the same round, at the same rate.
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '../../local/stack.ts';
import { median } from '../support/measure.ts';
import type { BenchOptions } from '../support/options.ts';
import { addOrganization, createPipe, drained, SECRET, startService } from '../support/service.ts';
import { createSender, measureLatency, type Percentiles, type Receiver, sendAtRate } from '../support/traffic.ts';
import { undisturbed } from '../support/undisturbed.ts';
import { startAttack } from './attacker.ts';
import { ATTACKS } from './attacks.ts';
import type { Attack } from './means.ts';

/** The other organization's acknowledgements, ms, and how many times longer its webhooks may travel than alone. */
const ACK_BAR_MS = 150;
const END_TO_END_BAR = 3;
const PER_SECOND = 20;
/** Unless another one is named. */
const LANE = 'adaptive';
const WARM_UP_SECONDS = 4;
// Until what an attack holds and queues is as much as it gets.
const LEAD_SECONDS = 8;
// A limit that an attack on the backlog reaches within its time.
const MAX_BACKLOG = 20_000;

interface Latencies {
  ack: Percentiles;
  endToEnd: Percentiles;
}

interface Round {
  alone: Latencies;
  /** By attack. */
  beside: Record<string, Latencies>;
}

/** Measures, and prints a row for each attack. */
export async function measureNeighbours(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const { body, lane = LANE, rounds: count, seconds } = options;
  const service = await startService(stack, {
    HOOKYARD_LANE: lane,
    HOOKYARD_MAX_BACKLOG: String(MAX_BACKLOG),
    HOOKYARD_REPLAY_WINDOW_HOURS: '0',
  });
  const attacks = ATTACKS.filter(({ name }) => name.includes(options.attack));
  const rounds: Round[] = [];
  try {
    const pipe = await createPipe(service, receiver.url);
    const sender = createSender(pipe.webhookUrl, SECRET, body);
    const measure = () => measureLatency(sender.send, receiver, PER_SECOND, seconds);
    for (let number = 1; number <= count; number += 1) {
      const label = `round ${number} of ${count}`;
      console.log(label);
      await sendAtRate(sender.send, PER_SECOND, WARM_UP_SECONDS);
      const round: Round = { alone: await undisturbed(`${label}, alone`, options, measure), beside: {} };
      for (const attack of attacks) {
        round.beside[attack.name] = await undisturbed(`${label}, ${attack.name}`, options, async () => {
          const latencies = await duringAttack(attack);
          await drained(service, MAX_BACKLOG);
          return latencies;
        });
      }
      rounds.push(round);
    }
    await sender.close();

    async function duringAttack(attack: Attack): Promise<Latencies> {
      console.log(`  ${attack.name}`);
      // A new one each time: nothing is left of the attack before.
      const { leave, apiKey, call: _, ...organization } = await addOrganization(service, options.plan);
      const attacking = await startAttack({ attack: attack.name, organization, apiKey });
      try {
        await Promise.race([delay(LEAD_SECONDS * 1000), attacking.failed]);
        return await measure();
      } finally {
        const answers = await attacking.stop();
        await leave();
        await attacking.end();
        console.log(`    ${[...answers].map(([answer, times]) => `${answer}: ${times}`).join(', ')}`);
      }
    }
  } finally {
    await service.stop();
  }
  console.log(report(rounds, attacks, options));
}

function report(rounds: Round[], attacks: Attack[], { lane = LANE, seconds, plan }: BenchOptions): string {
  const p99s = (which: keyof Latencies, pick: (round: Round) => Latencies | undefined) =>
    rounds.flatMap((round) => pick(round)?.[which].p99 ?? []);
  const row = (what: string, pick: (round: Round) => Latencies | undefined, judged: boolean) => {
    const ack = median(p99s('ack', pick));
    const endToEnd = p99s('endToEnd', pick);
    const ratio = median(endToEnd.map((ms, at) => ms / (rounds[at]?.alone.endToEnd.p99 ?? Number.NaN)));
    const figures = [`${ack.toFixed(1)} ms`, `${median(endToEnd).toFixed(1)} ms`, ratio.toFixed(2)];
    const isMet = ack <= ACK_BAR_MS && ratio <= END_TO_END_BAR;
    return `  ${what.padEnd(44)}${figures.map((each) => each.padStart(12)).join('')}   ${judged ? (isMet ? 'met' : 'MISSED') : ''}`;
  };
  return [
    '',
    `lane ${lane}, ${PER_SECOND} webhooks/s from the other organization, attacker on the ${plan} plan; medians of ${rounds.length} rounds of ${seconds} s`,
    `  ${'p99'.padEnd(44)}${['ack', 'end to end', 'times alone'].map((each) => each.padStart(12)).join('')}   maximum ${ACK_BAR_MS} ms and ${END_TO_END_BAR} times`,
    row('alone', ({ alone }) => alone, false),
    ...attacks.map(({ name, isControl }) => row(name, ({ beside }) => beside[name], isControl !== true)),
    '',
  ].join('\n');
}
