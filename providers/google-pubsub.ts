import type { Provider } from './provider.ts';

export const googlePubsub: Provider = {
  name: 'google-pubsub',
  title: 'Google Cloud Pub/Sub (push)',
  docs: 'https://docs.cloud.google.com/pubsub/docs/authenticate-push-subscriptions',
  verification: {
    kind: 'jwt',
    header: 'Authorization',
    algorithm: 'RS256',
    keys: { jwks: 'https://www.googleapis.com/oauth2/v3/certs' },
    issuers: ['https://accounts.google.com', 'accounts.google.com'],
    audience: 'required',
    sender: 'email',
    // A token is good for an hour, and may be sent with several messages.
    toleranceSeconds: 3600,
  },
  secret: {
    is: "the email address of the subscription's service account (...gserviceaccount.com)",
    shortest: 1,
  },
  eventId: { payload: 'message.messageId' },
  instructions:
    'Create a push subscription with authentication enabled. Enter the ingest URL as the endpoint, select the service account, and leave the audience empty so that the token contains the URL. The URL in Google Cloud must start with HOOKYARD_PUBLIC_URL. The token verifies the sender, but not the content.',
  samples: [
    {
      event: 'message',
      body: {
        message: {
          data: 'eyJvcmRlciI6MTA0Mn0=',
          attributes: { kind: 'order.paid' },
          messageId: '{uuid}',
          publishTime: '{time}',
        },
        subscription: 'projects/my-project/subscriptions/orders',
      },
    },
  ],
};
