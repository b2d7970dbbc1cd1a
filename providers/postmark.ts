import type { Provider, Sample } from './provider.ts';

const sample = (RecordType: string, members: object): Sample => ({
  event: RecordType,
  body: { RecordType, MessageID: '{uuid}', ...members, ServerID: 23, MessageStream: 'outbound' },
});

export const postmark: Provider = {
  name: 'postmark',
  title: 'Postmark',
  docs: 'https://postmarkapp.com/developer/webhooks/webhooks-overview',
  verification: { kind: 'basic' },
  secret: { is: 'user:password, as entered in Postmark' },
  eventType: { payload: 'RecordType' },
  instructions:
    'Go to Servers › Message Stream › Webhooks › Add. Enter the ingest URL and the basic authentication credentials.',
  samples: [
    sample('Delivery', { Recipient: 'emma@example.com', DeliveredAt: '{time}' }),
    sample('Bounce', { Type: 'HardBounce', TypeCode: 1, Email: 'emma@example.com', BouncedAt: '{time}' }),
  ],
};
