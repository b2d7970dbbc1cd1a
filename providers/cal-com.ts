import { hmacOf } from '../core/verification/template.ts';
import type { Provider } from './provider.ts';

export const calCom: Provider = {
  name: 'cal-com',
  title: 'Cal.com',
  docs: 'https://cal.com/docs/developing/guides/automation/webhooks',
  verification: hmacOf({ header: 'X-Cal-Signature-256' }),
  secret: { is: 'the secret of the webhook' },
  eventType: { payload: 'triggerEvent' },
  instructions: 'Settings, Developer, Webhooks: enter the address of the source as subscriber URL, and the secret.',
  samples: [
    {
      event: 'BOOKING_CREATED',
      body: {
        triggerEvent: 'BOOKING_CREATED',
        createdAt: '{time}',
        payload: { type: '60min', title: 'Meeting', uid: 'bFJeNb2uX8ANpT3JL5EfXw' },
      },
    },
    {
      event: 'BOOKING_CANCELLED',
      body: {
        triggerEvent: 'BOOKING_CANCELLED',
        createdAt: '{time}',
        payload: { type: '60min', title: 'Meeting', uid: 'bFJeNb2uX8ANpT3JL5EfXw', cancellationReason: 'I am ill' },
      },
    },
  ],
};
