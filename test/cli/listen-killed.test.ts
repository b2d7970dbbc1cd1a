// hookyard listen that was killed: the next one on this machine removes what it has left, as it would have done itself.
import { expect } from 'chai';
import { commandLine, type Running, useCommandLine } from '../support/programs/cli.ts';
import { createOrganization, sharedService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('hookyard listen that was killed', () => {
  const { organization, cli } = useCommandLine();
  before(() => sharedService('worker'));

  async function listening(source: string, by = cli): Promise<Running> {
    const command = by.start(['listen', '0', '--source', source]);
    await until('hookyard listen is ready', () => command.stderr().includes('Stop with Ctrl-C'));
    return command;
  }
  const counts = async () => {
    const paths = [`${organization.base}/sources`, '/api/destinations', '/api/routes'];
    return Promise.all(paths.map(async (path) => (await organization.api.list(path)).pagination.total));
  };
  /** The actions of the audit log that name a record. */
  const recorded = async (id: string) =>
    (await organization.api.list<{ action: string }>(`/api/audit?recordId=${id}`)).data.map(({ action }) => action);

  it('removes what a killed session has left, by the operations of the API, and takes its source over', async () => {
    const before = await counts();
    const killed = await listening('left');
    const { id: sourceId } = await cli.json<{ id: string }>('sources', 'show', 'left');
    const { data } = await organization.api.list<{ id: string }>(`/api/routes?sourceId=${sourceId}`);
    const { id: routeId, destinationIds } = await organization.api.get<{ id: string; destinationIds: string[] }>(
      `/api/routes/${data[0]?.id}`,
    );
    const [destinationId = ''] = destinationIds;
    killed.signal('SIGKILL');
    await killed.ended;
    expect(await counts()).to.deep.equal(before.map((count) => count + 1));

    const next = await listening('left');
    expect(next.stderr()).to.include(
      `Removed the records of an earlier session: ${routeId}, ${destinationId}; the source left is reused.\n`,
    );
    expect(await counts()).to.deep.equal(before.map((count) => count + 1));
    expect(await recorded(destinationId)).to.include('deleteDestination');
    expect(await recorded(routeId)).to.deep.equal(['deleteRoute', 'createRoute']);

    next.signal('SIGKILL');
    await next.ended;
    await cli.ok('sources', 'create', 'another');
    const last = await listening('another');
    expect(last.stderr()).to.match(
      new RegExp(`Removed the records of an earlier session: rte_\\w+, dst_\\w+, ${sourceId}\\.\\n`),
    );
    expect(await recorded(sourceId)).to.include('deleteSource');
    last.signal('SIGINT');
    expect((await last.ended).code).to.equal(0);
    expect(await counts()).to.deep.equal([(before[0] ?? 0) + 1, before[1], before[2]]);
    const quiet = await listening('another');
    expect(quiet.stderr()).not.to.include('Removed');
    quiet.signal('SIGINT');
    await quiet.ended;
    await cli.ok('sources', 'delete', 'another');
  });

  it('leaves the records of other sessions that are under way, and of other organizations', async () => {
    const before = await counts();
    const stranger = await createOrganization();
    const elsewhere = commandLine(stranger);
    const theirs = await listening('theirs', elsewhere);
    theirs.signal('SIGKILL');
    await theirs.ended;
    const [first, second] = [await listening('both'), await listening('both')];
    expect(second.stderr()).not.to.include('Removed');
    expect(await counts()).to.deep.equal([(before[0] ?? 0) + 1, (before[1] ?? 0) + 2, (before[2] ?? 0) + 2]);
    first.signal('SIGINT');
    expect((await first.ended).stderr).to.include('the source both was kept because other routes use it');
    second.signal('SIGINT');
    await second.ended;
    await cli.ok('sources', 'delete', 'both');
    const again = await listening('mine', elsewhere);
    expect(again.stderr()).to.include('Removed the records of an earlier session: rte_');
    again.signal('SIGINT');
    await again.ended;
  });
});
