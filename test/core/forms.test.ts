import { expect } from 'chai';
import fc from 'fast-check';
import { readForm, readPayload, readSample, readShortFields, sampleContent } from '../../core/forms/forms.ts';
import type { Form } from '../../core/forms/multipart.ts';

const FORM = 'application/x-www-form-urlencoded';
const BOUNDARY = 'xYzZY';
const PARTS = `multipart/form-data; boundary=${BOUNDARY}`;
const MIB = 1024 * 1024;

const urlencoded = (text: string, type = FORM) => readForm(Buffer.from(text), type);
const part = (head: string, content = '') => `--${BOUNDARY}\r\n${head}\r\n\r\n${content}\r\n`;
const field = (name: string, content: string) => part(`Content-Disposition: form-data; name="${name}"`, content);
const multipart = (...parts: string[]) => readForm(Buffer.from(`${parts.join('')}--${BOUNDARY}--\r\n`), PARTS);

/** Names with one value, or with a list of them. */
function grouped(pairs: Iterable<[string, unknown]>): Record<string, unknown> {
  const lists = new Map<string, unknown[]>();
  for (const [name, value] of pairs) lists.set(name, [...(lists.get(name) ?? []), value]);
  return Object.fromEntries([...lists].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

describe('forms in a line', () => {
  it('are read as browsers read them', () => {
    const string = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(fc.array(fc.tuple(string, string), { minLength: 1 }), (pairs) => {
        const text = new URLSearchParams(pairs).toString();
        expect(urlencoded(text)).to.deep.equal(grouped(new URLSearchParams(text)));
      }),
    );
  });

  it('have a list under a name that comes several times, and no levels', () => {
    expect(urlencoded('To=a&From=b&To=c&item[0][sku]=x&a.b=&c&=d')).to.deep.equal({
      ...{ To: ['a', 'c'], From: 'b', 'item[0][sku]': 'x', 'a.b': '', c: '', '': 'd' },
    });
    const form = urlencoded('__proto__=1&constructor=2&length=3') as Form;
    expect(Object.entries(form)).to.deep.equal([
      ['__proto__', '1'],
      ['constructor', '2'],
      ['length', '3'],
    ]);
    expect(Object.getPrototypeOf(form)).to.equal(Object.prototype);
  });

  it('may be called so in any way that HTTP allows', () => {
    const twice = [`${FORM}, ${FORM}`, `${FORM}; charset="utf-8", text/plain; charset=latin1`];
    const spaced = [`${FORM}; charset = utf-8`, `${FORM}; charset=`, `${FORM}; x="a, b; charset=x"; charset=utf-8`];
    const usual = [FORM, `${FORM};charset=UTF-8`, `${FORM} ; Charset="utf-8"`, FORM.toUpperCase()];
    for (const type of [...usual, ...twice, ...spaced])
      expect(urlencoded('a=%C3%A9+b', type), type).to.deep.equal({ a: 'é b' });
    for (const type of ['', 'text/plain', `${FORM}x`, `${FORM}; charset=windows-1252`, 'multipart/form-data'])
      expect(urlencoded('a=1', type), type).to.equal(null);
    expect(readForm(Buffer.from('a=1'), undefined)).to.equal(null);
  });

  it('are JSON when they are JSON: curl -d calls everything a form', () => {
    for (const json of ['{"a":"b=c"}', '[1]', '"a=b"', '1', 'null', '\ufeff{"a":"="}']) {
      expect(urlencoded(json), json).to.equal(null);
      expect(readPayload(Buffer.from(json), FORM)).to.deep.equal(JSON.parse(json.replace('\ufeff', '')));
    }
  });

  it('stay a text when they are malformed, or no form', () => {
    for (const text of ['', 'hello', 'a=%zz', 'a=%f', 'a=%ff', '%c3=1', 'a=1\nb=2', 'a=\0', '<x a="b">\n</x>']) {
      expect(urlencoded(text), text).to.equal(null);
      expect(readPayload(Buffer.from(text), FORM)).to.equal(text);
    }
    expect(readPayload(Buffer.from([0x61, 0x3d, 0xff]), FORM)).to.equal('YT3/');
    expect(urlencoded('a=1&b=2\r\n'), 'a line end behind it').to.deep.equal({ a: '1', b: '2' });
  });

  it('have at most a thousand fields', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, index) => `f${index}=1`).join('&');
    expect(Object.keys(urlencoded(fields(1000)) ?? {})).to.have.length(1000);
    expect(urlencoded(fields(1001))).to.equal(null);
    expect(urlencoded(`${'&'.repeat(10 * MIB)}a=1`)).to.equal(null);
  });
});

