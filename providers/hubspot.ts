import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (subscriptionType: string, eventId: number, members: object): Sample => ({
  event: subscriptionType,
  body: [
    {
      eventId,
      subscriptionId: 12344 + eventId,
      portalId: 62515,
      occurredAt: '{milliseconds:number}',
      subscriptionType,
      attemptNumber: 0,
      objectId: 123,
      ...members,
    },
  ],
});

export const hubspot: Provider = {
  name: 'hubspot',
  title: 'HubSpot',
  docs: 'https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests',
  verification: hmacOf({
    encoding: 'base64',
    header: 'X-HubSpot-Signature-v3',
    timestampHeader: 'X-HubSpot-Request-Timestamp',
    timestampUnit: 'ms',
    decodesUrl: true,
    template: '{method}{url}{body}{timestamp}',
  }),
  secret: { is: "the app's client secret" },
  eventType: { payload: '0.subscriptionType' },
  eventId: { payload: '0.eventId' },
  dedup: null,
  instructions:
    'For an app on the developer platform, enter the ingest URL as the targetUrl in its webhooks configuration. For a legacy app, go to App settings › Webhooks and enter the ingest URL as the target URL. HubSpot signs the URL, so the URL in HubSpot must start with HOOKYARD_PUBLIC_URL.',
  samples: [
    sample('contact.creation', 1, {}),
    sample('contact.propertyChange', 2, { propertyName: 'lifecyclestage', propertyValue: 'customer' }),
  ],
};
