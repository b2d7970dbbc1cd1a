import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (event: string, members: object): Sample => ({
  event,
  body: { webhook_id: '7689a169-a000-4985-8676-6902b96d6627', event, task_id: 'c0j', ...members },
});

export const clickup: Provider = {
  name: 'clickup',
  title: 'ClickUp',
  docs: 'https://developer.clickup.com/docs/webhooksignature',
  verification: hmacOf({ header: 'X-Signature' }),
  secret: { is: 'the webhook.secret returned when you create the webhook' },
  eventType: { payload: 'event' },
  instructions:
    "Create the source with any secret. Then use the ClickUp API to create a webhook with the ingest URL as the endpoint parameter, and immediately set webhook.secret from the response as the source's secret: ClickUp suspends a webhook after a 401 response, and resumes it only when you set the webhook's status to active.",
  samples: [
    sample('taskCreated', {}),
    sample('taskStatusUpdated', {
      history_items: [{ id: '2800787326392370170', field: 'status', before: { status: 'open' } }],
    }),
  ],
};
