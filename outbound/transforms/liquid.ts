// Liquid: a template whose variables are the members of the event, for example Order {{ payload.id }}.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compileWith, type TransformLanguage } from './language.ts';

const require = createRequire(import.meta.url);

export const liquid: TransformLanguage = {
  library: () => asScript(readFileSync(join(dirname(require.resolve('liquidjs')), 'liquid.browser.mjs'), 'utf8')),
  freshContext: false,
  // For dates in other time zones.
  platform: () => ['intl'],
  // A template makes text, so all of them keep their digits in it.
  numbers: 'objects',
  // `templates`: partials are looked up in this empty set and nowhere else. An unknown filter or tag is an error.
  compile: compileWith(`(code, call) => {
    // Dates of their own have it; with it, the library asks for the English name of every month.
    delete globalThis.Intl;
    const engine = new liquidjs.Liquid({ templates: {}, strictFilters: true, ownPropertyOnly: true, cache: false });
    const text = (value) => (value === undefined || value === null ? '' : String(value));
    engine.registerFilter('base64_encode', (value) => call('base64Encode', [text(value)]));
    engine.registerFilter('base64_decode', (value) => call('base64Decode', [text(value)]));
    engine.registerFilter('sha256', (value) => call('hashText', ['sha256', null, text(value)]));
    engine.registerFilter('hmac_sha256', (value, key) => call('hashText', ['sha256', text(key), text(value)]));
    // The library leaves directives that it does not know as they are.
    const { date } = engine.filters, short = { F: '%Y-%m-%d', D: '%m/%d/%y', T: '%H:%M:%S', R: '%H:%M', r: '%I:%M:%S %p' };
    const expanded = (format) => format.replace(/%(?:%|[-_0^#:]*\\d*[EO]?([A-Za-z]))/g, (all, letter) => {
      if (letter === undefined || 'aAbBcCdeHIjklLmMNpPqsSuUwWxXyYzZtnh'.includes(letter)) return all;
      if (short[letter] === undefined) throw new Error(all + ' is not a directive of the date filter');
      return short[letter];
    });
    engine.registerFilter('date', function (value, format, ...more) {
      return date.call(this, value, typeof format === 'string' ? expanded(format) : format, ...more);
    });
    for (const name of ['include', 'render', 'layout']) engine.registerTag(name, {
      parse() { throw new Error('{% ' + name + ' %} loads another file, and transforms have no files: insert the text here instead'); },
    });
    const template = engine.parse(code);
    return (event) => engine.renderSync(template, event);
  }`),
  explain(error) {
    return {
      reason: 'code',
      message: error.message.replace(/, (?:file:[^,]*, )?line:\d+, col:\d+$/, ''),
      line: error.place?.[0] ?? null,
      column: error.place?.[1] ?? null,
    };
  },
};

/**
 * The library's module for browsers as a script. (Its script for browsers emulates generators, which makes rendering
 * several times slower.) One function of it, the static analysis of templates, trips over a fault in QuickJS's
 * compiler; nothing here calls it.
 */
function asScript(module: string): string {
  const changes: [what: RegExp, by: string][] = [
    [/^function\* _analyze\([\s\S]*?^}$/m, 'function* _analyze() {}'],
    [/^export \{[^}]*\bLiquid\b[^}]*\};$/m, 'globalThis.liquidjs = { Liquid };'],
  ];
  return `(() => { 'use strict';\n${changes.reduce((script, [what, by]) => {
    if (!what.test(script)) throw new Error(`liquidjs no longer has ${what}: check how to load it`);
    return script.replace(what, by);
  }, module)}\n})();`;
}
