// Functions of the transform languages give their known answers in the sandbox, or are refused when the code is stored.
import { expect } from 'chai';
import type { TransformType } from '../../core/config/transform-types.ts';
import { testThreads } from '../support/threads.ts';
import type { Answers } from './functions/answers.ts';
import { javascript, refused, taken } from './functions/javascript.ts';
import { jsonata, payload } from './functions/jsonata.ts';
import { filters, tags } from './functions/liquid.ts';

const tables: [type: TransformType, answers: Answers, body: string][] = [
  ['jsonata', jsonata, JSON.stringify(payload)],
  ['liquid', { ...filters, ...tags }, '{"text":"Renée","items":[3,1,2]}'],
  ['javascript', javascript, '{"text":"Renée","big":12345678901234567890}'],
];

describe('functions of the transform languages', () => {
  const transforms = testThreads(2);
  after(() => transforms.close());

  const event = { source: 'shop', method: 'POST', path: '', query: '', headers: {} };
  const receivedAt = new Date('2026-11-28T10:15:00.123Z');
  async function run(type: TransformType, code: string, body: string, id = 'evt_1'): Promise<unknown> {
    const sent = { ...event, id, receivedAt, body: Buffer.from(body) };
    const result = await transforms.runTransform({ key: null, type, code, outputContentType: null }, sent, 'org_1');
    if (!result.ok) throw new Error(result.problem.message);
    const text = Buffer.from(result.output.body).toString();
    return result.output.isText ? text : JSON.parse(text);
  }
  const codeOf = (type: TransformType, code: string) =>
    type === 'javascript' ? `export default async (event) => { return ${code}; };` : code;

  for (const [type, answers, body] of tables) {
    for (const [name, rows] of Object.entries(answers)) {
      it(`${type}: ${name}`, async () => {
        for (const [code, answer] of Object.entries(rows)) {
          const made = await run(type, codeOf(type, code), body).catch((error: Error) => error);
          if (answer instanceof RegExp)
            expect(made, code).to.be.instanceOf(Error).with.property('message').that.matches(answer);
          else expect(made, code).to.deep.equal(answer);
        }
      });
    }
  }

  const check = (type: TransformType, code: string) => transforms.checkTransform({ type, code }, 'org_1');

  it('a tag of Liquid that takes in a file is refused when it is stored, with its place', async () => {
    for (const tag of ['include', 'render', 'layout']) {
      const problem = await check('liquid', `one\n {% if payload.a %}{% ${tag} payload.a %}{% endif %}`);
      expect(problem).to.include({ reason: 'code', line: 2, column: 20 });
      expect(problem?.message).to.match(/another file.*insert the text here/);
    }
  });

  it('a function that JSONata does not have is refused when it is stored', async () => {
    const problem = await check('jsonata', '{\n  "id": $uuid()\n}');
    expect(problem).to.include({ reason: 'code', line: 2 });
    expect(problem?.message).to.match(/Unknown function \$uuid/);
    const own = '($f := function($g) { $g(1) }; $f(function($x) { $x }))';
    for (const code of [own, '$string ~> $length', '$map([1], $string)'])
      expect(await check('jsonata', code), code).to.equal(null);
  });

  for (const [code, name] of refused) {
    it(`JavaScript that needs ${name} is refused when it is stored: ${code.split('\n')[0]}`, async () => {
      const problem = await check('javascript', code);
      expect(problem?.message).to.match(new RegExp(`^${name} is not available`));
      const before = code.slice(0, code.search(new RegExp(`\\b${name}\\b`))).split('\n');
      expect([problem?.line, problem?.column]).to.deep.equal([before.length, (before.at(-1)?.length ?? 0) + 1]);
    });
  }
  it('JavaScript that names such things without needing them is taken', async () => {
    for (const code of taken) expect(await check('javascript', code), code).to.equal(null);
  });

  it('random values follow from the whole id of the event', async () => {
    const code = codeOf('javascript', '[crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(8))]]');
    const first = await run('javascript', code, '{}');
    expect(await run('javascript', code, '{}')).to.deep.equal(first);
    expect(await run('javascript', code, '{}', 'evt_2')).not.to.deep.equal(first);
  });
});
