import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { Json } from '../support/api-client.ts';
import { makeSource, type SourceRecord } from '../support/api-records.ts';
import { testPool } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useOrganization } from '../support/use-hookyard.ts';
import { selectRows, selectValue } from '../support/database/sql.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const SECRET = 'a secret of many letters';

describe('checks of the address of a source', () => {
  const organization = useOrganization();

  const ask = async ({ webhookUrl }: SourceRecord, method: string, query = '', init: RequestInit = {}) => {
    const { pathname } = new URL(webhookUrl);
    const answer = await fetch(`${organization.api.url}${pathname}${query}`, { method, ...init });
    const { headers } = answer;
    return { status: answer.status, text: await answer.text(), type: headers.get('content-type'), headers };
  };
  const shown = ({ id }: SourceRecord) => organization.api.get<Json>(`${organization.base}/sources/${id}`);
  const patch = ({ id }: SourceRecord, body: Json) =>
    organization.api.request('PATCH', `${organization.base}/sources/${id}`, body);
  const eventsOf = async ({ id }: SourceRecord) => (await shown({ id } as SourceRecord)).eventsCount;
  const lastHandshake = (source: SourceRecord, kind: string) =>
    until(`the handshake ${kind} to be noted`, async () => {
      const { lastHandshake: last } = await shown(source);
      return (last as { kind: string } | null)?.kind === kind;
    });

  it('are answered with a parameter, as text that no browser runs', async () => {
    const source = await makeSource(organization, { handshake: { type: 'echo', parameter: 'challenge' } });
    const script = '<script>alert(1)</script>';
    const answer = await ask(source, 'GET', `?challenge=${encodeURIComponent(script)}`);
    expect(answer).to.include({ status: 200, text: script, type: 'text/plain; charset=utf-8' });
    expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(answer.headers.get('content-security-policy')).to.include('sandbox');
    expect((await ask(source, 'GET', '?other=abc')).status).to.equal(405);
  });

  it('are noted with the source, which has not changed by that', async () => {
    const source = await makeSource(organization, { handshake: { type: 'echo', parameter: 'challenge' } });
    const configVersion = () => selectValue<number>(testPool())`select config_version as version from organizations o
      join sources s on s.organization_id = o.id where s.id = ${source.id}`;
    const before = [await shown(source), await configVersion()];
    expect(before[0]).to.deep.include({ lastHandshake: null });
    expect((await ask(source, 'GET', '?challenge=abc')).status).to.equal(200);
    await lastHandshake(source, 'echo-query');
    const { lastHandshake: last, ...after } = await shown(source);
    expect([{ ...after, lastHandshake: null }, await configVersion()]).to.deep.equal(before);
  });

  // https://developers.strava.com/docs/webhooks/
  it('are answered in JSON, if they have the verify token', async () => {
    const handshake = {
      ...{ type: 'echo', parameter: 'hub.challenge', member: 'hub.challenge' },
      verifyToken: 'a verify token of many letters',
    };
    const source = await makeSource(organization, { handshake });
    const masked = { ...handshake, verifyToken: '••••ters' };
    expect(source).to.deep.include({ handshake: masked, warnings: [] });
    const challenge = (token: string) =>
      ask(source, 'GET', `?hub.mode=subscribe&hub.challenge=15f7&hub.verify_token=${encodeURIComponent(token)}`);
    const answered = async () => {
      const answer = await challenge(handshake.verifyToken);
      expect(answer).to.include({ status: 200, type: 'application/json; charset=utf-8' });
      expect(JSON.parse(answer.text)).to.deep.equal({ 'hub.challenge': '15f7' });
      expect((await challenge('another token')).status).to.equal(405);
    };
    await answered();
    const rows = await selectRows<{ row: string }>(testPool())`select row_to_json(s)::text as row from sources s
      where id = ${source.id}`;
    expect(rows[0]?.row).to.not.include(handshake.verifyToken);
    // The token stays when it is left out or masked, and when a PUT leaves out everything.
    const { verifyToken: _left, ...without } = handshake;
    for (const sent of [without, masked]) expect((await patch(source, { handshake: sent })).status).to.equal(200);
    const put = (body: Json) =>
      organization.api.request('PUT', `${organization.base}/sources/by-slug/${source.slug}`, { name: 'S', ...body });
    await put({});
    const { updatedAt } = await shown(source);
    for (const body of [{}, { handshake }, { handshake: masked }]) {
      const again = await put(body);
      expect(again.body).to.deep.include({ handshake: masked, updatedAt });
    }
    await answered();
    expect((await patch(source, { handshake: { ...handshake, verifyToken: 'short' } })).body.warnings).to.deep.equal([
      'handshake.verifyToken has fewer than 16 characters and can be guessed; replace it as soon as the sender can change it (to generate a long secret, run openssl rand -hex 32)',
    ]);
    await patch(source, { handshake: { ...handshake, verifyToken: null } });
    expect((await challenge('another token')).status).to.equal(200);
    await patch(source, { handshake: null });
    expect((await challenge('another token')).status).to.equal(405);
  });

  // https://docs.x.com/x-api/webhooks/quickstart
  it('are answered with an HMAC, by which nobody can sign a webhook', async () => {
    const verificationConfig = {
      ...{ type: 'hmac', secret: SECRET, header: 'X-Twitter-Webhooks-Signature' },
      ...{ prefix: 'sha256=', encoding: 'base64' },
    };
    const handshake = { type: 'hmac', parameter: 'crc_token', member: 'response_token', prefix: 'sha256=' };
    const source = await makeSource(organization, { verificationConfig, handshake });
    const sign = (text: string) => `sha256=${createHmac('sha256', SECRET).update(text).digest('base64')}`;
    const crc = (token: string) => ask(source, 'GET', `?crc_token=${encodeURIComponent(token)}`);
    const answer = await crc('9b4507b3-9040-4669-9ca3-6b94edb50553');
    expect(answer).to.include({ status: 200, type: 'application/json; charset=utf-8' });
    expect(JSON.parse(answer.text)).to.deep.equal({ response_token: sign('9b4507b3-9040-4669-9ca3-6b94edb50553') });
    // What else is not signed: test/core/handshakes.test.ts.
    expect((await crc('{"for_user_id":"1"}')).status).to.equal(405);
    const post = async (body: string) =>
      (await ask(source, 'POST', '', { body, headers: { 'x-twitter-webhooks-signature': sign(body) } })).status;
    expect(await post('{"for_user_id":"1"}')).to.equal(200);
    for (const body of ['12345', '']) expect(await post(body), body).to.equal(401);
    expect(await eventsOf(source)).to.equal(1);
    await lastHandshake(source, 'query-hmac');
  });

  it('tell a stranger nothing of a source that is disabled, concealed or has another address', async () => {
    const handshake = { type: 'echo', parameter: 'challenge' };
    const source = await makeSource(organization, { handshake, ingestToken: 'required' });
    expect((await ask(source, 'GET', '?challenge=abc')).status).to.equal(200);
    const without = { ...source, webhookUrl: source.webhookUrl.replace(/\/[^/]+$/, '') };
    expect((await ask(without, 'GET', '?challenge=abc')).status).to.equal(405);
    for (const fields of [
      { enabled: false },
      { concealed: true, verificationConfig: { type: 'github', secret: SECRET } },
    ]) {
      const closed = await makeSource(organization, { handshake, ...fields });
      expect((await ask(closed, 'GET', '?challenge=abc')).status).to.equal(405);
    }
  });

  // https://docs.slack.dev/interactivity/implementing-slash-commands
  for (const verificationConfig of [
    { type: 'slack', secret: SECRET },
    { provider: 'slack', secret: SECRET },
  ]) {
    it(`of Slack are unsigned, or signed, and no events (${JSON.stringify(verificationConfig).slice(0, 18)})`, async () => {
      const source = await makeSource(organization, { verificationConfig });
      const signed = (body: string) => {
        const time = String(Math.floor(Date.now() / 1000));
        const mac = createHmac('sha256', SECRET).update(`v0:${time}:${body}`).digest('hex');
        return { 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${mac}` };
      };
      const post = (body: string, headers: Record<string, string> = {}) =>
        ask(source, 'POST', '', { body, headers: { ...FORM, ...headers } });
      expect(await post('token=gIkuvaNzQIHg97ATvDxqgjtO&ssl_check=1')).to.include({ status: 200, text: '' });
      expect((await ask(source, 'GET', '?ssl_check=1&token=x')).status).to.equal(200);
      for (const body of ['ssl_check=0', 'command=%2Fweather']) expect((await post(body)).status, body).to.equal(401);
      await lastHandshake(source, 'ssl-check');
      const command = 'command=%2Fweather&text=ssl_check%3D1';
      expect((await post(command, signed(command))).status).to.equal(200);
      const verification = '{"type":"url_verification","challenge":"3eZbrw1aBm2rZgRNFdxV2595"}';
      expect((await post(verification)).status).to.equal(401);
      const answer = await post(verification, signed(verification));
      expect(JSON.parse(answer.text)).to.deep.equal({ challenge: '3eZbrw1aBm2rZgRNFdxV2595' });
      expect(await eventsOf(source)).to.equal(1);
      await patch(source, { concealed: true });
      expect((await post('ssl_check=1')).status).to.equal(404);
      expect((await post('ssl_check=1', signed('ssl_check=1'))).status).to.equal(200);
      expect(await eventsOf(source)).to.equal(1);
    });
  }
});
