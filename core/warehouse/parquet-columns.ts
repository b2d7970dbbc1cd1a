// The columns of a Parquet file: the same in every file of a destination, whatever was sent. Rows reach the file as JSON on one line
// (rows.ts), with a member for each column.
// Rules: WH-39, WH-50.
import type { DecimalForm } from '../text/decimal.ts';
import type { ColumnType } from './convert.ts';
import { type FieldMappingRule, idColumnNames } from './field-mapping.ts';

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
