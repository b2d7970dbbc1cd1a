// The signers of providers that sign a part of the body only.
import { createHmac, randomBytes } from 'node:crypto';
import { type Signer, seconds, shared, sharedAs } from './signer.ts';

const ADYEN_VALUES = [
  ...(['pspReference', 'originalReference', 'merchantAccountCode'] as const),
  ...(['merchantReference', 'eventCode', 'success'] as const),
];
type AdyenItem = Record<Exclude<(typeof ADYEN_VALUES)[number], 'originalReference'>, string> & {
  originalReference?: string;
  amount: { value: number; currency: string };
};
interface AdyenBody {
  notificationItems: { NotificationRequestItem: AdyenItem }[];
}

function withItem(body: Buffer, change: (item: AdyenItem) => object): Buffer {
  const sent = JSON.parse(body.toString()) as AdyenBody;
  const notificationItems = sent.notificationItems.map(({ NotificationRequestItem: item }) => ({
    NotificationRequestItem: change(item),
  }));
  return Buffer.from(JSON.stringify({ ...sent, notificationItems }));
}

export const partSigners: Record<string, Signer> = {
  adyen: {
    secret: sharedAs(() => randomBytes(32).toString('hex').toUpperCase()),
    covers: {
      part: 'eight values of each item',
      changed: (body) => [
        ...ADYEN_VALUES.map((name) => withItem(body, (item) => ({ ...item, [name]: `${item[name] ?? ''}1` }))),
        ...[{ value: 1131 }, { currency: 'USD' }].map((change) =>
          withItem(body, (item) => ({ ...item, amount: { ...item.amount, ...change } })),
        ),
        withItem(body, (item) => ({ ...item, additionalData: {} })),
      ],
      unchanged: (body) => withItem(body, (item) => ({ ...item, paymentMethod: 'mc' })),
    },
    sign({ body }, key) {
      const sent = JSON.parse(body.toString()) as AdyenBody;
      const items = sent.notificationItems.map(({ NotificationRequestItem: item }) => {
        const { pspReference, originalReference = '', merchantAccountCode, merchantReference, amount } = item;
        const text = `${pspReference}:${originalReference}:${merchantAccountCode}:${merchantReference}:${amount.value}:${amount.currency}:${item.eventCode}:${item.success}`;
        const hmac = createHmac('sha256', Buffer.from(key as string, 'hex')).update(text);
        const hmacSignature = hmac.digest('base64');
        return { NotificationRequestItem: { ...item, additionalData: { hmacSignature } } };
      });
      return { headers: {}, body: Buffer.from(JSON.stringify({ ...sent, notificationItems: items })) };
    },
  },
  mailgun: {
    secret: shared,
    seconds: 9 * 3600,
    covers: {
      part: 'a time and a token, not the event',
      changed: (body) => {
        const sent = JSON.parse(body.toString()) as { signature: Record<string, string> };
        const { timestamp = '', token: value = '', signature = '' } = sent.signature;
        const flipped = signature.startsWith('0') ? '1' : '0';
        return [
          { timestamp: String(Number(timestamp) + 1) },
          ...[{ token: `${value}0` }, { token: value.slice(1) }],
          ...[{ signature: flipped + signature.slice(1) }, { signature: '' }, { token: undefined }],
        ].map((change) => Buffer.from(JSON.stringify({ ...sent, signature: { ...sent.signature, ...change } })));
      },
      unchanged: (body) =>
        Buffer.from(JSON.stringify({ ...(JSON.parse(body.toString()) as object), 'event-data': { event: 'opened' } })),
    },
    sign(message, key) {
      const timestamp = seconds(message);
      const value = randomBytes(25).toString('hex');
      const hmac = createHmac('sha256', key as string).update(timestamp + value);
      const signature = { timestamp, token: value, signature: hmac.digest('hex') };
      const sent = JSON.parse(message.body.toString()) as object;
      return { headers: {}, body: Buffer.from(JSON.stringify({ signature, ...sent })) };
    },
  },
};
