// `npm pack` runs it before it packs: compiles the service into dist/, because Node runs no TypeScript below node_modules. Each file
// keeps its lines and its place; types are taken out as Node does it at every start of a checkout.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';

const project = join(import.meta.dirname, '..');
const target = join(project, 'dist');
/** The same as in the image (Dockerfile). */
const FOLDERS = [
  ...['core', 'providers', 'db', 'activities', 'outbound', 'workflows', 'temporal-config', 'telemetry', 'local'],
  ...['worker', 'api', 'client', 'cli'],
];
// Of a checkout: programs that npm starts, and what makes the client.
const LEFT_OUT = /\.js$|^client\/(dist|tsconfig)|^local\/build-package/;
/** A path of a source file, in an import or elsewhere. */
const SOURCE_PATH = /(["'`])((?:[^"'`\s]*\/)?[\w.-]+)\.ts\1/g;

// npm also runs it when this project is another one's git dependency, which uses the client only.
if (['install', 'ci'].includes(process.env.npm_command ?? '')) console.log('dist is made by npm pack only');
else build();

function build(): void {
  rmSync(target, { recursive: true, force: true });
  for (const folder of FOLDERS) compileFolder(folder);
  const { name, version, description, license, type } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  write('package.json', `${JSON.stringify({ name, version, description, license, type }, null, 2)}\n`);
  run(join(target, 'worker', 'temporal', 'workflow-bundle.js'), join(target, 'workflow-bundle.js'));
  run(join(project, 'api', 'console', 'build.ts'), join(target, 'console', 'built'));
  // Anyone who installs the package gets the versions that were tested. npm packs it under this name only.
  copyFileSync(join(project, 'package-lock.json'), join(project, 'npm-shrinkwrap.json'));
}

function compileFolder(folder: string): void {
  for (const entry of readdirSync(join(project, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (LEFT_OUT.test(path)) continue;
    if (entry.isDirectory()) compileFolder(path);
    else if (path.endsWith('.ts'))
      write(path.replace(/\.ts$/, '.js'), compile(readFileSync(join(project, path), 'utf8')));
    else write(path, readFileSync(join(project, path)));
  }
}

function compile(source: string): string {
  return stripTypeScriptTypes(source).replaceAll(SOURCE_PATH, '$1$2.js$1');
}

function write(path: string, content: string | Buffer): void {
  const file = join(target, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

function run(script: string, argument: string): void {
  const { status } = spawnSync(process.execPath, [script, argument], { cwd: project, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${script} ended with ${status}, see above`);
}
