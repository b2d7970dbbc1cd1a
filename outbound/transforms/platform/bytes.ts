// Texts as bytes and base64.
import { type Part, textOf } from './values.ts';

const ENCODINGS = ['utf8', 'latin1', 'hex', 'base64', 'base64url', 'utf16le'] as const;
type Encoding = (typeof ENCODINGS)[number];
const OTHER_NAMES: Readonly<Record<string, Encoding>> = {
  'utf-8': 'utf8',
  binary: 'latin1',
  ascii: 'latin1',
  ucs2: 'utf16le',
};

function encodingOf(value: unknown): Encoding {
  const name = String(value).toLowerCase();
  const known = OTHER_NAMES[name] ?? ENCODINGS.find((each) => each === name);
  if (known === undefined) throw new TypeError(`Unknown encoding: ${name.slice(0, 100)}`);
  return known;
}

const STRICT = new TextDecoder('utf-8', { fatal: true });

/** Base64 and base64url, with spaces and without its padding: what senders write. @throws Error for other text */
function bytesOfBase64(text: string): Buffer {
  const digits = text.replace(/[\t\n\f\r ]/g, '').replace(/={1,2}$/, '');
  if (digits.length % 4 === 1 || !/^[A-Za-z0-9+/_-]*$/.test(digits)) throw new Error('The text is not valid base64');
  return Buffer.from(digits, 'base64');
}

export const bytes: Part = {
  mentioned: /\b(?:atob|btoa|TextEncoder|TextDecoder|Buffer|crypto)\b/,
  script: `(call, define) => {
    define('btoa', (text) => call('btoa', [String(text)]));
    define('atob', (text) => call('atob', [String(text)]));
    const exact = (data) => {
      if (data instanceof ArrayBuffer) return data;
      if (!ArrayBuffer.isView(data)) throw new TypeError('Bytes must be a typed array or an ArrayBuffer');
      const { buffer, byteOffset, byteLength } = data;
      return byteLength === buffer.byteLength && buffer instanceof ArrayBuffer ? buffer : new Uint8Array(buffer, byteOffset, byteLength).slice().buffer;
    };
    define('TextEncoder', class TextEncoder {
      get encoding() { return 'utf-8'; }
      encode(text = '') { return new Uint8Array(call('bytesOf', [String(text), 'utf8'])); }
      encodeInto(text, target) {
        let read = 0, written = 0;
        for (const character of String(text)) {
          const bytes = this.encode(character);
          if (written + bytes.length > target.length) break;
          target.set(bytes, written);
          written += bytes.length;
          read += character.length;
        }
        return { read, written };
      }
    });
    define('TextDecoder', class TextDecoder {
      constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
        define('encoding', call('decoder', [String(label)]), this);
        define('fatal', fatal === true, this);
        define('ignoreBOM', ignoreBOM === true, this);
      }
      decode(data, options) {
        if (options?.stream) throw new TypeError('TextDecoder cannot decode a stream here: join the bytes first');
        return data === undefined ? '' : call('decode', [this.encoding, this.fatal, this.ignoreBOM], exact(data));
      }
    });
    class Buffer extends Uint8Array {
      static from(data, encoding = 'utf8', length) {
        if (typeof data === 'string') return new Buffer(call('bytesOf', [data, encoding]));
        if (data instanceof ArrayBuffer) return new Buffer(data, typeof encoding === 'number' ? encoding : 0, length);
        return super.from(data?.type === 'Buffer' && Array.isArray(data.data) ? data.data : data);
      }
      static alloc(size, fill, encoding) { const made = new Buffer(size); return fill === undefined ? made : made.fill(fill, encoding); }
      static concat(list) {
        const joined = new Buffer(list.reduce((sum, each) => sum + each.length, 0));
        let at = 0;
        for (const each of list) { joined.set(each, at); at += each.length; }
        return joined;
      }
      static isBuffer(value) { return value instanceof Buffer; }
      static byteLength(data, encoding) { return typeof data === 'string' ? Buffer.from(data, encoding).length : data.byteLength; }
      static compare(a, b) { return a.compare(b); }
      toString(encoding = 'utf8', start = 0, end = this.length) { return call('textOf', [encoding], exact(this.subarray(start, end))); }
      fill(value, ...more) {
        if (typeof value !== 'string') return super.fill(value, ...more);
        const bytes = Buffer.from(value, typeof more[0] === 'string' ? more[0] : 'utf8');
        for (let at = 0; at < this.length; at += 1) this[at] = bytes.length === 0 ? 0 : bytes[at % bytes.length];
        return this;
      }
      indexOf(value, from = 0, encoding = 'utf8') {
        if (typeof value === 'number') return super.indexOf(value, from);
        const wanted = Buffer.from(typeof from === 'string' ? Buffer.from(value, from) : typeof value === 'string' ? Buffer.from(value, encoding) : value);
        const first = typeof from === 'number' ? (from < 0 ? Math.max(0, this.length + from) : from) : 0;
        for (let at = first; at <= this.length - wanted.length; at += 1) if (wanted.every((byte, index) => this[at + index] === byte)) return at;
        return -1;
      }
      includes(...sought) { return this.indexOf(...sought) !== -1; }
      toJSON() { return { type: 'Buffer', data: [...this] }; }
      equals(other) { return this.compare(other) === 0; }
      compare(other) {
        for (let at = 0; at < this.length && at < other.length; at += 1) if (this[at] !== other[at]) return this[at] < other[at] ? -1 : 1;
        return Math.sign(this.length - other.length);
      }
    }
    define('Buffer', Buffer);
  }`,
  operations: {
    btoa: ([text]) => btoa(textOf(text)),
    atob: ([text]) => atob(textOf(text)),
    decoder: ([label]) => new TextDecoder(textOf(label, 100)).encoding,
    decode: ([label, fatal, ignoreBOM], data) =>
      new TextDecoder(textOf(label, 100), { fatal: fatal === true, ignoreBOM: ignoreBOM === true }).decode(data),
    bytesOf: ([text, encoding]) => Buffer.from(textOf(text), encodingOf(encoding)),
    textOf: ([encoding], data) => Buffer.from(data).toString(encodingOf(encoding)),
    base64Encode: ([text]) => Buffer.from(textOf(text)).toString('base64'),
    base64Decode: ([text]) => {
      const decoded = bytesOfBase64(textOf(text));
      try {
        return STRICT.decode(decoded);
      } catch {
        throw new TypeError('The decoded bytes are not UTF-8 text; JavaScript transforms can decode them with atob');
      }
    },
  },
};
