import type { Provider, Sample } from './provider.ts';

const sample = (type: string, members: object): Sample => ({
  event: type,
  body: { type, created_at: '{time}', data: { email_id: '{uuid}', to: ['emma@example.com'], ...members } },
});

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
    sample('email.delivered', {}),
    sample('email.bounced', { bounce: { type: 'Permanent', subType: 'General' } }),
  ],
};
