// A short run of `npm run torture`, with its own servers and processes: the same command that anyone can run for longer.
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { LANE_SETTINGS } from '../../core/delivery/delivery.ts';
import { judgeArrivals } from '../torture/checks/arrivals.ts';
import type { Problem } from '../torture/checks/problems.ts';
import { untilQuiet } from '../torture/checks/quiet.ts';
import { apiThatDisagrees, recordsThatDisagree } from '../torture/checks/records.ts';
import { Ledger } from '../torture/ledger.ts';
import { createPipes, type Pipe } from '../torture/pipes.ts';
import { readOptions } from '../torture/options.ts';
import { EXTRAS, FAULT_KINDS, faultKinds, planRounds } from '../torture/schedule.ts';
import { startLoad } from '../torture/sender.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { until } from '../support/until.ts';

const project = join(import.meta.dirname, '..', '..');
const SEED = 1;
const FAULTS = 6;
const EVENTS = 250;
const [LANE = 'workflow'] = LANE_SETTINGS.filter((lane) => lane === process.env.HOOKYARD_LANE);
const RECEIVERS = ['one', 'another'];

describe('torture', function () {
  // The run takes about two minutes; on a slow machine several times as long.
  this.timeout(900_000);

  it(`loses nothing of what was acknowledged, and leaves nothing stuck (lane ${LANE})`, async () => {
    const args = [`--seed=${SEED}`, `--faults=${FAULTS}`, `--events=${EVENTS}`, `--lane=${LANE}`, '--minutes=12'];
    const { code, output } = await run(args);
    expect(code, output).to.equal(0);
    expect(figure(output, 'lost')).to.equal(0);
    expect(figure(output, 'faults')).to.equal(FAULTS);
    expect(figure(output, 'acknowledged')).to.be.at.least(EVENTS);
    // What a receiver never takes has to be seen: a run without it would not have looked.
    expect(figure(output, 'failed visibly')).to.be.above(0);
    expect(figure(output, 'arrived')).to.be.above(EVENTS / 2);
  });

  it('plans the same faults for the same seed, and every kind before any comes again', () => {
    const options = { seed: SEED, faults: 60, receivers: RECEIVERS, workers: 2 };
    const plan = planRounds(options);
    expect(planRounds(options)).to.deep.equal(plan);
    expect(planRounds({ ...options, seed: SEED + 1 })).not.to.deep.equal(plan);
    const faults = plan.flatMap((round) => round.faults);
    expect(faults).to.have.length(60);
    expect(new Set(faults.slice(0, FAULT_KINDS.length).map((fault) => fault.kind)).size).to.equal(FAULT_KINDS.length);
    for (const round of plan) {
      expect(round.faults.length).to.be.at.most(2);
      expect(new Set(round.faults.map((fault) => fault.target)).size).to.equal(round.faults.length);
    }
  });

  it('plans faults for each of as many workers as there are', () => {
    const plan = planRounds({ seed: SEED, faults: 300, receivers: RECEIVERS, workers: 4 });
    const faults = plan.flatMap((round) => round.faults);
    const hit = new Set(faults.filter(({ kind }) => kind.startsWith('worker')).map(({ target }) => target));
    expect([...hit].sort()).to.deep.equal(['worker-1', 'worker-2', 'worker-3', 'worker-4']);
  });

  it('plans faults of what stands beside the processes, and does nothing else while it upgrades', () => {
    const options = { seed: SEED, faults: 300, receivers: RECEIVERS, workers: 3, extras: [...EXTRAS] };
    const plan = planRounds(options);
    const planned = plan.flatMap((round) => round.faults.map(({ kind }) => kind));
    expect(new Set(planned)).to.have.all.keys(...faultKinds(EXTRAS));
    const upgrades = plan.filter(({ faults }) => faults.some(({ kind }) => kind === 'release upgraded'));
    expect(upgrades.filter(({ faults }) => faults.length > 1)).to.deep.equal([]);
  });

  it('refuses options that it does not have or cannot use', () => {
    for (const args of [
      ['--hours=0'],
      ['--hours=2', '--faults=5'],
      ['--with=pooler,proxy'],
      ['--lane=fast'],
      ['--faults=many'],
      ['--seed=-1'],
      ['--rate=0'],
      ['--event=5'],
      ['--workers=0'],
    ]) {
      expect(() => readOptions(args), args.join()).to.throw(/--?(hours|with|lane|faults|seed|rate|event|workers)/);
    }
    expect(readOptions(['--seed=7', '--lane=express'])).to.include({
      ...{ seed: 7, faults: 200, events: 10_000, workers: 2 },
    });
    expect(readOptions([]).lanes).to.deep.equal(['workflow', 'express']);
    expect(readOptions(['--lane=adaptive']).lanes).to.deep.equal(['adaptive']);
    expect(readOptions([]).extras).to.deep.equal([]);
    expect(readOptions(['--with=pooler,balancer']).extras).to.deep.equal(['balancer', 'pooler']);
    expect(readOptions(['--hours=2'])).to.deep.include({ minutes: 120, lanes: ['adaptive'], rate: 5, extras: EXTRAS });
    expect(readOptions(['--hours=2', '--with=none', '--rate=8'])).to.deep.include({ rate: 8, extras: [] });
  });
});

