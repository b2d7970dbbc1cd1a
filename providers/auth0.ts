import type { Provider, Sample } from './provider.ts';

const sample = (type: string, log_id: string, members: object): Sample => ({
  event: type,
  body: { log_id, data: { date: '{time}', type, ...members, client_name: 'My App', log_id } },
});

export const auth0: Provider = {
  name: 'auth0',
  title: 'Auth0 (log streams)',
  docs: 'https://auth0.com/docs/customize/log-streams/custom-log-streams',
  verification: { kind: 'header-token', header: 'Authorization' },
  secret: { is: "the stream's authorization token, as entered in Auth0" },
  eventType: { payload: 'data.type' },
  eventId: { payload: 'log_id' },
  instructions:
    'Go to Monitoring › Streams › Create Stream › Custom Webhook. Enter the ingest URL as the payload URL and the secret as the authorization token, and select JSON Object as the content format so that each webhook contains one event. Auth0 does not sign webhooks: the token verifies the sender, but not the content.',
  samples: [
    sample('s', '90020260301120000{uuid}', {}),
    sample('f', '90020260301120001{uuid}', { description: 'Wrong email or password.' }),
  ],
};
