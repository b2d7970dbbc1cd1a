import type { Provider } from './provider.ts';

export const elevenlabs: Provider = {
  name: 'elevenlabs',
  title: 'ElevenLabs',
  docs: 'https://elevenlabs.io/docs/overview/administration/webhooks',
  verification: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    header: 'ElevenLabs-Signature',
    named: { separator: ',', signature: 'v0', timestamp: 't' },
    timestamp: { unit: 's', toleranceSeconds: 1800 },
    signed: ['timestamp', { text: '.' }, 'body'],
  },
  secret: { is: 'the secret of the webhook' },
  eventType: { payload: 'type' },
  eventId: null,
  dedup: null,
  handshakes: [],
  instructions: 'Settings, Webhooks, Create webhook: enter the address of the source, then copy the secret.',
  samples: [
    {
      event: 'post_call_transcription',
      headers: { 'Content-Type': 'application/json' },
      body: {
        type: 'post_call_transcription',
        event_timestamp: '{seconds:number}',
        data: { agent_id: 'xyz', conversation_id: 'abc', status: 'done' },
      },
    },
  ],
};
