import { hmacOf, type Provider } from './provider.ts';

export const dropbox: Provider = {
  name: 'dropbox',
  title: 'Dropbox',
  docs: 'https://www.dropbox.com/developers/reference/webhooks',
  verification: hmacOf({ header: 'X-Dropbox-Signature' }),
  secret: { is: 'the app secret', shortest: 15 },
  handshakes: [{ kind: 'echo-query', method: 'GET', parameter: 'challenge' }],
  instructions:
    'Go to App Console › your app › Webhooks and enter the ingest URL. Hookyard responds to the handshake. Notifications only identify the accounts that changed; fetch the changes from Dropbox.',
  samples: [
    {
      event: 'list_folder',
      body: { list_folder: { accounts: ['dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc'] }, delta: { users: [12345678] } },
    },
  ],
};
