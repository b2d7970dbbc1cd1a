import { type Part, textOf } from './values.ts';

const MAX_URL = 65_536;
// The time that the host takes for a name in other letters grows with the square of its length, and cannot be cut
// short.
const MAX_BEYOND_ASCII = 8192;
const addressText = (value: unknown): string => {
  const text = textOf(value, MAX_URL);
  return /[^\0-\x7f]/.test(text) ? textOf(text, MAX_BEYOND_ASCII) : text;
};
const WRITABLE = [
  'href',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;
const PARTS = ['origin', ...WRITABLE] as const;

function url([href, base, name, value]: readonly unknown[]): unknown {
  const parsed = new URL(addressText(href), typeof base === 'string' ? addressText(base) : undefined);
  const changed = WRITABLE.find((each) => each === name);
  if (changed !== undefined) parsed[changed] = addressText(value);
  return Object.fromEntries(PARTS.map((part) => [part, parsed[part]]));
}

export const urls: Part = {
  mentioned: /\bURL(?:SearchParams)?\b/,
  script: `(call, define) => {
    const changes = new WeakMap();
    class URLSearchParams {
      #pairs = [];
      constructor(init = '') {
        if (init === null || typeof init !== 'object') this.#pairs = call('query', [String(init).replace(/^\\?/, '')]);
        else if (typeof init[Symbol.iterator] === 'function') this.#pairs = [...init].map(([name, value]) => [String(name), String(value)]);
        else this.#pairs = Object.entries(init).map(([name, value]) => [name, String(value)]);
      }
      #changed() { changes.get(this)?.(); }
      #is(name, value) {
        const wanted = String(name);
        return ([own, its]) => own === wanted && (value === undefined || its === String(value));
      }
      get size() { return this.#pairs.length; }
      append(name, value) { this.#pairs.push([String(name), String(value)]); this.#changed(); }
      delete(name, value) {
        const isIt = this.#is(name, value);
        this.#pairs = this.#pairs.filter((pair) => !isIt(pair));
        this.#changed();
      }
      get(name) { return this.#pairs.find(this.#is(name))?.[1] ?? null; }
      getAll(name) { return this.#pairs.filter(this.#is(name)).map(([, value]) => value); }
      has(name, value) { return this.#pairs.some(this.#is(name, value)); }
      set(name, value) {
        const isIt = this.#is(name), at = this.#pairs.findIndex(isIt);
        if (at === -1) return this.append(name, value);
        this.#pairs = this.#pairs.filter((pair, index) => index === at || !isIt(pair));
        this.#pairs[at] = [String(name), String(value)];
        this.#changed();
      }
      sort() { this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)); this.#changed(); }
      forEach(each, self) { for (const [name, value] of this.#pairs) each.call(self, value, name, this); }
      *entries() { for (const [name, value] of this.#pairs) yield [name, value]; }
      *keys() { for (const [name] of this.#pairs) yield name; }
      *values() { for (const [, value] of this.#pairs) yield value; }
      [Symbol.iterator]() { return this.entries(); }
      toString() { return call('queryText', [this.#pairs]); }
      static refill(params, text) { params.#pairs = call('query', [text]); }
    }
    const { refill } = URLSearchParams;
    delete URLSearchParams.refill;
    class URL {
      #parts; #params = null;
      constructor(href, base) { this.#parts = call('url', [String(href), base === undefined ? null : String(base)]); }
      static canParse(href, base) { return URL.parse(href, base) !== null; }
      static parse(href, base) { try { return new URL(href, base); } catch { return null; } }
      get searchParams() {
        if (this.#params !== null) return this.#params;
        this.#params = new URLSearchParams(this.#parts.search);
        changes.set(this.#params, () => this.#set('search', this.#params.toString()));
        return this.#params;
      }
      #set(name, value) { this.#parts = call('url', [this.#parts.href, null, name, String(value)]); }
      static access(name) {
        return {
          get() { return this.#parts[name]; },
          set(value) {
            if (name === 'origin') return;
            this.#set(name, value);
            if (this.#params !== null) refill(this.#params, this.#parts.search.slice(1));
          },
          enumerable: true, configurable: true,
        };
      }
      toString() { return this.#parts.href; }
      toJSON() { return this.#parts.href; }
    }
    const { access } = URL;
    delete URL.access;
    for (const name of ${JSON.stringify(PARTS)}) Object.defineProperty(URL.prototype, name, access(name));
    define('URL', URL);
    define('URLSearchParams', URLSearchParams);
  }`,
  operations: {
    url,
    query: ([text]) => [...new URLSearchParams(textOf(text))],
    queryText: ([pairs]) => String(new URLSearchParams(pairs as [string, string][])),
  },
};
