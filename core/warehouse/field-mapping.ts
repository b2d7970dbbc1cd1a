// Field mappings: which columns a row has and where in the event their values come from.
import { z } from 'zod';
import { COLUMN_TYPES, type ColumnType, convert } from './columns.ts';
import { type PayloadColumn, sortedHeaders, type WarehouseEvent, wellFormed } from './rows.ts';
import { readPayload } from '../forms/forms.ts';
import { type DecimalForm, parseExact } from '../text/exact-json.ts';
import { compileJsonPath, type JsonPath, JsonPathError } from './json-path.ts';
import { FileTooLargeError, MAX_ROW_BYTES } from './files-and-keys.ts';

const MAX_MAPPING_RULES = 50;
const MAX_COLUMN_LENGTH = 255;
const ROOT_MEMBERS = ['payload', 'headers', 'id', 'receivedAt', 'source'] as const;

const MAX_PRECISION = 38;
const PRECISION = `must be a whole number from 1 to ${MAX_PRECISION} when the type is decimal`;
const SCALE = 'must be a whole number from 0 to "precision" when the type is decimal';

const rule = z
  .object({
    source: z.string('must be a JSONPath expression such as $.payload.order.id'),
    target: z
      .string('must be a column name')
      .refine((name) => name.trim() !== '', 'must not be empty')
      .refine((name) => name.length <= MAX_COLUMN_LENGTH, `must be at most ${MAX_COLUMN_LENGTH} characters long`)
      .refine((name) => name.isWellFormed() && !/\p{Cc}/u.test(name), 'must not contain control characters'),
    type: z.enum(COLUMN_TYPES, `must be ${COLUMN_TYPES.slice(0, -1).join(', ')} or ${COLUMN_TYPES.at(-1)}`),
    precision: z.int(PRECISION).min(1, PRECISION).max(MAX_PRECISION, PRECISION).optional(),
    scale: z.int(SCALE).min(0, SCALE).max(MAX_PRECISION, SCALE).optional(),
    default: z.string('must be a string').optional(),
  })
  .superRefine((given, context) => {
    const wrong = wrongForm(given);
    if (wrong !== null) {
      context.addIssue({ code: 'custom', ...wrong });
      return;
    }
    try {
      compileJsonPath(given.source, ROOT_MEMBERS);
    } catch (error) {
      if (!(error instanceof JsonPathError)) throw error;
      context.addIssue({ code: 'custom', path: ['source'], message: error.message });
    }
    if (given.default !== undefined && !readDefault(given.default, given).ok) {
      const message =
        given.type === 'json' ? 'must be JSON text' : `must be a value that can be converted to ${given.type}`;
      context.addIssue({ code: 'custom', path: ['default'], message });
    }
  });

/** The schema of `fieldMapping`; issues name the rule by its index and say what its member must be. */
export const fieldMappingSchema = z
  .array(rule, 'must be an array of rules')
  .max(MAX_MAPPING_RULES, `must contain at most ${MAX_MAPPING_RULES} rules`)
  .superRefine((rules, context) => {
    const seen = new Map<string, { first: number; name: string }>();
    for (const [index, { target }] of rules.entries()) {
      const same = seen.get(columnKey(target));
      if (same === undefined) seen.set(columnKey(target), { first: index, name: target });
      else {
        const how = same.name === target ? '' : ' by more than case, because many query engines ignore case';
        const message = `must differ from the target of rule ${same.first}${how}`;
        context.addIssue({ code: 'custom', path: [index, 'target'], message });
      }
    }
  });

export type FieldMappingRule = z.output<typeof rule>;
type TypeOfRule = Pick<FieldMappingRule, 'type' | 'precision' | 'scale'>;

function wrongForm({ type, precision, scale }: TypeOfRule): { path: string[]; message: string } | null {
  if (type !== 'decimal') {
    const member = precision === undefined ? 'scale' : 'precision';
    if (precision === undefined && scale === undefined) return null;
    return { path: [member], message: 'is allowed only when the type is decimal' };
  }
  if (precision === undefined) return { path: ['precision'], message: PRECISION };
  return scale === undefined || scale > precision ? { path: ['scale'], message: SCALE } : null;
}

function decimalForm({ type, precision, scale }: TypeOfRule): DecimalForm | undefined {
  return type === 'decimal' && precision !== undefined && scale !== undefined ? { precision, scale } : undefined;
}

/** Names that are one column to BigQuery, Snowflake, Athena and DuckDB have the same key. */
const columnKey = (name: string): string => name.toLowerCase();

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

