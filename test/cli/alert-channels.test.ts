// Channels of alerts from the command line.
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AlertReceiver, jsonOf, startAlertReceiver } from '../support/messages/alert-receiver.ts';
import { type CommandLine, commandLine } from '../support/programs/cli.ts';
import { createOrganization } from '../support/service.ts';

describe('hookyard alert-channels', () => {
  let cli: CommandLine;
  let receiver: AlertReceiver;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hookyard-cli-'));
    receiver = await startAlertReceiver();
    cli = commandLine(await createOrganization());
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await receiver.close();
  });

  it('makes them, with an address from a file, and lists and shows them', async () => {
    const file = join(folder, 'url.txt');
    writeFileSync(file, `${receiver.url}/slack\n`);
    const create = ['alert-channels', 'create', 'Team', '--type', 'slack', '--to', `@${file}`];
    expect(await cli.ok(...create, '--kind', 'circuit_open', '--after', '3')).to.match(
      /^Team was created \(alc_\w+\)\n$/,
    );
    const shown = await cli.json('alert-channels', 'show', 'Team');
    expect(shown).to.deep.include({ type: 'slack', kinds: ['circuit_open'], afterCount: 3 });
    expect(shown.config).to.deep.equal({ url: '••••lack' });
    expect(await cli.ok('alert-channels', 'list')).to.match(/Team +alc_\w+ +slack/);
  });

  it('tests, changes and deletes them', async () => {
    expect(await cli.ok('alert-channels', 'test', 'Team')).to.match(/^The test message was sent \(\d+ ms\)\n$/);
    expect(receiver.at('/slack').map((each) => jsonOf(each).text)).to.deep.equal([
      'This is a test of an alert channel',
    ]);
    await cli.ok('alert-channels', 'update', 'Team', '--throttle', '5', '--disable', '--data', '{"kinds":null}');
    const changed = await cli.json('alert-channels', 'show', 'Team');
    expect(changed).to.include({ throttleMinutes: 5, enabled: false, kinds: null, afterCount: 3 });
    await cli.ok('alert-channels', 'delete', 'Team');
    expect((await cli.run(['alert-channels', 'show', 'Team'])).code).to.equal(3);
  });

  it('take the rest of their config as JSON', async () => {
    const pager = ['alert-channels', 'create', 'Pager', '--type', 'pagerduty', '--key'];
    await cli.ok(...pager, 'R0123456789ABCDEFGHIJKLMNOPQRSTU', '--data', '{"config":{"severity":"critical"}}');
    const paged = await cli.json('alert-channels', 'show', 'Pager');
    expect(paged.config).to.include({ severity: 'critical', routingKey: '••••RSTU' });
  });

  it('ends with 1 and the reason when a test does not arrive', async () => {
    await cli.ok('alert-channels', 'create', 'Gone', '--type', 'teams', '--to', `${receiver.url}/gone`);
    receiver.answer('/gone', 410);
    const { code, stderr } = await cli.run(['alert-channels', 'test', 'Gone']);
    expect(code).to.equal(1);
    expect(stderr).to.contain('The channel answered 410');
  });
});
