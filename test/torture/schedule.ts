// Which faults there will be, in which order and how long each lasts: decided before the run, from the seed alone.
import { createRandom, type Random } from './random.ts';

/** What is done to each process: a crash, a machine that hangs for a while, an ordinary restart. */
const PROCESS_FAULTS = ['killed', 'frozen', 'restarted'] as const;
const PROCESSES = ['API', 'worker', 'Temporal', 'PostgreSQL'] as const;

type ProcessFault = `${(typeof PROCESSES)[number]} ${(typeof PROCESS_FAULTS)[number]}`;

const OTHER_FAULTS = [
  'PostgreSQL shut down at once',
  'PostgreSQL backend killed',
  'PostgreSQL connections used up',
  'leases expired',
  'receiver refuses connections',
  'receiver resets connections',
  'receiver answers late',
] as const;

export type FaultKind = ProcessFault | (typeof OTHER_FAULTS)[number];

export const FAULT_KINDS: readonly FaultKind[] = [
  ...PROCESSES.flatMap((process) => PROCESS_FAULTS.map((fault): FaultKind => `${process} ${fault}`)),
  ...OTHER_FAULTS,
];

export interface Fault {
  kind: FaultKind;
  /** The process or receiver it is done to. */
  target: string;
  /** How long it lasts; 0 for what is over at once. */
  seconds: number;
  /** When it begins, after the start of its round. */
  afterSeconds: number;
}

/** Faults at the same time, at most two, after a time of peace. The next round begins when the flow has recovered. */
export interface Round {
  peaceSeconds: number;
  faults: Fault[];
}

const TOGETHER = 0.25;
export const LONGEST_PEACE_SECONDS = 1.5;

export interface Plan {
  seed: number;
  faults: number;
  /** Names of what can be cut or delayed; one that is named twice is chosen twice as often. */
  receivers: string[];
  /** How many worker processes there are. */
  workers: number;
  /** Before a round, at most. */
  peaceSeconds?: number;
}

/** Plans a run. */
export function planRounds(plan: Plan): Round[] {
  const { seed, faults, peaceSeconds = LONGEST_PEACE_SECONDS } = plan;
  const random = createRandom(seed);
  const kinds = endlessDeck(FAULT_KINDS, random);
  const rounds: Round[] = [];
  const targets = { receivers: plan.receivers, workers: namesOfWorkers(plan.workers) };
  const draw = (): Fault => {
    const kind = kinds();
    return { kind, target: targetOf(kind, targets, random), seconds: secondsOf(kind, random), afterSeconds: 0 };
  };
  for (let left = faults; left > 0; ) {
    const first = draw();
    const round: Round = { peaceSeconds: random.between(0, peaceSeconds), faults: [first] };
    rounds.push(round);
    left -= 1;
    if (left === 0 || random.next() >= TOGETHER) continue;
    const second = draw();
    left -= 1;
    // Two of the same part would undo each other: then it has a round of its own.
    if (second.target === first.target) rounds.push({ peaceSeconds: 0, faults: [second] });
    else round.faults.push({ ...second, afterSeconds: random.between(0, first.seconds) });
  }
  return rounds;
}

/** Every kind once, shuffled, and again: also a short run sees many kinds, and a long one all of them equally often. */
function endlessDeck(kinds: readonly FaultKind[], random: Random): () => FaultKind {
  let deck: FaultKind[] = [];
  return () => {
    if (deck.length === 0) deck = random.shuffled(kinds);
    return deck.pop() ?? random.pick(kinds);
  };
}

export const namesOfWorkers = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `worker-${index + 1}`);

function targetOf(
  kind: FaultKind,
  { receivers, workers }: { receivers: string[]; workers: string[] },
  random: Random,
): string {
  if (kind.startsWith('API')) return random.pick(['api-1', 'api-2']);
  if (kind.startsWith('worker')) return random.pick(workers);
  if (kind.startsWith('Temporal')) return 'temporal';
  if (kind.startsWith('receiver')) return random.pick(receivers);
  return 'postgres'; // leases are rows of it
}

function secondsOf(kind: FaultKind, random: Random): number {
  switch (kind) {
    case 'worker frozen':
      return random.between(2, 10); // at times longer than a lease on shards (6 s)
    case 'API frozen':
    case 'Temporal frozen':
    case 'PostgreSQL frozen':
      return random.between(1, 6);
    case 'PostgreSQL connections used up':
      return random.between(2, 5);
    case 'receiver refuses connections':
    case 'receiver resets connections':
    case 'receiver answers late':
      return random.between(2, 8);
    case 'PostgreSQL backend killed':
    case 'leases expired':
    case 'API restarted':
    case 'worker restarted':
    case 'Temporal restarted':
    case 'PostgreSQL restarted':
      return 0;
    default:
      return random.between(0.3, 3);
  }
}
