import { expect } from 'chai';
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
