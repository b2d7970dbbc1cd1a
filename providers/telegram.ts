import type { Provider, Sample } from './provider.ts';

const sample = (update_id: number, event: string, content: object): Sample => ({
  event,
  body: { update_id, [event]: content },
});

export const telegram: Provider = {
  name: 'telegram',
  title: 'Telegram',
  docs: 'https://core.telegram.org/bots/api#setwebhook',
  verification: { kind: 'header-token', header: 'X-Telegram-Bot-Api-Secret-Token' },
  secret: { is: 'the secret_token that you pass to setWebhook' },
  eventId: { payload: 'update_id' },
  instructions:
    'Call setWebhook in the Bot API with the ingest URL as the url parameter and the secret as the secret_token parameter.',
  samples: [
    sample(10000, 'message', {
      message_id: 1365,
      date: 1441645532,
      chat: { id: 1111111, type: 'private' },
      text: '/start',
    }),
    sample(10001, 'callback_query', {
      id: '4382bfdwdsb323b2d9',
      from: { id: 1111111, first_name: 'Emma' },
      data: 'pay',
    }),
  ],
};
