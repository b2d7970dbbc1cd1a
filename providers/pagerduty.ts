import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (event_type: string, status: string): Sample => ({
  event: event_type,
  headers: { 'X-Webhook-Id': '{uuid}' },
  body: {
    event: {
      id: '{uuid}',
      event_type,
      resource_type: 'incident',
      occurred_at: '{time}',
      data: { id: 'PGR0VU2', status },
    },
  },
});

export const pagerduty: Provider = {
  name: 'pagerduty',
  title: 'PagerDuty',
  docs: 'https://docs.pagerduty.com/developer/verifying-webhook-signatures',
  verification: hmacOf({ header: 'X-PagerDuty-Signature', prefix: 'v1=', listSeparator: ',' }),
  secret: { is: "the subscription's signing secret" },
  eventType: { payload: 'event.event_type' },
  eventId: { payload: 'event.id' },
  instructions:
    'Go to Integrations › Generic Webhooks (v3) › New Webhook. Enter the ingest URL, then copy the secret, which is shown only once.',
  samples: [sample('incident.triggered', 'triggered'), sample('incident.resolved', 'resolved')],
};
