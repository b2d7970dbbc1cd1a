// What a tenant reaches of an installation by `npm start`, with its default for destinations on the same machine.
import { join } from 'node:path';
import { readFileSync, rmSync } from 'node:fs';
import { expect } from 'chai';
import { createClient } from '../support/api-client.ts';
import { Run } from '../support/npm-start.ts';
import { startReceiver } from '../support/receiver.ts';

const project = join(import.meta.dirname, '..', '..');

describe('npm start @turns', () => {
  const dataDir = join(project, '.test-data', `doors-${process.pid}`);
  let run: Run;
  before(async () => {
    run = new Run(project, dataDir);
    await run.ready();
  });
  after(async () => {
    await run?.kill();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('lets destinations reach a receiver on this machine, and none of its own servers', async () => {
    const receiver = await startReceiver();
    const token = readFileSync(join(dataDir, 'keys', 'api-key'), 'utf8').trim();
    const client = createClient(run.printedUrl(), token);
    const { id } = await client.create('/api/destinations', { name: 'Here', url: receiver.endpoint(200).url });
    const test = async (url: string) => {
      await client.patch(`/api/destinations/${id}`, { url });
      return client.post(`/api/destinations/${id}/test`);
    };
    expect(await test(receiver.endpoint(200).url)).to.include({ success: true });
    const ports = ownPorts(run.output, dataDir);
    // API, UI, PostgreSQL, and two of each of Temporal's four services.
    expect(ports).to.have.length(11);
    for (const port of ports) {
      const { error } = await test(`http://localhost:${port}/`);
      expect(error, `port ${port}`).to.match(/belongs to Hookyard itself/);
    }
    await receiver.close();
  });
});

/** As the start prints them, and as Temporal's configuration has them. */
function ownPorts(output: string, dataDir: string): number[] {
  const printed = [...output.matchAll(/(?:127\.0\.0\.1|localhost):(\d+)/g)].map(([, port]) => Number(port));
  const server = readFileSync(join(dataDir, 'temporal', 'server.yaml'), 'utf8');
  const configured = [...server.matchAll(/"(?:grpcPort|membershipPort)": (\d+)/g)].map(([, port]) => Number(port));
  return [...new Set([...printed, ...configured])];
}
