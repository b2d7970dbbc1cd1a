import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'chai';
import type { MessageOutcome } from '../../activities/types.ts';
import { type ScriptedMessage, startScriptedMessages } from '../support/workflows/scripted-messages.ts';
import { useStarted } from '../support/use-hookyard.ts';

const HOUR_S = 3600;
const sent: MessageOutcome = { status: 'sent' };
const toChannel = { to: 'channel', via: 'http' } as const;
const away = () => ApplicationFailure.retryable('The mail server could not be used (ECONNREFUSED)', 'ReceiverAway');
const refused = () =>
  ApplicationFailure.nonRetryable('The mail server did not take the mail (reply 550)', 'MessageRefused');

describe('message workflow', () => {
  const messages = useStarted(() => startScriptedMessages('test-message'));

  it('ends with what became of the message', async () => {
    const { handle, givenUp } = await messages.start([sent]);
    expect(await handle.result()).to.deep.equal(sent);
    expect(givenUp).to.deep.equal([]);
  });

  it('tries again while the receiver is away, without growing its history', async () => {
    const { handle, givenUp } = await messages.start([away(), away(), sent]);
    expect(await handle.result()).to.deep.equal(sent);
    expect(await scheduled(handle)).to.have.length(1);
    expect(givenUp).to.deep.equal([]);
  });

  it('tries a mail of a route for 24 hours at most, in waits that grow from 2 s to 10 min', async () => {
    const { handle } = await messages.start([sent]);
    await handle.result();
    const [attributes] = await scheduled(handle);
    expect(Number(attributes?.scheduleToCloseTimeout?.seconds)).to.equal(24 * HOUR_S);
    expect(Number(attributes?.retryPolicy?.initialInterval?.seconds)).to.equal(2);
    expect(Number(attributes?.retryPolicy?.maximumInterval?.seconds)).to.equal(600);
    expect(Number(attributes?.retryPolicy?.maximumAttempts)).to.equal(0);
    expect(attributes?.taskQueue?.name).to.equal('test-message-messages-mail');
  });

  it('tries a message to a channel for an hour, beside one for the queue, on a queue of its own', async () => {
    const { handle } = await messages.start([away(), sent], toChannel);
    await handle.result();
    const [attributes] = await scheduled(handle);
    expect(attributes?.taskQueue?.name).to.equal('test-message-messages-http');
    expect(Number(attributes?.scheduleToCloseTimeout?.seconds)).to.equal(2 * HOUR_S);
    expect(Number(attributes?.retryPolicy?.maximumInterval?.seconds)).to.equal(300);
  });

  for (const request of [undefined, toChannel]) {
    it(`gives up at once what ${request ? 'a channel' : 'the mail server'} refuses for good, and fails, so that operators see it`, async () => {
      const { handle, givenUp } = await messages.start([refused()], request);
      const error: unknown = await handle.result().catch((failure: unknown) => failure);
      expect(error).to.be.instanceOf(WorkflowFailedError);
      expect(error).to.have.nested.property('cause.type', 'MessageGivenUp');
      expect(givenUp).to.deep.equal(['The mail server did not take the mail (reply 550)']);
    });
  }

  async function scheduled(handle: ScriptedMessage['handle']) {
    const { events } = await handle.fetchHistory();
    return (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
  }
});
