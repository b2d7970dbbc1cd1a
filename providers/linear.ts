import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (event: string, action: string, data: object): Sample => ({
  event,
  headers: { 'Linear-Event': event, 'Linear-Delivery': '{uuid}' },
  body: {
    action,
    type: event,
    actor: { id: 'b5ea5f1f-8adc-4f52-b4bd-ab4e84cf51ba', type: 'user', name: 'Emma' },
    createdAt: '{time}',
    data: { ...data, createdAt: '{time}', updatedAt: '{time}' },
    url: 'https://linear.app/acme/issue/SHOP-42',
    organizationId: '2d5e1ff0-1d3a-4f12-8c3c-b8f1a7c55d10',
    webhookTimestamp: '{milliseconds:number}',
    webhookId: '000042e3-d123-4980-b49f-8e140eef9329',
  },
});

export const linear: Provider = {
  name: 'linear',
  title: 'Linear',
  docs: 'https://linear.app/developers/webhooks',
  verification: hmacOf({ header: 'Linear-Signature' }),
  secret: { is: "the webhook's signing secret" },
  eventType: { header: 'Linear-Event' },
  eventId: { header: 'Linear-Delivery' },
  instructions: 'Go to Settings › API › New webhook. Enter the ingest URL, then copy the signing secret.',
  samples: [
    sample('Issue', 'create', {
      id: '{uuid}',
      identifier: 'SHOP-42',
      number: 42,
      title: 'It does not work',
      priority: 2,
      state: { name: 'Todo', type: 'unstarted' },
    }),
    sample('Comment', 'create', {
      id: '{uuid}',
      issueId: '2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9',
      body: 'I see it, too',
    }),
    sample('Project', 'update', { id: '{uuid}', name: 'New shop', state: 'started', progress: 0.5 }),
  ],
};
