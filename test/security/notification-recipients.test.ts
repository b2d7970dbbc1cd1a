// A tenant writes addresses of strangers into its routes, and links into the names that mails show.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { sealConfirmation, SecretBox } from '../../db/encryption/secret-box.ts';
import { type ApiClient, createClient, expectError, expectInvalid } from '../support/api-client.ts';
import type { Hookyard, OwnHookyard } from '../support/hookyard.ts';
import { linkIn, type ReceivedMail, startMailServer } from '../support/messages/mail-server.ts';
import { Records } from '../support/records.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useHookyard, useMade, useStarted } from '../support/use-hookyard.ts';

const key = randomBytes(32);
const box = new SecretBox([{ id: 'k1', key }]);
const BAIT = 'Confirm your account at https://evil.example/login';
const WITHHELD = /message withheld/g;

interface RouteAnswer {
  id: string;
  withheldEmails: string[];
}

describe('Recipients of notifications, with several organizations', () => {
  const settings = { HOOKYARD_ENCRYPTION_KEYS: `k1:${key.toString('base64')}` };
  const { testInstance, receiver } = useHookyard({ settings });
  const server = useStarted(startMailServer);
  const organization = () => createOrganization({ service: testInstance.api, pool: testInstance.pool });
  const attacker = useMade('an attacker', organization);
  let workerSettings: Record<string, string>;
  before(async () => {
    workerSettings = {
      SMTP_URL: server.url,
      HOOKYARD_NOTIFY_FROM: 'hookyard@sender.example',
      HOOKYARD_PUBLIC_URL: testInstance.api.url,
    };
    await testInstance.startWorker(workerSettings);
  });
  const recordsOf = (owner: TestOrganization) => new Records(asHookyard(testInstance, owner));
  const mailsTo = (address: string): ReceivedMail[] => server.mails.filter(({ to }) => to.includes(address));
  const questionTo = (address: string) => until(`a question to ${address}`, () => mailsTo(address)[0]);
  const routeOf = (client: ApiClient, id: string) => client.get<RouteAnswer>(`/api/routes/${id}`);

  /** A route that fails and tells an address of it. */
  async function failing(owner: TestOrganization, notifyEmails: string, name = 'Orders') {
    const records = recordsOf(owner);
    const { source, route } = await records.pipe(receiver.endpoint(500).url, {
      route: { name, notifyEmails, notifyOnFailure: true },
    });
    const fail = async () => records.eventWith('failed', await records.accepted(source, '{}'));
    return { route, fail };
  }

  it('get one question without a word of the tenant, and no notification', async () => {
    const victim = 'victim@strangers.example';
    const routes = [await failing(attacker, victim, BAIT), await failing(attacker, `Victim@Strangers.example`, BAIT)];
    const before = (testInstance.logs().match(WITHHELD) ?? []).length;
    for (const { fail } of routes) await fail();
    const withheld = () => (testInstance.logs().match(WITHHELD) ?? []).length;
    await until('both notifications to be withheld', () => withheld() >= before + 2);
    const question = await questionTo(victim);
    expect(question.headers.subject).to.equal(`[Hookyard] Do you want to receive notifications from ${attacker.slug}?`);
    for (const part of Object.values(question.parts)) {
      expect(part).to.contain(attacker.slug).and.not.contain('evil').and.not.contain('account');
    }
    for (const { route } of routes) {
      expect((await routeOf(attacker.api, route.id)).withheldEmails.map((each) => each.toLowerCase())).to.deep.equal([
        victim,
      ]);
    }
    expect(mailsTo(victim)).to.have.length(1);
    const { data } = await attacker.api.list('/api/notification-recipients');
    expect(data.find(({ address }) => address === victim)).to.include({ confirmedAt: null });
  });

  it('agree by a button, not by a scanner that follows the link, and for one organization only', async () => {
    const address = 'team@friends.example';
    const { route, fail } = await failing(attacker, address, BAIT);
    const link = linkIn(await questionTo(address));
    for (let looks = 0; looks < 3; looks++) {
      const page = await fetch(link);
      expect(page.status).to.equal(200);
      expect(page.headers.get('content-security-policy')).to.contain("default-src 'none'");
      expect(await page.text())
        .to.contain('<form method="post">')
        .and.contain(address);
    }
    expect((await routeOf(attacker.api, route.id)).withheldEmails).to.deep.equal([address]);
    for (let presses = 0; presses < 2; presses++) {
      const agreed = await fetch(link, { method: 'POST' });
      expect(agreed.status).to.equal(200);
    }
    expect((await routeOf(attacker.api, route.id)).withheldEmails).to.deep.equal([]);

    await fail();
    const mail = await until('the notification', () => mailsTo(address)[1]);
    expect(mail.headers.subject)
      .to.contain('https[:]//evil[.]example/login')
      .and.not.match(/evil\.|:\/\//);

    const other = await organization();
    const theirs = await failing(other, address);
    expect((await routeOf(other.api, theirs.route.id)).withheldEmails).to.deep.equal([address]);
    await until('a question of the other organization', () =>
      mailsTo(address).some(({ headers }) => headers.subject?.includes(other.slug)),
    );
  });

  it('stop the mails by a link of their own in each, whatever routes say later', async () => {
    const [one, two] = ['one@stopping.example', 'two@stopping.example'] as const;
    const { route, fail } = await failing(attacker, `${one},${two}`);
    for (const address of [one, two]) await fetch(linkIn(await questionTo(address)), { method: 'POST' });
    await fail();
    const mail = await until('the notification', () => mailsTo(one)[1]);
    await until('that of the other', () => mailsTo(two)[1]);
    expect(mail.to).to.deep.equal([one]);
    const link = (mail.headers['list-unsubscribe'] ?? '').slice(1, -1);
    expect(mail.headers['list-unsubscribe-post']).to.equal('List-Unsubscribe=One-Click');
    expect(mail.parts['text/plain']).to.contain(`Stop these emails: ${link}`);
    expect(mail.parts['text/html']).to.contain(`<a href="${link}">`);

    const page = await fetch(link);
    expect([page.status, await page.text()].join(' ')).to.match(/^200 [\s\S]*<form method="post">/);
    const confirming = link.replace('/stop/', '/confirm/');
    for (const wrong of [
      `${link.slice(0, -3)}AAA`,
      confirming,
      linkIn(mailsTo(one)[0] as ReceivedMail).replace('/confirm/', '/stop/'),
    ]) {
      expect((await fetch(wrong, { method: 'POST' })).status, wrong).to.equal(404);
    }
    expect((await routeOf(attacker.api, route.id)).withheldEmails).to.deep.equal([]);
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
    const stopped = await fetch(link, { method: 'POST', body });
    expect(stopped.status).to.equal(200);

    await attacker.api.delete(`/api/routes/${route.id}`);
    const again = await failing(attacker, `${one},${two}`);
    expect((await routeOf(attacker.api, again.route.id)).withheldEmails).to.deep.equal([one]);
    await again.fail();
    await until('the notification of the other', () => mailsTo(two)[2]);
    expect(mailsTo(one)).to.have.length(2);
    const { data } = await attacker.api.list('/api/notification-recipients?pageSize=100');
    expect(data.find(({ address }) => address === one)).to.include({ confirmedAt: null, refused: true });
    expect(data.find(({ address }) => address === two)).to.include({ refused: false });
    const asked = await attacker.api.request('POST', '/api/notification-recipients/resend', { address: one });
    expectError(asked, 409, 'INVALID_STATE');

    const [, back = ''] = /action="([^"]+)"/.exec(await stopped.text()) ?? [];
    expect((await fetch(new URL(back, link), { method: 'POST' })).status).to.equal(200);
    expect((await routeOf(attacker.api, again.route.id)).withheldEmails).to.deep.equal([]);
  });

  it('are not confirmed by a link that is broken, of another kind, or too old', async () => {
    const { api, id: organizationId, slug } = attacker;
    const address = 'late@friends.example';
    const { route } = await failing(attacker, address);
    const link = linkIn(await questionTo(address));
    const confirmation = { organizationId, organization: slug, address, expiresAt: Date.now() - 1000 };
    const base = `${testInstance.api.url}/notifications/confirm`;
    const foreign = new SecretBox([{ id: 'k1', key: randomBytes(32) }]);
    const answers: [string, number][] = [
      [`${link.slice(0, -3)}AAA`, 404],
      [`${base}/x`, 404],
      [`${base}/${box.encrypt(JSON.stringify({ ...confirmation, expiresAt: Date.now() + 1000 }), 'dst_1')}`, 404],
      [`${base}/${sealConfirmation(foreign, { ...confirmation, expiresAt: Date.now() + 1000 })}`, 404],
      [`${base}/${sealConfirmation(box, confirmation)}`, 410],
    ];
    for (const [url, status] of answers) {
      for (const method of ['GET', 'POST']) expect((await fetch(url, { method })).status, url).to.equal(status);
    }
    expect((await routeOf(api, route.id)).withheldEmails).to.deep.equal([address]);
  });

  it('are asked again on request, seldom', async () => {
    const address = 'slow@friends.example';
    await failing(attacker, address);
    await questionTo(address);
    await until('the question to be noted', async () => {
      const { rows } = await testInstance.pool.query<{ asked_count: number }>(
        'select asked_count from notification_recipients where address = $1',
        [address],
      );
      return rows[0]?.asked_count === 1;
    });
    const again = (to = address) =>
      attacker.api.request('POST', '/api/notification-recipients/resend', { address: to });
    const refused = await again();
    expectError(refused, 429, 'RATE_LIMITED');
    expect(Number(refused.headers.get('retry-after'))).to.be.within(3000, 3600);
    await testInstance.pool.query(
      `update notification_recipients set asked_at = asked_at - interval '61 minutes' where address = $1`,
      [address],
    );
    expect((await again()).status).to.equal(200);
    await until('another question', () => mailsTo(address).length === 2);
    expectError(await again('no@one.example'), 404, 'RESOURCE_NOT_FOUND');
  });

  it('wait in bounded numbers: a route that brings more is refused', async () => {
    const full = await organization();
    const { route } = await failing(full, 'first@full.example');
    await testInstance.pool.query(
      `insert into notification_recipients (organization_id, address, ask_at)
       select $1, 'w' || n || '@full.example', now() + interval '1 hour' from generate_series(1, 1000) n`,
      [full.id],
    );
    const path = `/api/routes/${route.id}`;
    const refused = await full.api.request('PATCH', path, { notifyEmails: 'w1@full.example,more@full.example' });
    expectInvalid(refused, 'notifyEmails');
    expect((await full.api.request('PATCH', path, { notifyEmails: 'w1@full.example' })).status).to.equal(200);
  });

  it('are those of some domains, where the operator says so', async () => {
    const addresses = { accepted: 'first@ops.example', other: 'nobody@elsewhere.example' };
    const { route, fail } = await failing(attacker, `${addresses.other}, ${addresses.accepted}`);
    const setting = { HOOKYARD_NOTIFY_RECIPIENTS: 'ops.example,corp.example' };
    const { url } = await testInstance.startApi(setting);
    await testInstance.onlyWorker({ ...workerSettings, ...setting });
    const client = createClient(url, attacker.token);
    const patch = { notifyEmails: 'second@ops.example, eve@ops.example.evil.example' };
    expectInvalid(await client.request('PATCH', `/api/routes/${route.id}`, patch), 'notifyEmails');
    expect((await routeOf(client, route.id)).withheldEmails).to.deep.equal([addresses.other]);
    await fail();
    const isNotification = ({ headers }: ReceivedMail) => headers.subject?.includes('Orders');
    await until('the notification', () => mailsTo(addresses.accepted).some(isNotification));
    expect(mailsTo(addresses.other).filter(isNotification)).to.deep.equal([]);
  });

  it('are those of some domains in an import too, which stores nothing otherwise', async () => {
    const owner = await organization();
    const { source, destination } = await recordsOf(owner).pipe(receiver.endpoint(200).url);
    const { url } = await testInstance.startApi({ HOOKYARD_NOTIFY_RECIPIENTS: 'ops.example,corp.example' });
    const client = createClient(url, owner.token);
    const importing = (notifyEmails: string) =>
      client.request('POST', '/api/routes/import', {
        conflictStrategy: 'rename',
        routes: [
          { name: 'Fine', sourceSlug: source.slug, destinationSlugs: [destination.slug] },
          { name: 'Telling', sourceSlug: source.slug, destinationSlugs: [destination.slug], notifyEmails },
        ],
      });
    const refused = await importing('first@ops.example, nobody@elsewhere.example');
    expect(refused.body).to.include({ imported: 0 });
    expect(refused.body.errors).to.be.an('array').with.length(1);
    expect(String(refused.body.errors)).to.match(
      /Telling.*notifyEmails must contain only addresses at .*nobody@elsewhere/,
    );
    expect((await importing('first@ops.example')).body).to.include({ imported: 2 });
  });
});

/** The same processes, seen by another organization. */
function asHookyard(testInstance: OwnHookyard, { id, api, base }: TestOrganization): Hookyard {
  return { ...testInstance, client: api, organizationId: id, base };
}
