// Errors on their way to Temporal, whose messages somebody else wrote: no message ends the worker, or is too long to be
// taken.
import { WorkflowFailedError } from '@temporalio/client';
import { expect } from 'chai';
import { named } from '../../core/text/error-summary.ts';
import { delivered, failed, startScriptedWorker } from '../support/workflows/scripted-attempts.ts';
import { useStarted } from '../support/use-hookyard.ts';

// Short texts are written to Protocol Buffers by other code than long ones (protobufjs, Writer.string).
const TEXTS = ['a\ud800b', `${'x'.repeat(100)}\udc00`, 'a\0b'];
const HUGE = 'x'.repeat(5_000_000);

describe('text in errors of activities and workflows', () => {
  const worker = useStarted(() => startScriptedWorker('test-foreign-text'));

  for (const quick of [true, false]) {
    it(`of ${quick ? 'local' : 'regular'} activities: the delivery continues`, async () => {
      const deliveries = await Promise.all(
        [...TEXTS, HUGE].map((text) =>
          worker.start([new Error(text, { cause: new Error(text) }), delivered], { quick }),
        ),
      );
      for (const { handle } of deliveries) expect(await handle.result()).to.include({ status: 'delivered' });
    });
  }

  it('of workflows: it ends, and shows it', async () => {
    for (const text of TEXTS) {
      const { handle } = await worker.start([{ ...failed, error: named(text) }], { replayWindowMs: 0 });
      const failure = await handle.result().catch((error: unknown) => error);
      if (!(failure instanceof WorkflowFailedError)) throw failure;
      const shown = failure.cause?.message ?? '';
      expect(shown).to.match(/^Failed after 1 of 4 attempts: .*\ufffd/);
    }
  });
});
