import { NO_CONTENT, type Provider, type Sample } from './provider.ts';

const sample = (type: string, data: object): Sample => ({
  event: type,
  body: {
    version: 1,
    application_id: '1234560123453231555',
    type: 1,
    event: { type, timestamp: '{time}', data },
  },
});

export const discord: Provider = {
  name: 'discord',
  title: 'Discord',
  docs: 'https://discord.com/developers/docs/events/webhook-events',
  verification: {
    kind: 'public-key',
    algorithm: 'ed25519',
    encoding: 'hex',
    header: 'X-Signature-Ed25519',
    timestamp: { header: 'X-Signature-Timestamp', unit: 's', toleranceSeconds: 300 },
    signed: ['timestamp', 'body'],
  },
  secret: { is: 'the public key of the application' },
  eventType: { payload: 'event.type' },
  handshakes: [{ kind: 'ping' }],
  // It wants 204 within 3 seconds.
  answer: NO_CONTENT,
  instructions:
    'Developer Portal: copy the public key of the application and create the source. Then enter its ingest URL as the endpoint for webhook events (or for interactions). Discord sends a PING, which Hookyard answers, and a PING with a wrong signature, which Hookyard refuses. If your service responds to interactions later, set the answer of the source to 202 without a body.',
  samples: [
    sample('APPLICATION_AUTHORIZED', { integration_type: 1 }),
    sample('ENTITLEMENT_CREATE', {
      ...{ id: '1234505980407808808', sku_id: '123489045643835123', user_id: '111178765189277770', type: 4 },
    }),
  ],
};
