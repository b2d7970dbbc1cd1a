// Liquid: a template whose variables are the members of the event, for example Order {{ payload.id }}.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compileWith, type TransformLanguage } from './language.ts';

const require = createRequire(import.meta.url);

export const liquid: TransformLanguage = {
  library: () => readFileSync(join(dirname(require.resolve('liquidjs')), 'liquid.browser.min.js'), 'utf8'),
  freshContext: false,
  // `templates`: partials are looked up in this empty set and nowhere else. An unknown filter or tag is an error.
  compile: compileWith(`(code) => {
    const engine = new liquidjs.Liquid({ templates: {}, strictFilters: true, ownPropertyOnly: true, cache: false });
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
