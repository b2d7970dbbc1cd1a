// Notifications: what a route tells by mail, through a real mail server.
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect } from 'chai';
import { type OwnHookyard, sharedHookyard, startHookyard } from '../support/hookyard.ts';
import { type MailServer, type ReceivedMail, REFUSED_DOMAIN, startMailServer } from '../support/mail-server.ts';
import { type Endpoint, type Receiver, startReceiver } from '../support/receiver.ts';
import { onceMore, Records } from '../support/records.ts';
import { until } from '../support/until.ts';

const FROM = 'hookyard@sender.example';
const BODY = '{"secretOrder":42}';
const HOUR_MS = 3_600_000;

type Kind = 'failure' | 'recovery' | 'success';

describe('notifications', () => {
  let yard: OwnHookyard;
  let records: Records;
  let receiver: Receiver;
  let server: MailServer;
  before(async () => {
    [yard, receiver, server] = await Promise.all([startHookyard(), startReceiver(), startMailServer()]);
    records = new Records(yard);
    await startWorker();
  });
  after(async () => {
    await yard.close();
    await Promise.all([receiver.close(), server.close()]);
  });

  const startWorker = () =>
    yard.startWorker({
      SMTP_URL: server.url,
      HOOKYARD_NOTIFY_FROM: FROM,
      HOOKYARD_SHUTDOWN_SECONDS: '2',
      HOOKYARD_PUBLIC_URL: 'https://hooks.example',
      TEMPORAL_UI_URL: 'https://temporal.example',
    });

  let routes = 0;

  /** A route that tells its own address, and how to send events through it. */
  async function telling(endpoint: Endpoint, notify: Record<string, unknown>, retries = 0, delay = 10) {
    routes += 1;
    const address = `team-${routes}@ops.example`;
    const { route, source, destination } = await records.pipe(endpoint.url, {
      destination: { retryPolicy: onceMore(retries, delay) },
      route: { notifyEmails: address, ...notify },
    });
    return {
      route,
      source,
      destination,
      mails: () => server.mails.filter((mail) => mail.to.includes(address)),
      async deliver(status: 'delivered' | 'failed'): Promise<string> {
        const eventId = await records.accepted(source, BODY);
        await records.eventWith(status, eventId);
        return eventId;
      },
    };
  }

  async function firstMail(mails: () => ReceivedMail[]): Promise<ReceivedMail> {
    return until('a mail', () => mails()[0]);
  }

  /** What waits for a route; undefined when nothing was ever noted. */
  async function row(routeId: string, kind: Kind) {
    const { rows } = await yard.pool.query<{
      count: number;
      waits: number | null;
      quiet: number | null;
      mail: unknown;
    }>(
      `select count, mail, round(extract(epoch from due_at - since))::int as waits,
              round(extract(epoch from due_at - sent_at))::int as quiet
       from route_notifications where route_id = $1 and kind = $2`,
      [routeId, kind],
    );
    return rows[0];
  }

  /** The rows of a route in both tables. */
  async function written(routeId: string): Promise<number> {
    const { rows } = await yard.pool.query<{ count: number }>(
      `select (select count(*) from route_notifications where route_id = $1)
            + (select count(*) from failing_destinations where route_id = $1) as count`,
      [routeId],
    );
    return rows[0]?.count ?? -1;
  }

  const finished = (routeId: string, kind: Kind) =>
    until(`the ${kind} mail of ${routeId} to be finished`, async () => (await row(routeId, kind))?.mail === null);

  async function letTimePass(routeId: string, kind: Kind): Promise<void> {
    await yard.pool.query('update route_notifications set due_at = now() where route_id = $1 and kind = $2', [
      routeId,
      kind,
    ]);
  }

  const workflow = (routeId: string, kind: Kind) => yard.temporal.workflow.getHandle(`notify:${routeId}:${kind}`);

  it('tell at once of a delivery that failed, with what is needed to act on it', async () => {
    const bad = receiver.endpoint(503);
    const source = await records.source({ name: 'Shop <orders>' });
    const destination = await records.destination(bad.url, { name: 'Acme & Sons', retryPolicy: onceMore(1) });
    const route = await records.route(source.id, [destination.id], {
      name: 'Orders <b>',
      notifyOnFailure: true,
      notifyEmails: 'first@ops.example, second@ops.example',
    });
    const eventId = await records.accepted(source, BODY);
    const { id } = await records.deliveryWith('failed', eventId);
    const mail = await firstMail(() => server.mails.filter(({ to }) => to.includes('first@ops.example')));
    expect(mail.to).to.deep.equal(['first@ops.example', 'second@ops.example']);
    expect(mail.headers).to.include({
      subject: '[Hookyard] Orders <b>: delivery to Acme & Sons failed',
      from: `Hookyard <${FROM}>`,
      'message-id': `<failure.${id}@sender.example>`,
      'auto-submitted': 'auto-generated',
    });
    const facts = ['Orders <b>', 'Shop <orders>', 'Acme & Sons', eventId, id, '503', 'The destination answered 503'];
    const links = [
      `https://temporal.example/namespaces/${yard.temporal.options.namespace}/workflows/${id}`,
      `https://hooks.example/api/deliveries/${id}`,
    ];
    for (const fact of [...facts, ...links]) expect(mail.parts['text/plain']).to.contain(fact);
    expect(mail.parts['text/plain']).to.match(/Attempts: +2\n/);
    for (const fact of ['Orders &lt;b&gt;', 'Shop &lt;orders&gt;', 'Acme &amp; Sons', eventId, ...links]) {
      expect(mail.parts['text/html']).to.contain(fact);
    }
    expect(mail.parts['text/html']).to.not.contain('<b>');
    expect(mail.raw, 'no payload in a mail').to.not.contain('secretOrder');
    await finished(route.id, 'failure');
    expect(server.mails.filter(({ to }) => to.includes('first@ops.example'))).to.have.length(1);
  });

  it('tell of failures once in five minutes and then of how many there were', async () => {
    const { route, deliver, mails } = await telling(receiver.endpoint(500), { notifyOnFailure: true });
    await deliver('failed');
    await firstMail(mails);
    await finished(route.id, 'failure');
    const others = [await deliver('failed'), await deliver('failed'), await deliver('failed')];
    expect(await row(route.id, 'failure')).to.include({ count: 3, quiet: 300 });
    expect(mails()).to.have.length(1);
    await letTimePass(route.id, 'failure');
    const second = await until('the second mail', () => mails()[1]);
    expect(second.headers.subject).to.equal('[Hookyard] Orders to CRM: 3 deliveries failed');
    expect(second.parts['text/plain']).to.contain('3 deliveries').and.contain(others[2]);
    await finished(route.id, 'failure');
    expect(await row(route.id, 'failure')).to.include({ count: 0, waits: null });
    expect(mails()).to.have.length(2);
  });

  it('tell of the first delivery that succeeds after failed ones, and of no other', async () => {
    const recovering = receiver.endpoint(500, 500, 200);
    const { route, deliver, mails } = await telling(recovering, { notifyOnRecovery: true });
    await deliver('failed');
    await deliver('failed');
    const eventId = await deliver('delivered');
    await deliver('delivered');
    const mail = await firstMail(mails);
    expect(mail.headers.subject).to.equal('[Hookyard] Orders to CRM: delivering again to CRM');
    expect(mail.parts['text/plain']).to.contain('after 2 deliveries that failed').and.contain(eventId);
    await finished(route.id, 'recovery');
    await deliver('delivered');
    expect(await row(route.id, 'recovery')).to.include({ count: 0, waits: null });
    expect(mails()).to.have.length(1);
  });

  it('do not take one healthy destination of a route for the recovery of another', async () => {
    const [bad, good] = [receiver.endpoint(500), receiver.endpoint(200)];
    const source = await records.source();
    const destinations = await Promise.all([records.destination(bad.url), records.destination(good.url)]);
    const route = await records.route(
      source.id,
      destinations.map(({ id }) => id),
      { notifyOnRecovery: true, notifyEmails: 'nobody@ops.example' },
    );
    for (const body of ['1', '2']) await records.eventWith('partial', await records.accepted(source, body));
    expect(await row(route.id, 'recovery')).to.equal(undefined);
  });

  it('tell of successes together, a minute after the first', async () => {
    const { route, deliver, mails } = await telling(receiver.endpoint(200), { notifyOnSuccess: true });
    await deliver('delivered');
    const last = await deliver('delivered');
    const waiting = await row(route.id, 'success');
    expect(waiting).to.include({ count: 2 });
    expect(waiting?.waits).to.be.within(59, 62);
    expect(mails()).to.deep.equal([]);
    await letTimePass(route.id, 'success');
    const mail = await firstMail(mails);
    expect(mail.headers.subject).to.equal('[Hookyard] Orders to CRM: 2 deliveries succeeded');
    expect(mail.parts['text/plain']).to.contain(last);
  });

  it('write nothing for a healthy route, nor for one that wants none or names nobody', async () => {
    const wanted = { notifyOnFailure: true, notifyOnRecovery: true };
    const healthy = await telling(receiver.endpoint(200), wanted);
    await healthy.deliver('delivered');
    const silent = await telling(receiver.endpoint(500), {});
    await silent.deliver('failed');
    const nobody = await telling(receiver.endpoint(500, 200), { ...wanted, notifyOnSuccess: true, notifyEmails: null });
    await nobody.deliver('failed');
    await nobody.deliver('delivered');
    for (const { route } of [healthy, silent, nobody]) expect(await written(route.id)).to.equal(0);
  });

  it('take a failover for no failure, but the failure of the last failover destination for one', async () => {
    const [bad, worse, good] = [receiver.endpoint(500), receiver.endpoint(502), receiver.endpoint(200)];
    const [first, second, third] = await Promise.all([bad, worse, good].map(({ url }) => records.destination(url)));
    const wanted = { notifyOnFailure: true, notifyEmails: 'failover@ops.example' };
    const routeTo = async (failoverDestinationId?: string) => {
      const source = await records.source();
      const failoverDestinationIds = [failoverDestinationId];
      const route = await records.route(source.id, [first?.id ?? ''], { ...wanted, failoverDestinationIds });
      return { source, route };
    };
    const rescued = await routeTo(third?.id);
    await records.eventWith('delivered', await records.accepted(rescued.source, BODY));
    expect(await written(rescued.route.id)).to.equal(0);
    const lost = await routeTo(second?.id);
    await records.eventWith('failed', await records.accepted(lost.source, BODY));
    const mail = await firstMail(() => server.mails.filter(({ to }) => to.includes('failover@ops.example')));
    expect(mail.parts['text/plain']).to.contain('502');
    await finished(lost.route.id, 'failure');
    expect(await row(lost.route.id, 'failure')).to.include({ count: 0 });
  });

  it('tell of a delivery that failed without an attempt', async () => {
    const { source, mails } = await telling(receiver.endpoint(500), { notifyOnFailure: true }, 1, HOUR_MS);
    const eventId = await records.accepted(source, BODY);
    const { id } = await records.deliveryWith('retrying', eventId);
    await yard.pool.query('delete from event_payloads where event_id = $1', [eventId]);
    await yard.client.post(`/api/deliveries/${id}/retry`);
    expect((await firstMail(mails)).parts['text/plain']).to.contain('The payload was removed');
  });

  it('wait for a mail server that is away, while deliveries go on', async () => {
    const bad = await telling(receiver.endpoint(500), { notifyOnFailure: true });
    const good = await telling(receiver.endpoint(200), {});
    await server.close();
    await bad.deliver('failed');
    await until('a second try', async () => {
      const { raw } = await workflow(bad.route.id, 'failure').describe();
      return (raw.pendingActivities?.[0]?.attempt ?? 0) > 1;
    });
    await good.deliver('delivered');
    await bad.deliver('failed');
    server = await startMailServer({ port: server.port, mails: server.mails });
    const mail = await firstMail(bad.mails);
    expect(mail.headers.subject, 'the content is that of the first try').to.contain('delivery to CRM failed');
    await finished(bad.route.id, 'failure');
    expect(await row(bad.route.id, 'failure'), 'the other failure waits for its turn').to.include({
      count: 1,
      quiet: 300,
    });
    expect(bad.mails()).to.have.length(1);
  });

  for (const end of ['kill', 'stop'] as const) {
    it(`come again, recognisably, after a ${end} of the worker that does not know yet that they were taken`, async () => {
      const { route, deliver, mails } = await telling(receiver.endpoint(500), { notifyOnFailure: true });
      const { answer } = server.fallSilent();
      await deliver('failed');
      await firstMail(mails);
      const ended = await yard.workers.at(-1)?.[end]();
      expect(ended, 'a silent server holds up no orderly end').to.equal(end === 'stop' ? 0 : undefined);
      answer();
      await startWorker();
      const again = await until('the mail again', () => mails()[1], 60_000);
      expect(again.headers['message-id']).to.equal(mails()[0]?.headers['message-id']);
      expect(again.parts).to.deep.equal(mails()[0]?.parts);
      await finished(route.id, 'failure');
      expect(mails()).to.have.length(2);
    });
  }

  it('give up visibly when the server refuses the mail for good', async () => {
    const address = `nobody@${REFUSED_DOMAIN}`;
    const { route, deliver } = await telling(receiver.endpoint(500), { notifyOnFailure: true, notifyEmails: address });
    await deliver('failed');
    const failure: unknown = await until('the workflow', () => workflow(route.id, 'failure').describe()).then(() =>
      workflow(route.id, 'failure')
        .result()
        .catch((error: unknown) => error),
    );
    expect(failure).to.have.nested.property('cause.type', 'NotificationDropped');
    expect(failure).to.have.nested.property('cause.message').that.contains('550');
    expect(await row(route.id, 'failure')).to.include({ count: 0, mail: null, waits: null });
    expect(yard.logs()).to.contain('notification dropped').and.not.contain(address);
  });

  it('reach those the server takes when it refuses others', async () => {
    const notifyEmails = `nobody@${REFUSED_DOMAIN}, somebody@ops.example`;
    const { deliver } = await telling(receiver.endpoint(500), { notifyOnFailure: true, notifyEmails });
    await deliver('failed');
    const mail = await firstMail(() => server.mails.filter(({ to }) => to.includes('somebody@ops.example')));
    expect(mail.to).to.deep.equal(['somebody@ops.example']);
  });

  it('forget what waits when the route no longer wants it, and all of it with the route', async () => {
    const { route, deliver, mails } = await telling(receiver.endpoint(200), { notifyOnSuccess: true });
    await deliver('delivered');
    await yard.client.patch(`/api/routes/${route.id}`, { notifyOnSuccess: false });
    await letTimePass(route.id, 'success');
    await until('the row to go', async () => (await written(route.id)) === 0);
    const other = await telling(receiver.endpoint(500), { notifyOnRecovery: true });
    await other.deliver('failed');
    expect(await written(other.route.id)).to.equal(1);
    await yard.client.delete(`/api/routes/${other.route.id}`);
    expect(await written(other.route.id)).to.equal(0);
    expect(mails()).to.deep.equal([]);
  });

  it('keep addresses and credentials out of logs and histories', async () => {
    const { route, deliver, mails } = await telling(receiver.endpoint(500), { notifyOnFailure: true });
    await deliver('failed');
    await firstMail(mails);
    await workflow(route.id, 'failure').result();
    const history = historyToJSON(await workflow(route.id, 'failure').fetchHistory());
    const payloads = [...history.matchAll(/"data": "([^"]+)"/g)].map(([, data]) => Buffer.from(data ?? '', 'base64'));
    const told = `${history}\n${payloads.join('\n')}\n${yard.logs()}`;
    expect(told).to.contain(route.id).and.not.contain('@ops.example').and.not.contain('mail-secret');
  });
});

describe('notifications without a mail server', () => {
  it('are logged, and trouble no delivery', async () => {
    const [yard, receiver] = await Promise.all([sharedHookyard(), startReceiver()]);
    try {
      const records = new Records(yard);
      const { source, route } = await records.pipe(receiver.endpoint(500).url, {
        route: { notifyOnFailure: true, notifyEmails: 'team@ops.example' },
      });
      await records.eventWith('failed', await records.accepted(source, BODY));
      const line = await until('the log line', () =>
        yard
          .logs()
          .split('\n')
          .find((text) => text.includes(route.id) && text.includes('SMTP_URL')),
      );
      expect(JSON.parse(line)).to.include({ kind: 'failure', count: 1, routeId: route.id });
      expect(yard.logs()).to.not.contain('team@ops.example');
    } finally {
      await Promise.all([yard.close(), receiver.close()]);
    }
  });
});
