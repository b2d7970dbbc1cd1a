// What of the SDKs is made of the API's description, and their versions.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../sdk/generate/description.ts';
import { madeFiles } from '../../sdk/generate/write.ts';

describe('The made parts of the SDKs', () => {
  it('are those of docs/openapi.json and package.json', () => {
    const old = Object.entries(madeFiles()).filter(
      ([path, text]) => readFileSync(join(PROJECT, path), 'utf8') !== text,
    );
    expect(
      old.map(([path]) => path),
      'run npm run openapi',
    ).to.deep.equal([]);
  });
});
