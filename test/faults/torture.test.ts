// A short run of `npm run torture`, with its own servers and processes: the same command that anyone can run for
// longer.
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { outputOf } from '../support/programs/children.ts';
import { LANE_SETTINGS } from '../../core/delivery/delivery.ts';

const project = join(import.meta.dirname, '..', '..');
const SEED = 1;
const FAULTS = 6;
const EVENTS = 250;
const [LANE = 'workflow'] = LANE_SETTINGS.filter((lane) => lane === process.env.HOOKYARD_LANE);

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
});

async function run(args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(project, 'test', 'torture', 'main.ts'), ...args], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const output = outputOf(child);
  await once(child, 'close');
  return { code: child.exitCode, output: output() };
}

function figure(output: string, name: string): number {
  return Number(new RegExp(`^  ${name} +(\\d+)$`, 'm').exec(output)?.[1]);
}
