// Schemas from the command line.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ingest, makeSource } from '../support/api-records.ts';
import { type CommandLine, commandLine } from '../support/programs/cli.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const ORDER = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };

describe('hookyard schemas test', () => {
  const organization = useOrganization();
  let cli: CommandLine;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hookyard-cli-'));
    cli = commandLine(organization);
  });
  after(() => rmSync(folder, { recursive: true }));

  it('says where a payload does not match, of a file and of an event', async () => {
    const file = join(folder, 'order.schema.json');
    writeFileSync(file, JSON.stringify(ORDER));
    const test = ['schemas', 'test', `@${file}`];
    expect(await cli.ok(...test, '--payload', '{"id":"a"}')).to.equal('The payload matches\n');
    const ran = await cli.run([...test, '--payload', '-'], { input: '{"id":5}' });
    expect(ran).to.include({ code: 1, stdout: '/id: must be string\n', stderr: '' });
    const eventId = await ingest(organization, await makeSource(organization), '{"id":true}');
    const ofEvent = await cli.run([...test, '--event', eventId, '--json']);
    expect(JSON.parse(ofEvent.stdout)).to.deep.equal({
      valid: false,
      errors: [{ path: '/id', message: 'must be string' }],
    });
  });

  it('says what is wrong with the schema, or with what was given', async () => {
    const broken = await cli.run(['schemas', 'test', '{"type":"objekt"}', '--payload', '{}']);
    expect(broken.code).to.equal(1);
    expect(broken.stderr).to.match(/schema is no JSON Schema/);
    expect((await cli.run(['schemas', 'test', '{"type"', '--payload', '{}'])).code).to.equal(2);
    expect((await cli.run(['schemas', 'test', '{}'])).stderr).to.match(/--payload or --event/);
  });
});
