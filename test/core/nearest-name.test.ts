import { expect } from 'chai';
import { nearestName } from '../../core/text/nearest-name.ts';

describe('The nearest known name', () => {
  const known = ['page', 'pageSize', 'sourceId', 'destinationId', 'status', 'from', 'to', 'search', 'maxRetries'];
  const cases: [name: string, nearest: string | null][] = [
    ['destnationId', 'destinationId'],
    ['destination_id', 'destinationId'],
    ['DESTINATIONID', 'destinationId'],
    ['pagesize', 'pageSize'],
    ['size', 'pageSize'],
    ['source', 'sourceId'],
    ['sttaus', 'status'],
    ['form', 'from'],
    ['maxRetry', 'maxRetries'],
    ['maxRteries', 'maxRetries'],
    ['statusses', 'status'],
    ['stat', 'status'],
    ['siz', 'pageSize'],
    ['iz', null],
    ['earch', 'search'],
    ['fromm', 'from'],
    ['tp', 'to'],
    ['fr', null],
    ['frmo', 'from'],
    ['mrof', null],
    ['destination', 'destinationId'],
    ['dstntn', null],
    [`search${'x'.repeat(58)}`, null],
    ['colour', null],
    ['x', null],
    ['', null],
    ['__', null],
    ['é'.repeat(100_000), null],
  ];
  for (const [name, nearest] of cases) {
    it(`of ${JSON.stringify(name.slice(0, 20))} is ${nearest}`, () => {
      expect(nearestName(name, known)).to.equal(nearest);
    });
  }

  it('of any name is none where nothing is known', () => {
    expect(nearestName('page', [])).to.equal(null);
  });
});
