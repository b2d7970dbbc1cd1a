// Commands that are made of operations alone: what they are called, take and print.
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ingest, makePipeline } from '../support/api-records.ts';
import { type CommandLine, commandLine } from '../support/programs/cli.ts';
import { useOrganization } from '../support/use-hookyard.ts';

describe('a command of an operation', () => {
  const organization = useOrganization();
  let cli: CommandLine;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hookyard-cli-'));
    cli = commandLine(organization);
  });
  after(() => rmSync(folder, { recursive: true }));

  it('takes members as options: texts, JSON, files; and says what is missing', async () => {
    const conditions = '[{"field":"payload.kind","operator":"equals","value":"order.paid"}]';
    const made = await cli.ok('filters', 'create', 'Paid orders', '--conditions', conditions, '--logic', 'AND');
    expect(made).to.match(/^paid-orders was created \(flt_\w+\)\n$/);
    expect(await cli.ok('filters', 'list', '--search', 'paid')).to.match(/^SLUG +ID +NAME[^\n]*\npaid-orders +flt_/);
    const tried = await cli.json('filters', 'test', 'paid-orders', '--payload', '{"kind":"order.paid"}');
    expect(tried).to.include({ matches: true });
    const file = join(folder, 'code.jsonata');
    writeFileSync(file, '{ "id": payload.id }');
    await cli.ok('transforms', 'apply', 'ids', '--type', 'jsonata', '--code', `@${file}`);
    expect(await cli.json('transforms', 'show', 'ids')).to.include({ name: 'ids', code: '{ "id": payload.id }' });
    const failing = await cli.run(['transforms', 'test-code', '--type', 'jsonata', '--code', '$nothing()']);
    expect(failing, failing.stderr).to.include({ code: 1, stdout: '' });
    const without = await cli.run(['transforms', 'create', 'x', '--type', 'jsonata']);
    expect([without.code, without.stderr]).to.satisfy(
      ([code, line]: [number, string]) => code === 2 && line.startsWith('hookyard: Give --code'),
    );
    await cli.ok('filters', 'delete', 'Paid orders');
    expect((await cli.run(['filters', 'show', 'paid-orders'])).stderr).to.match(
      /There is no filter paid-orders; hookyard filters list shows those there are/,
    );
  });

  it('shows what there is about records, by their names', async () => {
    const { source, route, destination } = await makePipeline(organization);
    const eventId = await ingest(organization, source, '{}');
    expect(await cli.ok('destinations', 'health', destination.id)).to.match(/^status +\w+/m);
    expect(await cli.json('routes', 'statistics', route.id, '--period', '24h')).to.be.an('object');
    expect((await cli.run(['routes', 'statistics', route.id, '--period', 'x'])).code).to.equal(2);
    expect(await cli.json('events', 'timeline', eventId)).to.have.property('deliveries');
    expect(await cli.json('metrics', '--metric', 'events', '--from', '1h')).to.be.an('object');
    await cli.ok('sources', 'update', source.slug, '--ingest-token', 'required');
    expect(await cli.json('sources', 'rotate-ingest-token', source.slug, '--overlap-seconds', '60')).to.be.an('object');
    expect(await cli.ok('destinations', 'update', destination.id, '--timeout-ms', '5000', '--json')).to.include('5000');
  });
});
