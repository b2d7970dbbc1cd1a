import type { Provider } from './provider.ts';

export const resend: Provider = {
  name: 'resend',
  title: 'Resend',
  docs: 'https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests',
  verification: { kind: 'standard', headerPrefix: 'svix-' },
  secret: { is: 'the signing secret (whsec_...)' },
  eventType: { payload: 'type' },
  eventId: { header: 'svix-id' },
  instructions: 'Go to Webhooks › Add Webhook. Enter the ingest URL, then copy the signing secret.',
  samples: [
    {
      event: 'email.delivered',
      body: { type: 'email.delivered', created_at: '{time}', data: { email_id: '{uuid}', to: ['emma@example.com'] } },
    },
    {
      event: 'email.bounced',
      body: {
        type: 'email.bounced',
        created_at: '{time}',
        data: { email_id: '{uuid}', to: ['emma@example.com'], bounce: { type: 'Permanent', subType: 'General' } },
      },
    },
  ],
};
