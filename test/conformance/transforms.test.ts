// What every transform language must do, run over all of them. A new language is a new row of `samples`.
import { expect } from 'chai';
import type { TransformEvent } from '../../outbound/transforms/language.ts';
import type { TransformType } from '../../core/config/transform-types.ts';
import { testThreads } from '../support/threads.ts';

/** Code that does the same in each language; undefined where the language cannot do such a thing. */
interface Samples {
  /** Gives the payload's member `text` as a string. */
  text: string;
  /** Gives an object with the payload's members a and b exchanged. */
  object: string | undefined;
  /** Gives every member of the event but the payload, in this order, with `|` between. */
  members: string;
  /** Gives the length of the payload, a text. */
  length: string;
  /** Gives null or undefined. */
  nothing: string[];
  /** Gives the time of the clock, in ISO 8601 to the second. */
  clock: string;
  /** Gives a random number. */
  random: string | undefined;
  /** Gives how often it ran, if anything is left behind by a run. */
  leftovers: string[];
  /** Code that cannot be compiled, with the line and the column of the error. */
  broken: [code: string, line: number, column: number][];
  /** Code that fails in line 2 when it runs. */
  failing: string;
  /** Gives the payload 2^20 times. */
  huge: string;
  endless: string;
  greedy: string;
}

const js = (body: string) => `export default function (event) {\n${body}\n}`;

const samples: Record<TransformType, Samples> = {
  javascript: {
    text: js('return event.payload.text;'),
    object: js('return { a: event.payload.b, b: event.payload.a };'),
    members: js(
      "return [event.method, event.path, event.id, event.source, event.receivedAt, event.headers['x-kind'], event.query.page, event.query.tag.join('+')].join('|');",
    ),
    length: js('return String(event.payload.length);'),
    nothing: [js('return null;'), js('return undefined;'), js('return () => 1;'), js('return 0 / 0;')],
    clock: js('return new Date(Date.now()).toISOString().slice(0, 19);'),
    random: js('return String(Math.random());'),
    leftovers: [
      js('globalThis.runs = (globalThis.runs ?? 0) + 1; return String(globalThis.runs);'),
      `let runs = 0; ${js('runs += 1; return String(runs);')}`,
      js('Object.prototype.runs = (({}).runs ?? 0) + 1; return String(({}).runs);'),
    ],
    broken: [
      [js('  return event.;'), 2, 16],
      ['export default 1;', 1, 1],
      ["import fs from 'node:fs';\nexport default () => fs;", 1, 17],
      ["const a = 1;\nthrow new Error('no');", 2, 16],
    ],
    failing: js('return event.payload.missing.member;'),
    huge: js('return event.payload.repeat(2 ** 20);'),
    endless: js('for (;;);'),
    greedy: js('const all = []; for (;;) all.push(new Uint8Array(2 ** 20));'),
  },
  jsonata: {
    text: 'payload.text',
    object: '{ "a": payload.b, "b": payload.a }',
    members:
      '$join([method, path, id, source, receivedAt, $lookup(headers, "x-kind"), query.page, $join(query.tag, "+")], "|")',
    length: '$string($length(payload))',
    nothing: ['payload.missing', 'null'],
    clock: '$substring($now(), 0, 19)',
    random: '$string($random())',
    leftovers: ['($runs := $exists($runs) ? $runs + 1 : 1; $string($runs))'],
    broken: [
      ['{\n  "a": payload.\n}', 3, 1],
      ['(payload', 1, 8],
      ['"text', 1, 5],
    ],
    failing: '(\n  $uppercase(1)\n)',
    huge: '($double := function($s, $n) { $n = 0 ? $s : $double($s & $s, $n - 1) }; $double(payload, 20))',
    endless: '($f := function($n) { $f($n + 1) }; $f(0))',
    greedy: '[1..10000000]',
  },
  liquid: {
    text: '{{ payload.text }}',
    object: undefined,
    members:
      '{{ method }}|{{ path }}|{{ id }}|{{ source }}|{{ receivedAt }}|{{ headers["x-kind"] }}|{{ query.page }}|{{ query.tag | join: "+" }}',
    length: '{{ payload | size }}',
    nothing: [],
    clock: '{{ "now" | date: "%Y-%m-%dT%H:%M:%S" }}',
    random: undefined,
    leftovers: [
      '{% if runs %}{% assign runs = runs | plus: 1 %}{% else %}{% assign runs = 1 %}{% endif %}{{ runs }}',
      '{% increment runs %}',
    ],
    broken: [
      ['one\n  {{ payload | unknown_filter }}', 2, 3],
      ['{% unknown_tag %}', 1, 1],
      ['\n{% if payload %}', 2, 1],
    ],
    failing: 'one\n{{ "#" | base64_decode }}',
    huge: '{% assign all = payload %}{% for i in (1..20) %}{% assign all = all | append: all %}{% endfor %}{{ all }}',
    endless: '{% for i in (1..10000) %}{% for j in (1..10000) %}{% endfor %}{% endfor %}',
    greedy:
      '{% assign all = payload | split: "" %}{% for i in (1..40) %}{% assign all = all | concat: all %}{% endfor %}',
  },
};

