import { meta } from './meta.ts';
import type { Provider, Sample } from './provider.ts';

const sample = (field: string, value: object): Sample => ({
  event: field,
  body: {
    object: 'instagram',
    entry: [{ id: '17841405822304914', time: '{seconds:number}', changes: [{ field, value }] }],
  },
});

/** As Meta does it, with the events of one product. */
export const instagram: Provider = {
  ...meta,
  name: 'instagram',
  title: 'Instagram (Meta)',
  docs: 'https://developers.facebook.com/docs/instagram-platform/webhooks',
  // Of comments and mentions; messages have entry.0.messaging instead.
  eventType: { payload: 'entry.0.changes.0.field' },
  instructions:
    'Create the source with a verify token that you choose. Then go to App dashboard › Instagram › Configure webhooks. Enter the ingest URL as the callback URL, and enter the verify token. Subscribe to fields, and enable the subscription for each account.',
  samples: [
    sample('comments', {
      id: '17865799348089039',
      text: 'Where can I buy this?',
      from: { id: '232323232', username: 'emma' },
      media: { id: '123123123', media_product_type: 'FEED' },
    }),
    sample('mentions', { media_id: '17887498072083520', comment_id: '17887498072083521' }),
  ],
};
