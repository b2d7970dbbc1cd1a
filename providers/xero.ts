import { EMPTY, hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (eventType: string, eventCategory: string, sequence: number): Sample => ({
  event: eventType,
  body: {
    events: [{ resourceId: '{uuid}', eventDateUtc: '{time}', eventType, eventCategory, tenantId: '{uuid}' }],
    firstEventSequence: sequence,
    lastEventSequence: sequence,
    entropy: 'S0m3r4Nd0mt3xt',
  },
});

export const xero: Provider = {
  name: 'xero',
  title: 'Xero',
  docs: 'https://developer.xero.com/documentation/guides/webhooks/configuring-your-server/',
  verification: hmacOf({ encoding: 'base64', header: 'x-xero-signature' }),
  secret: { is: "the app's webhook key" },
  eventType: { payload: 'events.0.eventType' },
  // It wants 200 within 5 seconds (401 for a wrong signature), no body and no cookies; for the intent to receive, too.
  answer: EMPTY,
  refusal: 'empty',
  instructions:
    'Go to My Apps › your app › Webhooks. Enter the ingest URL as the delivery URL, then send the intent-to-receive requests. Hookyard returns 401 for invalid signatures and 200 for valid ones, without a body. Intent-to-receive requests with valid signatures are also stored as events, with an empty events list.',
  samples: [sample('CREATE', 'INVOICE', 1), sample('UPDATE', 'CONTACT', 2)],
};
