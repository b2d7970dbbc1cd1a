// Encodes a Parquet file in parts: row groups one by one, each without the others, then what stands behind them. The
// same rows give the same bytes. The format: https://parquet.apache.org/docs/file-format/.
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { type DecimalForm, unscaled } from '../../core/text/exact-json.ts';
import type { ParquetColumn, ParquetType } from '../../core/warehouse/field-mapping.ts';
import type { Compression } from '../../core/warehouse/files-and-keys.ts';

export interface ParquetForm {
  columns: readonly ParquetColumn[];
  compression: Compression;
}

export interface RowGroup extends ParquetForm {
  /** Rows as JSON in UTF-8, each with a line break behind it. */
  lines: Uint8Array<ArrayBuffer>;
  rows: number;
  /** Bytes of the file before it. */
  offset: number;
}

type Group = ParquetWriter['row_groups'][number];
type ColumnStatistics = NonNullable<NonNullable<Group['columns'][number]['meta_data']>['statistics']>;

export interface EncodedRowGroup {
  bytes: Uint8Array<ArrayBuffer>;
  group: Group;
  indexes: ParquetWriter['pendingIndexes'];
}

// Of the magic number with which the library begins.
const MAGIC_BYTES = 4;

// Without a release: a repeated upload writes the same bytes. Some readers want a version.
const CREATED_BY = 'Hookyard version 1';

// Beside the logical types the older converted types, which is all that some engines know.
const TYPES: Readonly<Record<ParquetType, Omit<SchemaElement, 'name'>>> = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  timestamp: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
};

/** In as few bytes as they need, which some engines insist on. */
function decimalType({ precision, scale }: DecimalForm): Omit<SchemaElement, 'name'> {
  const decimal = {
    ...{ converted_type: 'DECIMAL' as const, precision, scale },
    logical_type: { type: 'DECIMAL' as const, precision, scale },
  };
  if (precision <= 9) return { type: 'INT32', ...decimal };
  if (precision <= 18) return { type: 'INT64', ...decimal };
  const bits = precision * Math.log2(10) + 1;
  return { type: 'FIXED_LEN_BYTE_ARRAY', type_length: Math.ceil(bits / 8), ...decimal };
}

const CODECS = { none: 'UNCOMPRESSED', snappy: 'SNAPPY', gzip: 'GZIP', zstd: 'ZSTD' } as const;

const compressors = {
  GZIP: (page: Uint8Array) => gzipSync(page),
  ZSTD: (page: Uint8Array) =>
    zstdCompressSync(page, { pledgedSrcSize: page.length, params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
};

/** @param offset bytes of the file before what is written; the writer holds the magic number, then that */
function begin({ columns, compression }: ParquetForm, offset: number) {
  const bytes = new ByteWriter();
  const schema: SchemaElement[] = [
    { name: 'schema', num_children: columns.length },
    ...columns.map(({ name, type }) => {
      const own = typeof type === 'string' ? TYPES[type] : decimalType(type);
      return { name, ...own, repetition_type: 'OPTIONAL' as const };
    }),
  ];
  const codec = CODECS[compression];
  const file = new ParquetWriter({ writer: bytes, schema, codec, compressors, createdBy: CREATED_BY });
  bytes.offset = offset;
  return { file, written: () => bytes.getBytes().slice(MAGIC_BYTES) };
}

export function encodeRowGroup({ lines, rows, offset, ...form }: RowGroup): EncodedRowGroup {
  const { file, written } = begin(form, offset);
  const values = valuesOf(form.columns, lines, rows);
  const columnData = form.columns.map(({ name }, index) => ({ name, data: values[index] ?? [] }));
  // Without a `flush` of the writer nothing is left to wait for.
  void file.write({ columnData, rowGroupSize: rows });
  const [group] = file.row_groups;
  if (!group) throw new RangeError('A row group must have rows');
  for (const { meta_data } of group.columns) if (meta_data?.statistics) shortenBounds(meta_data.statistics);
  return { bytes: written(), group, indexes: file.pendingIndexes };
}

// Longer than the bounds in a file, which are prefixes of 16 bytes, so that these stay the same.
const BOUND_CHARACTERS = 64;
// No such prefix is above a text that begins with these 16 bytes, and the library would write the whole text.
const UNBOUNDED = '\u{10ffff}'.repeat(4);

/**
 * The library cuts the least and the greatest text when it writes the end of the file: until then they would be kept
 * whole, of every row group of a file. A text without a short upper bound leaves its group without bounds.
 */
function shortenBounds(statistics: ColumnStatistics): void {
  const { min_value, max_value } = statistics;
  if (isLong(max_value) && max_value.startsWith(UNBOUNDED)) {
    delete statistics.min_value;
    delete statistics.max_value;
    return;
  }
  if (isLong(min_value)) statistics.min_value = beginningOf(min_value);
  if (isLong(max_value)) statistics.max_value = beginningOf(max_value);
}

const isLong = (bound: unknown): bound is string => typeof bound === 'string' && bound.length > BOUND_CHARACTERS;

/** A text of its own: a slice would keep the whole one. */
const beginningOf = (text: string): string => Buffer.from(text.slice(0, BOUND_CHARACTERS)).toString();

/** What stands behind the row groups. @param offset bytes of the file before it */
export function encodeFooter(form: ParquetForm, groups: Omit<EncodedRowGroup, 'bytes'>[], offset: number): Uint8Array {
  const { file, written } = begin(form, offset);
  file.row_groups = groups.map(({ group }) => group);
  file.pendingIndexes = groups.flatMap(({ indexes }) => indexes);
  file.num_rows = groups.reduce((sum, { group }) => sum + group.num_rows, 0n);
  void file.finish();
  return written();
}

const LINE_BREAK = 0x0a;

function valuesOf(columns: readonly ParquetColumn[], lines: Uint8Array<ArrayBuffer>, rows: number): unknown[][] {
  const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength);
  const values = columns.map(() => new Array<unknown>(rows));
  for (let row = 0, from = 0; row < rows; row += 1) {
    const end = bytes.indexOf(LINE_BREAK, from);
    // A double for every number, which is what their columns hold.
    const members = JSON.parse(bytes.toString('utf8', from, end)) as Record<string, unknown>;
    for (const [index, { name, type }] of columns.entries()) {
      const column = values[index];
      if (column) column[row] = typedValue(members[name], type);
    }
    from = end + 1;
  }
  return values;
}

function typedValue(value: unknown, type: ParquetColumn['type']): unknown {
  // Its text: a number of JSON would have become a double.
  if (typeof type !== 'string') return typeof value === 'string' ? unscaled(value, type) : null;
  return type === 'timestamp' && typeof value === 'string' ? BigInt(Date.parse(value)) : value;
}
