import { expect } from 'chai';
import { readSettings } from '../../core/config/config.ts';
import {
  circuitWorkflowId,
  prefixOf,
  queryOf,
  TASK_QUEUE,
  withoutPrefix,
  withPrefix,
  workflowLinks,
} from '../../core/temporal/names.ts';
import { listReference, plain, summaryLine, workflowReference } from '../../core/temporal/operator-markdown.ts';

describe('Markdown for the Temporal UI', () => {
  it('shows text from elsewhere as it is', () => {
    const error = 'expected "*ok*" in <b>[the body](https://example.com)</b>, got `a_b` for $5';
    expect(plain(error)).to.equal(
      'expected "\\*ok\\*" in \\<b\\>\\[the body\\](https://example.com)\\</b\\>, got \\`a\\_b\\` for \\$5',
    );
    expect(plain('The destination returned 503')).to.equal('The destination returned 503');
  });

  it('leads to a workflow in the namespace of the page', () => {
    expect(workflowReference('circuit:rte_1', 'circuit')).to.equal(
      '[circuit](namespaces/{namespace}/workflows/circuit%3Arte_1)',
    );
    expect(workflowReference('dlv_1')).to.equal('[dlv_1](namespaces/{namespace}/workflows/dlv_1)');
  });

  it('leads to what a query finds', () => {
    const query = 'EventId = "evt_1" and ExecutionStatus = "Running"';
    const [, address = ''] = /\((.*)\)/.exec(listReference('others', query)) ?? [];
    expect(new URL(address, 'http://localhost:8233/render').searchParams.get('query')).to.equal(query);
  });

  it('keeps names in summaries readable, without links or elements, and short enough for Temporal', () => {
    expect(summaryLine('shop_orders -> Acme CRM')).to.equal('shop_orders -> Acme CRM');
    expect(summaryLine('a\nb <a href="x">[c](d)')).to.equal('a b \\<a href="x">\\[c](d)');
    const long = summaryLine('\u{4e00}'.repeat(255));
    expect(long).to.match(/…$/);
    expect(Buffer.byteLength(long)).to.be.below(400 - 'json/plain'.length - 'encoding'.length - 10);
  });
});

const DELIVERY = 'dlv_06f3k2v8q0e7x1c5b9m4n6p8qr';

describe('names in Temporal', () => {
  it('are what they were before where the installation has no prefix', () => {
    for (const name of [TASK_QUEUE, DELIVERY, circuitWorkflowId('rte_1')]) {
      expect(withPrefix('', name)).to.equal(name);
      expect(withoutPrefix('', name)).to.equal(name);
    }
    expect(prefixOf(TASK_QUEUE)).to.equal('');
    expect(queryOf('', 'EventId = "evt_1"')).to.equal('EventId = "evt_1"');
  });

  it('begin with the prefix, and workflows find it in their task queue', () => {
    for (const prefix of ['a', 'staging-2', 'hookyard']) {
      const name = withPrefix(prefix, DELIVERY);
      expect(name).to.equal(`${prefix}.${DELIVERY}`);
      expect(withoutPrefix(prefix, name)).to.equal(DELIVERY);
      expect(prefixOf(withPrefix(prefix, TASK_QUEUE))).to.equal(prefix);
      expect(queryOf(prefix, 'EventId = "evt_1"')).to.equal(`EventId = "evt_1" and TaskQueue = "${prefix}.hookyard"`);
    }
  });

  it('of one installation are none of another', () => {
    const prefixes = ['', 'a', 'b', 'a-b', 'dlv'];
    for (const one of prefixes)
      for (const other of prefixes.filter((each) => each !== one))
        expect(withoutPrefix(other, withPrefix(one, DELIVERY)), `${one} and ${other}`).to.equal(null);
  });

  it('with the prefix are in links to the Temporal UI', () => {
    const settings = readSettings({ HOOKYARD_TEMPORAL_PREFIX: 'a', TEMPORAL_UI_URL: 'https://temporal.example/' });
    const temporal = { connectionOptions: { address: 'temporal:7233' }, namespace: 'shared' };
    const link = workflowLinks(settings, temporal);
    expect(link(DELIVERY)).to.deep.equal({
      workflowId: `a.${DELIVERY}`,
      temporalUrl: `https://temporal.example/namespaces/shared/workflows/a.${DELIVERY}`,
    });
    const without = workflowLinks(readSettings({}), temporal);
    expect(without(DELIVERY)).to.deep.equal({ workflowId: DELIVERY, temporalUrl: null });
  });
});
