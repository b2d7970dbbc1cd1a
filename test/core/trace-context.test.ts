import { expect } from 'chai';
import {
  formatTraceparent,
  isTracestate,
  keepTrace,
  newTraceparent,
  parseTraceparent,
} from '../../core/http/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${SPAN}-01`;

describe('a traceparent', () => {
  const valid: Record<string, [string, boolean]> = {
    'with the sampled flag': [VALID, true],
    'without it': [`00-${TRACE}-${SPAN}-00`, false],
    'with flags that nobody knows': [`00-${TRACE}-${SPAN}-ff`, true],
    'with the flag of random ids only': [`00-${TRACE}-${SPAN}-02`, false],
    'of a later version': [`01-${TRACE}-${SPAN}-01`, true],
    'of a later version that says more': [`cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`, true],
  };
  for (const [what, [text, isSampled]] of Object.entries(valid)) {
    it(`${what} is taken`, () => {
      expect(parseTraceparent(text)).to.deep.equal({ traceId: TRACE, spanId: SPAN, isSampled });
    });
  }

  it('is made valid, and never twice', () => {
    const made = Array.from({ length: 1000 }, (_, index) => newTraceparent(index % 2 === 0));
    const parsed = made.map((text) => parseTraceparent(text));
    expect(parsed.map((context) => context?.isSampled)).to.deep.equal(made.map((_, index) => index % 2 === 0));
    expect(new Set(parsed.map((context) => context?.traceId)).size).to.equal(1000);
    expect(new Set(parsed.map((context) => context?.spanId)).size).to.equal(1000);
  });

  const invalid: Record<string, string> = {
    'that is empty': '',
    'with a trace id of zeros': `00-${'0'.repeat(32)}-${SPAN}-01`,
    'with a parent id of zeros': `00-${TRACE}-${'0'.repeat(16)}-01`,
    'in capitals': VALID.toUpperCase(),
    'of the version that none has': `ff-${TRACE}-${SPAN}-01`,
    'of version 00 that says more': `${VALID}-00`,
    'of version 00 with a hyphen at its end': `${VALID}-`,
    'of a later version with a longer flag': `01-${TRACE}-${SPAN}-011`,
    'that is too short': `00-${TRACE.slice(1)}-${SPAN}-01`,
    'with a letter that is no digit': `00-${TRACE.replace('4', 'g')}-${SPAN}-01`,
    'with a space before it': ` ${VALID}`,
    'that came twice': `${VALID}, ${VALID}`,
    'with a line behind it': `${VALID}\n`,
  };
  for (const [what, text] of Object.entries(invalid)) {
    it(`${what} is ignored`, () => {
      expect(parseTraceparent(text)).to.equal(null);
    });
  }

  it('is written in version 00', () => {
    expect(formatTraceparent({ traceId: TRACE, spanId: SPAN, isSampled: true })).to.equal(VALID);
    expect(formatTraceparent({ traceId: TRACE, spanId: SPAN, isSampled: false })).to.equal(`00-${TRACE}-${SPAN}-00`);
  });
});

describe('a tracestate', () => {
  const members = (count: number) => Array.from({ length: count }, (_, index) => `k${index}=v`).join(',');

  it('is handed on up to 32 members and 512 characters', () => {
    const states = ['rojo=00f067aa0ba902b7', 'a=1,b=2', 'a=1 , b=2', 'a=1,,b=2', 'tenant@sys=1', 'a@b=1', members(32)];
    for (const state of states) expect(isTracestate(state), state).to.equal(true);
    expect(isTracestate(`a=${'x'.repeat(255)},b=${'x'.repeat(252)}`)).to.equal(true);
    expect(isTracestate(`a=${'x'.repeat(255)},b=${'x'.repeat(253)}`), '513 characters').to.equal(false);
    expect([256, 257].map((length) => isTracestate(`a=${'x'.repeat(length)}`))).to.deep.equal([true, false]);
    expect(isTracestate(members(33)), '33 members').to.equal(false);
  });

  it('is dropped when it is not of its form', () => {
    for (const state of ['', ' ', ',', 'a', '=1', 'a=', 'A=1', 'a=1,a=2', 'a=b=c', 'a=ü', 'a b=1', 'a@b@c=1', '1a=2']) {
      expect(isTracestate(state), state).to.equal(false);
    }
  });
});

describe('keepTrace', () => {
  const received = { traceparent: VALID, tracestate: 'a=1' };
  const left = (headers: Record<string, string>, sent: Parameters<typeof keepTrace>[2], forwarded = { ...headers }) => {
    keepTrace(forwarded, headers, sent);
    return forwarded;
  };

  it('leaves what is valid, and nothing else', () => {
    expect(left({ ...received, 'x-a': '1' }, null)).to.deep.equal({ ...received, 'x-a': '1' });
    expect(left({ ...received, tracestate: 'A' }, null)).to.deep.equal({ traceparent: VALID });
    expect(left({ traceparent: 'x', tracestate: 'a=1' }, null)).to.deep.equal({});
    expect(left({ tracestate: 'a=1' }, 'continued')).to.deep.equal({});
  });

  it('leaves tracestate only with the trace that it is about', () => {
    expect(left(received, 'another')).to.not.have.property('tracestate');
    expect(left(received, 'continued')).to.have.property('tracestate');
    expect(left(received, null, { tracestate: 'a=1' } as never)).to.deep.equal({});
    expect(left(received, 'continued', { tracestate: 'a=1' } as never)).to.deep.equal({ tracestate: 'a=1' });
  });
});
