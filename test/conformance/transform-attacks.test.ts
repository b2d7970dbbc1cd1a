// Threads that try to take the machine or to get out of the sandbox: each ends with its reason, and others continue.
import { expect } from 'chai';
import type { TransformResult } from '../../outbound/transforms/language.ts';
import type { TransformType } from '../../core/config/transform-types.ts';
import { testThreads } from '../support/threads.ts';

const js = (body: string) => `export default function (event) { ${body} }`;

/** How it may end, and its code: of JavaScript the body of a function or a module. */
type Attack = [ends: string[], text: string];

/** By language and by what it does. */
const attacks: Record<TransformType, Record<string, Attack>> = {
  javascript: {
    'an endless loop that catches what interrupts it': [
      ['time'],
      'for (;;) try { for (;;); } catch {} finally { for (;;); }',
    ],
    'endless microtasks': [['time'], 'const again = () => { Promise.resolve().then(again); }; again(); return 1;'],
    // Each promise waits for the next one: memory may end the chain before time does, and the function has returned by
    // then.
    'microtasks that pile up': [['time', '1'], 'const again = () => Promise.resolve().then(again); again(); return 1;'],
    'an endless await': [['time'], 'export default async () => { for (;;) await 1; }'],
    'an error whose message never ends': [['time'], 'throw { get message() { for (;;); } };'],
    'a regular expression that backtracks': [['time'], 'return /^(a+)+$/.test("a".repeat(40) + "b") ? 1 : 2;'],
    'a join of 2^32 holes, which no interrupt reaches': [['time'], 'return new Array(2 ** 32 - 1).join("");'],
    'an array of 2^32': [['memory'], 'return new Array(2 ** 32 - 1).fill(1);'],
    'a string that doubles': [['code', 'memory'], 'let s = "x"; for (;;) s += s;'],
    'a join that multiplies': [['code', 'memory', 'time'], 'return new Array(2 ** 20).join("x".repeat(2 ** 12));'],
    'a replacement that multiplies': [['memory', 'time'], 'return "x".repeat(1e6).replace(/x/g, "$`");'],
    'memory held by closures that swallow errors': [
      ['time', 'memory'],
      'const a = []; for (;;) try { a.push("x".repeat(1e6) + a.length); } catch {}',
    ],
    'a chain of a million proxies': [
      ['memory', 'time'],
      'let p = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); return p.x;',
    ],
    'a promise that nothing fulfils': [['nothing'], 'export default () => new Promise(() => {});'],
    'endless recursion': [['memory'], 'return (function f() { return f() + 1; })();'],
    'JSON of a million levels': [['memory'], 'return JSON.parse("[".repeat(1e6));'],
    'an object of 100,000 levels': [
      ['memory', 'time'],
      'let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o;',
    ],
    'hashes without end': [['time'], 'for (;;) crypto.createHash("sha512").update("x".repeat(1e5)).digest();'],
    'bytes of the host that pile up': [
      ['memory', 'time', 'code'],
      'const a = []; for (;;) a.push(new TextEncoder().encode("x".repeat(2 ** 22)));',
    ],
    'controls that JSON writes six times as long': [
      ['code', 'memory', 'output', 'time'],
      'return btoa("\\u0000".repeat(2 ** 23));',
    ],
    'languages without end': [
      ['time', 'memory'],
      'for (let i = 0; ; i++) new Intl.NumberFormat("en", { minimumFractionDigits: 2, x: i });',
    ],
    'a million languages': [
      ['code', 'time', 'memory'],
      'return new Intl.NumberFormat(new Array(1e6).fill("en")).format(1);',
    ],
    'an address of a million characters': [['code'], 'return new URL("https://a/" + "x".repeat(1e6)).href;'],
    'a text that is not one': [['time'], 'return atob({ toString() { for (;;); } });'],
    'bytes that are taken away': [
      ['1', 'code'],
      `const b = new ArrayBuffer(8, { maxByteLength: 16 });
      const u = new Uint8Array(b); b.resize?.(0); return crypto.createHash("md5").update(u).digest("hex") ? 1 : 2;`,
    ],
    'an import': [['code'], 'return import("node:fs").then((fs) => fs.readFileSync("/etc/passwd", "utf8"));'],
  },
  jsonata: {
    'base64 that doubles': [
      ['time', 'memory', 'code'],
      '($d := function($s, $n) { $n = 0 ? $s : $d($base64encode($s & $s), $n - 1) }; $d("x", 40))',
    ],
    'endless recursion': [['time', 'memory'], '($f := function($n) { 1 + $f($n + 1) }; $f(0))'],
    'a regular expression that backtracks': [['time'], '$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", /^(a+)+$/)'],
  },
  liquid: {
    'a string that doubles': [
      ['code', 'memory'],
      '{% assign s = "xxxxxxxxxx" %}{% for i in (1..40) %}{% assign s = s | append: s %}{% endfor %}',
    ],
  },
};

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
  const transforms = testThreads(2);
  after(() => transforms.close());

  const event = {
    ...{ id: 'evt_1', source: 'orders', method: 'POST', path: '', query: '', headers: {} },
    ...{ body: Buffer.from('{"n":1}'), receivedAt: new Date(0) },
  };
  const run = (type: TransformType, code: string, group: string): Promise<TransformResult> =>
    transforms.runTransform({ key: `${group}:1`, type, code, outputContentType: null }, event, 'org_1');
  const healthy = () => run('javascript', js('return event.payload.n + 1;'), 'healthy');
  const textOf = (result: TransformResult) =>
    result.ok ? Buffer.from(result.output.body).toString() : result.problem.message;

  for (const [type, rows] of Object.entries(attacks) as [TransformType, Record<string, Attack>][]) {
    for (const [row, [ends, text]] of Object.entries(rows)) {
      it(`${type}: ${row}, and another transform works meanwhile`, async () => {
        const code = type === 'javascript' && !text.startsWith('export') ? js(text) : text;
        const [attack, other] = await Promise.all([run(type, code, `${type} ${row}`), healthy()]);
        const ended = attack.ok ? textOf(attack).slice(0, 100) : attack.problem.reason;
        // On a starved machine the time limit may come before the others.
        expect(ended).to.be.oneOf([...ends, 'time']);
        expect(textOf(other)).to.equal('2');
      });
    }
  }

  it('finds no object of the host, whichever way it walks', async () => {
    expect(textOf(await run('javascript', walk, 'walk'))).to.equal('[]');
    const jsonata =
      '[payload.constructor, payload.__proto__, constructor, __proto__.constructor.constructor("return 1")]';
    expect(textOf(await run('jsonata', jsonata, 'walk-jsonata'))).to.equal('[]');
    const liquid = '{{ payload.constructor }}{{ payload.__proto__.constructor }}{{ id.constructor }}{{ id.at }}';
    expect(textOf(await run('liquid', liquid, 'walk-liquid'))).to.equal('');
  });

  it('gets answers of the host that it cannot change, and no way to the function that asks', async () => {
    const code = js(`
      JSON.stringify = () => '["intl"]'; JSON.parse = () => ({}); Object.defineProperty = () => { throw 1; };
      Array.prototype.map = () => []; Uint8Array.prototype.slice = () => { throw 2; };
      const seen = []; for (const each of [atob, crypto.createHash, crypto.createHash('md5').update]) seen.push(each.caller, each.arguments);
      return atob('YQ') + crypto.createHash('md5').digest('hex').slice(0, 4) + seen.join('');`);
    const ended = await run('javascript', code, 'host');
    expect(textOf(ended)).to.match(/^(?:ad41d|TypeError: .*)/);
    const names = js(
      `try { atob('*'); } catch (error) { return Object.getOwnPropertyNames(error).sort().join() + (error.constructor.constructor('return typeof process')()); }`,
    );
    expect(textOf(await run('javascript', names, 'names'))).to.equal('message,name,stackundefined');
  });

  it('cannot change how its result is read', async () => {
    const code = js(`
      JSON.stringify = () => 'changed'; JSON.parse = () => 'changed'; Promise.prototype.then = () => 'changed';
      Object.prototype.toString = () => 'changed'; Array.prototype.map = () => 'changed'; globalThis.Date = null;
      return { payload: event.payload };`);
    expect(textOf(await run('javascript', code, 'changed'))).to.equal('{"payload":{"n":1}}');
    expect(textOf(await run('javascript', code, 'changed'))).to.equal('{"payload":{"n":1}}');
  });

  it('keeps one thread for others while the endless loops of one transform wait for their turns', async () => {
    let open = 6;
    const loops = Array.from({ length: open }, async () => {
      const result = await run('javascript', js('for (;;);'), 'loops');
      open -= 1;
      return result;
    });
    await loops[0];
    expect(textOf(await healthy())).to.equal('2');
    expect(open, 'loops that were not over yet').to.be.above(0);
    for (const result of await Promise.all(loops)) expect(result.ok ? '' : result.problem.reason).to.equal('time');
  });

  it('refuses what is under way when the process ends', async () => {
    const ending = testThreads(1);
    const endless = { key: null, type: 'javascript', code: js('for (;;);'), outputContentType: null } as const;
    const settled = ending.runTransform(endless, event, 'org_1').catch((error: Error) => error.name);
    await ending.close();
    expect(await settled).to.equal('NoThreadError');
  });
});
