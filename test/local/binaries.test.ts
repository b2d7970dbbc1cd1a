import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { downloadArchive } from '../../local/temporal/binaries.ts';
import { StartupError } from '../../local/errors.ts';
import { isWell, freePorts } from '../../local/ports.ts';
import { type Listening, listen } from '../support/servers/listen.ts';

// A file server with one release: an archive that holds a program, and its checksum file.
const archive = {
  path: 'tool/releases/download/v1.0.0/tool_1.0.0.tar.gz',
  checksums: 'tool/releases/download/v1.0.0/checksums.txt',
  members: { tool: ['tool-server', 'tool'] },
};
const program = '#!/bin/sh\necho tool 1.0.0\n';

describe('release archives', () => {
  let folder: string;
  let server: Listening;
  let base: string;
  const files = new Map<string, Buffer>();

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hookyard-archive-'));
    const packed = packProgram(folder, 'tool');
    files.clear();
    files.set(archive.path, packed);
    files.set(archive.checksums, Buffer.from(`${sha256(packed)}  ${basename(archive.path)}\n`));
    const answering = createServer((request, response) => {
      const body = files.get((request.url ?? '').slice(1));
      response.writeHead(body ? 200 : 404).end(body);
    });
    server = await listen(answering);
    base = server.url;
  });

  afterEach(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const download = (from = base) => {
    const target = join(folder, 'target');
    mkdirSync(target);
    return downloadArchive(archive, target, { base: from, log: () => {} });
  };

  it('unpacks a program whose checksum matches, ready to run, and leaves nothing else', async () => {
    expect(await download()).to.equal(undefined);
    expect(readdirSync(join(folder, 'target'))).to.deep.equal(['tool']);
    expect(readFileSync(join(folder, 'target', 'tool'), 'utf8')).to.equal(program);
    expect(statSync(join(folder, 'target', 'tool')).mode & 0o111).to.equal(0o111);
  });

  it('follows a mirror to another one, on a port that fetch refuses', async () => {
    const redirecting = createServer(({ url }, response) => response.writeHead(302, { Location: base + url }).end());
    const mirror = await listen(redirecting, '127.0.0.1', 6566);
    try {
      expect(await download('http://127.0.0.1:6566')).to.equal(undefined);
      expect(readdirSync(join(folder, 'target'))).to.deep.equal(['tool']);
      expect(await isWell(`http://127.0.0.1:6566/`, 10_000), 'a redirect').to.equal(false);
    } finally {
      await mirror.close();
    }
    expect(await isWell(`${base}/${archive.path}`, 10_000)).to.equal(true);
    expect(await isWell('http://127.0.0.1:6566/', 10_000), 'nobody').to.equal(false);
  });

  it('refuses an archive whose checksum is wrong, and installs nothing', async () => {
    files.set(archive.path, packProgram(folder, 'tool', `${program}echo changed\n`));
    await expectStartupError(download(), /checksum file has .*nothing was installed/);
    expect(readdirSync(join(folder, 'target'))).to.deep.equal([]);
  });

  it('refuses a release whose checksum file does not name the archive', async () => {
    files.set(archive.checksums, Buffer.from(`${'0'.repeat(64)}  other.tar.gz\n`));
    await expectStartupError(download(), /no entry for tool_1\.0\.0\.tar\.gz/);
  });

  it('refuses an archive without the program', async () => {
    const packed = packProgram(folder, 'something-else');
    files.set(archive.path, packed);
    files.set(archive.checksums, Buffer.from(`${sha256(packed)}  ${basename(archive.path)}\n`));
    await expectStartupError(download(), /does not contain tool-server or tool/);
  });

  it('says so when there is no such release, so that the caller can build instead', async () => {
    files.clear();
    expect(await download()).to.match(/checksums\.txt returned 404/);
  });

  it('says so when the server cannot be reached', async () => {
    const [port] = await freePorts(1);
    expect(await download(`http://127.0.0.1:${port}`)).to.match(/cannot be reached: ECONNREFUSED/);
  });
});

function packProgram(folder: string, name: string, content = program): Buffer {
  const source = mkdtempSync(join(folder, 'source-'));
  writeFileSync(join(source, name), content);
  writeFileSync(join(source, 'LICENSE'), 'MIT');
  execFileSync('tar', ['-czf', join(source, 'out.tar.gz'), '-C', source, name, 'LICENSE']);
  return readFileSync(join(source, 'out.tar.gz'));
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

async function expectStartupError(work: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await work.catch((reason: unknown) => reason);
  expect(error).to.be.instanceOf(StartupError);
  expect((error as StartupError).message).to.match(message);
}
