// Saves the state of a release for upgrade.test.ts (docs/releasing.md), at the release:
//   SAVE_RELEASE=0.2.0 npm test -- test/faults/upgrade/save.ts
// or of one that was made before, from a checkout with its own node_modules: SAVE_CHECKOUT=<folder>. Starts the release on fresh
// servers, plays a story on it, stops it as for an upgrade, and writes what is in its databases.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createPool } from '../../../db/connections/pool.ts';
import { newToken } from '../../../core/api-token.ts';
import { startReceiver } from '../../support/receiver.ts';
import { startService } from '../../support/service.ts';
import { stackAddresses, stopPart } from '../../support/stack.ts';
import { type Head, migrationsOf, readState, writeStateFile } from './state.ts';
import { type EndpointName, placeholder, playStory } from './story.ts';

const project = join(import.meta.dirname, '..', '..', '..');

it('saves the state of a release', async function () {
  this.timeout(300_000);
  const { SAVE_RELEASE: release, SAVE_CHECKOUT: checkout = project } = process.env;
  if (!release) throw new Error('Say which release it is: SAVE_RELEASE=0.2.0 npm test -- test/faults/upgrade/save.ts');
  const folder = resolve(checkout);
  const { databaseUrl } = stackAddresses();
  const settings: Head['settings'] = {
    HOOKYARD_API_KEY: newToken(),
    HOOKYARD_ENCRYPTION_KEYS: `saved:${randomBytes(32).toString('base64')}`,
  };
  const dataDir = mkdtempSync(join(tmpdir(), 'hookyard-save-'));
  // The longest replay window there is: workflows that wait for a replay end with it, and a state is used for long.
  const env = { ...settings, HOOKYARD_DATA_DIR: dataDir, HOOKYARD_REPLAY_WINDOW_HOURS: '8760' };
  const receiver = await startReceiver();
  const pool = createPool(databaseUrl, { max: 2, statementTimeoutMs: 20_000, onError: () => {} });
  try {
    const api = await startService('api', env, folder);
    const worker = await startService('worker', env, folder);
    const { story, endpoints } = await playStory({ url: api.url, token: settings.HOOKYARD_API_KEY, pool }, receiver);
    await worker.stop();
    await api.stop();
    await stopPart('temporal');
    const urlOf = (database: string) => Object.assign(new URL(databaseUrl), { pathname: `/${database}` }).href;
    const names = Object.keys(endpoints) as EndpointName[];
    const state = await readState(
      urlOf,
      { release, savedAt: new Date().toISOString(), settings, story, migrations: migrationsOf(folder) },
      Object.fromEntries(names.map((name) => [endpoints[name].url, placeholder(name)])),
    );
    const file = join(import.meta.dirname, `${release}.state.gz`);
    writeStateFile(file, state);
    console.log(`${state.rows.length} rows are in ${file}`);
  } finally {
    await receiver.close();
    await pool.end();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
