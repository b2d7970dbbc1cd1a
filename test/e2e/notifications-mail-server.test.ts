import { expect } from 'chai';
import { Issues } from '../support/messages/issues.ts';
import { REFUSED_DOMAIN } from '../support/messages/mail-server.ts';
import { BODY, firstMail, useNotifiedRoutes } from '../support/messages/notified-routes.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

describe('notifications', () => {
  const routes = useNotifiedRoutes();

  it('wait for a mail server that is away, while deliveries continue', async () => {
    const bad = await routes.telling(routes.receiver.endpoint(500), { notifyOnFailure: true });
    const good = await routes.telling(routes.receiver.endpoint(200), {});
    const comeBack = await routes.takeServerAway();
    await bad.deliver('failed');
    await until('a second try', async () => {
      const { raw } = await (await routes.workflow(bad.route.id, 'failure')).describe();
      return (raw.pendingActivities?.[0]?.attempt ?? 0) > 1;
    });
    await until('it to count towards an issue', async () => (await routes.failedMails(bad.route.id)) > 0);
    await good.deliver('delivered');
    await bad.deliver('failed');
    await comeBack();
    const mail = await firstMail(bad.mails);
    expect(mail.headers.subject, 'the content is that of the first try').to.contain('delivery to CRM failed');
    await routes.finished(bad.route.id, 'failure');
    await until('the failures in a row to end', async () => (await routes.failedMails(bad.route.id)) === 0);
    expect(await routes.waiting(bad.route.id, 'failure'), 'the other failure waits for its turn').to.include({
      count: 1,
    });
    expect(bad.mails()).to.have.length(1);
  });

  for (const end of ['kill', 'stop'] as const) {
    it(`come again, recognisably, after a ${end} of the worker that does not know yet that they were taken`, async () => {
      const { route, deliver, mails } = await routes.telling(routes.receiver.endpoint(500), { notifyOnFailure: true });
      const { answer } = routes.server.fallSilent();
      await deliver('failed');
      await firstMail(mails);
      const ended = await routes.testInstance.workers.at(-1)?.[end]();
      expect(ended, 'a silent server holds up no orderly end').to.equal(end === 'stop' ? 0 : undefined);
      answer();
      await routes.startWorker();
      const again = await until('the mail again', () => mails()[1], 60_000);
      expect(again.headers['message-id']).to.equal(mails()[0]?.headers['message-id']);
      expect(again.parts).to.deep.equal(mails()[0]?.parts);
      await routes.finished(route.id, 'failure');
      expect(mails()).to.have.length(2);
    });
  }

  it('give up visibly when the server refuses the mail for good', async () => {
    const address = `nobody@${REFUSED_DOMAIN}`;
    const { route, deliver } = await routes.telling(routes.receiver.endpoint(500), {
      notifyOnFailure: true,
      notifyEmails: address,
    });
    await deliver('failed');
    const workflow = await routes.workflow(route.id, 'failure');
    await until('the workflow', () => workflow.describe().catch(() => undefined));
    const failure: unknown = await workflow.result().catch((error: unknown) => error);
    expect(failure).to.have.nested.property('cause.type', 'MessageGivenUp');
    expect(failure).to.have.nested.property('cause.message').that.contains('550');
    expect(await routes.waiting(route.id, 'failure')).to.include({ count: 0, isSending: false, waits: null });
    const logs = routes.testInstance.logs();
    expect(logs)
      .to.contain('gave up on a message')
      .and.contain('did not accept the email (EENVELOPE, RCPT TO, reply 550)');
    expect(logs).to.not.contain(address).and.not.contain('no such mailbox');
  });

  it('open an issue when they are refused for good, which ends with the next one that is sent', async () => {
    const issues = new Issues(routes.testInstance.client);
    const { route, deliver } = await routes.telling(routes.receiver.endpoint(500), {
      notifyOnFailure: true,
      notifyEmails: `nobody@${REFUSED_DOMAIN}`,
    });
    const eventId = await deliver('failed');
    const issue = await issues.untilOpen({ kind: 'notification_failing', routeId: route.id });
    expect(issue).to.include({ cause: 'MAIL_REFUSED', count: 1, sampleEventId: eventId, destinationId: null });
    await routes.testInstance.client.patch(`/api/routes/${route.id}`, { notifyEmails: 'somebody@ops.example' });
    await deliver('failed');
    await routes.letTimePass(route.id, 'failure');
    await issues.untilResolved(issue.id);
  });

  it('reach those the server takes when it refuses others', async () => {
    const notifyEmails = `nobody@${REFUSED_DOMAIN}, else@ops.example`;
    const { deliver } = await routes.telling(routes.receiver.endpoint(500), { notifyOnFailure: true, notifyEmails });
    await deliver('failed');
    const mail = await firstMail(() => routes.mailsTo('else@ops.example'));
    expect(mail.to).to.deep.equal(['else@ops.example']);
    await until('the log to say how many', () => routes.testInstance.logs().includes('"refused":1'));
  });
});

describe('notifications without a mail server', () => {
  const { testInstance, records, receiver } = useHookyard();

  it('are logged, and trouble no delivery', async () => {
    const { source, route } = await records.pipe(receiver.endpoint(500).url, {
      route: { notifyOnFailure: true, notifyEmails: 'team@ops.example' },
    });
    await records.eventWith('failed', await records.accepted(source, BODY));
    const line = await until('the log line', () =>
      testInstance
        .logs()
        .split('\n')
        .find((text) => text.includes(route.id) && text.includes('SMTP_URL')),
    );
    expect(JSON.parse(line)).to.include({ kind: 'failure', count: 1, routeId: route.id });
    expect(testInstance.logs()).to.not.contain('team@ops.example');
  });
});
