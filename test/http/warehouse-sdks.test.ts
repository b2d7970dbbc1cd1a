import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
const registry = join(import.meta.dirname, '..', '..', 'outbound', 'warehouses', 'index.ts');

/** Which SDKs a fresh process loads that makes the object stores and then runs `script`. */
async function loadedSdks(script: string): Promise<string[]> {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ load(url, context, next) {
      const sdk = /node_modules\\/(@aws-sdk\\/client-s3|@google-cloud\\/storage|@azure\\/storage-blob)\\//.exec(url);
      if (sdk) loaded.add(sdk[1]);
      return next(url, context);
    } });
    const { createWarehouses } = await import(${JSON.stringify(registry)});
    const warehouses = createWarehouses({ allow: [] });
    ${script}
    await warehouses.close();
    console.log(JSON.stringify([...loaded]));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program]);
  return JSON.parse(stdout);
}

describe('SDKs of object stores', () => {
  it('are not loaded by a service without warehouses', async () => {
    expect(await loadedSdks('')).to.deep.equal([]);
  });

  it('are loaded when a destination needs one, that one only', async () => {
    const config = {
      bucket: 'events',
      region: 'eu-central-1',
      accessKeyId: 'a',
      secretAccessKey: 'b',
      endpoint: 'http://127.0.0.1:1',
    };
    const target = JSON.stringify({ id: 'dst_wh_1', version: 1, type: 's3', config });
    expect(await loadedSdks(`await warehouses.head(${target}, 'a', 30_000);`)).to.deep.equal(['@aws-sdk/client-s3']);
  });
});
