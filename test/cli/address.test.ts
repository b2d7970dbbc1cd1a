import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { lockDataDir, recordUrl } from '../../local/lock.ts';
import { useCommandLine } from '../support/programs/cli.ts';

describe('the address of the service', () => {
  const { organization, cli } = useCommandLine();
  let folder: string;
  let unlock: () => void;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hookyard-address-'));
    for (const name of ['run', 'keys']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'keys', 'api-key'), `${organization.token}\n`);
    // As npm start does: this process runs the folder.
    unlock = await lockDataDir(folder);
    recordUrl(folder, organization.api.url);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a command in an environment that names nothing but the data folder. */
  const inFolder = (args: string[], env: Record<string, string> = {}) =>
    cli.run(args, { env: { HOOKYARD_URL: undefined, HOOKYARD_API_KEY: undefined, HOOKYARD_DATA_DIR: folder, ...env } });

  it('is that of the service which runs on the data folder, with its key', async () => {
    const { code, stdout, stderr } = await inFolder(['whoami']);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include(organization.api.url);
    // Port 0 is no port: it says that any will do.
    expect(await inFolder(['whoami'], { HOOKYARD_PORT: '0' })).to.include({ code: 0 });
  });

  it('is what the options or the environment say, which is told when nobody answers there', async () => {
    const nobody = 'http://127.0.0.1:9';
    for (const [args, env, from] of [
      [['--url', nobody], {}, '--url'],
      [[], { HOOKYARD_URL: nobody }, 'HOOKYARD_URL'],
      [[], { HOOKYARD_PUBLIC_URL: nobody }, 'HOOKYARD_PUBLIC_URL'],
      [[], { HOOKYARD_PORT: '9' }, 'HOOKYARD_PORT'],
    ] as [string[], Record<string, string>, string][]) {
      const { code, stderr } = await inFolder(['whoami', '--timeout', '1', ...args], env);
      expect([code, stderr.includes(from)], stderr).to.deep.equal([5, true]);
    }
  });

  it('may have a port that fetch refuses, as browsers do', async () => {
    const { port } = new URL(organization.api.url);
    const door = createServer((socket) => {
      const inside = connect(Number(port), '127.0.0.1');
      for (const each of [socket, inside]) each.on('error', () => each.destroy());
      socket.pipe(inside).pipe(socket);
    });
    door.listen(6697, '127.0.0.1');
    await once(door, 'listening');
    try {
      const env = { HOOKYARD_URL: 'http://127.0.0.1:6697' };
      await cli.ok('sources', 'create', 'behind');
      const { code, stdout, stderr } = await cli.run(['send', '--source', 'behind', '--data', '{"a":1}'], { env });
      expect([code, stdout.slice(0, 4)], stderr).to.deep.equal([0, 'evt_']);
      const deleted = await cli.run(['sources', 'delete', 'behind'], { env });
      expect(deleted.code, 'an answer without a body').to.equal(0);
    } finally {
      door.close();
    }
  });

  it('is that of a profile, with its key, unless the options say another', async () => {
    const env = {
      XDG_CONFIG_HOME: join(folder, 'config'),
      HOOKYARD_URL: 'http://127.0.0.1:9',
      HOOKYARD_API_KEY: undefined,
    };
    const run = (...args: string[]) => cli.run(args, { env });
    const { url } = organization.api;
    writeFileSync(join(folder, 'key.txt'), `${organization.token}\n`);
    expect(
      await run('profiles', 'set', 'here', '--url', `${url}/`, '--api-key', `@${join(folder, 'key.txt')}`),
    ).to.include({ code: 0 });
    const { mode } = statSync(join(folder, 'config', 'hookyard', 'profiles.json'));
    expect(mode & 0o077, 'for others').to.equal(0);
    const listed = (await run('profiles', 'list')).stdout;
    expect(listed)
      .to.include(`••••${organization.token.slice(-4)}`)
      .and.not.include(organization.token);
    expect((await run('--profile', 'here', 'whoami')).stdout).to.include(url);
    const named = await cli.run(['whoami'], { env: { ...env, HOOKYARD_PROFILE: 'here' } });
    expect(named, named.stderr).to.include({ code: 0 });
    const other = await run('--profile', 'here', '--url', 'http://127.0.0.1:9', '--timeout', '1', 'whoami');
    expect(other).to.include({ code: 5 });
    expect(await run('--profile', 'there', 'whoami')).to.include({ code: 3 });
    expect(await run('profiles', 'remove', 'here')).to.include({ code: 0 });
    expect(await run('--profile', 'here', 'whoami')).to.include({ code: 3 });
    expect(await run('profiles', 'set', 'bad', '--url', 'ftp://x')).to.include({ code: 2 });
    const keyFile = join(folder, 'token.txt');
    writeFileSync(keyFile, `${organization.token}\n`);
    expect(await run('--url', url, '--api-key', `@${keyFile}`, 'whoami')).to.include({ code: 0 });
    const spoilt = await run('--url', url, '--api-key', `${organization.token}\n`, 'whoami');
    expect(spoilt).to.include({ code: 2 });
    expect(spoilt.stderr).to.include('API key').and.not.include(organization.token);
  });

  it('is told with the data folder when its service does not answer', async () => {
    recordUrl(folder, 'http://127.0.0.1:9');
    const { code, stderr } = await inFolder(['whoami', '--timeout', '1']);
    recordUrl(folder, organization.api.url);
    expect(code).to.equal(5);
    expect(stderr).to.include(`The URL comes from the service running in ${folder};`);
  });

  it('is the default again when the service of the folder has ended or was killed', async () => {
    const lock = join(folder, 'run', 'supervisor.lock');
    const held = readFileSync(lock, 'utf8');
    unlock();
    for (const left of ['', '{"pid": 12', JSON.stringify({ ...JSON.parse(held), pid: 2 ** 22 + 1 })]) {
      if (left !== '') writeFileSync(lock, left);
      const { stderr } = await inFolder(['whoami', '--timeout', '1']);
      expect(stderr).to.not.include(organization.api.url);
    }
  });
});
