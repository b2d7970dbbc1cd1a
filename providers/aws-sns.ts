import type { Provider } from './provider.ts';

export const awsSns: Provider = {
  name: 'aws-sns',
  title: 'Amazon SNS',
  docs: 'https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html',
  verification: { kind: 'sns' },
  secret: { is: "the topic's ARN (arn:aws:sns:...)", shortest: 1 },
  eventType: { header: 'x-amz-sns-message-type' },
  eventId: { payload: 'MessageId' },
  handshakes: [{ kind: 'subscription' }],
  instructions:
    "Create a subscription for the topic with the HTTPS protocol, the ingest URL as the endpoint, and raw message delivery turned off. SNS then requests confirmation: open the URL in the source's lastHandshake, or set verificationConfig.confirmSubscriptions to true before you subscribe so that Hookyard confirms automatically.",
  samples: [
    {
      event: 'Notification',
      headers: {
        'Content-Type': 'text/plain; charset=UTF-8',
        'x-amz-sns-message-type': 'Notification',
        'x-amz-sns-topic-arn': 'arn:aws:sns:eu-central-1:123456789012:orders',
      },
      body: {
        Type: 'Notification',
        MessageId: '{uuid}',
        TopicArn: 'arn:aws:sns:eu-central-1:123456789012:orders',
        Subject: 'Order 1042',
        Message: '{"order":1042,"paid":true}',
        Timestamp: '{time}',
        SignatureVersion: '2',
      },
    },
  ],
};
