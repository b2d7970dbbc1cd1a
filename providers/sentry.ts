import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (event: string, action: string, data: object): Sample => ({
  event,
  headers: { 'Sentry-Hook-Resource': event, 'Request-ID': '{uuid}' },
  body: { action, installation: { uuid: '{uuid}' }, data, actor: { type: 'application', id: 'sentry' } },
});

export const sentry: Provider = {
  name: 'sentry',
  title: 'Sentry',
  docs: 'https://docs.sentry.io/integrations/integration-platform/webhooks/',
  verification: hmacOf({ header: 'Sentry-Hook-Signature' }),
  secret: { is: "the integration's client secret" },
  eventType: { header: 'Sentry-Hook-Resource' },
  eventId: { header: 'Request-ID' },
  dedup: null,
  instructions:
    'Go to Settings › Developer Settings › your integration. Enter the ingest URL as the webhook URL, and copy the client secret.',
  samples: [
    sample('issue', 'created', { issue: { id: '1170820242', title: 'TypeError' } }),
    sample('event_alert', 'triggered', {
      event: { event_id: '{hex}', title: 'TypeError', level: 'error' },
      triggered_rule: 'Many errors',
    }),
  ],
};
