import { expect } from 'chai';
import { causeOf } from '../../core/process/log-cause.ts';

const grpc = (code: number, details: string) =>
  Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: { authorization: 'Bearer hidden' } });
const coded = (code: string, message: string) => Object.assign(new Error(message), { code, query: 'hidden' });

describe('the cause of a failure', () => {
  it('is the gRPC code and the details of Temporal, also behind the error of the client', () => {
    const unavailable = { system: 'temporal', code: 'UNAVAILABLE', details: 'connection refused' };
    expect(causeOf(grpc(14, 'connection refused'))).to.deep.equal(unavailable);
    const error = new Error('Failed to start Workflow', { cause: grpc(14, 'connection refused') });
    expect(causeOf(error)).to.deep.equal(unavailable);
    expect(causeOf(grpc(5, 'Namespace hookyard is not found.'))).to.include({ code: 'NOT_FOUND' });
    expect(causeOf(grpc(99, 'of another release')).code).to.equal('99');
    expect(causeOf(grpc(14, '')).details).to.equal('14: ');
  });

  it('is the SQLSTATE of PostgreSQL', () => {
    const details = 'the database system is starting up';
    expect(causeOf(coded('57P03', details))).to.deep.equal({ system: 'postgresql', code: '57P03', details });
  });

  it('is the code of the network, which does not tell the system', () => {
    const [code, details] = ['ECONNREFUSED', 'connect ECONNREFUSED ::1:5432'];
    expect(causeOf(coded(code, details))).to.deep.equal({ code, details });
    expect(causeOf(coded('EPIPE', 'write EPIPE'))).to.not.have.property('system');
    const tries = new AggregateError([coded(code, details)], '');
    expect(causeOf(tries).code).to.equal(code);
    expect(causeOf(Object.assign(tries, { code })).details).to.include('::1:5432');
  });

  it('has a stack when there is no code: then the mistake is likely ours', () => {
    const mistake = new TypeError('x is not a function');
    expect(causeOf(mistake)).to.deep.equal({ details: 'x is not a function', stack: mistake.stack });
    expect(causeOf('thrown')).to.deep.equal({ details: 'thrown' });
    expect(causeOf(undefined)).to.deep.equal({ details: 'undefined' });
  });

  it('is where a value was to be stored that PostgreSQL refused, and not what was said of it', () => {
    const refused = Object.assign(coded('23514', 'new row (hidden) violates a check'), {
      ...{ detail: 'Failing row contains (hidden)', schema: 'public', table: 'events', constraint: 'events_check' },
    });
    const cause = causeOf(new Error('wrapped: hidden', { cause: refused }));
    expect(cause).to.include({ system: 'postgresql', code: '23514', details: 'a value was rejected' });
    expect(cause).to.include({ table: 'events', constraint: 'events_check' });
    expect(cause).to.not.have.any.keys('column', 'schema', 'detail');
    expect(cause.stack).to.include('log-cause.test.ts');
    expect(JSON.stringify(cause)).to.not.include('hidden');
  });

  it('does not quote what cannot be parsed', () => {
    let error: unknown;
    try {
      JSON.parse('{"a": hidden}');
    } catch (thrown) {
      error = thrown;
    }
    const cause = causeOf(error);
    expect(cause.details).to.equal('SyntaxError');
    expect(cause.stack).to.include('log-cause.test.ts');
    expect(JSON.stringify(cause)).to.not.include('hidden');
  });

  it('holds nothing else of the error, is bounded, and ends where errors stand for each other', () => {
    for (const error of [grpc(14, 'x'), coded('57P01', 'x')]) {
      expect(JSON.stringify(causeOf(error))).to.not.include('hidden');
    }
    expect(causeOf(grpc(13, 'x'.repeat(100_000))).details.length).to.be.below(1000);
    const circle = new Error('a');
    circle.cause = circle;
    expect(causeOf(circle).details).to.equal('a');
  });
});
