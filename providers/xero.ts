import { hmacOf } from '../core/verification/template.ts';
import { EMPTY, type Provider } from './provider.ts';

export const xero: Provider = {
  name: 'xero',
  title: 'Xero',
  docs: 'https://developer.xero.com/documentation/guides/webhooks/configuring-your-server/',
  verification: hmacOf({ encoding: 'base64', header: 'x-xero-signature' }),
  secret: { is: 'the webhook key of the app' },
  eventType: { payload: 'events.0.eventType' },
  // It wants 200 within 5 seconds (401 for a wrong signature), no body and no cookies; for the intent to receive, too.
  answer: EMPTY,
  refusal: 'empty',
  instructions:
    'My Apps, your app, Webhooks: enter the address of the source as delivery URL, then send the intent to receive: wrong signatures are answered 401, right ones 200, both without a body. Its requests with right signatures are stored like webhooks; they have no events.',
  samples: [
    {
      event: 'CREATE',
      body: {
        events: [
          {
            resourceId: '{uuid}',
            eventDateUtc: '{time}',
            eventType: 'CREATE',
            eventCategory: 'INVOICE',
            tenantId: '{uuid}',
          },
        ],
        firstEventSequence: 1,
        lastEventSequence: 1,
        entropy: 'S0m3r4Nd0mt3xt',
      },
    },
    {
      event: 'UPDATE',
      body: {
        events: [
          {
            resourceId: '{uuid}',
            eventDateUtc: '{time}',
            eventType: 'UPDATE',
            eventCategory: 'CONTACT',
            tenantId: '{uuid}',
          },
        ],
        firstEventSequence: 2,
        lastEventSequence: 2,
        entropy: 'S0m3r4Nd0mt3xt',
      },
    },
  ],
};
