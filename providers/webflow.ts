import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (triggerType: string, payload: object): Sample => ({
  event: triggerType,
  body: { triggerType, payload },
});

export const webflow: Provider = {
  name: 'webflow',
  title: 'Webflow',
  docs: 'https://developers.webflow.com/data/docs/working-with-webhooks',
  verification: hmacOf({
    header: 'x-webflow-signature',
    timestampHeader: 'x-webflow-timestamp',
    timestampUnit: 'ms',
    template: '{timestamp}:{body}',
  }),
  secret: { is: "the webhook's secret key, or the app's client secret" },
  eventType: { payload: 'triggerType' },
  instructions:
    'Use the Webflow API to create a webhook with the ingest URL. Webhooks created in the site settings are not signed and are refused.',
  samples: [
    sample('form_submission', { name: 'Contact Us', siteId: '65427cf400e02b306eaa049c', submittedAt: '{time}' }),
    sample('ecomm_new_order', { orderId: 'dfa-3f1', status: 'unfulfilled', acceptedOn: '{time}' }),
  ],
};
