// A route that notifies of recoveries does so when its circuit has closed, through a real mail server.
import { expect } from 'chai';
import { type MailServer, startMailServer } from '../support/messages/mail-server.ts';
import type { Answer } from '../support/receiver.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

describe('recovery mail of a circuit', () => {
  const { testInstance, records, receiver } = useHookyard({});
  let server: MailServer;
  before(async () => {
    server = await startMailServer();
    await testInstance.startWorker({ SMTP_URL: server.url, HOOKYARD_NOTIFY_FROM: 'hookyard@sender.example' });
  });
  after(async () => {
    await server.close();
  });

  it('goes with the first success after the circuit has closed, not with a probe', async () => {
    const current: Answer = { status: 500 };
    const endpoint = receiver.endpoint(current);
    const { source, route } = await records.pipe(endpoint.url, {
      destination: { retryPolicy: onceMore(50, 20) },
      route: {
        notifyEmails: 'team@ops.example',
        notifyOnRecovery: true,
        circuitFailureThreshold: 2,
        circuitCooldownSeconds: 1,
        circuitProbeSuccessThreshold: 1,
      },
    });
    const state = async () =>
      (await testInstance.client.get<{ circuitState: string }>(`/api/routes/${route.id}/circuit-status`)).circuitState;
    const probe = await records.accepted(source, '{}');
    await until('the circuit to open', async () => (await state()) === 'open');
    current.status = 200;
    await records.deliveryWith('delivered', probe);
    await until('the circuit to close', async () => (await state()) === 'closed');
    expect(server.mails, 'the probe told nothing').to.have.length(0);
    const first = await records.accepted(source, '{}');
    const mail = await until('the mail', () => server.mails[0]);
    expect(mail.parts['text/plain']).to.contain('its circuit opened at').and.to.contain(first);
    await records.deliveryWith('delivered', await records.accepted(source, '{}'));
    const left = await testInstance.pool.query('select from messages where route_id = $1 and sent_at is null', [
      route.id,
    ]);
    expect(left.rows).to.have.length(0);
    expect(server.mails).to.have.length(1);
  });
});
