import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { newId } from '../../core/text/ids.ts';
import { jsonOf, startAlertReceiver } from '../support/messages/alert-receiver.ts';
import { formProblems } from '../support/messages/alert-schemas.ts';
import { type Answer, expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { testPool } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useOrganization, useStarted } from '../support/use-hookyard.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NEXT_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const base = '/api/alert-channels';
const webhook = { name: 'Tool', type: 'webhook', config: { url: 'https://alerts.example/hooks', secret: SECRET } };

const EACH_TYPE: { type: string; config: Json; shown: Json }[] = [
  {
    type: 'mail',
    config: { emails: 'ops@example.com, b@example.com' },
    shown: { emails: 'ops@example.com, b@example.com' },
  },
  { type: 'webhook', config: webhook.config, shown: { url: 'https://alerts.example/hooks', secret: '••••LaSw' } },
  { type: 'slack', config: { url: 'https://hooks.slack.com/services/T0/B0/abcd' }, shown: { url: '••••abcd' } },
  { type: 'teams', config: { url: 'https://prod.example/workflows/x?sig=1234' }, shown: { url: '••••1234' } },
  {
    type: 'pagerduty',
    config: { routingKey: 'R0123456789ABCDEFGHIJKLMNOPQRSTU' },
    shown: { routingKey: '••••RSTU', severity: 'error', region: 'us' },
  },
];

function expectRefused(answer: Answer, message: RegExp): void {
  expectError(answer, 400, 'VALIDATION_ERROR', message);
}

