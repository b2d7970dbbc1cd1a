// The notify workflow on a real Temporal server, with tries to send that follow a script.
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'chai';
import type { NotificationOutcome } from '../../activities/types.ts';
import {
  type ScriptedAlert,
  type ScriptedMail,
  type ScriptedNotification,
  startScriptedMail,
} from '../support/scripted-mail.ts';

const HOUR_S = 3600;
const sent: NotificationOutcome = { status: 'sent', count: 3 };
const away = () => ApplicationFailure.retryable('The mail server could not be used (ECONNREFUSED)', 'MailServerAway');
const refused = () =>
  ApplicationFailure.nonRetryable('The mail server did not take the mail (reply 550)', 'MailRefused');

describe('notify workflow', () => {
  let mail: ScriptedMail;
  before(async () => {
    mail = await startScriptedMail('test-notify');
  });
  after(() => mail.stop());

  it('ends with what became of the notification', async () => {
    const { handle, dropped } = await mail.start([sent]);
    expect(await handle.result()).to.deep.equal(sent);
    expect(dropped).to.deep.equal([]);
  });

  it('tries again while the mail server is away, without growing its history', async () => {
    const { handle, dropped } = await mail.start([away(), away(), sent]);
    expect(await handle.result()).to.deep.equal(sent);
    expect(await scheduled({ handle })).to.have.length(1);
    expect(dropped).to.deep.equal([]);
  });

  it('tries for 24 hours at most, in waits that grow from 2 s to 10 min', async () => {
    const { handle } = await mail.start([sent]);
    await handle.result();
    const [attributes] = await scheduled({ handle });
    expect(Number(attributes?.scheduleToCloseTimeout?.seconds)).to.equal(24 * HOUR_S);
    expect(Number(attributes?.retryPolicy?.initialInterval?.seconds)).to.equal(2);
    expect(Number(attributes?.retryPolicy?.maximumInterval?.seconds)).to.equal(600);
    expect(Number(attributes?.retryPolicy?.maximumAttempts)).to.equal(0);
  });

  it('gives up at once what the server refuses for good, and fails, so that operators see it', async () => {
    const { handle, dropped } = await mail.start([refused()]);
    const error: unknown = await handle.result().catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(WorkflowFailedError);
    expect(error).to.have.nested.property('cause.type', 'NotificationDropped');
    expect(dropped).to.deep.equal(['The mail server did not take the mail (reply 550)']);
  });

  it('tells a channel of alerts in the same way, with an hour for the queue and one for the tries, on a queue of its own', async () => {
    const silent = ApplicationFailure.retryable('The channel answered 503', 'ChannelAway');
    const { handle, givenUp } = await mail.startAlert([silent, { status: 'sent' }]);
    expect(await handle.result()).to.deep.equal({ status: 'sent' });
    expect(givenUp).to.deep.equal([]);
    const [attributes, ...others] = await scheduled({ handle });
    expect(others).to.deep.equal([]);
    expect(attributes?.taskQueue?.name).to.equal('test-notify-alert');
    expect(Number(attributes?.scheduleToCloseTimeout?.seconds)).to.equal(2 * HOUR_S);
    expect(Number(attributes?.retryPolicy?.maximumInterval?.seconds)).to.equal(300);
  });

  it('gives up at once what a channel refuses for good', async () => {
    const gone = ApplicationFailure.nonRetryable('The channel answered 410', 'ChannelRefused');
    const { handle, givenUp } = await mail.startAlert([gone]);
    const error: unknown = await handle.result().catch((failure: unknown) => failure);
    expect(error).to.have.nested.property('cause.type', 'NotificationDropped');
    expect(givenUp).to.deep.equal(['The channel answered 410']);
  });

  async function scheduled({ handle }: Pick<ScriptedNotification | ScriptedAlert, 'handle'>) {
    const { events } = await handle.fetchHistory();
    return (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
  }
});
