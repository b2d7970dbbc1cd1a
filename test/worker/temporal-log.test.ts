import { pino } from 'pino';
import { expect } from 'chai';
import { temporalLogger } from '../../worker/temporal/log.ts';

interface Line {
  [fact: string]: unknown;
}

function recorded() {
  const lines: Line[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => void lines.push(JSON.parse(line) as Line) });
  return { lines, logger: temporalLogger(log) };
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
  it('name the code of a call however the core words it, and another code is another line', () => {
    const { lines, logger } = recorded();
    const codes = ['Unavailable', "'The service is currently unavailable'", 'DeadlineExceeded', 'NotFound'];
    for (const code of codes) logger.log('WARN', 'retried', ofCore({ error: status(code) }));
    const expected = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'NOT_FOUND'];
    expect(lines.map(({ cause }) => (cause as { code: string }).code)).to.deep.equal(expected);
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
