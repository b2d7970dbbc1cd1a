// Schemas and filters as their JSON. A source may have hundreds of them, of which a webhook needs few: each is read
// when it is compiled, in the budget of that.
import { PARSE_STEPS } from '../fairness/budget.ts';
import type { JsonSchema, StoredSchema } from '../schemas/schema.ts';
import { parseExact } from '../text/exact-json.ts';
import type { FilterCondition, FilterLogic } from './filter.ts';

export type SchemaText = ReturnType<typeof schemaText>;

export const schemaText = ({ id, name, version, json }: Omit<StoredSchema, 'schema'> & { json: string }) => ({
  ...{ id, name, version, json },
  get schema(): JsonSchema {
    return parseExact(json) as JsonSchema;
  },
  get whole(): string {
    return `${JSON.stringify({ id, name, version }).slice(0, -1)},"schema":${json}}`;
  },
});

export type FilterText = ReturnType<typeof filterText>;

/** @param stored.id of the filter, or of the route that has the conditions itself */
export const filterText = ({ id, logic, json }: { id: string; logic: FilterLogic; json: string }) => ({
  ...{ id, logic, json, readSteps: json.length * PARSE_STEPS },
  get conditions(): FilterCondition[] {
    return parseExact(json) as FilterCondition[];
  },
  get whole(): string {
    return `{"conditions":${json},"logic":${JSON.stringify(logic)}}`;
  },
});
