import { meta } from './meta.ts';
import type { Provider, Sample } from './provider.ts';

const sample = (field: string, value: object): Sample => ({
  event: field,
  body: { object: 'whatsapp_business_account', entry: [{ id: '102290129340398', changes: [{ field, value }] }] },
});

/** As Meta does it, with the events of one product. */
export const whatsapp: Provider = {
  ...meta,
  name: 'whatsapp',
  title: 'WhatsApp (Meta)',
  docs: 'https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint',
  eventType: { payload: 'entry.0.changes.0.field' },
  instructions:
    'Create the source with a verify token that you choose. Then go to App dashboard › WhatsApp › Configuration. Enter the ingest URL as the callback URL, and enter the verify token. Subscribe to the messages field, which includes message statuses.',
  samples: [
    sample('messages', {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '15550783881', phone_number_id: '106540352242922' },
      contacts: [{ profile: { name: 'Emma' }, wa_id: '16505551234' }],
      messages: [
        { from: '16505551234', id: 'wamid.{hex}', timestamp: '{seconds}', type: 'text', text: { body: 'Hello' } },
      ],
    }),
    sample('message_template_status_update', {
      event: 'APPROVED',
      message_template_id: 1689556908129832,
      message_template_name: 'order_confirmation',
      message_template_language: 'en_US',
      reason: null,
    }),
  ],
};