type Column = {
  target: string;
  name: string;
  path: JsonPath;
  type: FieldMappingRule['type'];
  form: DecimalForm | undefined;
  isText: boolean;
  fallback: string;
};

type IdColumn = { name: string; of: (event: WarehouseEvent) => string };

/** By which a row is found again, and told from the others of its event. */
const ID_COLUMNS: IdColumn[] = [
  { name: 'event_id', of: ({ id }) => id },
  { name: 'delivery_id', of: ({ deliveryId }) => deliveryId },
];

function idColumns(rules: readonly FieldMappingRule[]): IdColumn[] {
  const named = new Set(rules.map(({ target }) => columnKey(target)));
  return ID_COLUMNS.filter(({ name }) => !named.has(name));
}

const idColumnNames = (rules: readonly FieldMappingRule[]): string[] => idColumns(rules).map(({ name }) => name);

/**
 * @param payloadColumn `text`: with the columns of the ids
 * @param jsonColumns what columns of the types json and decimal hold: JSON, or its text
 */
export function compileFieldMapping(
  rules: readonly FieldMappingRule[],
  payloadColumn: PayloadColumn,
  jsonColumns: 'json' | 'text' = 'json',
): FieldMapping {
  const ids = payloadColumn === 'text' ? idColumns(rules) : [];
  const columns = rules.map((each): Column => {
    const { source, target, type, default: text } = each;
    const standIn = text === undefined ? null : readDefault(text, each);
    return {
      target,
      name: JSON.stringify(target),
      path: compileJsonPath(source, ROOT_MEMBERS),
      type,
      form: decimalForm(each),
      isText: (type === 'json' || type === 'decimal') && jsonColumns === 'text',
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
function readColumn({ path, type, form, fallback }: Column, root: unknown): string | null {
  try {
    const found = path.find(root);
    if (found.length === 0) return fallback;
    // A path that can find several values fills a json column with an array, even of one, so that its form is always
    // the same.
    if (!path.singular && type === 'json') return JSON.stringify(found);
    if (found.length > 1) return null;
    const converted = convert(found[0], type, form);
    return converted.ok ? JSON.stringify(converted.value) : null;
  } catch (error) {
    // Nested so deeply that it cannot be walked or written (RangeError: the stack is exhausted).
    if (error instanceof JsonPathError || error instanceof RangeError) return null;
    throw error;
  }
}

function readDefault(text: string, column: TypeOfRule): ReturnType<typeof convert> {
  if (column.type !== 'json') return convert(text, column.type, decimalForm(column));
  try {
    return { ok: true, value: parseExact(text) };
  } catch {
    return { ok: false };
  }
}

// The columns of a Parquet file: the same in every file of a destination, whatever was sent. Rows reach the file as
// JSON on one line (rows.ts), with a member for each column.

export type ParquetType = 'string' | 'double' | 'boolean' | 'timestamp';
/** Any of them may be null. */
export type ParquetColumn = { name: string; type: ParquetType | DecimalForm };

/** Of a row without a mapping. */
const ENVELOPE: readonly ParquetColumn[] = [
  { name: 'event_id', type: 'string' },
  { name: 'delivery_id', type: 'string' },
  { name: 'source', type: 'string' },
  { name: 'route', type: 'string' },
  { name: 'received_at', type: 'timestamp' },
  { name: 'written_at', type: 'timestamp' },
  { name: 'replay_of', type: 'string' },
  { name: 'headers', type: 'string' },
  { name: 'payload', type: 'string' },
  { name: 'payload_encoding', type: 'string' },
];

const TYPES: Readonly<Record<Exclude<ColumnType, 'decimal'>, ParquetType>> = {
  string: 'string',
  // Readers take a double everywhere; of a decimal somebody has to say the precision.
  number: 'double',
  boolean: 'boolean',
  timestamp: 'timestamp',
  // Its text: the type JSON of Parquet is unknown to many readers, and its statistics would hold whole values.
  json: 'string',
};

/** In the order of the members of a row. @param fieldMapping null: rows are whole events */
export function parquetColumns(fieldMapping: readonly FieldMappingRule[] | null): readonly ParquetColumn[] {
  if (fieldMapping === null) return ENVELOPE;
  return [
    ...idColumnNames(fieldMapping).map((name): ParquetColumn => ({ name, type: 'string' })),
    ...fieldMapping.map((rule): ParquetColumn => ({ name: rule.target, type: typeOf(rule) })),
  ];
}

/** A checked rule of a decimal has both members. */
function typeOf({ type, precision = 0, scale = 0 }: FieldMappingRule): ParquetColumn['type'] {
  return type === 'decimal' ? { precision, scale } : TYPES[type];
}
