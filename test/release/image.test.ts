// The images without a container engine: the instructions of the Dockerfile, each in a layer over the files of this
// machine (overlayfs), and what they made started in namespaces of its own. The layers are in memory: overlayfs takes
// none below another. The base image is this machine's Debian with the Node of this project.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { project } from '../../release/npm-packages.ts';
import { cacheFolder } from '../../core/config/folders.ts';

const MINUTE_MS = 60_000;

interface Stage {
  /** Folders with what changed, the newest first. */
  layers: string[];
  env: Record<string, string>;
  cwd: string;
  user: string;
}

describe('the images', function () {
  this.timeout(30 * MINUTE_MS);
  const folder = mkdtempSync('/dev/shm/hookyard-image-');
  const stages = new Map<string, Stage>();
  const NAMESPACES = ['--net', '--pid', '--fork', '--mount-proc'];
  before(function () {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) {
      console.log('    needs root on Linux, for mounts');
      this.skip();
    }
    build();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('hookyard-all-in-one carries a first webhook, keeps its data for the next start, and ends on SIGTERM', () => {
    const image = stages.get('all-in-one') as Stage;
    writeFileSync(join(image.layers[0] ?? '', 'story.sh'), STORY);
    const printed = inside(image, 'ip link set lo up && bash /story.sh', { namespaces: NAMESPACES });
    expect(printed).to.match(/Console +http:\/\/localhost:3000\/console\/#code=/);
    expect(printed).to.include('docker exec -it <container> node cli/hookyard.js listen 4000 --source orders');
    expect(printed).to.include('THE END: 0');
  });

  it('hookyard migrates, and carries a webhook with both roles as user 1000 on a read-only file system', () => {
    // Its servers are those that the other image has.
    const servers = stages.get('all-in-one') as Stage;
    const roles = stages.get('hookyard') as Stage;
    expect(roles.user).to.equal('1000');
    const [layer = ''] = servers.layers;
    writeFileSync(join(layer, 'servers.mjs'), SERVERS);
    writeFileSync(join(layer, 'roles.sh'), ROLES);
    const command = `ip link set lo up && bash /roles.sh ${exports(roles.env)}`;
    expect(inside(servers, command, { namespaces: NAMESPACES, beside: roles })).to.include('THE END: 0 0');
  });

  function build(): void {
    const text = readFileSync(join(project, 'Dockerfile'), 'utf8')
      .replaceAll(/^#.*\n/gm, '')
      .replaceAll('\\\n', ' ');
    let stage: Stage | undefined;
    for (const [, word = '', rest = ''] of text.matchAll(/^([A-Z]+) (.*)$/gm)) {
      if (word === 'FROM') {
        const [from = '', , name = ''] = rest.split(' ');
        stage = newStage(stages.get(from));
        stages.set(name, stage);
      } else if (stage !== undefined) carryOut(stage, word, rest);
    }
  }

  function newStage(from: Stage | undefined): Stage {
    const layer = mkdtempSync(join(folder, 'layer-'));
    chmodSync(layer, 0o755);
    if (from !== undefined) return { ...from, env: { ...from.env }, layers: [layer, ...from.layers] };
    mkdirSync(join(layer, 'usr/local/bin'), { recursive: true });
    copyFileSync(join(project, 'node_modules/node/bin/node'), join(layer, 'usr/local/bin/node'));
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
    return { layers: [layer], env, cwd: '/', user: '0' };
  }

  function carryOut(stage: Stage, word: string, rest: string): void {
    const [layer = ''] = stage.layers;
    if (word === 'WORKDIR') {
      stage.cwd = rest;
      mkdirSync(join(layer, rest), { recursive: true });
    } else if (word === 'ENV') {
      for (const [, name = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/g)) stage.env[name] = value;
      // What the release archives of Temporal bring, where this machine has it already: it may not reach them.
      for (const program of rest.includes('XDG_CACHE_HOME') ? globSync('temporal-*', { cwd: cacheFolder() }) : []) {
        const target = join(layer, stage.env.XDG_CACHE_HOME ?? '', 'hookyard', program);
        cpSync(join(cacheFolder(), program), target, { recursive: true });
      }
    } else if (word === 'USER') stage.user = rest;
    else if (word === 'RUN') inside(stage, rest);
    else if (word === 'COPY') {
      const words = rest.trim().split(/\s+/);
      const from = words[0]?.startsWith('--from=') ? stages.get((words.shift() ?? '').slice(7)) : undefined;
      const target = words.pop() ?? '';
      const path = join(layer, resolve(stage.cwd, target)) + (target.endsWith('/') ? '/' : '');
      for (const word of words) copy(from ? word : join(project, word), path, from);
    }
  }

  /** As COPY does: the content of a folder, or a file into a folder. @param from the stage whose files are copied */
  function copy(source: string, target: string, from?: Stage): void {
    const mounted = mkdtempSync(join(folder, 'mounted-'));
    const mount = from ? `mount -t overlay overlay -o lowerdir=${from.layers.join(':')}:/ ${mounted}` : 'true';
    const script = `${mount} && if [ -d "$1" ]; then mkdir -p "$2" && cp -a "$1/." "$2"
      else mkdir -p "$(dirname "$2x")" && cp -a "$1" "$2"; fi`;
    const args = ['--mount', 'sh', '-c', script, 'sh', from ? join(mounted, source) : source, target];
    must(spawnSync('unshare', args, { encoding: 'utf8' }), `COPY ${source}`);
  }

  /**
   * Runs a command in the files of a stage.
   * @param beside a stage whose files are at /image, to read only
   * @returns what it printed
   */
  function inside(
    { layers: [layer = '', ...lower], env, cwd }: Stage,
    command: string,
    { namespaces = [], beside }: { namespaces?: string[]; beside?: Stage } = {},
  ): string {
    const [work, mounted] = ['work-', 'mounted-'].map((prefix) => mkdtempSync(join(folder, prefix)));
    const options = `lowerdir=${[...lower, '/'].join(':')},upperdir=${layer},workdir=${work}`;
    const other = `${mounted}/image`;
    const script = `mount -t overlay overlay -o "${options}" ${mounted} && mount --rbind /dev ${mounted}/dev &&
      mount -t proc proc ${mounted}/proc &&
      ${
        beside
          ? `mkdir ${other} && mount -t overlay overlay -o lowerdir=${beside.layers.join(':')}:/ ${other} &&
             mount --rbind /dev ${other}/dev && mount -t proc proc ${other}/proc && mount -t tmpfs tmpfs ${other}/tmp &&`
          : ''
      }
      exec chroot ${mounted} bash -c "$1"`;
    const exported = `export ${exports(env)}; cd ${cwd} && ${command}`;
    const args = ['--mount', ...namespaces, 'bash', '-c', script, 'bash', exported];
    const clean = { HOME: '/root', npm_config_prefer_offline: 'true' };
    const ran = spawnSync('unshare', args, { encoding: 'utf8', env: { ...process.env, ...clean, NODE_OPTIONS: '' } });
    return must(ran, command);
  }
});

/** `NAME='value' ...` for a shell. */
function exports(env: Record<string, string>): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}='${value}'`)
    .join(' ');
}

function must(
  { status, stdout, stderr }: { status: number | null; stdout: string; stderr: string },
  what: string,
): string {
  expect(status, `${what}\n${stdout}\n${stderr}`).to.equal(0);
  return stdout;
}

/** The command of the image, twice on the same data; what a user does beside it. */
const STORY = `
start() { node local/main.ts --container > /log 2>&1 & server=$!; until grep -q 'deliveries list' /log; do kill -0 $server || { cat /log; exit 1; }; sleep 1; done; }
start
node cli/hookyard.js listen 4000 --source orders > /listen 2>&1 & listening=$!
until grep -q 'Stop with Ctrl-C' /listen; do kill -0 $listening || { cat /listen; exit 1; }; sleep 1; done
event=$(node cli/hookyard.js send --source orders) || exit 1
for try in $(seq 60); do grep -q "POST $event" /listen && break; sleep 1; done
grep -q "POST $event" /listen || { cat /listen; exit 1; }
cat /log
kill -INT $listening; wait $listening
kill -TERM $server; wait $server; first=$?
start
node cli/hookyard.js diagnose | grep -q 'alive: ok' || exit 1
kill -TERM $server; wait $server
echo "THE END: $first"
`;

/** PostgreSQL and Temporal of an operator. */
const SERVERS = `
import { writeFileSync } from 'node:fs';
import { startStack } from '/app/local/stack.ts';
const ports = { postgresPort: 5433, temporalPort: 7233, uiPort: null };
const stack = await startStack({ dataDir: '/servers', ...ports, log: console.log });
writeFileSync('/servers.env', 'DATABASE_URL=' + stack.databaseUrl + ' TEMPORAL_ADDRESS=' + stack.temporalAddress);
process.once('SIGTERM', () => stack.stop().then(() => process.exit()));
`;

/** The roles of the image, as a container engine starts them; what a user does beside them. */
const ROLES = `
fail() { cat /log /api /worker /listen; exit 1; }
node /servers.mjs > /log 2>&1 & servers=$!
until [ -s /servers.env ]; do kill -0 $servers || fail; sleep 1; done
settings="$* $(cat /servers.env) HOOKYARD_ENCRYPTION_KEYS=k1:$(openssl rand -base64 32) HOOKYARD_API_KEY=whr_$(openssl rand -hex 24)"
role() { exec chroot --userspec=1000:1000 /image env -i $settings HOME=/tmp HOOKYARD_DELIVERY_ALLOW=127.0.0.1 sh -c 'cd /app && exec node "$@"' node "$@"; }
if (role -e 'require("fs").writeFileSync("/app/written", "")' 2> /dev/null); then echo 'the file system is not read-only'; exit 1; fi
(role cli/main.ts migrate) || fail
role api/main.ts > /api 2>&1 & api=$!
role worker/main.ts > /worker 2>&1 & worker=$!
until (role local/healthcheck.ts /readyz); do kill -0 $api $worker || fail; sleep 1; done
(role cli/main.ts sources create orders) > /dev/null || fail
role cli/main.ts listen 4000 --source orders > /listen 2>&1 & listening=$!
until grep -q 'Stop with Ctrl-C' /listen; do kill -0 $listening || fail; sleep 1; done
event=$(role cli/main.ts send --source orders) || fail
for try in $(seq 60); do grep -q "POST $event" /listen && break; sleep 1; done
grep -q "POST $event" /listen || fail
kill -INT $listening; wait $listening
kill -TERM $api $worker; wait $api; first=$?; wait $worker; second=$?
kill -TERM $servers; wait $servers
echo "THE END: $first $second"
`;
