import type { Provider, Sample } from './provider.ts';

const sample = (changeType: string, resource: string): Sample => ({
  event: changeType,
  body: { value: [{ subscriptionId: '{uuid}', changeType, resource, tenantId: '{uuid}' }] },
});

export const microsoftGraph: Provider = {
  name: 'microsoft-graph',
  title: 'Microsoft Graph',
  docs: 'https://learn.microsoft.com/graph/change-notifications-delivery-webhooks',
  verification: { kind: 'body-token', list: 'value', member: 'clientState' },
  secret: { is: "the subscription's clientState" },
  eventType: { payload: 'value.0.changeType' },
  handshakes: [{ kind: 'echo-query', method: 'POST', parameter: 'validationToken' }],
  instructions:
    'Create the subscription with the ingest URL as the notificationUrl parameter and the secret as the clientState parameter. Hookyard responds to the validation request. The clientState value is part of the body, so it is stored with the event.',
  samples: [sample('created', 'me/messages/AAMk'), sample('updated', 'me/events/AAMk')],
};
