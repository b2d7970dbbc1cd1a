import { expect } from 'chai';
import { BODY, firstMail, FROM, useNotifiedRoutes } from '../support/messages/notified-routes.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { removePayload } from '../support/rows.ts';

const HOUR_MS = 3_600_000;

describe('notifications', () => {
  const routes = useNotifiedRoutes();

  it('tell at once of a delivery that failed, with what is needed to act on it', async () => {
    const bad = routes.receiver.endpoint(503);
    const source = await routes.records.source({ name: 'Shop <orders>' });
    const destination = await routes.records.destination(bad.url, { name: 'Acme & Sons', retryPolicy: onceMore(1) });
    const route = await routes.records.route(source.id, [destination.id], {
      name: 'Orders <b>',
      notifyOnFailure: true,
      notifyEmails: 'first@ops.example, second@ops.example',
    });
    const eventId = await routes.records.accepted(source, BODY);
    const { id } = await routes.records.deliveryWith('failed', eventId);
    const mail = await firstMail(() => routes.mailsTo('first@ops.example'));
    expect(mail.to).to.deep.equal(['first@ops.example', 'second@ops.example']);
    expect(mail.headers).to.include({
      subject: '[Hookyard] Orders <b>: delivery to Acme & Sons failed',
      from: `Hookyard <${FROM}>`,
      'message-id': `<failure.${id}@sender.example>`,
      'auto-submitted': 'auto-generated',
    });
    const facts = ['Orders <b>', 'Shop <orders>', 'Acme & Sons', eventId, id, '503', 'The destination returned 503'];
    const links = [
      `https://temporal.example/namespaces/${routes.testInstance.temporal.options.namespace}/workflows/${id}`,
      `https://hooks.example/console/deliveries/${id}`,
    ];
    for (const fact of [...facts, ...links]) expect(mail.parts['text/plain']).to.contain(fact);
    expect(mail.parts['text/plain']).to.match(/Attempts: +2\n/);
    for (const fact of ['Orders &lt;b&gt;', 'Shop &lt;orders&gt;', 'Acme &amp; Sons', eventId, ...links]) {
      expect(mail.parts['text/html']).to.contain(fact);
    }
    expect(mail.parts['text/html']).to.not.contain('<b>');
    expect(mail.raw, 'no payload in a mail').to.not.contain('secretOrder');
    await routes.finished(route.id, 'failure');
    expect(routes.mailsTo('first@ops.example')).to.have.length(1);
  });

  it('tell of failures once in five minutes and then of how many there were', async () => {
    const { route, deliver, mails } = await routes.telling(routes.receiver.endpoint(500), { notifyOnFailure: true });
    await deliver('failed');
    await firstMail(mails);
    await routes.finished(route.id, 'failure');
    const others = [await deliver('failed'), await deliver('failed'), await deliver('failed')];
    await until('the next mail to be put off', async () => (await routes.waiting(route.id, 'failure'))?.quiet === 300);
    expect(await routes.waiting(route.id, 'failure')).to.include({ count: 3 });
    expect(mails()).to.have.length(1);
    await routes.letTimePass(route.id, 'failure');
    const second = await until('the second mail', () => mails()[1]);
    expect(second.headers.subject).to.equal('[Hookyard] Orders to CRM: 3 deliveries failed');
    expect(second.parts['text/plain']).to.contain('3 deliveries').and.contain(others[2]);
    await routes.finished(route.id, 'failure');
    expect(await routes.waiting(route.id, 'failure')).to.include({ count: 0, waits: null });
    expect(mails()).to.have.length(2);
  });

  it('tell of the first delivery that succeeds after failed ones, and of no other', async () => {
    const recovering = routes.receiver.endpoint(500, 500, 200);
    const { route, deliver, mails } = await routes.telling(recovering, { notifyOnRecovery: true });
    await deliver('failed');
    await deliver('failed');
    const eventId = await deliver('delivered');
    await deliver('delivered');
    const mail = await firstMail(mails);
    expect(mail.headers.subject).to.equal('[Hookyard] Orders to CRM: delivering again to CRM');
    expect(mail.parts['text/plain']).to.contain('after 2 failed deliveries').and.contain(eventId);
    await routes.finished(route.id, 'recovery');
    await deliver('delivered');
    expect(await routes.waiting(route.id, 'recovery')).to.include({ count: 0, waits: null });
    expect(mails()).to.have.length(1);
  });

  it('tell of successes together, a minute after the first', async () => {
    const { route, deliver, mails } = await routes.telling(routes.receiver.endpoint(200), { notifyOnSuccess: true });
    await deliver('delivered');
    const last = await deliver('delivered');
    await until('the mail to be put off', async () => (await routes.waiting(route.id, 'success'))?.waits === 60);
    expect(await routes.waiting(route.id, 'success')).to.include({ count: 2 });
    expect(mails()).to.deep.equal([]);
    await routes.letTimePass(route.id, 'success');
    const mail = await firstMail(mails);
    expect(mail.headers.subject).to.equal('[Hookyard] Orders to CRM: 2 deliveries succeeded');
    expect(mail.parts['text/plain']).to.contain(last);
  });

  it('write nothing for a healthy route, nor for one that wants none or names nobody', async () => {
    const wanted = { notifyOnFailure: true, notifyOnRecovery: true };
    const healthy = await routes.telling(routes.receiver.endpoint(200), wanted);
    await healthy.deliver('delivered');
    const silent = await routes.telling(routes.receiver.endpoint(500), {});
    await silent.deliver('failed');
    const nobody = await routes.telling(routes.receiver.endpoint(500, 200), {
      ...wanted,
      notifyOnSuccess: true,
      notifyEmails: null,
    });
    await nobody.deliver('failed');
    await nobody.deliver('delivered');
    for (const { route } of [healthy, silent, nobody]) expect(await routes.written(route.id)).to.equal(0);
  });

  it('take a failover for no failure, but the failure of the last failover destination for one', async () => {
    const [bad, worse, good] = [
      routes.receiver.endpoint(500),
      routes.receiver.endpoint(502),
      routes.receiver.endpoint(200),
    ];
    const [first, second, third] = await Promise.all(
      [bad, worse, good].map(({ url }) => routes.records.destination(url)),
    );
    const wanted = { notifyOnFailure: true, notifyEmails: 'failover@ops.example' };
    const routeTo = async (failoverDestinationId?: string) => {
      const source = await routes.records.source();
      const failoverDestinationIds = [failoverDestinationId];
      const route = await routes.records.route(source.id, [first?.id ?? ''], { ...wanted, failoverDestinationIds });
      return { source, route };
    };
    const rescued = await routeTo(third?.id);
    await routes.records.eventWith('delivered', await routes.records.accepted(rescued.source, BODY));
    expect(await routes.written(rescued.route.id)).to.equal(0);
    const lost = await routeTo(second?.id);
    await routes.records.eventWith('failed', await routes.records.accepted(lost.source, BODY));
    const mail = await firstMail(() => routes.mailsTo('failover@ops.example'));
    expect(mail.parts['text/plain']).to.contain('502');
    await routes.finished(lost.route.id, 'failure');
    expect(await routes.waiting(lost.route.id, 'failure')).to.include({ count: 0 });
  });

  it('tell of a delivery that failed without an attempt', async () => {
    const { source, mails } = await routes.telling(
      routes.receiver.endpoint(500),
      { notifyOnFailure: true },
      1,
      HOUR_MS,
    );
    const eventId = await routes.records.accepted(source, BODY);
    const { id } = await routes.records.deliveryWith('retrying', eventId);
    await removePayload(routes.testInstance.pool, eventId);
    await routes.testInstance.client.post(`/api/deliveries/${id}/retry`);
    expect((await firstMail(mails)).parts['text/plain']).to.contain('The payload was removed');
  });

  it('forget what waits when the route no longer wants it, and all of it with the route', async () => {
    const { route, deliver, mails } = await routes.telling(routes.receiver.endpoint(200), { notifyOnSuccess: true });
    await deliver('delivered');
    await routes.testInstance.client.patch(`/api/routes/${route.id}`, { notifyOnSuccess: false });
    await routes.letTimePass(route.id, 'success');
    await until('the row to go', async () => (await routes.written(route.id)) === 0);
    const other = await routes.telling(routes.receiver.endpoint(500), { notifyOnRecovery: true });
    await other.deliver('failed');
    expect(await routes.written(other.route.id)).to.equal(1);
    await routes.testInstance.client.delete(`/api/routes/${other.route.id}`);
    expect(await routes.written(other.route.id)).to.equal(0);
    expect(mails()).to.deep.equal([]);
  });
});