it('of a form of a stranger the short fields are read', () => {
  const short = 'x'.repeat(4096);
  const shortOf = (text: string, type = FORM) => readShortFields(Buffer.from(text), type);
  const ofParts = (...parts: string[]) => shortOf(`${parts.join('')}--${BOUNDARY}--\r\n`, PARTS);
  const rows: [form: Form | null, expected: Form | null][] = [
    [shortOf('a=1&b=2'), { a: '1', b: '2' }],
    [shortOf(`a=1&${short}&b=2`), { a: '1', [short]: '', b: '2' }],
    [shortOf(`a=1&${short}x&b=2`), { a: '1', b: '2' }],
    [shortOf('a=1&b=2\r\n'), { a: '1', b: '2' }],
    [shortOf('a=1&b=%zz'), null],
    [shortOf('{"a":"=1"}'), null],
    [shortOf('["a=1"]'), null],
    [shortOf('a=1', 'text/plain'), null],
    [shortOf(`${'&'.repeat(999)}a=1`), { a: '1' }],
    [shortOf(`${'&'.repeat(1000)}a=1`), null],
    [shortOf(`a=1${'&'.repeat(999)}`), { a: '1' }],
    [shortOf(`a=1${'&'.repeat(1000)}`), null],
    [ofParts(field('a', '1'), field('b', short)), { a: '1', b: short }],
    [ofParts(field('a', '1'), field('b', `${short}x`)), { a: '1' }],
  ];
  for (const [at, [form, expected]] of rows.entries()) expect(form, `row ${at}`).to.deep.equal(expected);
  // All together they are at most 64 times as long.
  const many = (count: number) => Array.from({ length: count }, (_, n) => `a${n}=`.padEnd(4096, 'x')).join('&');
  expect(Object.keys(shortOf(many(64)) ?? {})).to.have.length(64);
  expect(shortOf(many(65))).to.equal(null);
});

