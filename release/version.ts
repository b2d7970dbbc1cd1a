// npm run release:version -- 0.2.0: gives all parts this version, and dates the newest section of the changelog.
// With --check it changes nothing, and fails when a part has another version; with --notes it prints that section.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { project, run, version as present } from './npm-packages.ts';

/** Files with the version in them. The packages take theirs from package.json, the SDKs from docs/openapi.json. */
const FILES = [
  'Dockerfile',
  'deploy/helm/hookyard/Chart.yaml',
  ...globSync(
    '{deploy/compose-env.sh,deploy/hosts/*.{yaml,toml,Dockerfile},docs/operate/install.md,test/deploy/helm/golden/*.yaml}',
    {
      cwd: project,
    },
  ),
];
const UNRELEASED = /^## \S+, not yet released$/m;
const changelog = readFileSync(join(project, 'CHANGELOG.md'), 'utf8');

const [first = '', second = ''] = process.argv.slice(2);
const wanted = first.startsWith('--') ? second : first;
if (!/^\d+\.\d+\.\d+$/.test(wanted))
  fail('Usage: npm run release:version -- [--check | --notes] <version>, for example 0.2.0');
else if (first === '--notes') console.log(notes());
else if (first === '--check') check();
else raise();

function raise(): void {
  run('npm', ['version', wanted, '--no-git-tag-version', '--allow-same-version', '--ignore-scripts']);
  for (const file of FILES) {
    const text = readFileSync(join(project, file), 'utf8');
    writeFileSync(join(project, file), text.replaceAll(present, wanted));
  }
  run(process.execPath, ['api/openapi/write.ts']);
  run(process.execPath, ['sdk/generate/write.ts']);
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(join(project, 'CHANGELOG.md'), changelog.replace(UNRELEASED, `## ${wanted}, ${today}`));
}

function check(): void {
  const openapi = JSON.parse(readFileSync(join(project, 'docs', 'openapi.json'), 'utf8')).info.version;
  const wrong = FILES.filter((file) => !readFileSync(join(project, file), 'utf8').includes(wanted));
  if (present !== wanted) wrong.push('package.json');
  if (openapi !== wanted) wrong.push('docs/openapi.json');
  if (notes() === '') wrong.push('CHANGELOG.md');
  if (wrong.length > 0)
    fail(`these files are not at version ${wanted}: ${wrong.join(', ')}; run npm run release:version -- ${wanted}`);
}

/** What the changelog says of the version, once it has a date. */
function notes(): string {
  const sections = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${wanted}, `) && !UNRELEASED.test(`## ${text}`)) ?? '';
  return section.slice(section.indexOf('\n')).trim();
}

function fail(line: string): void {
  console.error(line);
  process.exitCode = 1;
}
