// Field mappings: which columns a row has and where in the event their values come from.
// Rules: WH-15 to WH-19, WH-35, WH-36, WH-39.
import { z } from 'zod';
import { COLUMN_TYPES, convert } from './convert.ts';
import { type PayloadColumn, sortedHeaders, type WarehouseEvent, wellFormed } from './event.ts';
import { readPayload } from '../forms/index.ts';
import { parseExact } from '../numbers/exact-json.ts';
import { compileJsonPath, type JsonPath, JsonPathError } from './json-path.ts';
import { FileTooLargeError, MAX_ROW_BYTES } from './size-limit.ts';

/** WH-02 */
const MAX_MAPPING_RULES = 50;
const MAX_COLUMN_LENGTH = 255;
const ROOT_MEMBERS = ['payload', 'headers', 'id', 'receivedAt', 'source'] as const;

const rule = z
  .object({
    source: z.string('must be a JSONPath expression like $.payload.order.id'),
    target: z
      .string('must be the name of a column')
      .refine((name) => name.trim() !== '', 'must not be empty')
      .refine((name) => name.length <= MAX_COLUMN_LENGTH, `must be at most ${MAX_COLUMN_LENGTH} characters long`)
      .refine((name) => name.isWellFormed() && !/\p{Cc}/u.test(name), 'must not contain control characters'),
    type: z.enum(COLUMN_TYPES, `must be ${COLUMN_TYPES.slice(0, -1).join(', ')} or ${COLUMN_TYPES.at(-1)}`),
    default: z.string('must be a string').optional(),
  })
  .superRefine((given, context) => {
    try {
      compileJsonPath(given.source, ROOT_MEMBERS);
    } catch (error) {
      if (!(error instanceof JsonPathError)) throw error;
      context.addIssue({ code: 'custom', path: ['source'], message: error.message });
    }
    if (given.default !== undefined && !readDefault(given.default, given.type).ok) {
      const message = given.type === 'json' ? 'must be JSON text' : `must be something that can become a ${given.type}`;
      context.addIssue({ code: 'custom', path: ['default'], message });
    }
  });

/** The schema of `fieldMapping`; issues name the rule by its index and say what its member must be. */
export const fieldMappingSchema = z
  .array(rule, 'must be an array of rules')
  .max(MAX_MAPPING_RULES, `must have at most ${MAX_MAPPING_RULES} rules`)
  .superRefine((rules, context) => {
    const seen = new Map<string, { first: number; name: string }>();
    for (const [index, { target }] of rules.entries()) {
      const same = seen.get(columnKey(target));
      if (same === undefined) seen.set(columnKey(target), { first: index, name: target });
      else {
        const how = same.name === target ? '' : ', not only in case: many engines would see one column';
        const message = `must differ from that of rule ${same.first}${how}`;
        context.addIssue({ code: 'custom', path: [index, 'target'], message });
      }
    }
  });

export type FieldMappingRule = z.output<typeof rule>;

/** Names that are one column to BigQuery, Snowflake, Athena and DuckDB have the same key. */
const columnKey = (name: string): string => name.toLowerCase();

/** A mapping that is ready to make rows. */
export interface FieldMapping {
  /** Makes the row of an event. @throws FileTooLargeError */
  map(event: WarehouseEvent): MappedRow;
}

export type MappedRow = {
  /** The columns as one JSON object: those of the ids, then in the order of the rules. */
  json: string;
  /** The columns whose value could not become their type and was replaced by the default or null. */
  misfits: string[];
};

/** A mapping, or the first rule that cannot be used (`index` null: the mapping as a whole) and why. */
export type ParsedFieldMapping =
  | { ok: true; rules: FieldMappingRule[]; mapping: FieldMapping }
  | { ok: false; index: number | null; reason: string };

/** Checks a mapping as it was sent, and makes it ready. Never throws. */
export function parseFieldMapping(given: unknown, payloadColumn: PayloadColumn = 'json'): ParsedFieldMapping {
  const parsed = fieldMappingSchema.safeParse(given);
  if (parsed.success) return { ok: true, rules: parsed.data, mapping: compileFieldMapping(parsed.data, payloadColumn) };
  const issue = parsed.error.issues[0];
  const [index, ...members] = issue?.path ?? [];
  const subject = members.length > 0 ? `${members.map(String).join('.')} ` : '';
  return { ok: false, index: typeof index === 'number' ? index : null, reason: `${subject}${issue?.message ?? ''}` };
}

