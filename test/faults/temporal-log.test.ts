// The log of a worker while Temporal is away: every line is JSON and names the cause; repeats are counted, not written.
import { expect } from 'chai';
import { type LogLine, logLines } from '../support/log-lines.ts';
import { startReceiver } from '../support/receiver.ts';
import { Records } from '../support/records.ts';
import { stackAddresses } from '../support/stack.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const MORE_RETRIES = 30;
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

  it('counts what the SDK and the relay repeat while Temporal is away', async () => {
    const receiver = await startReceiver();
    try {
      const worker = await testInstance.onlyWorker({ ...settings(), HOOKYARD_LANE: 'workflow' });
      const records = new Records(testInstance);
      const { source } = await records.pipe(receiver.endpoint(200).url);
      await records.deliveryWith('delivered', await records.accepted(source, '{}'));
      const since = worker.output().length;
      const lines = () => logLines(worker, since);
      temporal.refuseConnections();
      await records.accepted(source, '{}');
      const ofCore = () => lines().filter(({ sdkComponent }) => sdkComponent === 'core');
      await until('lines of the core', () => ofCore().length > 0, LONG_MS);
      const relay = await until(
        'a line of the relay',
        () =>
          lines().find(({ msg, role }) => role === 'worker' && /^(the relay waits|its workflow could not)/.test(msg)),
        LONG_MS,
      );
      expect(causeOf(relay)?.system, JSON.stringify(relay)).to.equal('temporal');
      expect(causeOf(relay)?.code).to.match(/^[A-Z_]+$/);
      expect(relay.msg).to.not.include('away');
      const before = temporal.refused;
      await until('more tries', () => temporal.refused >= before + MORE_RETRIES, LONG_MS);
      await worker.stop();

      const all = lines().filter(({ level }) => level === 'warn' || level === 'error');
      const kindOf = ({ msg, ...line }: LogLine) =>
        `${line.level} ${msg.replaceAll(/\d+/g, '#')} ${causeOf({ msg, ...line })?.code ?? String(line.error)}`;
      for (const [kind, of] of Map.groupBy(all, kindOf)) expect(of.length, kind).to.be.at.most(mostTimes(all));
      const repeats = ofCore().reduce((sum, { repeated }) => sum + Number(repeated ?? 0), 0);
      expect(repeats, 'lines of the core that were counted instead').to.be.above(MORE_RETRIES / 3);
      expect(ofCore().some((line) => causeOf(line)?.system === 'temporal')).to.equal(true);
    } finally {
      temporal.breakConnections();
      await receiver.close();
    }
  });
});
