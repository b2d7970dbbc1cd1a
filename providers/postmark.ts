import type { Provider } from './provider.ts';

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
    {
      event: 'Delivery',
      body: {
        MessageID: '{uuid}',
        Recipient: 'emma@example.com',
        DeliveredAt: '{time}',
        RecordType: 'Delivery',
        ServerID: 23,
        MessageStream: 'outbound',
      },
    },
    {
      event: 'Bounce',
      body: {
        RecordType: 'Bounce',
        MessageID: '{uuid}',
        Type: 'HardBounce',
        TypeCode: 1,
        Email: 'emma@example.com',
        BouncedAt: '{time}',
        ServerID: 23,
        MessageStream: 'outbound',
      },
    },
  ],
};
