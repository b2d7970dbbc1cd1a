import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (event: string, payload: object): Sample => ({
  event,
  body: {
    event,
    created_at: '{time}',
    created_by: 'https://api.calendly.com/users/AAAAAAAAAAAAAAAA',
    payload: { email: 'emma@example.com', name: 'Emma', ...payload },
  },
});

export const calendly: Provider = {
  name: 'calendly',
  title: 'Calendly',
  docs: 'https://developer.calendly.com/api-docs/overview/webhooks/webhook-signatures',
  verification: hmacOf({
    header: 'Calendly-Webhook-Signature',
    signaturePart: 'v1',
    timestampPart: 't',
    template: '{timestamp}.{body}',
  }),
  secret: { is: "the webhook subscription's signing key" },
  eventType: { payload: 'event' },
  instructions:
    'Use the Calendly API to create a webhook subscription with the ingest URL as the url parameter and the secret as the signing_key parameter.',
  samples: [
    sample('invitee.created', {}),
    sample('invitee.canceled', {
      status: 'canceled',
      cancellation: { canceled_by: 'Emma', canceler_type: 'invitee' },
    }),
  ],
};
