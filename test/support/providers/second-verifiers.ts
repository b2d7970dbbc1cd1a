// Packages of providers that verify what the signers here have made: a signer of ours that is wrong would be refused by
// them.
import {
  adyen,
  EventWebhook,
  MessageValidator,
  Paddle,
  validateWebhook,
  verifyKey,
  verifyWebhookSignature,
} from './provider-packages.ts';

export interface Received {
  headers: Record<string, string>;
  body: Buffer;
  /** As the owner of the source enters it. */
  secret: string;
}

export interface SecondVerifier {
  /** The package. */
  by: string;
  /** Times are compared with that of this machine. It may throw instead of saying no. */
  accepts: (received: Received) => boolean | Promise<boolean>;
}

const SENDGRID = 'x-twilio-email-event-webhook';

export const secondVerifiers: Record<string, SecondVerifier> = {
  adyen: {
    by: '@adyen/api-library',
    accepts({ body, secret }) {
      const validator = new adyen.hmacValidator();
      const { notificationItems } = JSON.parse(body.toString()) as {
        notificationItems: { NotificationRequestItem: unknown }[];
      };
      return notificationItems.every(({ NotificationRequestItem: item }) => validator.validateHMAC(item, secret));
    },
  },
  'aws-sns': {
    by: 'sns-validator',
    accepts: ({ body }) =>
      new Promise((resolve) => {
        new MessageValidator().validate(body.toString(), (error) => resolve(error === null));
      }),
  },
  coinbase: {
    by: 'hook0-client',
    accepts: ({ headers, body, secret }) =>
      verifyWebhookSignature(headers['x-hook0-signature'] ?? '', body, new Headers(headers), secret, 300),
  },
  discord: {
    by: 'discord-interactions',
    accepts: ({ headers, body, secret }) =>
      verifyKey(body, headers['x-signature-ed25519'] ?? '', headers['x-signature-timestamp'] ?? '', secret),
  },
  paddle: {
    by: '@paddle/paddle-node-sdk',
    accepts: ({ headers, body, secret }) =>
      new Paddle('unused').webhooks.isSignatureValid(body.toString(), secret, headers['paddle-signature'] ?? ''),
  },
  replicate: {
    by: 'replicate',
    accepts: ({ headers, body, secret }) =>
      validateWebhook({
        id: headers['webhook-id'] ?? '',
        timestamp: headers['webhook-timestamp'] ?? '',
        signature: headers['webhook-signature'] ?? '',
        body: body.toString(),
        secret,
      }),
  },
  sendgrid: {
    by: '@sendgrid/eventwebhook',
    accepts({ headers, body, secret }) {
      const [signature = '', timestamp = ''] = [headers[`${SENDGRID}-signature`], headers[`${SENDGRID}-timestamp`]];
      const webhook = new EventWebhook();
      return webhook.verifySignature(webhook.convertPublicKeyToECDSA(secret), body.toString(), signature, timestamp);
    },
  },
};
