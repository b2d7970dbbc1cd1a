// JSONata: an expression whose input is the event, for example { "order": payload.id }.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileWith, placeOf, type TransformLanguage } from './language.ts';

const require = createRequire(import.meta.url);

const FUNCTIONS =
  'abs append assert average base64decode base64encode boolean ceil clone contains count decodeUrl decodeUrlComponent distinct each encodeUrl encodeUrlComponent error eval exists filter floor formatBase formatInteger formatNumber fromMillis join keys length lookup lowercase map match max merge millis min not now number pad parseInteger power random reduce replace reverse round shuffle sift single sort split spread sqrt string substring substringAfter substringBefore sum toMillis trim type uppercase zip';

export const jsonata: TransformLanguage = {
  // The library's build for browsers: it runs inside QuickJS and never in the host's own heap.
  library: () => readFileSync(require.resolve('jsonata/jsonata.min.js'), 'utf8'),
  freshContext: false,
  platform: () => [],
  numbers: 'mixed',
  // Its texts have 15 digits of a number, too few for an id of 16; it makes them with a replacer.
  compile: compileWith(`(code, call) => {
    const { stringify } = JSON;
    JSON.stringify = (value, replacer, space) => stringify(
      value,
      replacer && ((key, member) => (Number.isSafeInteger(member) ? member : replacer(key, member))),
      space,
    );
    const expression = jsonata(code);
    // A name that neither the library nor the code defines would only fail when it is called.
    const known = new Set('${FUNCTIONS}'.split(' ')), calls = [], seen = new Set();
    const places = [expression.ast()];
    for (let node = places.pop(); places.length > 0 || node !== undefined; node = places.pop()) {
      if (typeof node !== 'object' || node === null || seen.has(node)) continue;
      seen.add(node);
      if (node.type === 'bind' && node.lhs?.type === 'variable') known.add(node.lhs.value);
      if (node.type === 'lambda') for (const { value } of node.arguments) known.add(value);
      if ((node.type === 'function' || node.type === 'partial') && node.procedure?.type === 'variable') calls.push(node.procedure);
      if (node.index) known.add(node.index.value ?? node.index);
      if (node.focus) known.add(node.focus);
      places.push(...Object.values(node));
    }
    const unknown = calls.find(({ value }) => !known.has(value));
    if (unknown) throw { message: 'Unknown function $' + unknown.value + ' in JSONata', position: unknown.position };
    // The library leaves these two to the platform, and reads bytes as Latin-1, against its documentation.
    expression.registerFunction('base64encode', (text) => (text === undefined ? undefined : call('base64Encode', [text])), '<s-:s>');
    expression.registerFunction('base64decode', (text) => (text === undefined ? undefined : call('base64Decode', [text])), '<s-:s>');
    // Of zones the library knows offsets only, and makes NaN of names.
    const zoned = jsonata('$fromMillis').evaluate();
    const inZone = async (ms, picture, zone) =>
      ms === undefined ? undefined : (await zoned).implementation(ms, picture, zone === undefined ? zone : call('zone', [zone, ms]));
    expression.registerFunction('fromMillis', inZone, '<n-s?s?:s>');
    expression.registerFunction('now', (picture, zone) => inZone(Date.now(), picture, zone), '<s?s?:s>');
    return (event) => expression.evaluate(event);
  }`),
  explain(error, code) {
    // The library's positions count from the end of the offending token.
    const place = error.position === null ? { line: null, column: null } : placeOf(code, error.position - 1);
    return { reason: 'code', message: error.message, ...place };
  },
};
