// X.509 certificates that a test makes for itself: Node reads them only.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

const DAY_MS = 86_400_000;

/** One value in DER: its tag, its length, its content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length]), bytes, content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const SHA256_WITH_RSA = sequence(der(0x06, Buffer.from('2a864886f70d01010b', 'hex')), der(0x05));
const COMMON_NAME = der(0x06, Buffer.from('550403', 'hex'));

const nameOf = (text: string) => sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(text)))));
const timeOf = (ms: number) => der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`));

/**
 * A certificate that is signed with its own key, as PEM.
 * @param valid in ms since 1970
 */
export function certificateOf(
  { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject },
  name: string,
  valid: { fromMs: number; toMs: number },
): string {
  const content = sequence(
    der(0x02, Buffer.from([1])),
    SHA256_WITH_RSA,
    nameOf(name),
    sequence(timeOf(valid.fromMs), timeOf(valid.toMs)),
    nameOf(name),
    publicKey.export({ format: 'der', type: 'spki' }),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  const base64 = sequence(content, SHA256_WITH_RSA, signature).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/(.{64})/g, '$1\n').trimEnd()}\n-----END CERTIFICATE-----\n`;
}

/** A certificate of today and its key, as PEM. */
export function selfSigned(name: string): { cert: string; key: string } {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const cert = certificateOf(pair, name, { fromMs: Date.now() - DAY_MS, toMs: Date.now() + DAY_MS });
  return { cert, key: String(pair.privateKey.export({ format: 'pem', type: 'pkcs8' })) };
}
