import { readFileSync } from 'node:fs';

const { include } = JSON.parse(readFileSync(new URL('../../../tsconfig.json', import.meta.url), 'utf8')) as {
  include: string[];
};

/** The folders of the product's own code, as tsconfig.json lists them: all but tests and benches. */
export const SOURCE_FOLDERS = include.filter((folder) => !['test', 'bench'].includes(folder));
