import { hmacOf, type Provider } from './provider.ts';

export const elevenlabs: Provider = {
  name: 'elevenlabs',
  title: 'ElevenLabs',
  docs: 'https://elevenlabs.io/docs/overview/administration/webhooks',
  verification: hmacOf({
    header: 'ElevenLabs-Signature',
    signaturePart: 'v0',
    timestampPart: 't',
    toleranceSeconds: 1800,
    template: '{timestamp}.{body}',
  }),
  secret: { is: 'the webhook secret' },
  eventType: { payload: 'type' },
  instructions: 'Go to Settings › Webhooks › Create webhook. Enter the ingest URL, then copy the secret.',
  samples: [
    {
      event: 'post_call_transcription',
      body: {
        type: 'post_call_transcription',
        event_timestamp: '{seconds:number}',
        data: { agent_id: 'xyz', conversation_id: 'abc', status: 'done' },
      },
    },
  ],
};
