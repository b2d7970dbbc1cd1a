// The log of a worker while Temporal is away: every line is JSON and names the cause; repeats are counted, not written.
import { expect } from 'chai';
import { type LogLine, logLines } from '../support/telemetry/log-lines.ts';
import { stackAddresses } from '../support/stack.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const LONG_MS = 180_000;
const MINUTE_MS = 60_000;

describe('the log of a worker', function () {
  this.timeout(600_000);
  const { testInstance } = useHookyard({});
  let temporal: TcpProxy;
  before(async () => {
    temporal = await startTcpProxy(stackAddresses().temporalAddress);
  });
  after(() => temporal.close());
  const settings = () => ({ TEMPORAL_ADDRESS: temporal.address, HOOKYARD_SHUTDOWN_SECONDS: '1' });
  const causeOf = (line: LogLine) => line.cause as { system?: string; code?: string; details?: string } | undefined;

  /** How many times each kind may be written: at once, at the end, and once a minute in between. */
  function mostTimes(lines: LogLine[]): number {
    const [first, last] = [lines[0], lines.at(-1)].map((line) => Date.parse(line?.time ?? ''));
    return 2 + Math.ceil(((last ?? 0) - (first ?? 0)) / MINUTE_MS);
  }

  it('says what it waits for at its start, and why, and not for every try', async () => {
    const before = temporal.refused;
    temporal.refuseConnections();
    const starting = testInstance.startWorker(settings());
    await until('some tries', () => temporal.refused >= before + 3, LONG_MS);
    temporal.breakConnections();
    const worker = await starting;
    const waiting = logLines(worker).filter(({ msg }) => msg.startsWith('waiting for Temporal'));
    expect(waiting).to.have.length.within(1, mostTimes(logLines(worker)));
    expect(waiting[0]).to.include({ level: 'warn', role: 'worker' });
    expect(causeOf(waiting[0] as LogLine)).to.include({ system: 'temporal', code: 'UNAVAILABLE' });
  });
});
