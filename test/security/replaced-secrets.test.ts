// Secrets in files that are replaced while the processes run: the key of Temporal, the password of the mail server, the
// operator's key and his keys of R2.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { expect } from 'chai';
import { smtpOf } from '../../outbound/mail.ts';
import { createClient } from '../support/api-client.ts';
import { startMailServer } from '../support/messages/mail-server.ts';
import { onceMore } from '../support/records.ts';
import { stackAddresses } from '../support/stack.ts';
import { listenHttp } from '../support/servers/listen.ts';
import { startTemporalGateway } from '../support/servers/temporal-gateway.ts';
import { until } from '../support/until.ts';
import { useHookyard, useStarted } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;

describe('secrets in files that are replaced', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-replaced-'));
  /** As an orchestrator replaces a file: at once. */
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, `${name}.new`), `${text}\n`);
    renameSync(join(folder, `${name}.new`), join(folder, name));
    return join(folder, name);
  };
  const operatorKeys = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')] as const;
  const signers: (string | undefined)[] = [];
  const gateway = useStarted(() => startTemporalGateway(stackAddresses().temporalAddress, 'first'));
  const mail = useStarted(startMailServer);
  // It stands for Cloudflare, and keeps whose key each upload was signed with.
  const cloudflare = useStarted(() =>
    listenHttp((request, response) => {
      signers.push(/Credential=([^/]+)/.exec(request.headers.authorization ?? '')?.[1]);
      response.end();
    }),
  );
  const { testInstance, records, receiver } = useHookyard({
    settings: () => ({
      TEMPORAL_ADDRESS: gateway.address,
      TEMPORAL_TLS: 'false',
      TEMPORAL_API_KEY_FILE: write('temporal', 'first'),
      SMTP_URL_FILE: write('smtp', mail.url),
      HOOKYARD_NOTIFY_FROM: 'hookyard@sender.example',
      HOOKYARD_NOTIFY_RECIPIENTS: 'any',
      HOOKYARD_OPERATOR_KEY_FILE: write('operator', operatorKeys[0]),
      R2_ENDPOINT: cloudflare.url,
      R2_ACCESS_KEY_ID_FILE: write('r2-id', 'first'),
      R2_SECRET_ACCESS_KEY_FILE: write('r2-secret', 'first-secret'),
      HOOKYARD_WAREHOUSE_IDENTITY: 'default:r2:events',
      HOOKYARD_LANE: 'workflow',
    }),
    workers: [{}],
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const temporalSeenByApi = async () => {
    const answer = await testInstance.client.request<{ temporal?: string }>('GET', '/readyz?deep');
    return answer.body.temporal;
  };

  it('reach Temporal by the new key: deliveries continue when the old one is refused, and no process is restarted', async () => {
    const destination = { retryPolicy: onceMore(5, HOUR_MS) };
    const waiting = await records.deliver(receiver.endpoint(500, 200).url, '{"n":1}', 'retrying', { destination });
    expect(gateway.refused).to.deep.equal([]);

    write('temporal', 'second');
    const [worker] = testInstance.workers;
    // Both are taken by a real server meanwhile; this one takes one at a time.
    gateway.takeOnly('second');
    const reloaded = 'reloaded the Temporal API key from its file';
    await until('the worker to be told', () => worker?.output().includes(reloaded));
    await until('the API to reach Temporal', async () => (await temporalSeenByApi()) === 'ok');
    await testInstance.client.post(`/api/deliveries/${waiting.delivery.id}/retry`, {});
    await records.deliveryWith('delivered', waiting.eventId);
    await records.deliver(receiver.endpoint(200).url, '{"n":2}', 'delivered');

    // A file that is away for a moment changes nothing.
    rmSync(join(folder, 'temporal'));
    await records.deliver(receiver.endpoint(200).url, '{"n":3}', 'delivered');
    for (const service of [testInstance.api, ...testInstance.workers]) expect(service.running).to.equal(true);
  });

  it('sign in to the mail server with the new password', async () => {
    const team = { name: 'Team', type: 'mail', config: { emails: 'team@ops.example' } };
    const { id } = await testInstance.client.create('/api/alert-channels', team);
    const sends = async () =>
      (await testInstance.client.post<{ success: boolean }>(`/api/alert-channels/${id}/test`)).success;
    expect(await sends()).to.equal(true);
    const renewed = mail.changePassword('changed');
    await until('the old password to be refused', async () => !(await sends()));
    write('smtp', renewed);
    await until('a mail with the new password', sends);
    expect(mail.mails.length).to.be.at.least(2);
  });

  it('send no mail to another server that the file names', async () => {
    const servers = await Promise.all([startMailServer(), startMailServer()]);
    const [given, other] = servers;
    const settings = {
      SMTP_URL: given.url,
      SMTP_URL_FILE: write('other', other.url),
      HOOKYARD_NOTIFY_FROM: 'h@s.example',
    };
    const smtp = smtpOf(settings) ?? expect.fail('no mail server');
    // The file is read again after a second.
    const later = performance.now() + 2000;
    mock.method(performance, 'now', () => later);
    try {
      const text = { subject: 'Test', text: 'Test', html: 'Test' };
      await smtp.mailer.send({ messageId: 'test', from: smtp.from, to: ['team@ops.example'], ...text });
      expect(servers.map(({ mails }) => mails.length)).to.deep.equal([1, 0]);
    } finally {
      mock.restoreAll();
      smtp.mailer.close();
      await Promise.all(servers.map((server) => server.close()));
    }
  });

  it("open the status to the operator's new key, and not to the old one", async () => {
    const statusWith = async (key: string) =>
      (await createClient(testInstance.api.url, key).request('GET', '/api/status')).status;
    expect(await statusWith(operatorKeys[0])).to.equal(200);
    write('operator', operatorKeys[1]);
    await until('the new key to open it', async () => (await statusWith(operatorKeys[1])) === 200);
    expect(await statusWith(operatorKeys[0])).to.equal(401);
    // Half of a key is none.
    write('operator', operatorKeys[0].slice(0, 8));
    expect(await statusWith(operatorKeys[1])).to.equal(200);
  });

  it('sign files of R2 with the new keys, at a destination that was used before', async () => {
    const lake = { name: 'Lake', type: 'r2', config: { bucket: 'events', batchSize: 1 } };
    const { id } = await testInstance.client.create('/api/destinations', lake);
    const uploads = async () => {
      await testInstance.client.post(`/api/destinations/${id}/test`);
      return signers.at(-1);
    };
    expect(await uploads()).to.equal('first');
    write('r2-id', 'second');
    write('r2-secret', 'second-secret');
    await until('an upload with the new key', async () => (await uploads()) === 'second');
  });
});
