// What the run of test/security/secrets.test.ts marks its secrets with.
import { randomBytes } from 'node:crypto';
import { serviceAccountKey } from '../warehouse/object-stores.ts';

const mark = (name: string) => `mk-${name}-${randomBytes(18).toString('hex')}`;
/** The key of a service account at Google, one line of which is SECRETS.gcs. */
export const account = serviceAccountKey();
const pem = (JSON.parse(account) as { private_key: string }).private_key;

export const SECRETS = {
  bearer: mark('bearer'),
  bearerReplaced: mark('bearer2'),
  password: mark('basic'),
  apiKeyHeader: mark('apikey'),
  customHeader: mark('custom'),
  signing: mark('signing'),
  signingRotated: mark('signing2'),
  rotated: mark('rotated'),
  github: mark('github'),
  stripe: mark('stripe'),
  slack: mark('slack'),
  hmac: mark('hmac'),
  s3: mark('s3'),
  r2: mark('r2'),
  // A line from its middle: the whole would not be found where lines are broken in another way.
  gcs: pem.split('\n')[9] ?? '',
  azure: mark('azure'),
  smtp: mark('smtp'),
  encryption: randomBytes(32).toString('base64'),
  apiKey: `whr_${mark('key')}`,
  refused: mark('refused'),
  alertSecret: mark('alert'),
  alertRotated: mark('alert2'),
  alertAddress: mark('alerturl'),
  // Of a form of its own.
  alertRouting: randomBytes(16).toString('hex'),
} as const;
/** Whom routes notify; it may be shown and stored. */
export const RECIPIENT = 'team@notified.example';
/** In every payload; it may be stored as such, and sent to destinations. */
export const PAYLOAD = mark('payload');
/**
 * In a custom header with the name of a secret, and in the query of an address: shown by the API, whose client chose
 * the place.
 */
export const SHOWN = { header: mark('header'), address: mark('address') };