const received: Omit<TransformEvent, 'body'> = {
  id: 'evt_06f3k2v8q0e7',
  source: 'orders',
  method: 'PUT',
  path: '/new',
  query: 'page=2&tag=a&tag=b',
  headers: { 'Content-Type': 'application/json', 'X-Kind': 'order' },
  receivedAt: new Date('2026-01-02T03:04:05.678Z'),
};

describe('transforms', () => {
  const transforms = testThreads(2);
  after(() => transforms.close());

  let count = 0;
  type Options = { key?: string; contentType?: string; id?: string };
  function run(type: TransformType, code: string, body: string | Uint8Array, options: Options = {}) {
    count += 1;
    const { key = `row-${count}`, contentType = null, id = received.id } = options;
    const event = { ...received, id, body: typeof body === 'string' ? Buffer.from(body) : body };
    return transforms.runTransform({ key, type, code, outputContentType: contentType }, event, 'org_1');
  }
  async function text(...args: Parameters<typeof run>): Promise<string> {
    const result = await run(...args);
    if (!result.ok) throw new Error(result.problem.message);
    return Buffer.from(result.output.body).toString();
  }
  async function reason(...args: Parameters<typeof run>): Promise<string> {
    const result = await run(...args);
    return result.ok ? 'none' : result.problem.reason;
  }

  for (const [type, sample] of Object.entries(samples) as [TransformType, Samples][]) {
    describe(type, () => {
      it('gives a string as it is, as text', async () => {
        const result = await run(type, sample.text, JSON.stringify({ text: 'Größe "1"\n\u0000😀' }));
        expect(result.ok && Buffer.from(result.output.body).toString()).to.equal('Größe "1"\n\u0000😀');
        expect(result.ok && result.output).to.include({ contentType: 'text/plain; charset=utf-8', isText: true });
      });

      it('names the content type that was asked for', async () => {
        const result = await run(type, sample.text, '{"text":"<a/>"}', { contentType: 'application/xml' });
        expect(result.ok && result.output).to.include({ contentType: 'application/xml' });
      });

      if (sample.object !== undefined) {
        const code = sample.object;
        it('gives everything else as JSON', async () => {
          const result = await run(type, code, '{"a":[1,{"x":null}],"b":"t"}');
          expect(result.ok && Buffer.from(result.output.body).toString()).to.equal('{"a":"t","b":[1,{"x":null}]}');
          expect(result.ok && result.output).to.include({ contentType: 'application/json', isText: false });
        });
      }

      it('sees the whole event', async () => {
        const seen = await text(type, sample.members, 'null');
        expect(seen).to.equal('PUT|/new|evt_06f3k2v8q0e7|orders|2026-01-02T03:04:05.678Z|order|2|a+b');
      });

      it('sees a payload that is no JSON as text, and one that is no text in base64', async () => {
        expect(await text(type, sample.length, 'no "JSON"')).to.equal('9');
        expect(await text(type, sample.length, 'with a \u0000 in it')).to.equal('14');
        expect(await text(type, sample.length, '')).to.equal('0');
        expect(await text(type, sample.length, Uint8Array.of(0xff, 0xfe, 0x00))).to.equal('4');
      });

      for (const code of sample.nothing) {
        it(`says that nothing was returned: ${code.replace(/\s+/g, ' ')}`, async () => {
          expect(await reason(type, code, '{}')).to.equal('nothing');
        });
      }

      it('has a clock that stands still at the time of receipt', async () => {
        expect(await text(type, sample.clock, '{}')).to.equal('2026-01-02T03:04:05');
      });

      if (sample.random !== undefined) {
        const code = sample.random;
        it('has random numbers that follow from the id of the event', async () => {
          const key = `random-${type}`;
          const first = await text(type, code, '{}', { key });
          expect(await text(type, code, '{}', { key })).to.equal(first);
          expect(await text(type, code, '{}', { key, id: 'evt_other' })).not.to.equal(first);
          expect(Number(first)).to.be.within(0, 1);
        });
      }

      for (const [index, code] of sample.leftovers.entries()) {
        it(`leaves nothing behind for the next event (${index + 1})`, async () => {
          const key = `leftovers-${type}-${index}`;
          const first = await text(type, code, '{}', { key });
          for (let n = 0; n < 3; n += 1) expect(await text(type, code, '{}', { key })).to.equal(first);
        });
      }

      for (const [code, line, column] of sample.broken) {
        it(`refuses ${JSON.stringify(code)} with the place of the error`, async () => {
          const problem = await transforms.checkTransform({ type, code }, 'org_1');
          expect(problem).to.include({ reason: 'code', line, column });
          expect(problem?.message).to.be.a('string').that.is.not.empty;
        });
      }

      it('takes all other code of this table', async () => {
        const { object, random, nothing, leftovers, broken: _, ...others } = sample;
        for (const code of [...Object.values(others), ...nothing, ...leftovers, object, random]) {
          if (code !== undefined) expect(await transforms.checkTransform({ type, code }, 'org_1'), code).to.equal(null);
        }
      });

      it('reports an error of a run with its line', async () => {
        const result = await run(type, sample.failing, '{}');
        expect(result.ok ? null : result.problem).to.include({ reason: 'code', line: 2 });
      });

      it('ends at each limit, and works again afterwards', async () => {
        const key = `limits-${type}`;
        expect(await reason(type, sample.endless, '{}', { key: `${key}-1` })).to.equal('time');
        const ofX = (code: string, n: number) => reason(type, code, '"xxxxxxxxxxxxxxxx"', { key: `${key}-${n}` });
        expect(await ofX(sample.greedy, 2)).to.be.oneOf(['memory', 'time']);
        // On a starved machine the time limit may come before the others.
        expect(await ofX(sample.huge, 3)).to.be.oneOf(['output', 'memory', 'time']);
        expect(await text(type, sample.text, '{"text":"fine"}', { key: `${key}-1` })).to.equal('fine');
      });

      it('gives the same bytes on another thread', async () => {
        const others = testThreads(1);
        const event = { ...received, body: Buffer.from('{"text":"t"}') };
        for (const code of [sample.clock, sample.random ?? sample.text, sample.members]) {
          const result = await others.runTransform({ key: null, type, code, outputContentType: null }, event, 'org_1');
          const here = await text(type, code, '{"text":"t"}');
          expect(result.ok && Buffer.from(result.output.body).toString()).to.equal(here);
        }
        await others.close();
      });
    });
  }

  it('reads JavaScript that defines a function transform, and waits for async ones', async () => {
    expect(await text('javascript', 'function transform(event) { return event.id; }', '{}')).to.equal(received.id);
    expect(await text('javascript', 'const transform = async (event) => event.id;', '{}')).to.equal(received.id);
    expect(await text('javascript', 'export default async (event) => (await event).id;', '{}')).to.equal(received.id);
    expect(await text('javascript', 'const id = await "a"; export default () => id;', '{}')).to.equal('a');
  });
});
