// What JavaScript has here beyond the language, with known answers: those of Node.
import type { Answers } from './answers.ts';

/** Each is the value of an expression; `await` may stand in it. */
export const javascript: Answers = {
  atob: {
    'new TextDecoder().decode(Uint8Array.from(atob("UmVuw6ll"), (c) => c.charCodeAt(0)))': 'Renée',
    'atob("*")': /InvalidCharacterError/,
  },
  btoa: { 'btoa("a\\u0000ÿ")': 'YQD/' },
  TextEncoder: { '[...new TextEncoder().encode("é\\u0000😀")]': [195, 169, 0, 240, 159, 152, 128] },
  TextDecoder: {
    'new TextDecoder().decode(new Uint8Array([239, 187, 191, 195, 169]))': 'é',
    'new TextDecoder("windows-1252").decode(new Uint8Array([128]))': '€',
    'new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255]))': /TypeError/,
  },
  Buffer: {
    'Buffer.from("Renée").toString("base64")': 'UmVuw6ll',
    'Buffer.from("UmVuw6ll", "base64").toString()': 'Renée',
    'Buffer.concat([Buffer.from("a"), Buffer.from("62", "hex")]).toString("utf8")': 'ab',
    '[Buffer.from(Buffer.from("abc").buffer, 1, 1), Buffer.from(JSON.parse(JSON.stringify(Buffer.from("hi")))), Buffer.alloc(3, "ab"), Buffer.alloc(2, 97)].map(String)':
      ['b', 'hi', 'aba', 'aa'],
    '(() => { const b = Buffer.from("hello"); return [b.indexOf("l"), b.indexOf("l", 3), b.indexOf(108), b.includes("ell"), b.includes(Buffer.from("x")), b.indexOf("6c", 0, "hex")]; })()':
      [2, 3, 2, true, false, 2],
    'Buffer.from("a", "klingon")': /Unknown encoding: klingon/,
  },
  URL: {
    '(() => { const u = new URL("/a b?x=1&y=é#h", "https://user:pw@shop.example:8443/base"); u.searchParams.append("z", "a b"); u.port = ""; u.pathname = "/q"; return u; })()':
      'https://user:pw@shop.example/q?x=1&y=%C3%A9&z=a+b#h',
    '(() => { const { origin, host, hostname, port, pathname, search, hash, protocol } = new URL("http://a.example:81/p?q#f"); return [origin, host, hostname, port, pathname, search, hash, protocol]; })()':
      ['http://a.example:81', 'a.example:81', 'a.example', '81', '/p', '?q', '#f', 'http:'],
    '[URL.canParse("a"), URL.parse("https://bücher.example/").hostname]': [false, 'xn--bcher-kva.example'],
    'new URL("no address")': /TypeError: Invalid URL/,
    'new URL("https://" + "\\u4e00".repeat(8192))': /RangeError: The text has more than 8192 characters/,
  },
  URLSearchParams: {
    '(() => { const p = new URLSearchParams("?b=2&a=1&a=3&c=%20+x"); p.sort(); p.set("a", "9"); p.delete("b"); return [String(p), p.size, p.get("c"), p.get("d"), p.has("a", "9")]; })()':
      ['a=9&c=++x', 2, '  x', null, true],
  },
  structuredClone: {
    '(() => { const a = { d: new Date(0), m: new Map([[1, { x: 2 }]]), s: new Set([1]) }; a.self = a; const b = structuredClone(a); return [b !== a, b.self === b, b.d, [...b.m], [...b.s]]; })()':
      [true, true, '1970-01-01T00:00:00.000Z', [[1, { x: 2 }]], [1]],
    'JSON.stringify(structuredClone(event.payload))': '{"text":"Renée","big":12345678901234567890}',
    'structuredClone(() => 1)': /DataCloneError/,
  },
  crypto: {
    'crypto.createHash("sha256").update("a").update("bc").digest("hex")':
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    'crypto.createHmac("sha256", "key").update("The quick brown fox jumps over the lazy dog").digest("hex")':
      'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
    '[...new Uint8Array(await crypto.subtle.digest("SHA-1", new TextEncoder().encode("abc")))].slice(0, 3)': [
      169, 153, 62,
    ],
    '/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())': true,
    'crypto.createHash("crc32")': /Unknown hash algorithm: crc32; use one of md5, sha1/,
  },
  Intl: {
    'new Intl.DateTimeFormat("en-GB", { timeZone: "Asia/Tokyo", dateStyle: "full" }).format()':
      'Saturday, 28 November 2026',
    '[1, 1234.5].map(new Intl.NumberFormat("de", { minimumFractionDigits: 2 }).format)': ['1,00', '1.234,50'],
    'new Intl.NumberFormat("en").format(event.payload.big)': '12,345,678,901,234,567,890',
    'new Intl.PluralRules("en", { type: "ordinal" }).select(2)': 'two',
    '[...new Intl.Segmenter("en").segment("e\\u0301a")].length': 2,
    'new Intl.DurationFormat("en", { style: "long" }).format({ hours: 2 })': '2 hours',
    'new Intl.DateTimeFormat("en", { timeZone: "Mars/Olympus" })': /RangeError: Invalid time zone specified/,
    'Intl.getCanonicalLocales({ length: 2 ** 53 })': /TypeError: A locale must be a string/,
    'new Intl.NumberFormat(Array(101).fill("en"))': /RangeError: The list has more than 100 locales/,
  },
  'toLocaleString of numbers and dates': {
    '(1234567.891).toLocaleString("de-DE", { style: "currency", currency: "EUR" })': '1.234.567,89\u00a0€',
    '(12345678901234567890n).toLocaleString("de")': '12.345.678.901.234.567.890',
    'new Date(0).toLocaleString("de-DE", { timeZone: "America/New_York" })': '31.12.1969, 19:00:00',
    '[1234.5, null].toLocaleString("de")': '1.234,5,',
  },
  toLocaleDateString: {
    'new Date(0).toLocaleDateString("de-DE", { weekday: "long", timeZone: "Asia/Tokyo" })': 'Donnerstag',
  },
  localeCompare: { '["z", "ä", "a"].sort((a, b) => a.localeCompare(b))': ['a', 'ä', 'z'] },
};

/** Code that is refused when it is stored, and the name that is missing. */
export const refused: [code: string, name: string][] = [
  ['export default async ({ payload }) => (await fetch(payload.url)).json();', 'fetch'],
  ['export default () => new Promise((resolve) => { setTimeout(resolve, 10); });', 'setTimeout'],
  ['const { createHash } = require("node:crypto");\nfunction transform() { return createHash("md5"); }', 'require'],
  ['export default ({ payload }) => { console.log(payload); return payload; };', 'console'],
  ['export default () => process.env.HOME;', 'process'],
  ['function transform() { return new FormData(); }', 'FormData'],
  ['export default ({ payload: { a = performance.now() } }) => a;', 'performance'],
  ['export default (e) => ({ fetch, e });', 'fetch'],
];
/** Code that names such things without needing them. */
export const taken: string[] = [
  'export default ({ payload }) => payload.fetch ?? payload.process.console;',
  'const fetch = (x) => x; export default ({ payload }) => fetch(payload);',
  'export default ({ payload }, console = { log() {} }) => { console.log(1); return { fetch: 1, require() { return 2; } }; };',
  'export default () => (typeof process === "undefined" ? 1 : process.version);',
  'export default ({ payload: { process } }) => process;',
  '// fetch(\nexport default () => "fetch(";',
  'function transform({ payload: [setTimeout] }) { return setTimeout; }',
];
