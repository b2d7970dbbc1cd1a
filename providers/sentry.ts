import { hmacOf } from '../core/verification/template.ts';
import type { Provider } from './provider.ts';

export const sentry: Provider = {
  name: 'sentry',
  title: 'Sentry',
  docs: 'https://docs.sentry.io/integrations/integration-platform/webhooks/',
  verification: hmacOf({ header: 'Sentry-Hook-Signature' }),
  secret: { is: 'the client secret of the integration' },
  eventType: { header: 'Sentry-Hook-Resource' },
  eventId: { header: 'Request-ID' },
  instructions:
    'Settings, Developer Settings, your integration: enter the address of the source as webhook URL, and copy the client secret.',
  samples: [
    {
      event: 'issue',
      headers: { 'Sentry-Hook-Resource': 'issue', 'Request-ID': '{uuid}' },
      body: {
        action: 'created',
        installation: { uuid: '{uuid}' },
        data: { issue: { id: '1170820242', title: 'TypeError' } },
        actor: { type: 'application', id: 'sentry' },
      },
    },
    {
      event: 'event_alert',
      headers: { 'Sentry-Hook-Resource': 'event_alert', 'Request-ID': '{uuid}' },
      body: {
        action: 'triggered',
        installation: { uuid: '{uuid}' },
        data: { event: { event_id: '{hex}', title: 'TypeError', level: 'error' }, triggered_rule: 'Many errors' },
        actor: { type: 'application', id: 'sentry' },
      },
    },
  ],
};
