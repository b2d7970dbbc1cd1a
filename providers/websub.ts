import type { Provider } from './provider.ts';

export const websub: Provider = {
  name: 'websub',
  title: 'WebSub (PubSubHubbub)',
  docs: 'https://www.w3.org/TR/websub/',
  verification: { kind: 'websub' },
  secret: { is: 'the hub.secret of the subscription' },
  verifyToken: 'the address of the topic, or a verify token of your own if the hub knows them',
  handshakes: [{ kind: 'websub' }],
  instructions:
    'Create the source, then subscribe at the hub: hub.callback is the address of the source, hub.topic the topic, hub.secret the secret. Hookyard answers for this topic only (or with this hub.verify_token), and never to end a subscription. Subscribe again before the lease ends that the hub gives.',
  samples: [
    {
      event: 'update',
      headers: { 'Content-Type': 'application/atom+xml' },
      body: '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><updated>{time}</updated><entry><id>urn:uuid:{uuid}</id><title>Hello</title></entry></feed>',
    },
  ],
};
