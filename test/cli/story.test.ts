// The whole story from the command line alone: set up, see a delivery fail, mend the receiver, replay, see it
// delivered.
import { expect } from 'chai';
import { useCommandLine } from '../support/programs/cli.ts';
import { sharedService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useReceiver } from '../support/use-hookyard.ts';

describe('A team with nothing but the command line', () => {
  const { cli } = useCommandLine();
  const receiver = useReceiver();
  before(() => sharedService('worker'));

  it('sets a route up, sees a delivery fail, mends the receiver, replays, and sees it delivered', async () => {
    const crm = receiver.endpoint(500, 200);
    await cli.ok('sources', 'create', 'orders', '--verify', 'github', '--secret', 'whispered to both');
    await cli.ok('destinations', 'create', 'CRM', crm.url, '--max-retries', '0');
    await cli.ok('routes', 'create', 'Orders to the CRM', '--source', 'orders', '--to', 'CRM');

    const sent = await cli.run(['send', '--source', 'orders', '--secret', 'whispered to both', '--watch']);
    expect(sent.code, sent.stderr).to.equal(1);
    expect(sent.stdout).to.match(/dlv_\w+ to dst_\w+: failed after 1 attempt \(.*500.*\)\n/);
    const [, eventId = ''] = /^(evt_\w+): failed$/m.exec(sent.stdout) ?? [];

    expect(await cli.ok('events', 'list', '--status', 'failed', '--source', 'orders')).to.include(eventId);
    const failedOf = ['deliveries', 'list', '--status', 'failed', '--event', eventId];
    const deliveries = await cli.json<{ data: { id: string }[] }>(...failedOf);
    const [failed] = deliveries.data;
    expect(await cli.ok('deliveries', 'show', failed?.id ?? '')).to.match(/ATTEMPT +STARTED[^\n]*\n1 .*failed +500/);
    const request = await cli.run(['deliveries', 'request', failed?.id ?? '']);
    expect(request.code, request.stderr).to.equal(0);
    expect(request.stdout)
      .to.include(`POST ${crm.url}\n`)
      .and.to.include('refs/heads/main')
      .and.to.match(/x-hub-signature-256: ••••\n/);
    const withoutBody = await cli.ok('deliveries', 'request', failed?.id ?? '', '--without-body', '--attempt', '1');
    expect(withoutBody).to.include(`POST ${crm.url}\n`).and.to.not.include('refs/heads/main');
    expect(await cli.ok('events', 'show', eventId))
      .to.include('x-github-event: push')
      .and.to.include('"ref": "refs/heads/main"');

    // The receiver answers 200 from now on.
    expect(await cli.ok('events', 'replay', eventId, '--destination', 'CRM')).to.match(/1 delivery/);
    expect(await cli.ok('events', 'watch', eventId)).to.match(
      new RegExp(`: delivered after 1 attempt\n${eventId}: delivered\n$`),
    );
    expect(crm.requests).to.have.lengthOf(2);
    expect(crm.requests[1]?.body).to.deep.equal(crm.requests[0]?.body);
  });

  it('replays all that match, at a rate', async () => {
    const crm = receiver.endpoint(500, 500, 200);
    await cli.ok('destinations', 'update', 'CRM', '--target-url', crm.url);
    for (const _ of [1, 2]) await cli.run(['send', '--source', 'orders', '--secret', 'whispered to both', '--watch']);
    const all = ['deliveries', 'replay-all', '--route', 'Orders to the CRM', '--status', 'failed'];
    // One of them has been replayed before, which is found when its turn comes.
    expect(await cli.ok(...all, '--dry-run')).to.include('3 deliveries');
    expect(crm.requests).to.have.lengthOf(2);
    await cli.ok(...all, '--rate', '3');
    await until('both to arrive', () => crm.requests.length === 4);
  });

  it('follows the events of a source until Ctrl-C', async () => {
    const command = cli.start(['events', 'follow', '--source', 'orders', '--json']);
    await until('it to follow', () => command.stderr().includes('Stop with Ctrl-C'));
    await cli.ok('sources', 'create', 'slow');
    await cli.ok('send', '--source', 'slow');
    const id = (await cli.ok('send', '--source', 'orders', '--secret', 'whispered to both')).trim();
    await until('the event', () => command.stdout().endsWith('\n'));
    command.signal('SIGINT');
    const { code, stdout } = await command.ended;
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.include({ id, routed: true });
  });
});