describe('Alert channels', () => {
  const organization = useOrganization();
  const receiver = useStarted(startAlertReceiver);
  const create = (body: Json) => organization.api.create(base, body);
  const post = (body: Json) => organization.api.request('POST', base, body);

  it('have defaults, and what is sent, and are listed newest first', async () => {
    const made = await create(webhook);
    expect(made).to.deep.include({
      name: 'Tool',
      type: 'webhook',
      enabled: true,
      kinds: null,
      sourceIds: null,
      routeIds: null,
      destinationIds: null,
      afterCount: 1,
      onAcknowledged: false,
      onResolved: true,
      throttleMinutes: 15,
      quietHours: null,
      digestMinutes: null,
      withheldEmails: [],
      previousSecretUntil: null,
      failingSince: null,
      lastError: null,
      lastSentAt: null,
    });
    const source = await makeSource(organization);
    const destination = await makeDestination(organization, {});
    const route = await makeRoute(organization, source.id, [destination.id]);
    const rules = {
      kinds: ['delivery_failing', 'circuit_open'],
      sourceIds: [source.id],
      routeIds: [route.id],
      destinationIds: [destination.id],
      afterCount: 3,
      onAcknowledged: true,
      onResolved: false,
      throttleMinutes: 0,
      quietHours: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' },
      digestMinutes: 30,
      enabled: false,
    };
    const full = await create({ ...webhook, ...rules, name: 'Full' });
    expect(full).to.deep.include(rules);
    expect(await organization.api.get(`${base}/${full.id}`)).to.deep.equal(full);
    const { data } = await organization.api.list(`${base}?search=FUL&enabled=false`);
    expect(data).to.deep.equal([full]);
    const patched = await organization.api.patch(`${base}/${full.id}`, { quietHours: null, kinds: null, name: 'Less' });
    expect(patched).to.deep.include({ ...rules, quietHours: null, kinds: null, name: 'Less' });
    await organization.api.delete(`${base}/${full.id}`);
    expectError(await organization.api.request('GET', `${base}/${full.id}`), 404, 'RESOURCE_NOT_FOUND');
  });

  for (const { type, config, shown } of EACH_TYPE) {
    it(`of type ${type} show their config without its secret, which is stored encrypted`, async () => {
      const { id, config: answered } = await create({ name: type, type, config });
      expect(answered).to.deep.equal(shown);
      const { rows } = await testPool().query<{ config: string | null; notify_emails: string | null }>(
        'select config, notify_emails from alert_channels where id = $1',
        [id],
      );
      if (type === 'mail') expect(rows[0]).to.deep.equal({ config: null, notify_emails: config.emails });
      else {
        expect(rows[0]?.config).to.match(/^v1\./);
        // As JSON has them: no quotation mark is in a sealed text, while short values may be there by chance.
        for (const text of Object.entries(config).flat()) expect(rows[0]?.config).to.not.contain(`"${text}"`);
        for (const [name, value] of Object.entries(config))
          if (value !== shown[name]) expect(rows[0]?.config).to.not.contain(String(value));
      }
      // What was shown may be sent back.
      const again = await organization.api.patch<Json>(`${base}/${id}`, { config: answered });
      expect(again.config).to.deep.equal(shown);
    });
  }

  it('refuse what their type does not have', async () => {
    const wrong: [Json, RegExp][] = [
      [{ type: 'webhook', config: { url: 'https://a.example' } }, /config\.secret/],
      [{ type: 'webhook', config: { url: 'https://a.example', secret: 'short' } }, /config\.secret/],
      [{ type: 'webhook', config: { url: 'https://a.example', secret: '••••LaSw' } }, /config\.secret/],
      [{ type: 'slack', config: {} }, /config\.url/],
      [{ type: 'mail', config: { emails: 'nobody' } }, /config\.emails/],
      [{ type: 'mail', config: { emails: ' ' } }, /config\.emails/],
      [{ type: 'pagerduty', config: { routingKey: 'short' } }, /config\.routingKey/],
      [{ type: 'pagerduty', config: EACH_TYPE[4]?.config, digestMinutes: 5 }, /digestMinutes/],
    ];
    for (const [body, message] of wrong) expectRefused(await post({ name: 'X', ...body }), message);
    for (const url of ['ftp://a.example', 'https://u:p@a.example'])
      expectError(await post({ ...webhook, config: { url, secret: SECRET } }), 400, 'INVALID_URL');
    const rules: Json[] = [
      { kinds: ['weather'] },
      { routeIds: [newId('rte')] },
      { sourceIds: ['x'] },
      { destinationIds: [newId('dst')] },
      { quietHours: { from: '24:00', to: '07:00', timeZone: 'UTC' } },
      { quietHours: { from: '07:00', to: '07:00', timeZone: 'UTC' } },
      { quietHours: { from: '22:00', to: '07:00', timeZone: 'Mars/Olympus' } },
      { quietHours: { from: '22:00', to: '07:00', timeZone: 'CEST' } },
    ];
    for (const rule of rules)
      expectRefused(await post({ ...webhook, ...rule }), new RegExp(`^${Object.keys(rule)[0]}`));
    const { id } = await create(webhook);
    const patch = (of: string, body: Json) => organization.api.request('PATCH', `${base}/${of}`, body);
    expectInvalid(await patch(id, { type: 'slack' }), 'type');
    const mail = await create({ name: 'M', type: 'mail', config: { emails: 'ops@example.com' } });
    for (const emails of [{ toString: 1, valueOf: 1 }, ['ops@example.com'], 5, null, 'nobody'])
      expectRefused(await patch(mail.id, { config: { emails } }), /config\.emails/);
    expectError(await patch(newId('alc'), { name: 'X' }), 404, 'RESOURCE_NOT_FOUND');
  });

  it('keep a secret that is left out, and end a rotation when another one is set', async () => {
    const { id } = await create(webhook);
    const path = `${base}/${id}`;
    const rotated = await organization.api.post(`${path}/rotate-secret`, { secret: NEXT_SECRET, overlapSeconds: 3600 });
    expect(rotated.previousSecretUntil).to.be.a('string');
    const kept = await organization.api.patch<Json>(path, { config: { url: 'https://b.example' } });
    expect(kept.config).to.deep.equal({ url: 'https://b.example', secret: `••••${NEXT_SECRET.slice(-4)}` });
    expect(kept.previousSecretUntil).to.be.a('string');
    const set = await organization.api.patch<Json>(path, { config: { url: 'https://b.example', secret: SECRET } });
    expect(set).to.deep.include({ previousSecretUntil: null });
    const slack = await create({ name: 'S', type: 'slack', config: { url: 'https://hooks.slack.com/services/x' } });
    const refused = await organization.api.request('POST', `${base}/${slack.id}/rotate-secret`, {
      secret: NEXT_SECRET,
    });
    expectInvalid(refused, 'secret');
  });

  it('rotate to a whole new secret only', async () => {
    const { id } = await create(webhook);
    for (const secret of ['••••LaSw', 'short', 'whsec_c2hvcnQ=']) {
      const answer = await organization.api.request('POST', `${base}/${id}/rotate-secret`, { secret });
      expectInvalid(answer, 'secret');
    }
    const kept = await organization.api.get<Json>(`${base}/${id}`);
    expect(kept).to.deep.include({ previousSecretUntil: null, config: { ...webhook.config, secret: '••••LaSw' } });
  });

  it('send a test message at once, and say what the receiver said', async () => {
    const { id } = await create({ ...webhook, config: { url: `${receiver.url}/own`, secret: SECRET }, enabled: false });
    const result = await organization.api.post(`${base}/${id}/test`);
    expect(result).to.include({ success: true, statusCode: 202, responseBody: 'taken' });
    const [received] = receiver.at('/own');
    const event = new Webhook(SECRET).verify(
      received?.body.toString() ?? '',
      received?.headers as Record<string, string>,
    );
    expect(event).to.include({ type: 'test' });
    expect(formProblems('webhook', event)).to.deep.equal([]);
    for (const type of ['slack', 'teams'] as const) {
      const other = await create({ name: type, type, config: { url: `${receiver.url}/${type}` } });
      expect(await organization.api.post(`${base}/${other.id}/test`)).to.include({ success: true });
      expect(receiver.at(`/${type}`).flatMap((each) => formProblems(type, jsonOf(each)))).to.deep.equal([]);
    }
    receiver.answer('/own', 403);
    const failed = await organization.api.post(`${base}/${id}/test`);
    expect(failed).to.include({ success: false, statusCode: 403, responseBody: 'taken' });
    const guarded = await create({ name: 'G', type: 'slack', config: { url: 'http://10.0.0.1/hooks' } });
    const refused = await organization.api.post<Json>(`${base}/${guarded.id}/test`);
    expect(refused).to.include({ success: false, statusCode: null });
    expect(refused.error).to.contain('10.0.0.1');
    const mail = await create({ name: 'M', type: 'mail', config: { emails: 'ops@example.com' } });
    expect(await organization.api.post<Json>(`${base}/${mail.id}/test`)).to.include({ success: false });
    const { data } = await organization.api.list<Json>('/api/audit?action=testAlertChannel');
    expect(data).to.have.length(6);
  });

  it('of mail have their addresses asked, like those of routes', async () => {
    // The API looks every few seconds whether there are several organizations.
    const made = await until('a channel whose address is asked', async () => {
      const one = await create({ name: 'M', type: 'mail', config: { emails: 'First@asked.example' } });
      if (JSON.stringify(one.withheldEmails) !== '[]') return one;
      await organization.api.delete(`${base}/${one.id}`);
      return undefined;
    });
    expect(made).to.deep.include({ withheldEmails: ['First@asked.example'], failingSince: null });
    expect(made.lastError).to.be.a('string');
    const { data } = await organization.api.list<Json>('/api/notification-recipients');
    expect(data.map(({ address }) => address)).to.include('first@asked.example');
    await testPool().query('update notification_recipients set confirmed_at = now() where organization_id = $1', [
      organization.id,
    ]);
    expect(await organization.api.get(`${base}/${made.id}`)).to.deep.include({ withheldEmails: [], lastError: null });
  });
});
