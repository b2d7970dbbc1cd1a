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
    timestampHeader: 'X-Signature-Timestamp',
    signed: ['timestamp', 'body'],
  },
  secret: { is: "the application's public key" },
  eventType: { payload: 'event.type' },
  handshakes: [{ kind: 'ping' }],
  // It wants 204 within 3 seconds.
  answer: NO_CONTENT,
  instructions:
    "Copy the application's public key from the Developer Portal and create the source. Then enter its ingest URL as the endpoint for webhook events (or for interactions). Discord sends two PING requests: Hookyard responds to the one with a valid signature and refuses the one with an invalid signature. If your service responds to interactions later, set the source's custom response (answer) to 202 without a body.",
  samples: [
    sample('APPLICATION_AUTHORIZED', { integration_type: 1 }),
    sample('ENTITLEMENT_CREATE', {
      ...{ id: '1234505980407808808', sku_id: '123489045643835123', user_id: '111178765189277770', type: 4 },
    }),
  ],
};
