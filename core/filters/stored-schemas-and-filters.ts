// Schemas and filters as their JSON. A source may have hundreds of them, of which a webhook needs few: each is read
// when it is compiled, in the budget of that.
import { PARSE_STEPS } from '../fairness/budget.ts';
import type { JsonSchema, StoredSchema } from '../schemas/schema.ts';
import { parseExact } from '../text/exact-json.ts';
import type { FilterCondition, FilterLogic } from './filter.ts';
import type { StoredFilter } from './schema-and-filter.ts';

export class SchemaText implements StoredSchema {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly json: string;

  constructor({ id, name, version, json }: Pick<SchemaText, 'id' | 'name' | 'version' | 'json'>) {
    this.id = id;
    this.name = name;
    this.version = version;
    this.json = json;
  }

  get schema(): JsonSchema {
    return parseExact(this.json) as JsonSchema;
  }

  get whole(): string {
    const { id, name, version } = this;
    return `${JSON.stringify({ id, name, version }).slice(0, -1)},"schema":${this.json}}`;
  }
}

export class FilterText implements StoredFilter {
  /** Of the filter, or of the route that has the conditions itself. */
  readonly id: string;
  readonly logic: FilterLogic;
  readonly json: string;

  constructor({ id, logic, json }: Pick<FilterText, 'id' | 'logic' | 'json'>) {
    this.id = id;
    this.logic = logic;
    this.json = json;
  }

  get conditions(): FilterCondition[] {
    return parseExact(this.json) as FilterCondition[];
  }

  get readSteps(): number {
    return this.json.length * PARSE_STEPS;
  }

  get whole(): string {
    return `{"conditions":${this.json},"logic":${JSON.stringify(this.logic)}}`;
  }
}
