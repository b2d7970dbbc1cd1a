// What tests of faults start alike: a Hookyard whose workers each test chooses for itself, its records, and a receiver.
import { type CommonSettings, type OwnHookyard, startHookyard } from './hookyard.ts';
import { Ledger } from './ledger.ts';
import { type Answer, type Endpoint, type Receiver, startReceiver } from './receiver.ts';
import { Records } from './records.ts';

/** A source that is routed to a receiver, and the ledger of what is sent to it. */
type Line = Awaited<ReturnType<Records['pipe']>> & { endpoint: Endpoint; ledger: Ledger };

export interface FaultInstance {
  testInstance: OwnHookyard;
  records: Records;
  receiver: Receiver;
  /** @param answers of the receiver, the last one for all further requests */
  line(answers?: Answer[], fields?: Parameters<Records['pipe']>[1]): Promise<Line>;
}

/**
 * Starts one for the tests of this `describe`, with no worker, and ends it after them. What runs at the end of a test is left to the
 * next, which says what it needs (`onlyWorkers`): a worker that nothing has happened to is not started again.
 * @param take gets it before the tests
 * @param common settings of all its processes
 */
export function useFaultInstance(
  take: (made: FaultInstance) => void | Promise<void>,
  common: CommonSettings = {},
): void {
  let close = async () => {};
  before(async () => {
    const [testInstance, receiver] = await Promise.all([startHookyard(undefined, common), startReceiver()]);
    close = async () => {
      await testInstance.close();
      await receiver.close();
    };
    const records = new Records(testInstance);
    const line: FaultInstance['line'] = async (answers = [], fields = {}) => {
      const endpoint = receiver.endpoint(...answers);
      const made = await records.pipe(endpoint.url, fields);
      return { ...made, endpoint, ledger: new Ledger(records, made.source, endpoint) };
    };
    await take({ testInstance, records, receiver, line });
  });
  after(() => close());
}
