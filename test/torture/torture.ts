// One run from start to end: everything is started, tortured, judged, and ended again.
import { Client, Connection } from '@temporalio/client';
import { setTimeout as pause } from 'node:timers/promises';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { phase } from '../../local/errors.ts';
import { judgeArrivals } from './checks/arrivals.ts';
import { type Problem, problems } from './checks/problems.ts';
import { untilQuiet } from './checks/quiet.ts';
import { apiThatDisagrees, recordsThatDisagree } from './checks/records.ts';
import { Ledger } from './ledger.ts';
import type { TortureOptions } from './options.ts';
import { createPipes, type Pipe, receiversToDisturb } from './pipes.ts';
import { type Outcome, progressLine } from './report.ts';
import { type FaultRecord, tortureRounds } from './run.ts';
import { planRounds } from './schedule.ts';
import { type Load, startLoad } from './sender.ts';
import { startInstance, type Instance } from './instance.ts';

// After the last fault: attempts that were lost with their worker are noticed after 15 s, own-side waits grow to 30 s.
const QUIET_DEADLINE_MS = 300_000;
const LAST_ACKNOWLEDGEMENT_MS = 60_000;
const PROGRESS_EVERY_MS = 10_000;

/** Runs to the end, or until `signal`. @throws when it cannot be started, or was aborted */
export async function torture(
  options: TortureOptions,
  dataDir: string,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<Outcome> {
  const ledger = new Ledger();
  const ready = ['PostgreSQL', 'Temporal', 'two API', `${options.workers} worker processes`];
  const instance = await phase(log, `ready: ${ready.join(', ')}`, () =>
    startInstance({ ...options, dataDir, signal, log }),
  );
  const pool = createPool(instance.databaseUrl, { max: 3, statementTimeoutMs: 60_000, onError: () => {} });
  let pipes: Pipe[] = [];
  let load: Load | undefined;
  try {
    pipes = await createPipes({ ...options, ...instance, onArrival: ({ body }) => ledger.arrived(body) });
    const began = performance.now();
    load = startLoad({ ...instance, ...options, pipes, ledger });
    const run: Run = { options, instance, pool, pipes, ledger, load, signal, log };
    const records = await underLoad(run);
    signal.throwIfAborted();
    const seconds = (performance.now() - began) / 1000;
    return { options, seconds, records, ledger, ...(await judgeAll(run, records)) };
  } finally {
    await load?.close();
    await instance.stop();
    await pool.end();
    await Promise.all(pipes.flatMap(({ receivers }) => [...receivers.values()].map((receiver) => receiver.close())));
  }
}

interface Run {
  options: TortureOptions;
  instance: Instance;
  /** On its database. */
  pool: Pool;
  pipes: Pipe[];
  ledger: Ledger;
  load: Load;
  signal: AbortSignal;
  log: (line: string) => void;
}

/** Load and faults, until both are as many as asked for or the time is over. */
async function underLoad(run: Run): Promise<FaultRecord[]> {
  const { options, instance, pipes, ledger, load, signal, log } = run;
  const all = pipes.flatMap((pipe) => [...pipe.receivers.values()]);
  const arrived = () => all.reduce((sum, receiver) => sum + receiver.arrivals.length, 0);
  const until = performance.now() + options.minutes * 60_000;
  const records = await tortureRounds({
    rounds: planRounds({ ...options, receivers: receiversToDisturb(pipes) }),
    victims: { instance, receivers: new Map(all.map((receiver) => [receiver.name, receiver])) },
    ledger,
    until,
    signal,
    onRound: (round, done) => log(progressLine(round, done, options, ledger, arrived())),
  });
  for (let next = 0; ledger.acknowledged.size < options.events && performance.now() < until && !signal.aborted; ) {
    if (performance.now() > next) {
      log(`${ledger.acknowledged.size} of ${options.events} events acknowledged, ${arrived()} arrived`);
      next = performance.now() + PROGRESS_EVERY_MS;
    }
    await pause(100);
  }
  if (!signal.aborted) await load.finish(LAST_ACKNOWLEDGEMENT_MS);
  return records;
}

async function judgeAll(
  { instance, pool, pipes, ledger, load, signal, log }: Run,
  records: FaultRecord[],
): Promise<Pick<Outcome, 'quietSeconds' | 'arrived' | 'problems' | 'endedByThemselves'>> {
  const connection = Connection.lazy({ address: instance.temporal.address });
  const temporal = new Client({ connection, namespace: instance.temporal.namespace });
  let told = performance.now();
  const onWait = (what: string) => {
    if (performance.now() - told < PROGRESS_EVERY_MS) return;
    told = performance.now();
    log(`waiting until all is quiet: ${what}`);
  };
  const knock = (routeId: string) => {
    const pipe = pipes.find((each) => each.routeId === routeId);
    if (pipe) load.knock(pipe);
  };
  try {
    const began = performance.now();
    const quiet = { pool, temporal, deadlineMs: QUIET_DEADLINE_MS, signal, onWait };
    let stuck = await untilQuiet({ ...quiet, knock });
    // The last knock may have come when its circuit was closed already.
    await load.finish(LAST_ACKNOWLEDGEMENT_MS);
    if (stuck.length === 0) stuck = await untilQuiet({ ...quiet, knock: () => {} });
    signal.throwIfAborted();
    const quietSeconds = (performance.now() - began) / 1000;
    const arrived = await judgeArrivals(pool, pipes, ledger);
    const ended = [...instance.parts.values()].filter((part) => part.endedByItself > 0);
    return {
      quietSeconds,
      arrived,
      endedByThemselves: new Map(ended.map((part) => [part.name, part.endedByItself])),
      problems: [
        ...arrived.problems,
        ...stuck,
        ...refusedForGood(ledger, records),
        ...(await recordsThatDisagree(pool)),
        ...(await apiThatDisagrees(instance.call, instance.organizationId, pipes, ledger)),
      ],
    };
  } finally {
    await connection.close();
  }
}

/**
 * What a sender would not have repeated, what was not acknowledged at all, and faults from which the flow did not
 * recover.
 */
function refusedForGood(ledger: Ledger, records: FaultRecord[]): Problem[] {
  const refused = [...ledger.refusals.keys()].filter((status) => /^4/.test(status));
  const open = ledger.webhooks.filter((webhook) => webhook.eventId === null).map((webhook) => webhook.idempotencyKey);
  const stuck = records
    .filter(({ recoveredMs }) => recoveredMs === null)
    .map(({ fault }) => `${fault.kind} (${fault.target})`);
  const undone = records.flatMap(({ fault, problem }) => (problem === null ? [] : [`${fault.kind}: ${problem}`]));
  return [
    ...problems('wrong', 'answers that tell a sender not to try again', refused),
    ...problems('stuck', 'webhooks that were never acknowledged', open),
    ...problems('stuck', 'faults after which the flow did not recover', stuck),
    ...problems('wrong', 'faults that could not be done as meant', undone),
  ];
}
