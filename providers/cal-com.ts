import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (triggerEvent: string, members: object): Sample => ({
  event: triggerEvent,
  body: {
    triggerEvent,
    createdAt: '{time}',
    payload: { type: '60min', title: 'Meeting', uid: 'bFJeNb2uX8ANpT3JL5EfXw', ...members },
  },
});

export const calCom: Provider = {
  name: 'cal-com',
  title: 'Cal.com',
  docs: 'https://cal.com/docs/developing/guides/automation/webhooks',
  verification: hmacOf({ header: 'X-Cal-Signature-256' }),
  secret: { is: 'the webhook secret' },
  eventType: { payload: 'triggerEvent' },
  instructions:
    'Go to Settings › Developer › Webhooks. Enter the ingest URL as the subscriber URL, and enter the secret.',
  samples: [sample('BOOKING_CREATED', {}), sample('BOOKING_CANCELLED', { cancellationReason: 'I am ill' })],
};
