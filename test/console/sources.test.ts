import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { choose, describeConsole, expectUsable, keyWith, onPage, seen } from '../support/programs/console.ts';
import type { SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';

const SECRET = 'a-secret-of-the-sender-0123456789';
/** With the asterisk of a required field. */
const SECRET_FIELD = /^Secret( \*)?$/;
const NEXT = 'another-secret-of-the-sender-0123456789';
const signed = (body: string, secret: string) => ({
  'content-type': 'application/json',
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

describeConsole('the pages of sources', ({ hookyard, records }) => {
  it('make a source for a provider, as its instructions say, and it takes what that provider signs', async () => {
    await onPage('/sources/new', { expected: /Failed to load resource.* 400/ }, async (page) => {
      await page.getByLabel('Name', { exact: false }).first().fill('Console GitHub');
      await page.getByLabel('Method').selectOption('provider');
      // Nothing is found and chosen: the form is sent, and the error is short.
      const provider = page.getByRole('combobox', { name: 'Provider' });
      await provider.fill('no such provider');
      await provider.press('Enter');
      await seen(page, 'Choose a provider');
      // What begins so comes first: Auth0 (log streams) contains it too.
      await provider.fill('str');
      expect(await page.getByRole('listbox').getByRole('option').first().innerText()).to.equal('Stripe');
      await provider.fill('githu');
      await provider.press('Enter');
      await page.getByRole('link', { name: 'GitHub webhook documentation' }).waitFor();
      await expectUsable(page);
      // Without a secret it is refused, at its field, and nothing that was typed is lost.
      await page.getByRole('button', { name: 'Create source' }).click();
      await seen(page, /needs? your attention/);
      await page.locator(':focus').and(page.getByLabel(SECRET_FIELD)).waitFor();
      await seen(page, '/ingest/default/console-github');
      await page.keyboard.type(SECRET);
      await page.getByRole('button', { name: 'Create source' }).click();
      await page.getByRole('heading', { name: 'Console GitHub', level: 1, exact: true }).waitFor();
      await seen(page, '/ingest/default/console-github');
      await seen(page, 'GitHub');
      await page.getByRole('link', { name: 'Create a route' }).waitFor();
      await page.getByRole('link', { name: 'GitHub webhook documentation' }).waitFor();
      await page.getByRole('button', { name: 'Edit payload' }).click();
      await page.getByRole('textbox', { name: 'Sample payload' }).getByText('refs/heads/main').waitFor();
      await page.getByRole('button', { name: 'Send test webhook' }).click();
      await seen(page, 'Test webhook accepted: signature verified');
      await page.getByRole('status').getByText('Not routed').waitFor();
    });
    const { data } = await hookyard.client.list<SourceView & { idempotencyKey: object }>(
      `${hookyard.base}/sources?search=console-github`,
    );
    const [source] = data;
    if (!source) throw new Error('there is no source');
    expect(source.idempotencyKey).to.deep.equal({ header: 'X-GitHub-Delivery', windowSeconds: 86_400 });
    await records.accepted(source, '{"zen":1}', signed('{"zen":1}', SECRET));
  });

  it('make a source that answers a check of its address, and change the answer', async () => {
    const asked = async (query: string) => {
      const answer = await fetch(`${hookyard.client.url}/ingest/default/console-check?${query}`);
      return [answer.status, await answer.text()];
    };
    await onPage('/sources/new', async (page) => {
      await page.getByLabel('Name', { exact: false }).first().fill('Console Check');
      await page.getByText('Advanced').click();
      await page.getByLabel('Handshake').selectOption('echo');
      await page.getByLabel('Challenge parameter').fill('hub.challenge');
      await page.getByLabel('Response JSON field').fill('hub.challenge');
      await page.getByLabel('Expected hub.verify_token').fill('a verify token of many letters');
      await expectUsable(page);
      await page.getByRole('button', { name: 'Create source' }).click();
      await page.getByRole('heading', { name: 'Console Check', level: 1, exact: true }).waitFor();
      await page.getByRole('tab', { name: 'Settings' }).click();
      await page.getByRole('definition').getByText('hub.challenge').first().waitFor();
      const query = 'hub.challenge=abc&hub.verify_token=a+verify+token+of+many+letters';
      expect(await asked(query)).to.deep.equal([200, '{"hub.challenge":"abc"}']);
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByText('Advanced').click();
      await page.getByLabel('Response JSON field').fill('');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'Console Check', level: 1, exact: true }).waitFor();
      // The token that was left empty stays.
      expect(await asked(query)).to.deep.equal([200, 'abc']);
      expect((await asked('hub.challenge=abc'))[0]).to.equal(405);
    });
  });

  it('shows settings of one label beside each other', async () => {
    const verificationConfig = { type: 'header_token', header: 'X-Token', secret: 'a token of many letters' };
    const idempotencyKey = { header: 'X-Id', windowSeconds: 60 };
    const body = { name: 'One label', slug: 'one-label', verificationConfig, idempotencyKey };
    const { id } = await hookyard.client.create('/api/sources', body);
    await onPage(`/sources/${id}`, async (page) => {
      await page.getByRole('tab', { name: 'Settings' }).click();
      for (const text of ['X-Token', 'X-Id']) await page.getByRole('definition').getByText(text).waitFor();
    });
  });

  it('make a source for any other sender, whose signature is described', async () => {
    await onPage('/sources/new', { expected: /Failed to load resource.* 400/ }, async (page) => {
      const name = page.getByLabel('Name', { exact: false }).first();
      await page.getByLabel('Method').selectOption('hmac_template');
      // The first field that was refused has the focus, and keeps it while it is corrected.
      await page.getByRole('button', { name: 'Create source' }).click();
      await seen(page, /\d fields need your attention/);
      await page.keyboard.type('Console Described');
      expect(await name.inputValue()).to.equal('Console Described');
      await page.getByLabel(SECRET_FIELD).fill(SECRET);
      await page.getByLabel('Signature header').fill('X-Mac');
      await page.getByLabel('Signed content').fill('{timestamp}.{body}');
      await page.getByLabel('Signature part').fill('v1');
      await page.getByLabel('Timestamp part').fill('t');
      await expectUsable(page);
      await page.getByRole('button', { name: 'Create source' }).click();
      await page.getByRole('heading', { name: 'Console Described', level: 1, exact: true }).waitFor();
      await seen(page, 'HMAC sha256');
    });
    const { data } = await hookyard.client.list<SourceView>(`${hookyard.base}/sources?search=console-described`);
    const [source] = data;
    if (!source) throw new Error('there is no source');
    const time = String(Math.floor(Date.now() / 1000));
    const mac = createHmac('sha256', SECRET).update(`${time}.{}`).digest('hex');
    await records.accepted(source, '{}', { 'content-type': 'application/json', 'x-mac': `t=${time},v1=${mac}` });
  });

  it('make a source whose subscriptions are confirmed, and change that', async () => {
    const config = async () => {
      const { data } = await hookyard.client.list<SourceView & { verificationConfig: object }>(
        `${hookyard.base}/sources?search=console-topic`,
      );
      return data[0]?.verificationConfig;
    };
    await onPage('/sources/new', async (page) => {
      await page.getByLabel('Name', { exact: false }).first().fill('Console Topic');
      await page.getByLabel('Method').selectOption('provider');
      await page.getByRole('combobox', { name: 'Provider' }).click();
      await page.getByRole('option', { name: 'Amazon SNS', exact: true }).click();
      await page.getByLabel(SECRET_FIELD).fill('arn:aws:sns:eu-central-1:123456789012:orders');
      await page.getByLabel('Confirm subscriptions').check();
      await expectUsable(page);
      await page.getByRole('button', { name: 'Create source' }).click();
      await page.getByRole('heading', { name: 'Console Topic', level: 1, exact: true }).waitFor();
      expect(await config()).to.deep.equal({ type: 'provider', confirmSubscriptions: true });
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByLabel('Confirm subscriptions').uncheck();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'Console Topic', level: 1, exact: true }).waitFor();
      expect(await config()).to.deep.equal({ type: 'provider', confirmSubscriptions: false });
    });
  });

  it('show what a handshake leaves to do at the provider', async () => {
    const source = await records.source({ provider: 'notion', ingestToken: 'required' });
    const { pathname } = new URL(source.webhookUrl);
    const body = '{"verification_token":"secret_token_of_the_console"}';
    const { status } = await fetch(`${hookyard.client.url}${pathname}`, { method: 'POST', body });
    expect(status).to.equal(200);
    await onPage(`/sources/${source.id}`, async (page) => {
      await seen(page, 'Complete setup with');
      await seen(page, 'secret_token_of_the_console');
    });
  });

  it('show what was refused, why, and what came', async () => {
    const source = await records.source({
      name: 'Refusing',
      provider: 'github',
      verificationConfig: { secret: SECRET },
    });
    const body = '{"from":"<b>somebody</b>"}';
    const { status } = await records.post(source, body, signed(body, 'not-the-secret-0123456789'));
    expect(status).to.equal(401);
    await until('the refusal to be counted', async () => {
      const path = `${hookyard.base}/sources/${source.id}/refusals`;
      return (await hookyard.client.get<{ counts: { total: number } }>(path)).counts.total === 1;
    });
    await onPage(`/sources/${source.id}`, async (page) => {
      await page.getByRole('tab', { name: 'Refused webhooks' }).click();
      await seen(page, /1 refused/);
      await seen(page, /Check that the sender uses the source's secret/);
      await page
        .getByRole('region', { name: 'Refused', exact: true })
        .getByRole('cell', { name: 'Signature', exact: true })
        .click();
      await seen(page, body);
      expect(page.url()).to.include('open=');
      await expectUsable(page);
    });
    const token = await keyWith('sources:read', 'events:read');
    await onPage(`/sources/${source.id}`, { token }, async (page) => {
      await page.getByRole('tab', { name: 'Refused webhooks' }).click();
      await page
        .getByRole('region', { name: 'Refused', exact: true })
        .getByRole('cell', { name: 'Signature', exact: true })
        .click();
      await seen(page, /Requires the payloads:read scope/);
      expect(await page.getByText('somebody').count()).to.equal(0);
    });
  });

  it('rotate a secret: both are good until the overlap ends', async () => {
    const source = await records.source({ provider: 'github', verificationConfig: { secret: SECRET } });
    await onPage(`/sources/${source.id}`, async (page) => {
      await choose(page, 'Rotate secret');
      await page.getByLabel('New secret').fill(NEXT);
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      await page.getByRole('tab', { name: 'Settings' }).click();
      await seen(page, 'Previous secret valid until');
    });
    await records.accepted(source, '{"n":1}', signed('{"n":1}', SECRET));
    await records.accepted(source, '{"n":2}', signed('{"n":2}', NEXT));
  });

  it('change what is stored and nothing else, rotate the address, disable, and delete', async () => {
    // Nothing stands between timestamp and body.
    const signs = { type: 'hmac', header: 'X-Sign', timestampHeader: 'X-Time', timestampSeparator: '' };
    const source = await records.source({
      name: 'Changed',
      ingestToken: 'required',
      verificationConfig: { ...signs, secret: SECRET, encoding: 'base64' },
    });
    const path = `${hookyard.base}/sources/${source.id}`;
    const stored = () => hookyard.client.get<Record<string, unknown>>(path);
    await onPage(`/sources/${source.id}/edit`, async (page) => {
      await page.getByLabel('Description').fill('of the shop');
      await page.getByLabel('Encoding').selectOption('hex');
      await page.getByLabel('Idempotency key').selectOption('header');
      await page.getByRole('textbox', { name: 'Header', exact: true }).fill('X-Request-Id');
      await expectUsable(page);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'Changed', level: 1, exact: true }).waitFor();
      await seen(page, 'of the shop');
      const { webhookUrl } = await stored();
      await choose(page, 'Rotate ingest URL');
      await page.getByRole('button', { name: 'Rotate ingest URL' }).click();
      await until('another address', async () => (await stored()).webhookUrl !== webhookUrl);
      await choose(page, 'Disable');
      await page.getByRole('button', { name: 'Disable source' }).click();
      await seen(page, 'Source disabled');
    });
    const now = await stored();
    expect(now.idempotencyKey).to.deep.equal({ header: 'X-Request-Id', windowSeconds: 86_400 });
    expect(now.verificationConfig).to.include({ ...signs, encoding: 'hex' });
    await onPage('/sources?enabled=false&search=changed', async (page) => {
      await page.getByRole('link', { name: 'Changed' }).click();
      await choose(page, 'Delete');
      await page.getByRole('button', { name: 'Delete source' }).click();
      await page.getByRole('heading', { name: 'Sources', level: 1, exact: true }).waitFor();
    });
    expect((await hookyard.client.request('GET', path)).status).to.equal(404);
  });

  it('show not the whole ingest URL to a key that may only read', async () => {
    const { id } = await records.source({ ingestToken: 'required', name: 'Looked at' });
    await onPage(`/sources/${id}`, { token: await keyWith('read') }, (page) =>
      seen(page, /^Viewing the full URL requires the sources:write /),
    );
  });
});
