import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (type: string, data: object): Sample => ({
  event: type,
  body: { merchant_id: '6SSW7HV8K2ST5', type, event_id: '{uuid}', created_at: '{time}', data },
});

export const square: Provider = {
  name: 'square',
  title: 'Square',
  docs: 'https://developer.squareup.com/docs/webhooks/step3validate',
  verification: hmacOf({ encoding: 'base64', header: 'x-square-hmacsha256-signature', template: '{url}{body}' }),
  secret: { is: "the subscription's signature key" },
  eventType: { payload: 'type' },
  eventId: { payload: 'event_id' },
  instructions:
    'Go to Developer Console › Webhooks › Subscriptions › Add subscription. Enter the ingest URL as the notification URL. Square signs the URL, so the URL in Square must start with HOOKYARD_PUBLIC_URL.',
  samples: [
    sample('payment.created', { type: 'payment', id: 'hYy9pRFVxpDsO1FB05SunFWUe9JZY' }),
    sample('refund.created', { type: 'refund', id: 'KkAkhdMsgzn59SM8A89WgKwekxLZY' }),
  ],
};
