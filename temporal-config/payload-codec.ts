// Encrypts the data of workflows that Temporal stores (arguments, results, signals, queries' answers, summaries), when
// HOOKYARD_TEMPORAL_CODEC says so: AES-256-GCM with the id of the key beside the cipher text. Ids of workflows, their
// types, search attributes and failure messages stay readable: Temporal itself searches and shows them. After
// temporalio/samples-typescript, `encryption`.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { Settings } from '../core/config/config.ts';

export interface CodecKey {
  id: string;
  key: Buffer;
}

/** Also of the bundle of the workflows. */
export const FAILURE_CONVERTER = fileURLToPath(new URL('./failure-converter.ts', import.meta.url));

/**
 * Value of the metadata `encoding` of an encrypted payload; that of Temporal's own samples, so that their tools know
 * it.
 */
export const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Thrown for a payload that cannot be decrypted; Temporal retries the task until a worker with the key runs it. */
class PayloadKeyError extends Error {
  override readonly name = 'PayloadKeyError';
}

/** @returns no codec when the mode is `off`: payloads then pass at no cost */
export function temporalDataConverter(
  mode: Settings['HOOKYARD_TEMPORAL_CODEC'],
  keys: readonly CodecKey[],
): DataConverter {
  return {
    failureConverterPath: FAILURE_CONVERTER,
    ...(mode !== 'off' && { payloadCodecs: [payloadCodec(keys, mode === 'on')] }),
  };
}

function payloadCodec(keys: readonly CodecKey[], encrypts: boolean): PayloadCodec {
  // Separate keys, so that the many payloads do not count towards the limit of the key for credentials (NIST SP
  // 800-38D, 8.3: 2^32 texts with random nonces).
  const derived = new Map(keys.map(({ id, key }) => [id, derivedKey(key)]));
  const current = keys[0]?.id;
  const currentKey = current === undefined ? undefined : derived.get(current);
  if (current === undefined || currentKey === undefined) throw new Error('at least one encryption key is required');
  return {
    encode: async (payloads) =>
      encrypts ? payloads.map((payload) => encrypt(payload, current, currentKey)) : payloads,
    decode: async (payloads) => payloads.map((payload) => decrypt(payload, derived)),
  };
}

const derivedKey = (key: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', 'hookyard temporal payloads v1', KEY_BYTES));

function encrypt(payload: Payload, keyId: string, key: Buffer): Payload {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(keyId));
  const plain = proto.temporal.api.common.v1.Payload.encode(payload).finish();
  const data = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return { metadata: { encoding: Buffer.from(ENCRYPTED), [KEY_ID]: Buffer.from(keyId) }, data };
}

function decrypt(payload: Payload, keys: ReadonlyMap<string, Buffer>): Payload {
  const { metadata, data } = payload;
  if (!metadata?.encoding || Buffer.from(metadata.encoding).toString() !== ENCRYPTED) return payload;
  const keyId = Buffer.from(metadata[KEY_ID] ?? []).toString();
  const key = keys.get(keyId);
  if (!key || !data) {
    throw new PayloadKeyError(
      `a payload was encrypted with the key "${keyId}", which is missing from HOOKYARD_ENCRYPTION_KEYS`,
    );
  }
  const sealed = Buffer.from(data);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(keyId))
      .setAuthTag(sealed.subarray(-TAG_BYTES));
    const plain = Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    return proto.temporal.api.common.v1.Payload.decode(plain);
  } catch {
    throw new PayloadKeyError(
      `the encryption key "${keyId}" cannot decrypt a payload: the payload is damaged, or was encrypted with a different key that has the same ID`,
    );
  }
}
