import type { Provider } from './provider.ts';

export const datadog: Provider = {
  name: 'datadog',
  title: 'Datadog',
  docs: 'https://docs.datadoghq.com/integrations/webhooks/',
  verification: { kind: 'header-token', header: 'Authorization', prefix: 'Bearer ' },
  secret: { is: 'a token that you choose' },
  eventType: { payload: 'event_type' },
  eventId: { payload: 'id' },
  instructions:
    'Go to Integrations › Webhooks › New. Enter the ingest URL, and enter {"Authorization": "Bearer <token>"} as the custom headers. Datadog does not sign webhooks.',
  samples: [
    {
      event: 'query_alert_monitor',
      body: {
        id: '{uuid}',
        title: '[Triggered] CPU is high on web-1',
        body: 'CPU is high',
        event_type: 'query_alert_monitor',
        date: '{seconds}000',
        last_updated: '{seconds}000',
        org: { id: '1', name: 'Acme' },
      },
    },
  ],
};
