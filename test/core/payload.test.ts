import { expect } from 'chai';
import fc from 'fast-check';
import { hashPayload, MAX_NESTING, viewPayload } from '../../core/text/payload.ts';
import { mismatchOf } from '../../core/delivery/verdict.ts';

describe('viewPayload', () => {
  it('shows JSON as what it means', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(viewPayload(Buffer.from(text))).to.deep.equal({ payload: JSON.parse(text) });
      }),
    );
    expect(viewPayload(Buffer.from('\ufeff{"a":1}'))).to.deep.equal({ payload: { a: 1 } });
    expect(viewPayload(Buffer.from('null'))).to.deep.equal({ payload: null });
  });

  it('shows other text as text', () => {
    for (const text of ['', 'a=1&b=2', '{"a":', '<xml/>', '\ufefftext', 'snow ☃']) {
      expect(viewPayload(Buffer.from(text))).to.deep.equal({ payload: text });
    }
  });

  it('shows JSON as text that nests so deeply that walking it would exhaust the stack', () => {
    const lists = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    for (const make of [lists, objects]) {
      const [allowed, deeper] = [make(MAX_NESTING), make(MAX_NESTING + 1)];
      expect(JSON.stringify(viewPayload(Buffer.from(allowed)).payload)).to.equal(allowed);
      expect(viewPayload(Buffer.from(deeper))).to.deep.equal({ payload: deeper });
      expect(viewPayload(Buffer.from(make(100_000))).payload).to.be.a('string');
    }
    const wide = Array.from({ length: 5000 }, () => [{ a: '[[[' }]);
    expect(viewPayload(Buffer.from(JSON.stringify(wide)))).to.deep.equal({ payload: wide });
  });

  it('shows other bytes in base64', () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
    expect(viewPayload(bytes)).to.deep.equal({ payload: '//4AgA==', payloadEncoding: 'base64' });
  });

  it('loses no byte of what is no text', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (array) => {
        const bytes = Buffer.from(array);
        const view = viewPayload(bytes);
        if (view.payloadEncoding === 'base64')
          expect(Buffer.from(String(view.payload), 'base64').equals(bytes)).to.equal(true);
        else if (typeof view.payload === 'string') expect(bytes.toString('utf8')).to.contain(view.payload);
      }),
    );
  });
});

describe('hashPayload', () => {
  it('is SHA-256 in hex behind its name (FIPS 180-2, example B.1)', () => {
    expect(hashPayload(Buffer.from('abc'))).to.equal(
      'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});

describe('mismatchOf', () => {
  const cases: [Parameters<typeof mismatchOf>, RegExp | null][] = [
    [[null, 200, false], null],
    [[null, 299, false], null],
    [[null, 199, false], /returned 199$/],
    [[null, 300, false], /returned 300$/],
    [[null, 302, false], /returned 302$/],
    [[null, 500, false], /returned 500$/],
    [[{}, 204, false], null],
    [[{ statusCodes: [] }, 204, false], null],
    [[{ statusCodes: [200, 409] }, 409, false], null],
    [[{ statusCodes: [200, 409] }, 201, false], /returned 201 \(expected 200 or 409\)$/],
    [[{ statusCodes: [202] }, 200, false], /returned 200 \(expected 202\)$/],
    [[{ bodyContains: 'ok' }, 200, true], null],
    [[{ bodyContains: 'ok' }, 200, false], /does not contain the expected text/],
    [[{ bodyContains: 'ok' }, 500, true], /returned 500$/],
    [[{ statusCodes: [500], bodyContains: 'ok' }, 500, true], null],
  ];
  for (const [args, wanted] of cases) {
    it(`judges ${JSON.stringify(args)}`, () => {
      const mismatch = mismatchOf(...args);
      if (wanted === null) expect(mismatch).to.equal(null);
      else expect(mismatch).to.match(wanted);
    });
  }
});
