// Errors get into the log in one way, `cause: causeOf(error)`, which leaves out what they may quote of a webhook.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SOURCE_FOLDERS } from '../support/programs/source-folders.ts';

const PROJECT = join(import.meta.dirname, '..', '..');
/** A call with facts, which are an object literal. */
const CALL =
  /(?:\blog|#log|\blogger\??|\b(?:throttled|logOf)\([\w.#]+\))\.(?:debug|info|warn|error|fatal)\((\{[^;]*?\}),/g;
// `err` is what pino itself would write, with every member of the error.
const ANOTHER_WAY = /\bString\((?:error|err|reason|cause)\)|\berr\b|(?:error|err|reason)\.(?:message|stack)\b/;

describe('errors in the log', () => {
  it('are written as their cause', () => {
    const files = globSync(
      SOURCE_FOLDERS.map((folder) => `${folder}/**/*.ts`),
      { cwd: PROJECT },
    );
    const facts = files.flatMap((file) =>
      [...readFileSync(join(PROJECT, file), 'utf8').matchAll(CALL)].map(([, text = '']) => `${file}: ${text}`),
    );
    expect(facts.filter((text) => text.includes('cause: causeOf(')).length).to.be.above(50);
    expect(facts.filter((text) => ANOTHER_WAY.test(text))).to.deep.equal([]);
  });
});
