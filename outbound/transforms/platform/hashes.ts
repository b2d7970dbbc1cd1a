// Hashes, and random bytes that follow from the event.
import { createHash, createHmac } from 'node:crypto';
import { type EventSeed, type Part, RangeProblem, textOf } from './values.ts';

const ALGORITHMS = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'] as const;
const FORMS = ['hex', 'base64', 'base64url'] as const;
// Of getRandomValues in browsers.
const MAX_RANDOM = 65_536;

/** @param keyLength how many of the bytes, at their start, are the key; null: there is none */
function hash([name, keyLength, form]: readonly unknown[], data: Uint8Array): unknown {
  const wanted = textOf(name, 100).toLowerCase().replace(/^sha-/, 'sha');
  const algorithm = ALGORITHMS.find((each) => each === wanted);
  if (algorithm === undefined)
    throw new TypeError(`Unknown hash algorithm: ${wanted}; use one of ${ALGORITHMS.join(', ')}`);
  const made =
    typeof keyLength === 'number'
      ? createHmac(algorithm, data.subarray(0, keyLength)).update(data.subarray(keyLength))
      : createHash(algorithm).update(data);
  if (form === null || form === undefined) return made.digest();
  const encoding = FORMS.find((each) => each === form);
  if (encoding === undefined)
    throw new TypeError(`The digest encoding must be one of ${FORMS.join(', ')}; omit it to get bytes`);
  return made.digest(encoding);
}

/** The same for the same event; a 32-bit seed would repeat among some ten thousand events. */
function random([size]: readonly unknown[], _data: Uint8Array, seed: EventSeed): Buffer {
  if (!Number.isInteger(size) || Number(size) < 0 || Number(size) > MAX_RANDOM)
    throw new RangeProblem(`Cannot generate more than ${MAX_RANDOM} random bytes at a time`);
  seed.draws += 1;
  return createHash('shake256', { outputLength: Math.max(1, Number(size)) })
    .update(`${seed.eventId}:${seed.draws}`)
    .digest()
    .subarray(0, Number(size));
}

export const hashes: Part = {
  mentioned: /\bcrypto\b/,
  script: `(call, define) => {
    const { TextEncoder } = globalThis, encoder = new TextEncoder();
    const bytesOf = (data) => {
      if (typeof data === 'string') return encoder.encode(data);
      if (data instanceof ArrayBuffer) return new Uint8Array(data);
      if (!ArrayBuffer.isView(data)) throw new TypeError('The data to hash must be text or bytes');
      return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    };
    const joined = (list) => {
      const all = new Uint8Array(list.reduce((sum, each) => sum + each.length, 0));
      let at = 0;
      for (const each of list) { all.set(each, at); at += each.length; }
      return all.buffer;
    };
    class Hash {
      #name; #key; #parts = [];
      constructor(name, key) {
        this.#name = String(name);
        this.#key = key === undefined ? null : bytesOf(key);
        call('hash', [this.#name, null, 'hex']);
      }
      update(data, encoding) {
        const bytes = typeof data === 'string' && encoding !== undefined ? globalThis.Buffer.from(data, encoding) : bytesOf(data);
        this.#parts.push(Uint8Array.from(bytes));
        return this;
      }
      digest(form) {
        const key = this.#key;
        const made = call('hash', [this.#name, key?.length ?? null, form], joined(key === null ? this.#parts : [key, ...this.#parts]));
        return typeof made === 'string' ? made : new (globalThis.Buffer ?? Uint8Array)(made);
      }
    }
    const randomBytes = (size) => new Uint8Array(call('random', [size]));
    define('crypto', {
      createHash: (name) => new Hash(name),
      createHmac: (name, key) => {
        if (key === undefined) throw new TypeError('A key is missing');
        return new Hash(name, key);
      },
      randomUUID() {
        const bytes = randomBytes(16);
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
        return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
      },
      getRandomValues(array) {
        new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(randomBytes(array.byteLength));
        return array;
      },
      subtle: {
        async digest(algorithm, data) { return call('hash', [String(algorithm?.name ?? algorithm), null], joined([bytesOf(data)])); },
      },
    });
  }`,
  operations: {
    hash,
    hashText: ([name, key, text]) => {
      const data = Buffer.from(textOf(text));
      if (key === null) return hash([name, null, 'hex'], data);
      const keyBytes = Buffer.from(textOf(key));
      return hash([name, keyBytes.length, 'hex'], Buffer.concat([keyBytes, data]));
    },
    random,
  },
};
