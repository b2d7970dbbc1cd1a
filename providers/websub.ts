import type { Provider } from './provider.ts';

export const websub: Provider = {
  name: 'websub',
  title: 'WebSub (PubSubHubbub)',
  docs: 'https://www.w3.org/TR/websub/',
  verification: { kind: 'websub' },
  secret: { is: "the subscription's hub.secret" },
  verifyToken: 'the topic URL, or a token that you choose if the hub supports hub.verify_token',
  handshakes: [{ kind: 'websub' }],
  instructions:
    'Create the source, then subscribe at the hub with these parameters: the ingest URL as hub.callback, the topic as hub.topic, the secret as hub.secret and, if you chose a token, the token as hub.verify_token. Hookyard confirms subscriptions only with this token or, if you chose none, for this topic, and never confirms unsubscribe requests. Renew the subscription before its lease expires.',
  samples: [
    {
      event: 'update',
      headers: { 'Content-Type': 'application/atom+xml' },
      body: '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><updated>{time}</updated><entry><id>urn:uuid:{uuid}</id><title>Hello</title></entry></feed>',
    },
  ],
};
