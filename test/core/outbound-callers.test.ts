// The table of outbound callers in docs/security.md names every file that opens or takes a connection.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SOURCE_FOLDERS } from '../support/programs/source-folders.ts';

const project = join(import.meta.dirname, '..', '..');

describe('Network out: the list of callers', () => {
  // Where a connection can come from: clients of HTTP, sockets and mail. Types, constants and `isIP` connect to nothing.
  const IMPORT = /^import (?!type\b)([^;]*?) from '(?:node:(?:https?|http2|net|tls|dgram|dns)|undici|nodemailer)'/gms;
  const HARMLESS = /^(?:type .*|isIP|STATUS_CODES|)$/;
  const GLOBAL = /(?<![\w])(?:fetch|WebSocket|EventSource)\(/;

  function connects(text: string): boolean {
    const names = [...text.matchAll(IMPORT)].flatMap(([, names = '']) => names.replace(/[{}]/g, '').split(','));
    return names.some((name) => !HARMLESS.test(name.trim())) || GLOBAL.test(text);
  }

  it('names every file that opens or takes a connection', () => {
    const found = SOURCE_FOLDERS.flatMap((folder) =>
      readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(ts|js)$/.test(name) && !name.startsWith('dist'))
        .map((name) => `${folder}/${name}`)
        .filter((name) => connects(readFileSync(join(project, name), 'utf8'))),
    );
    const text = readFileSync(join(project, 'docs', 'security.md'), 'utf8');
    expect(found).to.include('outbound/http/pools.ts').and.include('outbound/mail.ts');
    expect(found.filter((name) => !text.includes(`\`${name}\``))).to.deep.equal([]);
  });
});
