// Secrets are compared in constant time, all of them in a few places, which compare digests of equal length. Measured times
// would prove nothing on a busy machine, so this reads the code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const project = join(import.meta.dirname, '..', '..');
const FOLDERS = [
  ...['activities', 'api', 'cli', 'client', 'core', 'db', 'local', 'providers'],
  ...['temporal-config', 'worker', 'workflows'],
];

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name) && !name.startsWith('dist'))
    .map((name) => `${folder}/${name}`),
);
const lines = files.flatMap((file) =>
  readFileSync(join(project, file), 'utf8')
    .split('\n')
    .map((text) => ({ file, text: text.trim() })),
);

const SECRET = String.raw`(?:\w+\.)*\w*(?:[tT]oken|[sS]ecret|[sS]ignature|[pP]assword|[hH]ash|[dD]igest|[hH]?[mM]ac|[cC]redentials?|[aA]piKey)`;
// Whether there is one, or of what type, is no secret.
const HARMLESS = String.raw`(?:null|undefined|true|false|'[^']*'|"[^"]*"|\d+)(?![\w.(])`;
const COMPARED = [
  new RegExp(String.raw`(?<!typeof )\b${SECRET}(?:\(\))?\s*[!=]==?(?!=|\s*${HARMLESS})`),
  new RegExp(String.raw`[!=]==?\s*${SECRET}\b(?!\()`),
  new RegExp(String.raw`\b${SECRET}\.(?:equals|compare|localeCompare|includes|indexOf|match)\(`),
  new RegExp(String.raw`\.(?:equals|compare|localeCompare|includes|indexOf|has)\(\s*${SECRET}\s*[,)]`),
  /Buffer\.compare\(/,
];

/** What looks like a comparison of a secret and is none, with the reason. */
const NONE: { file: string; text: string; why: string }[] = [
  {
    file: 'db/management/idempotent-requests.ts',
    text: 'found.bodyHash.equals(bodyHash)',
    why: 'the SHA-256 of a body that the caller sent',
  },
  {
    file: 'core/verification/index.ts',
    text: 'secret.includes(JOINED)',
    why: 'the form of a secret that an owner enters',
  },
  { file: 'core/warehouse/config.ts', text: "url.hash !== ''", why: 'the fragment of an address' },
  {
    file: 'api/exchange/destination-item.ts',
    text: 'members.signingSecret === REDACTED',
    why: 'a fixed word of export files',
  },
  { file: 'api/auth/sign-ins.ts', text: 'if (found === null) known.delete(keyHash)', why: 'whether a key was found' },
  { file: 'api/auth/sign-ins.ts', text: 'known.has(keyHash)', why: 'a look-up of a SHA-256' },
];

describe('comparisons of secrets', () => {
  it('are made by timingSafeEqual, for API keys, for that of the operator, for signatures, for sign-in links and for the token of assistants', () => {
    const found = lines
      .filter(({ text }) => /timingSafeEqual\(/.test(text))
      .map(({ file, text }) => `${file}: ${text}`);
    expect(found).to.deep.equal([
      'api/auth/auth.ts: return key && timingSafeEqual(key.tokenHash, hash) ? key : null;',
      'api/auth/operator-key.ts: if (!timingSafeEqual(hashOf(given), hashOf(expected())))',
      'cli/mcp/http.ts: return sent !== undefined && timingSafeEqual(digest(sent), digest(token));',
      'core/signatures/scheme.ts: return bytes?.length === expected.length && timingSafeEqual(bytes, expected);',
      'db/management/console-codes.ts: return rows[0] && timingSafeEqual(rows[0].codeHash, hash) ? rows[0].ownerId : null;',
    ]);
  });

  it('are made in no other way', () => {
    const suspects = lines.filter(
      ({ text }) => !text.startsWith('//') && COMPARED.some((pattern) => pattern.test(text)),
    );
    const unexplained = suspects.filter(
      ({ file, text }) => !NONE.some((known) => known.file === file && text.includes(known.text)),
    );
    expect(unexplained.map(({ file, text }) => `${file}: ${text}`)).to.deep.equal([]);
    for (const { file, text } of NONE) {
      expect(
        lines.some((line) => line.file === file && line.text.includes(text)),
        `${file}: ${text}`,
      ).to.equal(true);
    }
  });

  it('every scheme of signatures uses the one that is safe', () => {
    const schemes = files.filter((file) => /^core\/signatures\/(?:github|hmac|slack|stripe)\.ts$/.test(file));
    expect(schemes).to.have.length(4);
    for (const file of schemes) expect(readFileSync(join(project, file), 'utf8'), file).to.include('return compared(');
  });

  for (const spoilt of [
    'if (received === signature) return VALID;',
    'if (hashToken(token) == row.tokenHash) return row;',
    'return expectedMac.equals(mac);',
    'const known = tokens.includes(token);',
    'if (password !== settings.password) throw unauthorized();',
  ]) {
    it(`would be found: ${spoilt}`, () => {
      expect(COMPARED.some((pattern) => pattern.test(spoilt))).to.equal(true);
    });
  }
}).timeout(180_000);
