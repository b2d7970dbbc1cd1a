// The last part of npm run openapi: makes what of the SDKs follows from docs/openapi.json and package.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, readDescription } from './description.ts';
import { goFiles } from './go.ts';
import { pythonOperations, pythonTypes } from './python.ts';

const PYTHON = 'sdk/python';
const GO = 'sdk/go';

/** What files should hold, by their paths in the project. */
export function madeFiles(): Record<string, string> {
  const description = readDescription();
  const { types, operations } = goFiles(description);
  const project = readFileSync(join(PROJECT, PYTHON, 'pyproject.toml'), 'utf8');
  const licence = readFileSync(join(PROJECT, 'LICENSE'), 'utf8');
  return {
    [`${PYTHON}/pyproject.toml`]: project.replace(/^version = ".*"$/m, `version = "${description.version}"`),
    [`${PYTHON}/LICENSE`]: licence,
    [`${PYTHON}/src/hookyard/_types.py`]: pythonTypes(description),
    [`${PYTHON}/src/hookyard/_operations.py`]: pythonOperations(description),
    [`${GO}/LICENSE`]: licence,
    [`${GO}/types.go`]: types,
    [`${GO}/operations.go`]: operations,
  };
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(madeFiles())) writeFileSync(join(PROJECT, path), text);
  console.log('sdk/ is written');
}
