// Makes what of the clients follows from docs/openapi.json. None of it is in git: npm run prepare runs this, and so
// does every start of a checkout in which the description or a generator is newer (local/bootstrap.js).
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cliOperations } from './cli.ts';
import { PROJECT, readDescription, withoutStreams } from './description.ts';
import { goFiles } from './go.ts';
import { pythonOperations, pythonTypes } from './python.ts';
import { typescriptFile } from './typescript.ts';

const GO = 'sdk/go';
const PYTHON = 'sdk/python';
const description = readDescription();
const ofSdks = withoutStreams(description);
const { types, operations } = goFiles(ofSdks);
const licence = readFileSync(join(PROJECT, 'LICENSE'), 'utf8');

for (const [path, text] of Object.entries({
  [`${PYTHON}/LICENSE`]: licence,
  [`${PYTHON}/src/hookyard/_types.py`]: pythonTypes(ofSdks),
  [`${PYTHON}/src/hookyard/_operations.py`]: pythonOperations(ofSdks),
  [`${GO}/LICENSE`]: licence,
  [`${GO}/types.go`]: types,
  [`${GO}/operations.go`]: operations,
  'client/api.ts': typescriptFile(description),
  // Last: its age tells whether all are up to date.
  'cli/operations.json': cliOperations(description),
})) {
  const file = join(PROJECT, path);
  mkdirSync(dirname(file), { recursive: true });
  // Another start may read it meanwhile.
  writeFileSync(`${file}.${process.pid}`, text);
  renameSync(`${file}.${process.pid}`, file);
}
