import { expect } from 'chai';
import { toldError } from '../../core/told-error.ts';

describe('errors as they are told outside of PostgreSQL', () => {
  const cases: [string, string][] = [
    ['The destination answered 500', 'The destination answered 500'],
    ['The transform Slim failed: cannot use 4711', 'The transform Slim failed; the API tells why'],
    ['The transform Slim failed: two\nlines: 4711 (line 1, column 2)', 'The transform Slim failed; the API tells why'],
    ['The transform it failed: once failed: 4711', 'The transform it failed; the API tells why'],
    ['The transform of the route was deleted', 'The transform of the route was deleted'],
  ];
  for (const [full, told] of cases) {
    it(JSON.stringify(full), () => expect(toldError(full)).to.equal(told));
  }
});
