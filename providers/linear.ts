import type { Provider } from './provider.ts';

export const linear: Provider = {
  name: 'linear',
  title: 'Linear',
  docs: 'https://linear.app/developers/webhooks',
  verification: { kind: 'hmac', algorithm: 'sha256', encoding: 'hex', header: 'Linear-Signature', signed: ['body'] },
  secret: { is: 'the signing secret of the webhook' },
  eventType: { header: 'Linear-Event' },
  eventId: { header: 'Linear-Delivery' },
  dedup: { header: 'Linear-Delivery' },
  handshakes: [],
  instructions: 'Settings, API, New webhook: enter the address of the source, then copy the signing secret.',
  samples: [
    {
      event: 'Issue',
      headers: { 'Content-Type': 'application/json', 'Linear-Event': 'Issue', 'Linear-Delivery': '{uuid}' },
      body: {
        action: 'create',
        type: 'Issue',
        createdAt: '{time}',
        data: { id: '{uuid}', title: 'It does not work' },
        webhookTimestamp: 1676056940508,
      },
    },
  ],
};
