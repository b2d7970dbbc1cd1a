import { expect } from 'chai';
import { named, ownWords, MAX_ERROR_LENGTH } from '../../core/text/error-summary.ts';
import { verdictOf } from '../../core/delivery/verdict.ts';
import { describeError, OwnSendError } from '../../outbound/http/send-errors.ts';
import { transformError } from '../../outbound/transforms/content.ts';
import { NoThreadError } from '../../outbound/threads/index.ts';
import { TransportError } from '../../outbound/warehouses/guarded-http.ts';
import { pino } from 'pino';

const SECRET = 'cannot use 4711';

describe('errors as they may leave PostgreSQL', () => {
  for (const [transform, message, place, detail] of [
    ['Slim', SECRET, {}, `The transform Slim failed: ${SECRET}`],
    ['Slim', '1\n2', { line: 1, column: 2 }, 'The transform Slim failed: 1\n2 (line 1, column 2)'],
    ['it failed: once', '4711', {}, 'The transform it failed: once failed: 4711'],
  ] as const) {
    it(`of a transform, without what it throws: ${JSON.stringify(detail)}`, () => {
      const problem = { reason: 'code', message, ...{ line: null, column: null }, ...place } as const;
      const summary = `The transform ${transform} failed; see the details in the API`;
      expect(transformError(transform, problem)).to.deep.equal({ summary, detail });
    });
  }

  it('of an answer, which has only its status', () => {
    const answer = { kind: 'response' as const, statusCode: 500, headers: { secret: SECRET }, contains: false };
    const text = 'The destination returned 500';
    expect(verdictOf(answer, null, null, 0).error).to.deep.equal({ summary: text, detail: text });
  });

  const altNames = "Host: example.com. is not in the cert's altnames: DNS:";
  for (const [what, words, code, failed] of [
    [
      'of a library that has a code',
      `invalid ${SECRET} header`,
      'UND_ERR_INVALID_ARG',
      'The request to example.com failed',
    ],
    ['of a library', SECRET, undefined, 'The request to example.com failed'],
    ['of a certificate', altNames + SECRET, 'ERR_TLS_CERT_ALTNAME_INVALID', 'The TLS connection to example.com failed'],
  ] as const) {
    it(`${what}, without its words and names`, () => {
      const shownCode = code === undefined ? '' : ` (${code})`;
      const error = Object.assign(new Error(words), code !== undefined && { code });
      const detail = `${failed}: ${words}${shownCode}`;
      const summary = `${failed}${shownCode}; see the details in the API`;
      expect(describeError(error, 'https://example.com/')).to.include({ summary, detail });
    });
  }

  it('as PostgreSQL and Temporal can hold them', () => {
    expect(ownWords`a${named('\0\ud800')}${7}`).to.equal('a\ufffd\ufffd7');
    expect(ownWords`${named('x'.repeat(10_000))}`).to.have.length(MAX_ERROR_LENGTH);
  });

  it('and nothing else when the error is logged as it is', () => {
    const described = { summary: ownWords`It failed; see the details in the API`, detail: SECRET };
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(line) });
    log.warn({ err: new NoThreadError(described) });
    log.warn({ err: new OwnSendError('CODE', described) });
    log.warn({ err: new TransportError({ ...described, code: 'CODE', retryable: false }) });
    expect(lines).to.have.length(3);
    for (const line of lines) expect(line).to.contain(described.summary).and.not.to.contain(SECRET);
  });
});
