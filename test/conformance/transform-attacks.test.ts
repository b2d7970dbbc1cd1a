// Threads that try to take the machine or to get out of the sandbox: each ends with its reason, and others continue.
import { expect } from 'chai';
import type { Threads } from '../../outbound/threads/index.ts';
import type { TransformResult } from '../../outbound/transforms/language.ts';
import type { TransformType } from '../../core/config/transform-types.ts';
import { testThreads } from '../support/threads.ts';

const js = (body: string) => `export default function (event) { ${body} }`;

/** What it does, language, code, how it may end. */
const attacks: [string, TransformType, string, ...string[]][] = [
  [
    'an endless loop that catches what interrupts it',
    'javascript',
    js('for (;;) try { for (;;); } catch {} finally { for (;;); }'),
    'time',
  ],
  [
    'endless microtasks',
    'javascript',
    js('const again = () => { Promise.resolve().then(again); }; again(); return 1;'),
    'time',
  ],
  // Each promise waits for the next one: memory may end the chain before time does, and the function has returned by
  // then.
  [
    'microtasks that pile up',
    'javascript',
    js('const again = () => Promise.resolve().then(again); again(); return 1;'),
    'time',
    '1',
  ],
  ['an endless await', 'javascript', 'export default async () => { for (;;) await 1; }', 'time'],
  ['an error whose message never ends', 'javascript', js('throw { get message() { for (;;); } };'), 'time'],
  [
    'a regular expression that backtracks',
    'javascript',
    js('return /^(a+)+$/.test("a".repeat(40) + "b") ? 1 : 2;'),
    'time',
  ],
  [
    'a join of 2^32 holes, which no interrupt reaches',
    'javascript',
    js('return new Array(2 ** 32 - 1).join("");'),
    'time',
  ],
  ['an array of 2^32', 'javascript', js('return new Array(2 ** 32 - 1).fill(1);'), 'memory'],
  ['a string that doubles', 'javascript', js('let s = "x"; for (;;) s += s;'), 'code', 'memory'],
  [
    'a join that multiplies',
    'javascript',
    js('return new Array(2 ** 20).join("x".repeat(2 ** 12));'),
    'code',
    'memory',
    'time',
  ],
  ['a replacement that multiplies', 'javascript', js('return "x".repeat(1e6).replace(/x/g, "$`");'), 'memory', 'time'],
  [
    'memory held by closures that swallow errors',
    'javascript',
    js('const a = []; for (;;) try { a.push("x".repeat(1e6) + a.length); } catch {}'),
    'time',
    'memory',
  ],
  [
    'a chain of a million proxies',
    'javascript',
    js('let p = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); return p.x;'),
    'memory',
    'time',
  ],
  ['a promise that nothing fulfils', 'javascript', 'export default () => new Promise(() => {});', 'nothing'],
  ['endless recursion', 'javascript', js('return (function f() { return f() + 1; })();'), 'memory'],
  ['JSON of a million levels', 'javascript', js('return JSON.parse("[".repeat(1e6));'), 'memory'],
  [
    'an object of 100,000 levels',
    'javascript',
    js('let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o;'),
    'memory',
    'time',
  ],
  [
    'hashes without end',
    'javascript',
    js('for (;;) crypto.createHash("sha512").update("x".repeat(1e5)).digest();'),
    'time',
  ],
  [
    'bytes of the host that pile up',
    'javascript',
    js('const a = []; for (;;) a.push(new TextEncoder().encode("x".repeat(2 ** 22)));'),
    'memory',
    'time',
    'code',
  ],
  [
    'controls that JSON writes six times as long',
    'javascript',
    js('return btoa("\\u0000".repeat(2 ** 23));'),
    'code',
    'memory',
    'output',
    'time',
  ],
  [
    'languages without end',
    'javascript',
    js('for (let i = 0; ; i++) new Intl.NumberFormat("en", { minimumFractionDigits: 2, x: i });'),
    'time',
    'memory',
  ],
  [
    'a million languages',
    'javascript',
    js('return new Intl.NumberFormat(new Array(1e6).fill("en")).format(1);'),
    'code',
    'time',
    'memory',
  ],
  [
    'an address of a million characters',
    'javascript',
    js('return new URL("https://a/" + "x".repeat(1e6)).href;'),
    'code',
  ],
  ['a text that is not one', 'javascript', js('return atob({ toString() { for (;;); } });'), 'time'],
  [
    'bytes that are taken away',
    'javascript',
    js(
      'const b = new ArrayBuffer(8, { maxByteLength: 16 }); const u = new Uint8Array(b); b.resize?.(0); return crypto.createHash("md5").update(u).digest("hex") ? 1 : 2;',
    ),
    '1',
    'code',
  ],
  [
    'JSONata: base64 that doubles',
    'jsonata',
    '($d := function($s, $n) { $n = 0 ? $s : $d($base64encode($s & $s), $n - 1) }; $d("x", 40))',
    'time',
    'memory',
    'code',
  ],
  [
    'an import',
    'javascript',
    js('return import("node:fs").then((fs) => fs.readFileSync("/etc/passwd", "utf8"));'),
    'code',
  ],
  ['JSONata: endless recursion', 'jsonata', '($f := function($n) { 1 + $f($n + 1) }; $f(0))', 'time', 'memory'],
  [
    'JSONata: a regular expression that backtracks',
    'jsonata',
    '$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", /^(a+)+$/)',
    'time',
  ],
  [
    'Liquid: a string that doubles',
    'liquid',
    '{% assign s = "xxxxxxxxxx" %}{% for i in (1..40) %}{% assign s = s | append: s %}{% endfor %}',
    'code',
    'memory',
  ],
];

