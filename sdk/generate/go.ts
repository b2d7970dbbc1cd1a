// The Go of the API's description. Written as gofmt leaves it: blank lines between members, so that nothing is aligned.
import { goOperations } from './go-operations.ts';
import { GoTypes } from './go-types.ts';
import type { Description } from './description.ts';

const MADE = '// Made of docs/openapi.json by npm run prepare. DO NOT EDIT.';

/** @returns the text of `types.go` and `operations.go` */
export function goFiles(description: Description): { types: string; operations: string } {
  const types = new GoTypes(description.schemas);
  const operations = goOperations(description, types);
  const made = types.all();
  return {
    types: `${MADE}\n\npackage hookyard\n${made.includes('time.Time') ? '\nimport "time"\n' : ''}\n${made}`,
    operations: [
      `${MADE}\n\npackage hookyard\n`,
      'import (\n\t"context"\n\t"iter"\n)\n',
      `// Version is that of this package, and of the Hookyard that it was made for.\nconst Version = "${description.version}"\n`,
      operations,
    ].join('\n'),
  };
}
