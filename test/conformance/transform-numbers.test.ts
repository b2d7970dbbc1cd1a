// What numbers become in every transform language. A new language is a new row of `samples`.
import { expect } from 'chai';
import fc from 'fast-check';
import type { TransformType } from '../../core/config/transform-types.ts';
import { anyJson, numbersIn } from '../support/requests/json-numbers.ts';
import { testThreads } from '../support/threads.ts';

/** Code that gives the same in each language. */
interface Samples {
  /** The payload inside an array, as JSON. */
  whole: string[];
  /** `order-` and the payload's member `id`, as text. */
  text: string;
  /** The payload's member `f` times two, as text. */
  twice: string;
}

const js = (expression: string) => `export default ({ payload }) => ${expression};`;

const samples: Record<TransformType, Samples> = {
  javascript: {
    whole: [js('[payload]'), js('JSON.stringify([payload])'), js('Promise.resolve([payload])')],
    text: js("'order-' + payload.id"),
    twice: js('String(payload.f * 2)'),
  },
  jsonata: { whole: ['[[payload]]'], text: "'order-' & payload.id", twice: '$string(payload.f * 2)' },
  liquid: { whole: ['[{{ payload | json }}]'], text: 'order-{{ payload.id }}', twice: '{{ payload.f | times: 2 }}' },
};

const transforms = testThreads(1);
async function run(type: TransformType, code: string, body: string): Promise<string> {
  const transform = { key: `${type} ${code}`, type, code, outputContentType: null };
  const request = { id: 'evt_1', source: 'shop', method: 'POST', path: '', query: '', headers: {} };
  const event = { ...request, receivedAt: new Date(0), body: Buffer.from(body) };
  const result = await transforms.runTransform(transform, event, 'org_1');
  if (!result.ok) throw new Error(result.problem.message);
  return Buffer.from(result.output.body).toString();
}

describe('numbers in transforms', () => {
  after(() => transforms.close());

  for (const [type, { whole, text, twice }] of Object.entries(samples) as [TransformType, Samples][]) {
    describe(type, () => {
      for (const code of whole) {
        it(`keep their values when they are passed on: ${code}`, async () => {
          const property = fc.asyncProperty(anyJson, async (json) => {
            // JSONata takes arrays inside arrays apart; the values are what counts.
            const values = (numbers: ReturnType<typeof numbersIn>) => [...numbers.values()].toSorted();
            const given = `{"payload":${json}}`;
            expect(values(numbersIn(await run(type, code, given)))).to.deep.equal(values(numbersIn(given)));
          });
          await fc.assert(property, { numRuns: 60 });
        });
      }

      it('have their digits in texts', async () => {
        for (const id of ['820982911946154509', '9007199254740993', '9007199254740991', '1e999', '7']) {
          expect(await run(type, text, `{"id":${id}}`)).to.equal(`order-${id}`);
        }
      });

      it('are the nearest double in arithmetic', async () => {
        expect(await run(type, twice, '{"f":0.10000000000000001}')).to.equal('0.2');
      });

      it('that fractions of one double cannot be told apart by keep their digits too', async () => {
        const json = '{"a":0.1,"b":0.10000000000000001,"c":0.100000000000000014}';
        for (const code of whole) expect(await run(type, code, json)).to.include(json);
      });

      it('of one event do not show in the next one', async () => {
        for (const code of whole) {
          await run(type, code, '{"f":0.10000000000000001}');
          expect(await run(type, code, '{"f":0.1}')).to.include('{"f":0.1}');
          expect(await run(type, code, '{"f":0.1,"id":9007199254740993}')).to.include('"f":0.1,');
        }
      });
    });
  }

  it('are objects in JavaScript when they are too large: the same one for the same number, and never taken for empty', async () => {
    const body = '{"a":9007199254740993,"b":9007199254740993,"c":9007199254740992,"d":9007199254740995}';
    const code = js(
      '[payload.a === payload.b, payload.a === payload.d, typeof payload.a, typeof payload.c, payload.a > 5]',
    );
    expect(await run('javascript', code, body)).to.equal('[true,false,"object","number",true]');
    const walk = js('Object.entries(payload.a)');
    const failure = await run('javascript', walk, body).catch((error: Error) => error.message);
    expect(failure).to.match(/^TypeError: 9007199254740993 does not fit in a JavaScript number.*String\(value\)/);
    const replacers = js(
      'JSON.stringify([payload, { a: payload.a, z: 1 }], ["a"]) + JSON.stringify(payload, (k, v) => k === "b" ? 0 : v)',
    );
    expect(await run('javascript', replacers, body)).to.equal(
      '[{"a":9007199254740993},{"a":9007199254740993}]{"a":9007199254740993,"b":0,"c":9007199254740992,"d":9007199254740995}',
    );
  });

  it('of the code do not get the digits of others: only a fraction does that is the same double', async () => {
    const body =
      '{"items":["a","b"],"amount":2.00000000000000001,"share":0.3000000000000000444,"large":1.5000000000000000001e300}';
    const code = js('({ version: 2, size: payload.items.length, large: 1.5e300, share: 0.1 + 0.2, payload })');
    expect(await run('javascript', code, body)).to.equal(
      `{"version":2,"size":2,"large":1.5e+300,"share":0.3000000000000000444,"payload":${body}}`,
    );
    const same = '{ "version": 2, "size": $count(payload.items), "payload": payload }';
    expect(await run('jsonata', same, body)).to.equal(`{"version":2,"size":2,"payload":${body}}`);
  });

  it('are found however deep they are, and however many others there are, in no time of the code', async () => {
    const deep = (inner: string, depth: number) => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;
    const code = js('({ id: payload.id })');
    for (const inner of [`1.00000000000000001${',1.5'.repeat(200_000)}`, `9007199254740993${',1'.repeat(200_000)}`]) {
      expect(await run('javascript', code, `{"id":1e999,"a":${deep(inner, 400)}}`)).to.equal('{"id":1e999}');
    }
    expect(await run('javascript', code, `{"id":1e999,"a":${deep('1e999', 4000)}}`)).to.equal('{"id":1e999}');
  });

  it('are compared in Liquid with numbers and texts', async () => {
    const code =
      '{% if payload.id == 820982911946154509 and payload.id == "820982911946154509" and payload.id > 5 %}yes{% endif %}';
    expect(await run('liquid', code, '{"id":820982911946154509}')).to.equal('yes');
  });
});