describe('the checks of torture', function () {
  this.timeout(900_000);
  let testInstance: OwnHookyard;
  let pipes: Pipe[] = [];
  const ledger = new Ledger();
  let eventId = '';

  before('webhooks are sent to every kind of route, and end', async () => {
    testInstance = await startHookyard();
    await testInstance.startWorker();
    pipes = await createPipes({
      call,
      organizationId: testInstance.organizationId,
      seed: SEED,
      lanes: [LANE],
      onArrival: ({ body }) => ledger.arrived(body),
    });
    const load = startLoad({ urls: [testInstance.client.url], pipes, ledger, rate: 20, seed: SEED });
    await until('webhooks to be acknowledged', () => ledger.acknowledged.size >= 30);
    await load.finish(10_000);
    await load.close();
    expect(await stuck(180_000)).to.deep.equal([]);
    const [plain] = pipes[0]?.receivers.values() ?? [];
    eventId = plain?.arrivals[0]?.eventId ?? '';
  });
  after(async () => {
    await testInstance.close();
    for (const { receivers } of pipes) for (const receiver of receivers.values()) await receiver.close();
  });

  const call = async (method: string, path: string, body?: object) =>
    (await testInstance.client.request(method, path, body)).body;
  const stuck = (deadlineMs: number) =>
    untilQuiet({
      ...testInstance,
      deadlineMs,
      signal: AbortSignal.timeout(600_000),
      onWait: () => {},
      knock: () => {},
    });
  const found = (problems: Problem[]) => problems.map(({ kind, what }) => `${kind}: ${what}`).sort();

  it('find nothing wrong with what is right', async () => {
    const arrived = await judgeArrivals(testInstance.pool, pipes, ledger);
    expect(arrived).to.include({ lost: 0 }).and.to.deep.include({ problems: [] });
    expect(arrived.arrived + arrived.failedVisibly + arrived.filtered).to.equal(ledger.acknowledged.size);
    expect(await recordsThatDisagree(testInstance.pool)).to.deep.equal([]);
    expect(await apiThatDisagrees(call, testInstance.organizationId, pipes, ledger)).to.deep.equal([]);
  });

  it('find an event that is recorded as delivered and never arrived, and one that is not what was sent', async () => {
    const [plain] = pipes[0]?.receivers.values() ?? [];
    const all = plain?.arrivals.splice(0) ?? [];
    plain?.arrivals.push(...all.filter((arrival) => arrival.eventId !== eventId));
    const missing = await judgeArrivals(testInstance.pool, pipes, ledger);
    expect(missing.lost).to.equal(1);
    expect(missing.problems[0]?.ids[0]).to.match(new RegExp(`^${eventId} .*never arrived`));
    plain?.arrivals.splice(0);
    plain?.arrivals.push(...all.map((arrival) => (arrival.eventId === eventId ? { ...arrival, body: '{}' } : arrival)));
    const changed = await judgeArrivals(testInstance.pool, pipes, ledger);
    expect(found(changed.problems)).to.deep.equal(['wrong: requests that are not what was sent']);
    plain?.arrivals.splice(0);
    plain?.arrivals.push(...all, ...all.slice(0, 1));
    expect(await judgeArrivals(testInstance.pool, pipes, ledger)).to.deep.include({ duplicates: 1, problems: [] });
    plain?.arrivals.pop();
  });

  it('find what is stuck: an open delivery without its workflow is neither delivered nor visibly failed', async () => {
    await testInstance.pool.query(`update deliveries set status = 'retrying' where event_id = $1`, [eventId]);
    expect(found(await stuck(0))).to.deep.equal([
      'stuck: failed or open deliveries without their workflow',
      'stuck: open deliveries',
    ]);
    const judged = await judgeArrivals(testInstance.pool, pipes, ledger);
    expect(judged.problems[0]?.ids[0]).to.match(new RegExp(`^${eventId} .*is retrying`));
    await testInstance.pool.query(`update deliveries set status = 'delivered' where event_id = $1`, [eventId]);
    expect(await stuck(0)).to.deep.equal([]);
  });

  const damages: [what: string, statement: string][] = [
    ['events whose totals', 'update events set deliveries_succeeded = deliveries_succeeded + 1 where id = $1'],
    [
      'ended deliveries that do not agree',
      'update deliveries set attempt_count = attempt_count + 1 where event_id = $1',
    ],
    [
      'destinations whose counts',
      `insert into ledger_entries (organization_id, bucket, source_id, route_id, destination_id, code, delivered)
       select organization_id, now(), source_id, route_id, destination_id, 200, 0 + 1 from deliveries where event_id = $1`,
    ],
    [
      'sources and routes whose counts',
      `insert into ledger_entries (organization_id, bucket, source_id, events)
       select organization_id, now(), source_id, 0 + 1 from events where id = $1`,
    ],
  ];
  for (const [what, statement] of damages) {
    it(`find ${what} are wrong`, async () => {
      await testInstance.pool.query(statement, [eventId]);
      const problems = await recordsThatDisagree(testInstance.pool);
      await testInstance.pool.query(statement.replaceAll(' + 1', ' - 1'), [eventId]);
      expect(problems.some((problem) => problem.what.startsWith(what))).to.equal(true);
      expect(await recordsThatDisagree(testInstance.pool)).to.deep.equal([]);
    });
  }

  it('find an acknowledged event that is not there any more', async () => {
    await testInstance.pool.query('delete from events where id = $1', [eventId]);
    const { lost, problems } = await judgeArrivals(testInstance.pool, pipes, ledger);
    expect(lost).to.equal(1);
    expect(problems[0]?.ids[0]).to.match(new RegExp(`^${eventId} .*there is no such event`));
    const wrong = await apiThatDisagrees(call, testInstance.organizationId, pipes, ledger);
    expect(wrong.flatMap(({ ids }) => ids).join()).to.contain('the list of events');
  });
});

async function run(args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(project, 'test', 'torture', 'main.ts'), ...args], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part: string) => {
      output += part;
    });
  }
  await once(child, 'close');
  return { code: child.exitCode, output };
}

/** A figure of the report. */
function figure(output: string, name: string): number {
  return Number(new RegExp(`^  ${name} +(\\d+)$`, 'm').exec(output)?.[1]);
}
