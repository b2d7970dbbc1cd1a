// hookyard events follow: what arrives, as it arrives.
import { expect } from 'chai';
import { forgetQueued, ingest, makePipeline } from '../support/api-records.ts';
import { commandLine } from '../support/programs/cli.ts';
import { createOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('hookyard events follow', () => {
  it('prints the events of a source as they arrive, until Ctrl-C', async () => {
    const own = await createOrganization();
    const [orders, others] = [await makePipeline(own), await makePipeline(own)];
    const command = commandLine(own).start(['events', 'follow', '--source', orders.source.slug, '--json']);
    await until('it to follow', () => command.stderr().includes('Ctrl-C ends it'));
    await ingest(own, others.source, '{}');
    const id = await ingest(own, orders.source, '{"n":1}');
    await until('the event', () => command.stdout().endsWith('\n'));
    command.signal('SIGINT');
    const { code, stdout } = await command.ended;
    expect(code).to.equal(0);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).to.have.lengthOf(1);
    expect(JSON.parse(stdout)).to.deep.include({ id, routed: true, payloadSize: 7 });
    await forgetQueued(own);
  });
});
