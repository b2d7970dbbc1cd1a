// npm run contract: says which statements of docs/interface.md no row of the contract test shows, and what has changed in the
// text since the rows were looked at. `npm run contract -- --accept` takes the text as it is now, after the rows have been.
import { writeFileSync } from 'node:fs';
import { contractProblems, LEDGER } from './coverage.ts';
import { decided, prose } from './rows/open.ts';
import { fingerprint, readStatements } from './statements.ts';

// The rows import what starts processes, which registers a hook of mocha. Nothing is started here, so nothing is to be ended.
Object.assign(globalThis, { after: () => undefined });
const { rows } = await import('./rows/index.ts');

const statements = readStatements();
if (process.argv.includes('--accept')) {
  writeFileSync(LEDGER, `${statements.map(fingerprint).join('\n')}\n`);
}
const problems = contractProblems(rows);
for (const problem of problems) console.log(problem);
console.log(
  `${statements.length} statements: ${rows.length} rows, ${decided.length} left open and decided, ${prose.length} prose; ` +
    `${problems.length === 0 ? 'nothing is missing' : `${problems.length} problems`}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
