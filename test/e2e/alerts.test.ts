import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { CHANNEL_TYPES } from '../../core/messages/channel.ts';
import { freePorts } from '../../local/ports.ts';
import { jsonOf, type ReceivedAlert, startAlertReceiver } from '../support/messages/alert-receiver.ts';
import { alertRows } from '../support/messages/alert-rows.ts';
import { formProblems } from '../support/messages/alert-schemas.ts';
import { breaker, switchedEndpoint } from '../support/workflows/circuits.ts';
import { makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { startMailServer } from '../support/messages/mail-server.ts';
import { scrape } from '../support/telemetry/scrape.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useHookyard, useStarted } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NEXT_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const ROUTING_KEY = 'R0123456789ABCDEFGHIJKLMNOPQRSTU';

interface ChannelView {
  id: string;
  failingSince: string | null;
  lastError: string | null;
  lastSentAt: string | null;
}
interface WebhookEvent {
  type: string;
  data: {
    change?: string;
    issue?: { id: string; cause: string };
    changes?: { type: string; issue: { id: string } }[];
    failingChannel?: { id: string; lastError: string };
  };
}

describe('Alerts', () => {
  const receiver = useStarted(startAlertReceiver);
  const mail = useStarted(() => startMailServer());
  const {
    testInstance,
    records,
    receiver: destinations,
  } = useHookyard({
    settings: () => ({
      ...{ HOOKYARD_PAGERDUTY_URL: receiver.url, SMTP_URL: mail.url, HOOKYARD_SHUTDOWN_SECONDS: '2' },
      ...{ HOOKYARD_NOTIFY_FROM: 'hookyard@sender.example', HOOKYARD_NOTIFY_RECIPIENTS: 'ops.example' },
      tuning: { issueRecoverySeconds: 1 },
    }),
  });
  let metricsPort: number;
  let paths = 0;
  before(async () => {
    [metricsPort = 0] = await freePorts(1);
    await testInstance.startWorker({
      HOOKYARD_PUBLIC_URL: 'https://hooks.example',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(metricsPort),
    });
  });

  /** Another organization, so that tests do not tell each other's channels. */
  const owner = () => createOrganization({ service: testInstance.api, pool: testInstance.pool });
  const freePath = () => {
    paths += 1;
    return `/tool-${paths}`;
  };
  const channel = (of: Pick<TestOrganization, 'api'>, type: string, config: object, rules: object = {}) =>
    of.api.create<ChannelView>('/api/alert-channels', {
      name: `Our ${type}`,
      type,
      config,
      throttleMinutes: 0,
      ...rules,
    });
  /** A channel of type webhook, and what it receives. */
  async function webhook(of: Pick<TestOrganization, 'id' | 'api'>, rules: object = {}) {
    const path = freePath();
    const { id } = await channel(of, 'webhook', { url: receiver.url + path, secret: SECRET }, rules);
    return {
      id,
      path,
      received: () => receiver.at(path),
      state: () => of.api.get<ChannelView>(`/api/alert-channels/${id}`),
    };
  }

  const rows = alertRows(() => testInstance.pool);
  const ways = new Map<string, Promise<{ routeId: string; destinationId: string }>>();
  /** A route of an organization, and its destination. */
  function wayOf(of: TestOrganization) {
    const make = async () => {
      const source = await makeSource(of);
      const { id: destinationId } = await makeDestination(of, { name: 'CRM' });
      const { id: routeId } = await makeRoute(of, source.id, [destinationId], { name: 'Orders' });
      return { routeId, destinationId };
    };
    const way = ways.get(of.id) ?? make();
    ways.set(of.id, way);
    return way;
  }
  /**
   * An issue of an existing route, as processes write it (db/issues/record-issues.ts); nothing fails there, and nothing
   * works.
   */
  async function issue(of: TestOrganization, kind = 'delivery_failing'): Promise<string> {
    const { routeId: route_id, destinationId: destination_id } = await wayOf(of);
    return rows.issue(of.id, { kind, route_id, destination_id });
  }
  const messages = (received: () => ReceivedAlert[], count: number) =>
    until(`${count} messages`, () => received().length >= count && received());
  /** Waits until nothing is on its way any more, so that what has not come by then does not come. */
  const settled = ({ id }: TestOrganization) =>
    until('no message on its way', async () => {
      const { rows } = await testInstance.pool.query('select id from messages where organization_id = $1', [id]);
      return rows.length === 0;
    });
  function verified(received: ReceivedAlert | undefined, secret = SECRET): WebhookEvent {
    if (!received) throw new Error('nothing was received');
    expect(formProblems('webhook', jsonOf(received))).to.deep.equal([]);
    return new Webhook(secret).verify(
      received.body.toString(),
      received.headers as Record<string, string>,
    ) as WebhookEvent;
  }

  it('reach a channel of every type in the form of its vendor, once when an issue opens and once when it is resolved', async () => {
    const of = await owner();
    const all = { onAcknowledged: true };
    const own = await webhook(of, all);
    const [slack, teams] = [freePath(), freePath()];
    await channel(of, 'slack', { url: receiver.url + slack }, all);
    await channel(of, 'teams', { url: receiver.url + teams }, all);
    await channel(of, 'pagerduty', { routingKey: ROUTING_KEY, severity: 'critical' }, all);
    const { id: mailId } = await channel(of, 'mail', { emails: 'Team@ops.example' }, all);
    const id = await issue(of);
    const toPagerDuty = () => receiver.at('/v2/enqueue').filter((each) => jsonOf(each).dedup_key === id);
    const mails = () => mail.mails.filter(({ parts }) => parts['text/plain']?.includes(id));
    const everywhere = async (count: number) => {
      for (const received of [own.received, () => receiver.at(slack), () => receiver.at(teams)])
        await messages(received, count);
      await messages(toPagerDuty, count);
      await until(`${count} mails`, () => mails().length >= count);
      await settled(of);
    };
    await everywhere(1);
    await rows.setState(id, 'acknowledged');
    await everywhere(2);
    await rows.setState(id, 'resolved');
    await everywhere(3);

    const types = ['delivery.failing', 'issue.acknowledged', 'destination.recovered'];
    expect(own.received().map((each) => verified(each).type)).to.deep.equal(types);
    expect(new Set(own.received().map(({ headers }) => headers['webhook-id'])).size).to.equal(3);
    for (const each of receiver.at(slack)) expect(formProblems('slack', jsonOf(each))).to.deep.equal([]);
    for (const each of receiver.at(teams)) expect(formProblems('teams', jsonOf(each))).to.deep.equal([]);
    expect([receiver.at(slack).length, receiver.at(teams).length]).to.deep.equal([3, 3]);
    for (const each of toPagerDuty()) expect(formProblems('pagerduty', jsonOf(each))).to.deep.equal([]);
    expect(toPagerDuty().map((each) => jsonOf(each).event_action)).to.deep.equal(['trigger', 'acknowledge', 'resolve']);
    expect(jsonOf(toPagerDuty()[0] as ReceivedAlert)).to.deep.include({ routing_key: ROUTING_KEY });
    expect(mails().map(({ headers }) => headers.subject)).to.deep.equal([
      '[Hookyard] Deliveries failing: Orders to CRM',
      '[Hookyard] Acknowledged: Deliveries failing: Orders to CRM',
      '[Hookyard] Resolved: Deliveries failing: Orders to CRM',
    ]);
    expect(mails()[0]?.to).to.deep.equal(['Team@ops.example']);
    expect(mails()[0]?.parts['text/plain']).to.contain(`https://hooks.example/console/issues/${id}`);
    expect(new Set(mails().map(({ headers }) => headers['message-id'])).size).to.equal(3);
    expect(await of.api.get(`/api/alert-channels/${mailId}`)).to.include({ failingSince: null });
    await until('every message to be counted by its type', async () => {
      const { value } = await scrape(metricsPort);
      const sent = CHANNEL_TYPES.map((type) =>
        value('hookyard_notifications_total', { channel: type, result: 'sent' }),
      );
      expect(sent).to.deep.equal(CHANNEL_TYPES.map(() => 3));
      return true;
    });
  });

  it('tell of deliveries that fail and of the circuit that opens, and that the destination has recovered', async () => {
    const { endpoint, answer } = switchedEndpoint(destinations, 500);
    const { source, route, destination } = await records.pipe(endpoint.url, {
      destination: { name: 'CRM <!channel>' },
      route: breaker({ name: 'Orders', circuitFailureThreshold: 1, circuitProbeSuccessThreshold: 1 }),
    });
    const own = await webhook({ id: testInstance.organizationId, api: testInstance.client }, { routeIds: [route.id] });
    await records.deliveryWith('failed', await records.accepted(source, '{"secretOrder":42}'));
    const typeOf = (each: ReceivedAlert) => verified(each).type;
    const opened = await messages(own.received, 2);
    expect(opened.map(typeOf)).to.have.members(['delivery.exhausted', 'circuit.opened']);
    const failing = verified(opened.find((each) => typeOf(each) === 'delivery.exhausted'));
    const { data } = await testInstance.client.list<{ id: string }>(
      `/api/issues?routeId=${route.id}&kind=delivery_failing`,
    );
    expect(failing.data.issue).to.deep.include({
      id: data[0]?.id,
      cause: 'HTTP_500',
      route: { id: route.id, name: 'Orders' },
      destination: { id: destination.id, name: 'CRM <!channel>' },
    });
    answer({ status: 200 });
    await testInstance.client.post(`/api/routes/${route.id}/reset-circuit`);
    await records.deliveryWith('delivered', await records.accepted(source, '{}'));
    const all = await messages(own.received, 4);
    expect(all.slice(2).map(typeOf)).to.have.members(['destination.recovered', 'circuit.closed']);
    for (const { body } of all) expect(body.toString(), 'no payload in an alert').to.not.contain('secretOrder');
  });

  it('are signed with both secrets while one takes the place of the other', async () => {
    const of = await owner();
    const own = await webhook(of);
    const rotated = await of.api.post(`/api/alert-channels/${own.id}/rotate-secret`, { secret: NEXT_SECRET });
    expect(rotated.previousSecretUntil).to.be.a('string');
    await issue(of);
    const [received] = await messages(own.received, 1);
    for (const secret of [SECRET, NEXT_SECRET]) expect(verified(received, secret).type).to.equal('delivery.failing');
    await of.api.post(`/api/alert-channels/${own.id}/rotate-secret`, { secret: NEXT_SECRET, overlapSeconds: 0 });
    await issue(of);
    const [, second] = await messages(own.received, 2);
    verified(second, NEXT_SECRET);
    expect(() => verified(second, SECRET)).to.throw();
  });

  it('are tried again while the channel fails, as the same message, and when it says', async () => {
    const of = await owner();
    const own = await webhook(of);
    receiver.answer(own.path, 500, { status: 429, headers: { 'Retry-After': '1' } }, 200);
    const id = await issue(of);
    const tries = await messages(own.received, 3);
    await settled(of);
    expect(own.received()).to.have.length(3);
    expect(new Set(tries.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    expect(tries.map((each) => verified(each).data.issue?.id)).to.deep.equal([id, id, id]);
    expect(await own.state()).to.include({ failingSince: null, lastError: null });
    expect((await own.state()).lastSentAt).to.be.a('string');
  });

  it('never reach an address that the guard refuses', async () => {
    const of = await owner();
    const config = { url: 'http://169.254.169.254/latest/meta-data', secret: SECRET };
    const { id } = await channel(of, 'webhook', config);
    await issue(of);
    const state = () => of.api.get<ChannelView>(`/api/alert-channels/${id}`);
    const failing = await until('the channel to fail', async () => {
      const now = await state();
      return now.failingSince !== null && now;
    });
    expect(failing.lastError).to.contain('169.254.169.254');
    expect(await of.api.post(`/api/alert-channels/${id}/test`)).to.include({ success: false, statusCode: null });
  });

  it('go to no address that the operator does not accept', async () => {
    const of = await owner();
    const { id } = await channel(of, 'mail', { emails: 'team@ops.example' });
    const own = await webhook(of, { kinds: ['circuit_open'] });
    // As it is when the operator changes the rule.
    await execute(testInstance.pool)`update alert_channels set notify_emails = 'victim@strangers.example'
      where id = ${id}`;
    expect(await of.api.get(`/api/alert-channels/${id}`)).to.deep.include({
      withheldEmails: ['victim@strangers.example'],
    });
    await issue(of);
    const [told] = await messages(own.received, 1);
    expect(verified(told).data.failingChannel).to.include({
      id,
      lastError: 'None of the addresses is allowed to receive emails',
    });
    expect(mail.mails.filter(({ to }) => to.includes('victim@strangers.example'))).to.deep.equal([]);
  });

  it('of a test are closed again where they make incidents, and go by the rules of mail', async () => {
    const of = await owner();
    const testOf = async (type: string, config: object) => {
      const { id } = await channel(of, type, config);
      return { id, result: await of.api.post(`/api/alert-channels/${id}/test`) };
    };
    const pagerduty = await testOf('pagerduty', { routingKey: ROUTING_KEY });
    expect(pagerduty.result).to.include({ success: true, statusCode: 202, responseBody: 'taken' });
    const events = receiver.at('/v2/enqueue').filter((each) => jsonOf(each).dedup_key === `test-${pagerduty.id}`);
    expect(events.map((each) => jsonOf(each).event_action)).to.deep.equal(['trigger', 'resolve']);
    expect((await testOf('mail', { emails: 'tested@ops.example' })).result).to.include({
      success: true,
      statusCode: null,
    });
    const mails = mail.mails.filter(({ to }) => to.includes('tested@ops.example'));
    expect(mails.map(({ headers }) => headers.subject)).to.deep.equal([
      '[Hookyard] This is a test message for an alert channel',
    ]);
  });
});
