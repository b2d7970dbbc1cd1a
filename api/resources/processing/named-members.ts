// Members that filters, transforms and schemas share: a name, a slug, and routes that refer to them.
import * as field from '../fields.ts';
import { computed, converted, optional, readOnly, required } from '../table.ts';
import { count, idOf, timestamp } from '../values.ts';

/** The rows at the top of their tables. */
export const namedRows = (prefix: string, example: string) => ({
  id: readOnly(idOf(prefix)),
  name: required(field.name.meta({ examples: [example] })),
  // Derived from the name when none is sent.
  slug: converted(field.slug),
  description: optional(field.description.meta({ examples: ['For the CRM'] }), null),
});

/** The rows at the end. */
export const usedRows = {
  routeCount: computed(count.meta({ description: 'Routes that use it.', examples: [1] })),
  createdAt: readOnly(timestamp),
  updatedAt: readOnly(timestamp),
};
