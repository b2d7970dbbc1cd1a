// How each provider of the registry signs, written a second time and apart from it, or by its own library: what the
// registry says is compared with this.
import { createHmac, generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign } from 'node:crypto';
import { hs256 } from './described-signers.ts';
import { librarySigners } from './library-signers.ts';
import { partSigners } from './part-signers.ts';
import { type Message, type Signer, seconds, shared, sharedAs } from './signer.ts';

type Mac = (key: string | KeyObject | Buffer, ...parts: (string | Buffer)[]) => string;
const mac =
  (algorithm: string, encoding: 'hex' | 'base64'): Mac =>
  (key, ...parts) => {
    const hash = createHmac(algorithm, key);
    for (const part of parts) hash.update(part);
    return hash.digest(encoding);
  };
const hex256 = mac('sha256', 'hex');
const base256 = mac('sha256', 'base64');
const hex1 = mac('sha1', 'hex');
const base1 = mac('sha1', 'base64');

const timedBody = (message: Message) => Buffer.concat([Buffer.from(seconds(message)), message.body]);
const FORM = 'application/x-www-form-urlencoded';

/** A header with the MAC of the body. */
const simple = (header: string, of: Mac, prefix = ''): Signer => ({
  secret: shared,
  sign: ({ body }, key) => ({ headers: { [header]: prefix + of(key, body) } }),
});
const token = (header: string, prefix = ''): Signer => ({
  ...{ secret: shared, covers: 'nothing' },
  sign: (_message, key) => ({ headers: { [header]: prefix + String(key) } }),
});
const basic: Signer = {
  secret: sharedAs(() => `hook:${randomBytes(12).toString('hex')}`),
  covers: 'nothing',
  sign: (_message, key) => ({ headers: { authorization: `Basic ${Buffer.from(key as string).toString('base64')}` } }),
};
/** `t=...,v1=...` over the time, a separator and the body. */
const timed = (header: string, [t, v]: string[], [outer, inner = '']: string[], tolerance: number): Signer => ({
  ...{ secret: shared, seconds: tolerance },
  sign: (message, key) => ({
    headers: { [header]: `${t}=${seconds(message)}${outer}${v}=${hex256(key, seconds(message), inner, message.body)}` },
  }),
});
const slackLike = (signature: string, time: string): Signer => ({
  ...{ secret: shared, seconds: 300 },
  sign: (message, key) => ({
    headers: { [time]: seconds(message), [signature]: `v0=${hex256(key, `v0:${seconds(message)}:`, message.body)}` },
  }),
});

/** A hub with the method that it prefers. */
const hub = (method: 'sha1' | 'sha256'): Signer =>
  simple('x-hub-signature', method === 'sha1' ? hex1 : hex256, `${method}=`);

