import type { Provider } from './provider.ts';

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
  samples: [
    {
      event: 'created',
      body: {
        value: [{ subscriptionId: '{uuid}', changeType: 'created', resource: 'me/messages/AAMk', tenantId: '{uuid}' }],
      },
    },
    {
      event: 'updated',
      body: {
        value: [{ subscriptionId: '{uuid}', changeType: 'updated', resource: 'me/events/AAMk', tenantId: '{uuid}' }],
      },
    },
  ],
};