type Column = { target: string; name: string; path: JsonPath; type: FieldMappingRule['type']; isText: boolean; fallback: string };

type IdColumn = { name: string; of: (event: WarehouseEvent) => string };

/** By which a row is found again, and told from the others of its event. */
const ID_COLUMNS: IdColumn[] = [
  { name: 'event_id', of: ({ id }) => id },
  { name: 'delivery_id', of: ({ deliveryId }) => deliveryId },
];

/** Those that no rule names. */
function idColumns(rules: readonly FieldMappingRule[]): IdColumn[] {
  const named = new Set(rules.map(({ target }) => columnKey(target)));
  return ID_COLUMNS.filter(({ name }) => !named.has(name));
}

/** The names of the columns of the ids that rows have before the mapped ones. */
export const idColumnNames = (rules: readonly FieldMappingRule[]): string[] => idColumns(rules).map(({ name }) => name);

/**
 * Makes rules ready that `fieldMappingSchema` has checked.
 * @param payloadColumn `text`: with the columns of the ids
 * @param jsonColumns what columns of the type json hold: JSON, or its text
 */
export function compileFieldMapping(
  rules: readonly FieldMappingRule[],
  payloadColumn: PayloadColumn,
  jsonColumns: 'json' | 'text' = 'json',
): FieldMapping {
  const ids = payloadColumn === 'text' ? idColumns(rules) : [];
  const columns = rules.map(({ source, target, type, default: text }): Column => {
    const standIn = text === undefined ? null : readDefault(text, type);
    return {
      target,
      name: JSON.stringify(target),
      path: compileJsonPath(source, ROOT_MEMBERS),
      type,
      isText: type === 'json' && jsonColumns === 'text',
      fallback: standIn?.ok ? JSON.stringify(standIn.value) : 'null',
    };
  });
  return {
    map(event) {
      const root = rootOf(event);
      const misfits: string[] = [];
      let length = 0;
      // Written by hand: in an object `__proto__` would be no member, and names like `1` would come first.
      const members = columns.map((column) => {
        const value = readColumn(column, root);
        if (value === null) misfits.push(column.target);
        const member = `${column.name}:${written(column, value ?? column.fallback)}`;
        // Fifty columns of a whole payload are longer than a text can be, and more than fits in memory.
        length += member.length;
        if (length > MAX_ROW_BYTES) throw new FileTooLargeError();
        return member;
      });
      const idMembers = ids.map(({ name, of }) => `"${name}":${JSON.stringify(of(event))}`);
      return { json: `{${[...idMembers, ...members].join(',')}}`, misfits };
    },
  };
}

/** @param json the value of a column @returns it as it stands in the row; a JSON null is no text, but no value */
function written({ isText }: Column, json: string): string {
  return isText && json !== 'null' ? JSON.stringify(wellFormed(json)) : json;
}

/** What expressions see of an event. */
function rootOf(event: WarehouseEvent): Record<(typeof ROOT_MEMBERS)[number], unknown> {
  return {
    payload: readPayload(event.body, event.headers['content-type']),
    headers: sortedHeaders(event.headers),
    id: event.id,
    receivedAt: event.receivedAt.toISOString(),
    source: event.source,
  };
}

/** The value of a column as JSON text, its default when nothing is found, null when what is found does not fit. */
function readColumn({ path, type, fallback }: Column, root: unknown): string | null {
  try {
    const found = path.find(root);
    if (found.length === 0) return fallback;
    // A path that can find several values fills a json column with an array, even of one, so that its form is always the same.
    if (!path.singular && type === 'json') return JSON.stringify(found);
    if (found.length > 1) return null;
    const converted = convert(found[0], type);
    return converted.ok ? JSON.stringify(converted.value) : null;
  } catch (error) {
    // Nested so deeply that it cannot be walked or written (RangeError: the stack is exhausted).
    if (error instanceof JsonPathError || error instanceof RangeError) return null;
    throw error;
  }
}

/** A rule's `default`, which is a string for every type, as a value of the type. */
function readDefault(text: string, type: FieldMappingRule['type']): ReturnType<typeof convert> {
  if (type !== 'json') return convert(text, type);
  try {
    return { ok: true, value: parseExact(text) };
  } catch {
    return { ok: false };
  }
}
