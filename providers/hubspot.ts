import { hmacOf } from '../core/verification/template.ts';
import type { Provider } from './provider.ts';

export const hubspot: Provider = {
  name: 'hubspot',
  title: 'HubSpot',
  docs: 'https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests',
  verification: hmacOf({
    encoding: 'base64',
    header: 'X-HubSpot-Signature-v3',
    timestamp: { header: 'X-HubSpot-Request-Timestamp', unit: 'ms', toleranceSeconds: 300 },
    decodesUrl: true,
    template: '{method}{url}{body}{timestamp}',
  }),
  secret: { is: 'the client secret of the app' },
  eventType: { payload: '0.subscriptionType' },
  eventId: { payload: '0.eventId' },
  instructions:
    'App settings, Webhooks: enter the address of the source as target URL. The address is signed, so HOOKYARD_PUBLIC_URL must be what HubSpot has.',
  samples: [
    {
      event: 'contact.creation',
      body: [
        {
          eventId: 1,
          subscriptionId: 12345,
          portalId: 62515,
          occurredAt: '{milliseconds:number}',
          subscriptionType: 'contact.creation',
          attemptNumber: 0,
          objectId: 123,
        },
      ],
    },
    {
      event: 'contact.propertyChange',
      body: [
        {
          eventId: 2,
          subscriptionId: 12346,
          portalId: 62515,
          occurredAt: '{milliseconds:number}',
          subscriptionType: 'contact.propertyChange',
          attemptNumber: 0,
          objectId: 123,
          propertyName: 'lifecyclestage',
          propertyValue: 'customer',
        },
      ],
    },
  ],
};
