import type { Provider, Sample } from './provider.ts';

const sample = (eventType: string, api: string): Sample => ({
  event: eventType,
  headers: { 'aeg-event-type': 'Notification' },
  body: [
    {
      id: '{uuid}',
      topic: '/subscriptions/x/storageAccounts/a',
      subject: '/blobServices/default/containers/c/blobs/b',
      eventType,
      eventTime: '{time}',
      data: { api },
      dataVersion: '',
      metadataVersion: '1',
    },
  ],
});

export const azureEventGrid: Provider = {
  name: 'azure-event-grid',
  title: 'Azure Event Grid',
  docs: 'https://learn.microsoft.com/azure/event-grid/end-point-validation-event-grid-events-schema',
  verification: { kind: 'query-token', parameter: 'token' },
  secret: { is: 'a token that you choose' },
  eventType: { payload: '0.eventType' },
  eventId: { payload: '0.id' },
  dedup: null,
  handshakes: [{ kind: 'validation-code' }, { kind: 'abuse-protection' }],
  instructions:
    'Create a webhook subscription. As the endpoint, enter the ingest URL followed by ?token= and the token. Hookyard responds to validation requests for both Event Grid events and CloudEvents.',
  samples: [sample('Microsoft.Storage.BlobCreated', 'PutBlob'), sample('Microsoft.Storage.BlobDeleted', 'DeleteBlob')],
};
