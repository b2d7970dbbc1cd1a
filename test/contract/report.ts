// npm run contract: says which rules of the interface no test shows, and what else is wrong with pages, rows and references. With
// ids it also says where these rules are in the code, and which tests show them: npm run contract -- ROUTE-07 DLV-21
import { codeOf, contractProblems, readReferences } from './coverage.ts';
import { idsIn, readPages, rulesOf } from './page.ts';

// The rows import what starts processes, which registers a hook of mocha. Nothing is started here, so nothing is to be ended.
Object.assign(globalThis, { after: () => undefined });
const { rows } = await import('./rows/index.ts');

const pages = readPages();
const rules = rulesOf(pages);
const titles = rows.map(({ title }) => title);
const references = readReferences();
const code = codeOf(rules);
for (const id of process.argv.slice(2)) {
  console.log(`${id} ${rules.find((rule) => rule.id === id)?.text ?? 'is no rule'}`);
  for (const file of code.get(id) ?? []) console.log(`  ${file}`);
  for (const title of titles.filter((text) => idsIn(text).includes(id))) console.log(`  test/contract/rows: ${title}`);
  for (const { file, words } of references.filter((test) => test.id === id)) console.log(`  test/${file}: ${words}`);
}
const problems = contractProblems(pages, rules, titles);
for (const problem of problems) console.log(problem);
const byRows = new Set(titles.flatMap(idsIn)).size;
console.log(
  `${rules.length} rules: ${byRows} shown by ${rows.length} rows, ${rules.length - byRows} by other tests alone; ${rules.filter(({ id }) => code.has(id)).length} named in the code; ` +
    `${problems.length === 0 ? 'nothing is missing' : `${problems.length} problems`}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
