// Requests whose end two servers could see in different places, sent to the running API: each is refused once and its
// connection closed, and what it hides is never carried out. What is right HTTP, though unusual, is read by the
// standard.
import { expect } from 'chai';
import { makeSource } from '../support/api-records.ts';
import { logLines } from '../support/telemetry/log-lines.ts';
import { until } from '../support/until.ts';
import { answersTo, openConnection } from './raw-connection.ts';
import { useMade, useOrganization, useService } from '../support/use-hookyard.ts';

describe('Request smuggling', () => {
  // Where refused requests have their lines too.
  const service = useService('api', { LOG_LEVEL: 'debug' });
  const organization = useOrganization(() => ({ service }));
  const source = useMade('a source', () => makeSource(organization));
  const port = () => Number(new URL(service.url).port);

  const path = () => `/ingest/${organization.slug}/${source.slug}`;
  const webhook = (...headers: string[]) =>
    [`POST ${path()} HTTP/1.1`, 'Host: hookyard', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');
  /** What a smuggler wants to be carried out. */
  const hidden = () =>
    [
      'DELETE /api/destinations/bulk HTTP/1.1',
      'Host: hookyard',
      `Authorization: Bearer ${organization.token}`,
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n');
  const events = async () => (await organization.api.list(`${organization.base}/events`)).pagination.total;
  /** Statuses of handled requests by path, from the log. */
  const handled = (route: string) => logLines(service).filter(({ msg, path }) => msg === 'request' && path === route);

  const CHUNKED = 'Transfer-Encoding: chunked';
  const EMPTY = '0\r\n\r\n';
  const refused: [string, () => string][] = [
    ['Content-Length, then Transfer-Encoding', () => webhook('Content-Length: 5', CHUNKED) + EMPTY],
    ['Transfer-Encoding, then Content-Length', () => webhook(CHUNKED, 'Content-Length: 5') + EMPTY],
    ['two lengths', () => `${webhook('Content-Length: 5', 'Content-Length: 6')}hello`],
    ['the same length twice', () => `${webhook('Content-Length: 5', 'Content-Length: 5')}hello`],
    ['a list of lengths', () => `${webhook('Content-Length: 5, 5')}hello`],
    ['a length with a sign', () => `${webhook('Content-Length: +5')}hello`],
    ['a length in hexadecimal', () => `${webhook('Content-Length: 0x5')}hello`],
    ['two lengths in one', () => `${webhook('Content-Length: 5 5')}hello`],
    ['a length beyond 64 bits', () => `${webhook(`Content-Length: ${'9'.repeat(30)}`)}hello`],
    ['no length in its header', () => webhook('Content-Length: ')],
    ['a space before the colon of the length', () => `${webhook('Content-Length : 5')}hello`],
    ['a space before the colon of the coding', () => webhook('Transfer-Encoding : chunked') + EMPTY],
    ['a header that begins with a space', () => webhook(' Transfer-Encoding: chunked') + EMPTY],
    ['a folded header', () => webhook('X-A: 1', ' Content-Length: 0')],
    ['a folded coding', () => webhook('Transfer-Encoding:', ' chunked') + EMPTY],
    ['lines that end in LF', () => webhook('Content-Length: 0').replaceAll('\r\n', '\n')],
    ['one line that ends in LF', () => webhook('X-A: 1\nContent-Length: 0')],
    ['one line that ends in CR', () => webhook('X-A: 1\rContent-Length: 0')],
    ['an empty line that is CR', () => `${webhook('Content-Length: 0').slice(0, -1)}X`],
    ['another coding', () => `${webhook('Transfer-Encoding: identity')}hello`],
    ['an unknown coding', () => webhook('Transfer-Encoding: xchunked') + EMPTY],
    ['a coding in quotes', () => webhook('Transfer-Encoding: "chunked"') + EMPTY],
    ['a coding with a parameter', () => webhook('Transfer-Encoding: chunked;q=1') + EMPTY],
    ['a coding after a vertical tab', () => webhook('Transfer-Encoding: \x0bchunked') + EMPTY],
    ['a coding with a NUL', () => webhook('Transfer-Encoding: chunked\0') + EMPTY],
    ['a compressed body in chunks', () => webhook('Transfer-Encoding: gzip, chunked') + EMPTY],
    ['an empty first coding', () => webhook('Transfer-Encoding: ,chunked') + EMPTY],
    ['chunked, then another', () => webhook('Transfer-Encoding: chunked, identity') + EMPTY],
    ['chunked twice', () => webhook('Transfer-Encoding: chunked, chunked') + EMPTY],
    ['two codings', () => webhook(CHUNKED, 'Transfer-Encoding: identity') + EMPTY],
    ['chunked in two headers', () => webhook(CHUNKED, CHUNKED) + EMPTY],
    ['no coding in its header', () => webhook('Transfer-Encoding: ')],
    ['chunks in HTTP/1.0', () => webhook(CHUNKED).replace('HTTP/1.1', 'HTTP/1.0') + EMPTY],
    ['a chunk size that ends in LF', () => `${webhook(CHUNKED)}5\nhello\r\n${EMPTY}`],
    ['a chunk that ends in LF', () => `${webhook(CHUNKED)}5\r\nhello\n${EMPTY}`],
    ['a chunk without an end', () => `${webhook(CHUNKED)}5\r\nhelloX${EMPTY}`],
    ['a chunk size with 0x', () => `${webhook(CHUNKED)}0x5\r\nhello\r\n${EMPTY}`],
    ['a chunk size with a sign', () => `${webhook(CHUNKED)}-5\r\nhello\r\n${EMPTY}`],
    ['a chunk size with a space', () => `${webhook(CHUNKED)}5 \r\nhello\r\n${EMPTY}`],
    ['a chunk size beyond 64 bits', () => `${webhook(CHUNKED)}fffffffffffffffff\r\nhello\r\n${EMPTY}`],
    ['a chunk extension that ends in LF', () => `${webhook(CHUNKED)}5;a\nhello\r\n${EMPTY}`],
    ['a chunk extension with a CR in it', () => `${webhook(CHUNKED)}5;a\rb\r\nhello\r\n${EMPTY}`],
    ['a length among the trailers', () => `${webhook(CHUNKED)}0\r\nContent-Length: 10\r\n\r\n`],
    ['a coding among the trailers', () => `${webhook(CHUNKED)}0\r\n${CHUNKED}\r\n\r\n`],
    ['a trailer that is none', () => `${webhook(CHUNKED)}0\r\nbad trailer\r\n\r\n`],
    ['two hosts', () => webhook('Host: other', 'Content-Length: 0')],
    ['a list of hosts', () => webhook('Content-Length: 0').replace('Host: hookyard', 'Host: hookyard, other')],
    ['a host with a path', () => webhook('Content-Length: 0').replace('Host: hookyard', 'Host: hookyard/x')],
    ['a host with credentials', () => webhook('Content-Length: 0').replace('Host: hookyard', 'Host: a@hookyard')],
    ['no host', () => webhook('Content-Length: 0').replace('Host: hookyard\r\n', '')],
    ['HTTP/0.9', () => `POST ${path()}\r\n\r\n`],
    ['HTTP/1.2', () => webhook('Content-Length: 0').replace('HTTP/1.1', 'HTTP/1.2')],
    ['HTTP/2.0', () => webhook('Content-Length: 0').replace('HTTP/1.1', 'HTTP/2.0')],
    ['tabs in the request line', () => webhook('Content-Length: 0').replace(/^POST (\S+) /, 'POST\t$1\t')],
    ['a NUL in a header name', () => webhook('X\0A: 1', 'Content-Length: 0')],
    ['a NUL in a header value', () => webhook('X-A: 1\0', 'Content-Length: 0')],
    ['a control character in a header value', () => webhook('X-A: \x01', 'Content-Length: 0')],
    ['a header name beyond ASCII', () => webhook('X\xe9: 1', 'Content-Length: 0')],
    ['an empty header name', () => webhook(': 1', 'Content-Length: 0')],
    ['a header without a colon', () => webhook('nonsense', 'Content-Length: 0')],
  ];
  for (const [what, request] of refused) {
    it(`refuses ${what}, once, and closes the connection`, async () => {
      const answers = await answersTo(port(), request() + hidden());
      expect(answers.map(({ status }) => status)).to.deep.equal([400]);
      expect(answers[0]?.headers.connection).to.equal('close');
      expect(answers[0]?.body).to.include({ error: 'Bad Request' });
    });
  }

  it('has stored none of them, and carried out nothing that they hid', async () => {
    expect(await events()).to.equal(0);
    expect(handled('/api/destinations/bulk')).to.deep.equal([]);
  });

  it('refuses garbage after a request, and carries the request out once', async () => {
    const answers = await answersTo(port(), `${webhook('Content-Length: 2')}{}GARBAGE\r\n\r\n${hidden()}`);
    expect(answers.at(-1)?.status).to.equal(400);
    expect(answers.length).to.be.at.most(2);
    expect(await events()).to.be.at.most(1);
    expect(handled('/api/destinations/bulk')).to.deep.equal([]);
  });

  it('refuses too many bytes of chunk extensions', async () => {
    const [answer] = await answersTo(port(), `${webhook(CHUNKED)}5;${'x'.repeat(40_000)}\r\nhello\r\n${EMPTY}`);
    expect(answer?.status).to.equal(413);
  });

  const right: [string, () => string, string][] = [
    ['a chunk extension', () => `${webhook(CHUNKED)}5;a="b"\r\nhello\r\n0;c\r\n\r\n`, 'hello'],
    ['chunked in capitals', () => `${webhook('Transfer-Encoding: CHUNKED')}5\r\nhello\r\n${EMPTY}`, 'hello'],
    ['a trailer', () => `${webhook(CHUNKED)}5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n`, 'hello'],
    ['a request in a body', () => `${webhook(`Content-Length: ${hidden().length}`)}${hidden()}`, 'request'],
    [
      'an absolute address, by its path',
      () => `${webhook('Content-Length: 5').replace('POST ', 'POST http://other.example')}hello`,
      'hello',
    ],
    ['empty lines before a request', () => `\r\n\r\n${webhook('Content-Length: 5')}hello`, 'hello'],
  ];
  for (const [what, request, body] of right) {
    it(`reads ${what} as the standard says`, async () => {
      const { socket, answers } = await openConnection(port());
      socket.write(request(), 'latin1');
      const [answer] = await until('the answer', () => answers().length > 0 && answers());
      expect(answer?.status).to.equal(200);
      const event = await organization.api.get(
        `${organization.base}/events/${String(answer?.body?.eventId)}?includePayload=true`,
      );
      expect(event.payload).to.equal(body === 'request' ? hidden() : body);
      expect(event.headers).to.not.have.property('x-trailer');
      socket.destroy();
    });
  }

  it('never took what a body held for a request', () => {
    expect(handled('/api/destinations/bulk')).to.deep.equal([]);
  });
});
