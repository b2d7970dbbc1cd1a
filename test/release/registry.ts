// A registry of npm packages on this machine: has the given packages, and sends everything else on to the usual
// registry.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';

export async function startRegistry(tarballs: string[]): Promise<{ url: string; close: () => void }> {
  const usual = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/$/, '');
  const served = tarballs.map((path) => {
    const manifest = execFileSync('tar', ['-xzOf', path, 'package/package.json'], { encoding: 'utf8' });
    return { file: basename(path), bytes: readFileSync(path), manifest: JSON.parse(manifest) };
  });
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    const asked = served.find(({ file, manifest }) => [`/${manifest.name}`, `/-/${file}`].includes(path));
    if (asked === undefined) return response.writeHead(307, { Location: usual + request.url }).end();
    const { file, bytes, manifest } = asked;
    if (path.startsWith('/-/')) return response.end(bytes);
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    const { name, version } = manifest;
    const versions = { [version]: { ...manifest, dist: { tarball: `${url}/-/${file}`, integrity } } };
    response.setHeader('Content-Type', 'application/json');
    return response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => server.close() };
}
