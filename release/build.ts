// npm run release:build: everything that is published, into dist/release. npm run release:dry also installs and tries
// it (test/release/).
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildClient, buildCli, buildServer, project, run, version } from './npm-packages.ts';

const HATCHLING = 'hatchling==1.27.0';
/** Go takes no entries of folders. */
const ZIP_FILES = `import pathlib, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    for file in sorted(pathlib.Path(sys.argv[2]).rglob("*")):
        if file.is_file():
            archive.write(file)`;
const release = join(project, 'dist', 'release');
const work = join(project, 'dist', 'work');

for (const folder of [release, work]) rmSync(folder, { recursive: true, force: true });
run(process.execPath, ['sdk/generate/write.ts']);
npmPackages();
pythonPackage();
goModule();
rmSync(work, { recursive: true });
console.log(`everything for ${version} is in ${release}`);

function npmPackages(): void {
  mkdirSync(join(release, 'npm'), { recursive: true });
  for (const [name, build] of Object.entries({ client: buildClient, hookyard: buildCli, server: buildServer })) {
    const folder = join(work, name);
    mkdirSync(folder, { recursive: true });
    build(folder);
    run('npm', ['pack', folder, '--silent', '--pack-destination', join(release, 'npm')]);
  }
}

/** A wheel and the sources. */
function pythonPackage(): void {
  const venv = join(work, 'python');
  run('python3', ['-m', 'venv', venv]);
  const python = join(venv, 'bin', 'python');
  run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', HATCHLING]);
  run(python, ['-m', 'hatchling', 'build', '-d', join(release, 'python')], join(project, 'sdk', 'python'));
}

/**
 * As a module proxy serves it (https://go.dev/ref/mod#module-proxy); the content of the zip is also that of the
 * repository.
 */
function goModule(): void {
  const path = 'github.com/hookyard/hookyard-go';
  const sources = join(project, 'sdk', 'go');
  const served = join(release, 'go', path, '@v');
  const staged = join(work, 'go');
  mkdirSync(served, { recursive: true });
  cpSync(sources, join(staged, `${path}@v${version}`), { recursive: true });
  run('python3', ['-c', ZIP_FILES, join(served, `v${version}.zip`), 'github.com'], staged);
  cpSync(join(sources, 'go.mod'), join(served, `v${version}.mod`));
  writeFileSync(join(served, `v${version}.info`), JSON.stringify({ Version: `v${version}`, Time: new Date() }));
  writeFileSync(join(served, 'list'), `v${version}\n`);
}
