// What a tenant reaches of an installation by `npm start`, with its default for destinations on the same machine.
import { join } from 'node:path';
import { readFileSync, rmSync } from 'node:fs';
import { expect } from 'chai';
import { freePorts } from '../../local/ports.ts';
import { createClient } from '../support/api-client.ts';
import { processesOf, Run } from '../support/programs/npm-start.ts';
import { startReceiver } from '../support/receiver.ts';
import { listeningPorts } from '../support/servers/listening.ts';

const OPERATOR_KEY = 'operator-key-of-thirty-two-letters';
const project = join(import.meta.dirname, '..', '..');

describe('npm start', () => {
  const dataDir = join(project, '.test-data', `doors-${process.pid}`);
  let run: Run;
  let metrics: number;
  before(async () => {
    [metrics = 0] = await freePorts(1);
    run = new Run(project, dataDir, {
      OTEL_EXPORTER_PROMETHEUS_PORT: String(metrics),
      HOOKYARD_OPERATOR_KEY: OPERATOR_KEY,
    });
    await run.ready();
  });
  after(async () => {
    await run?.kill();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('limits its database by its disk, which organizations share', async () => {
    const { limits, databaseBytes } = await createClient(run.printedUrl(), OPERATOR_KEY).get<{
      limits: { databaseBytes: number | null };
      databaseBytes: number;
    }>('/api/status');
    expect(limits.databaseBytes).to.be.a('number').and.to.be.above(databaseBytes);
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
    const listening = processesOf(dataDir).flatMap(portsOf);
    // Those of the two processes; the worker has another for Temporal's SDK, which nothing prints.
    if (process.platform === 'linux') expect(listening).to.include.members([metrics, metrics + 1]);
    for (const port of new Set([...ports, ...listening])) {
      const { error } = await test(`http://localhost:${port}/`);
      expect(error, `port ${port}`).to.match(/belongs to Hookyard itself/);
    }
    await receiver.close();
  });
});

/** None of a process that has ended meanwhile, as those of PostgreSQL do. */
function portsOf(pid: number): number[] {
  try {
    return listeningPorts(pid) ?? [];
  } catch {
    return [];
  }
}

/** As the start prints them, and as Temporal's configuration has them. */
function ownPorts(output: string, dataDir: string): number[] {
  const printed = [...output.matchAll(/(?:127\.0\.0\.1|localhost):(\d+)/g)].map(([, port]) => Number(port));
  const server = readFileSync(join(dataDir, 'temporal', 'server.yaml'), 'utf8');
  const configured = [...server.matchAll(/"(?:grpcPort|membershipPort)": (\d+)/g)].map(([, port]) => Number(port));
  return [...new Set([...printed, ...configured])];
}