/** What JavaScript finds when it walks from whatever it can reach to a global object. */
const walk = js(`
  const seen = [];
  const AsyncFunction = (async () => {}).constructor;
  const GeneratorFunction = (function* () {}).constructor;
  for (const make of [Function, event.constructor.constructor, Date.constructor, Math.random.constructor, AsyncFunction, GeneratorFunction]) {
    const found = make("return Object.getOwnPropertyNames(globalThis)");
    const value = found();
    if (Array.isArray(value)) seen.push(...value);
  }
  seen.push(...(0, eval)("Object.getOwnPropertyNames(globalThis)"));
  return seen.filter((name) => ["process", "require", "module", "fetch", "WebAssembly", "Worker", "setTimeout", "console", "Deno", "host", "call"].includes(name));
`);

describe('attacks by transforms', () => {
  let transforms: Threads;
  before(() => {
    transforms = testThreads(2);
  });
  after(() => transforms.close());

  const event = {
    id: 'evt_1',
    source: 'orders',
    method: 'POST',
    path: '',
    query: '',
    headers: {},
    body: Buffer.from('{"n":1}'),
    receivedAt: new Date(0),
  };
  const run = (type: TransformType, code: string, group: string): Promise<TransformResult> =>
    transforms.runTransform({ key: `${group}:1`, type, code, outputContentType: null }, event, 'org_1');
  const healthy = () => run('javascript', js('return event.payload.n + 1;'), 'healthy');
  const text = (result: TransformResult) =>
    result.ok ? Buffer.from(result.output.body).toString() : result.problem.message;

  for (const [what, type, code, ...endings] of attacks) {
    it(`${what}: ends by ${endings.join(' or ')}, and another transform works meanwhile`, async () => {
      const [attack, other] = await Promise.all([run(type, code, what), healthy()]);
      // On a starved machine the time limit may come before the others.
      expect(attack.ok ? text(attack).slice(0, 100) : attack.problem.reason).to.be.oneOf([...endings, 'time']);
      expect(text(other)).to.equal('2');
    });
  }

  it('finds no object of the host, whichever way it walks', async () => {
    expect(text(await run('javascript', walk, 'walk'))).to.equal('[]');
    const jsonata =
      '[payload.constructor, payload.__proto__, constructor, __proto__.constructor.constructor("return 1")]';
    expect(text(await run('jsonata', jsonata, 'walk-jsonata'))).to.equal('[]');
    const liquid = '{{ payload.constructor }}{{ payload.__proto__.constructor }}{{ id.constructor }}{{ id.at }}';
    expect(text(await run('liquid', liquid, 'walk-liquid'))).to.equal('');
  });

  it('gets answers of the host that it cannot change, and no way to the function that asks', async () => {
    const code = js(`
      JSON.stringify = () => '["intl"]'; JSON.parse = () => ({}); Object.defineProperty = () => { throw 1; };
      Array.prototype.map = () => []; Uint8Array.prototype.slice = () => { throw 2; };
      const seen = []; for (const each of [atob, crypto.createHash, crypto.createHash('md5').update]) seen.push(each.caller, each.arguments);
      return atob('YQ') + crypto.createHash('md5').digest('hex').slice(0, 4) + seen.join('');`);
    const ended = await run('javascript', code, 'host');
    expect(text(ended)).to.match(/^(?:ad41d|TypeError: .*)/);
    const names = js(
      `try { atob('*'); } catch (error) { return Object.getOwnPropertyNames(error).sort().join() + (error.constructor.constructor('return typeof process')()); }`,
    );
    expect(text(await run('javascript', names, 'names'))).to.equal('message,name,stackundefined');
  });

  it('cannot change how its result is read', async () => {
    const code = js(`
      JSON.stringify = () => 'changed'; JSON.parse = () => 'changed'; Promise.prototype.then = () => 'changed';
      Object.prototype.toString = () => 'changed'; Array.prototype.map = () => 'changed'; globalThis.Date = null;
      return { payload: event.payload };`);
    expect(text(await run('javascript', code, 'changed'))).to.equal('{"payload":{"n":1}}');
    expect(text(await run('javascript', code, 'changed'))).to.equal('{"payload":{"n":1}}');
  });

  it('keeps one thread for others while the endless loops of one transform wait for their turns', async () => {
    let open = 6;
    const loops = Array.from({ length: open }, async () => {
      const result = await run('javascript', js('for (;;);'), 'loops');
      open -= 1;
      return result;
    });
    await loops[0];
    expect(text(await healthy())).to.equal('2');
    expect(open, 'loops that were not over yet').to.be.above(0);
    for (const result of await Promise.all(loops)) expect(result.ok ? '' : result.problem.reason).to.equal('time');
  });

  it('refuses what is under way when the process ends', async () => {
    const ending = testThreads(1);
    const run = ending.runTransform(
      { key: null, type: 'javascript', code: js('for (;;);'), outputContentType: null },
      event,
      'org_1',
    );
    const settled = run.then(
      () => 'settled',
      (error: Error) => error.name,
    );
    await ending.close();
    expect(await settled).to.equal('NoThreadError');
  });
});