describe('forms in parts', () => {
  it('are read as undici reads them', async () => {
    // It takes a byte order mark off a text, knows no escapes with a backslash, and takes a file without a name for a
    // text.
    const text = fc.string({ unit: 'binary' }).filter((each) => !each.startsWith('\ufeff'));
    // A `%` may be one of theirs for what cannot stand in a name.
    const name = fc.string().filter((each) => !/[\\%]/.test(each));
    const type = fc.constantFrom('', 'image/png', 'text/csv');
    const file = fc.record({ bytes: fc.uint8Array(), name: name.filter((each) => each !== ''), type });
    const value = fc.oneof(text, file);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, value)), async (pairs) => {
        const given = new FormData();
        for (const [key, each] of pairs) {
          if (typeof each === 'string') given.append(key, each);
          else given.append(key, new File([each.bytes], each.name, { type: each.type }));
        }
        const sent = new Response(given);
        const type = sent.headers.get('content-type') ?? '';
        const body = Buffer.from(await sent.arrayBuffer());
        const theirs = await new Response(body, { headers: { 'content-type': type } }).formData();
        const wanted = [...theirs].map(async ([key, each]): Promise<[string, unknown]> => [key, await seen(each)]);
        expect(readForm(body, type)).to.deep.equal(grouped(await Promise.all(wanted)));
      }),
    );
  });

  async function seen(value: string | File): Promise<unknown> {
    if (typeof value === 'string') return value;
    const bytes = Buffer.from(await value.arrayBuffer());
    const facts = { filename: value.name, contentType: value.type, size: bytes.length };
    const text = bytes.toString('utf8');
    return Buffer.from(text).equals(bytes) ? { ...facts, text } : { ...facts, base64: bytes.toString('base64') };
  }

  it('have files with name, type and size, and their content', () => {
    const png = 'Content-Disposition: form-data; name="file"; filename="a \\"b\\"%22.csv"\r\nContent-Type: text/csv';
    expect(multipart('preamble\r\n', field('from', 'Emma <emma@example.com>'), part(png, 'a;b\r\n1;2'))).to.deep.equal({
      from: 'Emma <emma@example.com>',
      file: { filename: 'a "b"".csv', contentType: 'text/csv', size: 8, text: 'a;b\r\n1;2' },
    });
    const body = Buffer.concat([
      Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name=x\r\n\r\n`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(`\r\n--${BOUNDARY}--`),
    ]);
    expect(readForm(body, PARTS), 'a field that is no text').to.deep.equal({
      x: { contentType: 'text/plain', size: 2, base64: '//4=' },
    });
  });

  it('show the content of files up to 256 KiB, and of all together up to 1 MiB', () => {
    const file = (index: number, bytes: number) =>
      part(`Content-Disposition: form-data; name="f${index}"; filename="f"`, 'x'.repeat(bytes));
    const shown = (...sizes: number[]) =>
      Object.values(multipart(...sizes.map((bytes, index) => file(index, bytes))) as Form).map(
        (each) => typeof each === 'object' && 'text' in each,
      );
    expect(shown(256 * 1024, 256 * 1024 + 1)).to.deep.equal([true, false]);
    expect(shown(...Array<number>(5).fill(256 * 1024), 1)).to.deep.equal([true, true, true, true, false, false]);
    expect(multipart(file(0, MIB))).to.deep.equal({ f0: { filename: 'f', contentType: 'text/plain', size: MIB } });
  });

  it('have names and files in every form that senders write', () => {
    const heads: [head: string, name: string, filename?: string][] = [
      ['content-disposition:form-data;name=a', 'a'],
      ['Content-Disposition: FORM-DATA ; Filename="f" ; Name = "a"', 'a', 'f'],
      [`Content-Disposition: form-data; name="a"; filename="x"; filename*=UTF-8''%e2%82%ac.txt`, 'a', '€.txt'],
      [`Content-Disposition: form-data; name*=utf-8'en'%C3%A9; filename*=ISO-8859-1''%e9`, 'é', 'é'],
      [`Content-Disposition: form-data; name="a"; filename="x"; filename*=koi8-r''%c1`, 'a', 'x'],
      ['Content-Disposition: form-data; name="é"; filename="ü"', 'é', 'ü'],
      ['X-A9: 1\r\nContent-Disposition: form-data;\r\n name="a"', 'a'],
      ['Content-Disposition: form-data; name="a%22%0D%0A%41"', 'a"\r\n%41'],
      ['Content-Disposition: form-data; name=a; name=b; filename=""', 'a', ''],
    ];
    for (const [head, name, filename] of heads) {
      const value = filename === undefined ? 'x' : { filename, contentType: 'text/plain', size: 1, text: 'x' };
      expect(multipart(part(head, 'x')), head).to.deep.equal({ [name]: value });
    }
    const latin = Buffer.concat([Buffer.from(part('Content-Disposition: form-data; name="é"', 'x'), 'latin1')]);
    const body = Buffer.concat([latin, Buffer.from(`--${BOUNDARY}--`)]);
    const types = [PARTS, `${PARTS}, ${PARTS}`, `multipart/form-data; charset=utf-8; Boundary = "${BOUNDARY}"; a=b`];
    for (const type of types) expect(readForm(body, type), type).to.deep.equal({ é: 'x' });
    const padded = part('Content-Disposition: form-data; name="a"', 'x').replace(BOUNDARY, `${BOUNDARY} \t`);
    expect(multipart(padded), 'spaces behind a delimiter').to.deep.equal({ a: 'x' });
  });

  it('stay what they are when they are malformed', () => {
    const disposition = 'Content-Disposition: form-data; name="a"';
    const bodies = [
      ...['', 'a=1', `--${BOUNDARY}`, `--${BOUNDARY}\r\n`, part(disposition, '1')],
      ...[field('a', '1').replaceAll('\r\n', '\n'), `--${BOUNDARY}\r\n${disposition}\r\n\r\n1--${BOUNDARY}--`],
      ...[
        'Content-Disposition: attachment; name="a"',
        'Content-Disposition: form-data',
        'Content-Disposition: form-data; filename="a"',
        `${disposition}\r\n${disposition}`,
        'X: y',
        'no header',
        `${disposition}\r\nX-Padding: ${'x'.repeat(8 * 1024)}`,
      ].map((head) => `${part(head, '1')}--${BOUNDARY}--`),
      `${field('a', '1').replace(BOUNDARY, `${BOUNDARY}2`)}--${BOUNDARY}--`,
      `${'-'.repeat(20)}\r\n${part(disposition, '1')}`,
    ];
    for (const body of bodies)
      expect(readForm(Buffer.from(body), PARTS), JSON.stringify(body.slice(0, 90))).to.equal(null);
    for (const boundary of ['', '""', '"a "', 'x'.repeat(71), 'a\u00e9'])
      expect(readForm(Buffer.from(`--${boundary}--`), `multipart/form-data; boundary=${boundary}`)).to.equal(null);
    expect(multipart(), 'no part at all').to.deep.equal({});
  });

  it('have at most a thousand parts, and what is behind them is not looked at', () => {
    const fields = (count: number, length: number) =>
      Array.from({ length: count }, (_, n) => field(`f${n}`, 'x'.repeat(length)));
    expect(Object.keys(multipart(...fields(1000, 0)) ?? {})).to.have.length(1000);
    // 10 MiB in 100,000 parts.
    expect(multipart(...fields(100_000, 40))).to.equal(null);
    // What looks like a delimiter all along.
    expect(multipart(`\r\n--${BOUNDARY.slice(0, -1)}`.repeat(MIB))).to.equal(null);
  });

  it('never throw, whatever a stranger sends', () => {
    const types = [FORM, PARTS, `multipart/form-data; boundary="${BOUNDARY}"`, 'multipart/form-data; boundary=--'];
    const genuine = Buffer.from(`${field('a', '1')}${field('b', '2')}--${BOUNDARY}--\r\n`);
    const cuts = fc
      .tuple(fc.nat(genuine.length), fc.uint8Array({ maxLength: 8 }), fc.nat(genuine.length))
      .map(([from, bytes, to]) => Buffer.concat([genuine.subarray(0, from), bytes, genuine.subarray(to)]));
    const bodies = fc.oneof(
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      cuts,
    );
    fc.assert(
      fc.property(bodies, fc.oneof(fc.constantFrom(...types), fc.string()), (body, type) => {
        const form = readForm(body, type);
        if (form !== null) expect(JSON.parse(JSON.stringify(form))).to.deep.equal(form);
        readPayload(body, type);
      }),
      { numRuns: 500 },
    );
  });
});

describe('samples that somebody tries', () => {
  const headers = { 'Content-Type': FORM };

  it('are forms when they are texts and their headers say so', () => {
    expect([readSample('From=a', FORM), readPayload('From=a', FORM)]).to.deep.equal([{ From: 'a' }, { From: 'a' }]);
    expect(sampleContent('From=a', headers)).to.deep.equal({ body: Buffer.from('From=a'), contentType: FORM });
  });

  it('are values otherwise', () => {
    expect([readPayload('From=a', undefined), readPayload('{"a":1}', FORM)]).to.deep.equal(['From=a', { a: 1 }]);
    expect([readSample('From=a', undefined), readSample({ a: 1 }, FORM)]).to.deep.equal(['From=a', { a: 1 }]);
    const json = (value: unknown) => ({ body: Buffer.from(JSON.stringify(value)), contentType: 'application/json' });
    expect(sampleContent('From=a')).to.deep.equal(json('From=a'));
    expect(sampleContent({ From: 'a' }, headers)).to.deep.equal(json({ From: 'a' }));
    expect(sampleContent(undefined)).to.deep.equal(json(null));
  });
});