export const signers: Record<string, Signer> = {
  ...librarySigners,
  ...partSigners,
  airtable: {
    secret: () => {
      const secret = randomBytes(32).toString('base64');
      return { secret, key: Buffer.from(secret, 'base64').toString('latin1') };
    },
    sign: ({ body }, key) => ({
      headers: { 'x-airtable-content-mac': `hmac-sha256=${hex256(Buffer.from(key as string, 'latin1'), body)}` },
    }),
  },
  asana: simple('x-hook-signature', hex256),
  auth0: token('authorization'),
  'azure-event-grid': {
    ...{ secret: shared, covers: 'nothing' },
    sign: (_message, key) => ({ headers: { 'aeg-event-type': 'Notification' }, query: `token=${String(key)}` }),
  },
  bitbucket: simple('x-hub-signature', hex256, 'sha256='),
  'cal-com': simple('x-cal-signature-256', hex256),
  calendly: timed('calendly-webhook-signature', ['t', 'v1'], [',', '.'], 300),
  chargebee: basic,
  clickup: simple('x-signature', hex256),
  coinbase: {
    ...{ secret: shared, seconds: 300, covers: 'headers' },
    sign: (message, key) => {
      const event = { 'x-event-id': randomUUID(), 'x-event-type': 'wallet.activity.detected' };
      const headers = { 'content-type': 'application/json', ...event };
      const names = Object.keys(headers).join(' ');
      const text = `${seconds(message)}.${names}.${Object.values(headers).join('.')}.`;
      const [v0, v1] = [hex256(key, `${seconds(message)}.`, message.body), hex256(key, text, message.body)];
      return { headers: { 'x-hook0-signature': `t=${seconds(message)},v0=${v0},h=${names},v1=${v1}`, ...headers } };
    },
  },
  'coinbase-commerce': simple('x-cc-webhook-signature', hex256),
  datadog: token('authorization', 'Bearer '),
  discord: {
    secret: () => {
      const { publicKey, privateKey: key } = generateKeyPairSync('ed25519');
      return { secret: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex'), key };
    },
    seconds: 300,
    sign: (message, key) => {
      const signature = sign(null, timedBody(message), key as KeyObject).toString('hex');
      return { headers: { 'x-signature-timestamp': seconds(message), 'x-signature-ed25519': signature } };
    },
  },
  docusign: simple('x-docusign-signature-1', base256),
  dropbox: simple('x-dropbox-signature', hex256),
  elevenlabs: timed('elevenlabs-signature', ['t', 'v0'], [',', '.'], 1800),
  gitlab: token('x-gitlab-token'),
  hubspot: {
    ...{ secret: shared, seconds: 300, covers: 'address' },
    sign: ({ body, url, nowMs }, key) => {
      const signature = base256(key, `POST${url}`, body, String(nowMs));
      return { headers: { 'x-hubspot-request-timestamp': String(nowMs), 'x-hubspot-signature-v3': signature } };
    },
  },
  instagram: simple('x-hub-signature-256', hex256, 'sha256='),
  intercom: simple('x-hub-signature', hex1, 'sha1='),
  jira: simple('x-hub-signature', hex256, 'sha256='),
  linear: simple('linear-signature', hex256),
  meta: simple('x-hub-signature-256', hex256, 'sha256='),
  'microsoft-graph': {
    ...{ secret: shared, covers: 'nothing' },
    sign: ({ body }, key) => {
      const { value } = JSON.parse(body.toString()) as { value: object[] };
      const items = [...value, ...value].map((item) => ({ ...item, clientState: key }));
      return { headers: {}, body: Buffer.from(JSON.stringify({ value: items })) };
    },
  },
  monday: {
    ...{ secret: shared, seconds: 300, covers: 'nothing' },
    sign: ({ nowMs, url }, key) => {
      const iat = Math.floor(nowMs / 1000);
      const claims = { accountId: 1825529, userId: 4012689, aud: url, exp: iat + 300, iat };
      return { headers: { authorization: hs256(claims, key as string, { alg: 'HS256', typ: 'JWT' }) } };
    },
  },
  notion: simple('x-notion-signature', hex256, 'sha256='),
  nylas: simple('x-nylas-signature', hex256),
  okta: token('authorization'),
  paddle: timed('paddle-signature', ['ts', 'h1'], [';', ':'], 300),
  pagerduty: simple('x-pagerduty-signature', hex256, 'v1='),
  postmark: basic,
  salesforce: {
    ...{ secret: shared, covers: 'nothing' },
    sign: (_message, key) => ({ headers: {}, query: `token=${String(key)}` }),
  },
  sendgrid: {
    secret: () => {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
      return { secret: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'), key: privateKey };
    },
    seconds: 300,
    sign: (message, key) => {
      const header = 'x-twilio-email-event-webhook';
      const signature = sign('sha256', timedBody(message), key as KeyObject).toString('base64');
      return { headers: { [`${header}-timestamp`]: seconds(message), [`${header}-signature`]: signature } };
    },
  },
  sentry: simple('sentry-hook-signature', hex256),
  shopify: simple('x-shopify-hmac-sha256', base256),
  slack: slackLike('x-slack-signature', 'x-slack-request-timestamp'),
  square: {
    ...{ secret: shared, covers: 'address' },
    sign: ({ body, url }, key) => ({ headers: { 'x-square-hmacsha256-signature': base256(key, url, body) } }),
  },
  mailchimp: {
    ...{ secret: shared, covers: 'nothing' },
    sign: (_message, key) => ({ headers: { 'content-type': FORM }, query: `secret=${String(key)}` }),
  },
  mandrill: {
    ...{ secret: shared, covers: 'address' },
    sign: ({ body, url }, key) => {
      const fields = [...new URLSearchParams(body.toString())].toSorted().flat();
      return { headers: { 'content-type': FORM, 'x-mandrill-signature': base1(key, url, ...fields) } };
    },
  },
  x: simple('x-twitter-webhooks-signature', base256, 'sha256='),
  telegram: token('x-telegram-bot-api-secret-token'),
  trello: {
    ...{ secret: shared, covers: 'address' },
    sign: ({ body, url }, key) => ({ headers: { 'x-trello-webhook': base1(key, body, url) } }),
  },
  twitch: {
    ...{ secret: shared, seconds: 600 },
    sign: ({ body, nowMs }, key) => {
      const [id, time] = [randomUUID(), new Date(nowMs).toISOString().replace('Z', '123456Z')];
      const all = { id, timestamp: time, signature: `sha256=${hex256(key, id, time, body)}` };
      const named = Object.entries(all).map(([name, value]) => [`twitch-eventsub-message-${name}`, value]);
      return { headers: Object.fromEntries(named) };
    },
  },
  typeform: simple('typeform-signature', base256, 'sha256='),
  vercel: simple('x-vercel-signature', hex1),
  webflow: {
    ...{ secret: shared, seconds: 300 },
    sign: ({ body, nowMs }, key) => ({
      headers: { 'x-webflow-timestamp': String(nowMs), 'x-webflow-signature': hex256(key, `${nowMs}:`, body) },
    }),
  },
  websub: hub('sha256'),
  whatsapp: simple('x-hub-signature-256', hex256, 'sha256='),
  woocommerce: simple('x-wc-webhook-signature', base256),
  xero: simple('x-xero-signature', base256),
  youtube: hub('sha1'),
  zendesk: {
    ...{ secret: shared, seconds: 300 },
    sign: ({ body, nowMs }, key) => {
      const [time, header] = [new Date(nowMs).toISOString(), 'x-zendesk-webhook-signature'];
      return { headers: { [`${header}-timestamp`]: time, [header]: base256(key, time, body) } };
    },
  },
  zoom: slackLike('x-zm-signature', 'x-zm-request-timestamp'),
};
