// JSONata: an expression whose input is the event, for example { "order": payload.id }.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileWith, type TransformLanguage, placeOf } from './language.ts';

const require = createRequire(import.meta.url);

export const jsonata: TransformLanguage = {
  // The library's build for browsers: it runs inside QuickJS and never in the host's own heap.
  library: () => readFileSync(require.resolve('jsonata/jsonata.min.js'), 'utf8'),
  freshContext: false,
  numbers: 'mixed',
  // Its texts have 15 digits of a number, too few for an id of 16; it makes them with a replacer.
  compile: compileWith(`(code) => {
    const { stringify } = JSON;
    JSON.stringify = (value, replacer, space) => stringify(
      value,
      replacer && ((key, member) => (Number.isSafeInteger(member) ? member : replacer(key, member))),
      space,
    );
    const expression = jsonata(code);
    return (event) => expression.evaluate(event);
  }`),
  explain(error, code) {
    // The library's positions count from the end of the offending token.
    const place = error.position === null ? { line: null, column: null } : placeOf(code, error.position - 1);
    return { reason: 'code', message: error.message, ...place };
  },
};
