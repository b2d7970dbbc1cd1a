// JSONata: an expression whose input is the event, for example { "order": payload.id }.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileWith, type TransformLanguage, placeOf } from './language.ts';

const require = createRequire(import.meta.url);

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
