// Lines of Temporal's SDK in the log of a process.
import { pino } from 'pino';
import { expect } from 'chai';
import { throttled } from '../../core/process/log.ts';
import { temporalLogger } from '../../worker/temporal/log.ts';

interface Line {
  level: number;
  msg: string;
  repeated?: number;
  [fact: string]: unknown;
}

const WARN = 40;

function recorded() {
  const lines: Line[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => void lines.push(JSON.parse(line) as Line) });
  return { lines, log, logger: temporalLogger(log) };
}

const ofCore = (fields: object) => ({
  sdkComponent: 'core',
  target: 'temporalio_client::retry',
  spanContexts: [{ hidden: 'x' }],
  ...fields,
});
const status = (code: string) =>
  `Status { code: ${code}, message: "tcp connect error", metadata: MetadataMap { headers: {"authorization": "hidden"} } }`;

describe('log lines of the Temporal SDK', () => {
  it('are counted when they repeat, whatever number is in them', () => {
    const { lines, log, logger } = recorded();
    for (let n = 6; n < 506; n += 1) {
      for (const call of ['poll_workflow_task_queue', 'poll_activity_task_queue']) {
        logger.log('WARN', `gRPC call ${call} retried ${n} times`, ofCore({ error: status('Unavailable') }));
      }
    }
    throttled(log).flush();
    expect(lines.map(({ msg, repeated = 0 }) => `${msg}, ${repeated}`)).to.deep.equal([
      'gRPC call poll_workflow_task_queue retried 6 times, 0',
      'gRPC call poll_activity_task_queue retried 6 times, 0',
      'gRPC call poll_workflow_task_queue retried 505 times, 499',
      'gRPC call poll_activity_task_queue retried 505 times, 499',
    ]);
    expect(lines[0]).to.deep.include({
      level: WARN,
      component: 'temporal',
      sdkComponent: 'core',
      target: 'temporalio_client::retry',
      cause: { system: 'temporal', code: 'UNAVAILABLE', details: 'tcp connect error' },
    });
  });

  it('name the code of a call however the core words it, and another code is another line', () => {
    const { lines, logger } = recorded();
    const codes = ['Unavailable', "'The service is currently unavailable'", 'DeadlineExceeded', 'NotFound'];
    for (const code of codes) logger.log('WARN', 'retried', ofCore({ error: status(code) }));
    expect(lines.map(({ cause }) => (cause as { code: string }).code)).to.deep.equal([
      'UNAVAILABLE',
      'DEADLINE_EXCEEDED',
      'NOT_FOUND',
    ]);
  });

  it('hold ids and errors of the core only', () => {
    const { lines, logger } = recorded();
    const failure = 'Failure { failure: Some(Failure { message: "not deterministic", payloads: "hidden" }) }';
    logger.log('WARN', 'Failing workflow task', ofCore({ run_id: 'r1', failure, task: 'hidden', headers: 'hidden' }));
    logger.log('WARN', 'Error while polling', ofCore({ error: status('Unavailable') }));
    expect(lines[0]).to.deep.include({ run_id: 'r1', error: 'not deterministic' });
    expect(JSON.stringify(lines)).to.not.include('hidden');
  });
});
