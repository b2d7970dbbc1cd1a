// How the tables of members beside this file are written. A table has a row for each member of a resource; a row says
// what clients may send, what answers and export files show, and the default of a new record. Everything else is
// derived from it: the schemas of requests, answers and files, the description of the API, and the views of a record.
import { z } from 'zod';

export interface Row {
  /** In the body of a create; absent: clients cannot send it. */
  create?: z.ZodType;
  update?: z.ZodType;
  /** In answers. An optional type is left out of them while the member is null. */
  answer: z.ZodType;
  /** In export files, where it may have another name; an import takes what a create takes. */
  file?: z.ZodType;
  fileName?: string | undefined;
  default?: unknown;
  /** Whether it is a column of the record; the others are computed for each answer. */
  isStored: boolean;
  /** Whether the stored value differs from the sent one and is derived from it. */
  isConverted?: boolean;
  /** Whether the column is encrypted: its value is never shown directly. */
  isSealed?: boolean;
}

interface Differences<FileName extends string | undefined> {
  answer?: z.ZodType;
  file?: z.ZodType;
  fileName?: FileName;
}

function stored<Type extends z.ZodType, const FileName extends string | undefined>(
  type: Type,
  { answer = type, file = answer, fileName }: Differences<FileName>,
) {
  return { answer, file, fileName: fileName as FileName, isStored: true as const };
}

/** A create must have it, an update may. */
export function required<Type extends z.ZodType, const FileName extends string | undefined = undefined>(
  type: Type,
  differences: Differences<FileName> = {},
) {
  return { ...stored(type, differences), create: type, update: type.optional() };
}

/** Optional in create and update; a new record without it gets the default. */
export function optional<
  Type extends z.ZodType,
  const Default extends z.output<Type>,
  const FileName extends string | undefined = undefined,
>(type: Type, fallback: Default, differences: Differences<FileName> = {}) {
  return { ...stored(type, differences), create: type.optional(), update: type.optional(), default: fallback };
}

/** Optional in create and update; the stored value is derived from it, or from something else when it is not sent. */
export function converted<Type extends z.ZodType, const FileName extends string | undefined = undefined>(
  type: Type,
  differences: Differences<FileName> = {},
) {
  return {
    ...stored(type, differences),
    create: type.optional(),
    update: type.optional(),
    isConverted: true as const,
  };
}

/** Like `converted`; the column is encrypted, so a view must be given the value to show. */
export function sealed<Type extends z.ZodType>(type: Type, differences: Differences<undefined> = {}) {
  return { ...converted(type, differences), isSealed: true as const };
}

/** A column that clients cannot set; it is in files only if it has a type for files. */
export function readOnly(answer: z.ZodType, file?: z.ZodType) {
  return { answer, ...(file && { file }), isStored: true as const };
}

/** Not a column: computed for each answer. */
export function computed(answer: z.ZodType) {
  return { answer, isStored: false as const };
}

export function withoutDefault(type: z.ZodType): z.ZodType {
  return type instanceof z.ZodDefault || type instanceof z.ZodPrefault ? (type.unwrap() as z.ZodType) : type;
}

export type Table = Readonly<Record<string, Row>>;

// Every record has these; answers show them only if the table has a row for them.
type Internal = 'organizationId' | 'version';
type Column<Entity> = Exclude<keyof Entity & string, Internal>;

/** Every column of the entity needs a row, and rows that are columns have the type of the column. */
type RowsOf<Entity, Rows> = { [Name in Column<Entity>]-?: { isStored: true } } & {
  [Name in keyof Rows]: Name extends keyof Entity
    ? Omit<Row, 'fileName'> & ({ create?: z.ZodType<Entity[Name] | undefined> } | { isConverted: true })
    : Row & { isStored: false };
};

/**
 * A table of the members of an entity: a column without a row, and a row without its column, are errors of the
 * compiler.
 */
export function membersOf<Entity>() {
  return <const Rows extends RowsOf<Entity, Rows>>(rows: Rows): Rows => rows;
}

type Shape<Rows, Place extends 'create' | 'update'> = {
  [Name in keyof Rows as Rows[Name] extends Record<Place, z.ZodType> ? Name : never]: Rows[Name] extends Record<
    Place,
    infer Type
  >
    ? Type
    : never;
};

export function createShape<Rows extends Table>(rows: Rows): Shape<Rows, 'create'> {
  return requiredFirst(typesIn(rows, 'create')) as Shape<Rows, 'create'>;
}

export function updateShape<Rows extends Table>(rows: Rows): Shape<Rows, 'update'> {
  return typesIn(rows, 'update') as Shape<Rows, 'update'>;
}

export function answerShape(rows: Table): z.ZodRawShape {
  return typesIn(rows, 'answer');
}

// The message names the first of several errors: a missing member before an invalid one.
function requiredFirst(shape: z.ZodRawShape): z.ZodRawShape {
  const isOptional = (type: unknown): number => (type instanceof z.ZodOptional ? 1 : 0);
  return Object.fromEntries(
    Object.entries(shape).toSorted(([, one], [, other]) => isOptional(one) - isOptional(other)),
  );
}

function typesIn(rows: Table, place: 'create' | 'update' | 'answer'): z.ZodRawShape {
  return Object.fromEntries(Object.entries(rows).flatMap(([name, row]) => (row[place] ? [[name, row[place]]] : [])));
}

export function fileShape(rows: Table): z.ZodRawShape {
  return Object.fromEntries(inFiles(rows).map(([name, { file, fileName = name }]) => [fileName, file]));
}

type ImportShape<Rows> = {
  [Name in keyof Rows as Rows[Name] extends { create: z.ZodType; fileName: infer FileName }
    ? FileName extends string
      ? FileName
      : Name
    : never]: Rows[Name] extends { create: infer Type } ? Type : never;
};

export function importShape<Rows extends Table>(rows: Rows): ImportShape<Rows> {
  const types = inFiles(rows).flatMap(([name, { create, fileName = name }]) => (create ? [[fileName, create]] : []));
  return requiredFirst(Object.fromEntries(types)) as ImportShape<Rows>;
}

type Described = Row & { file: z.ZodType };
const inFiles = (rows: Table) =>
  Object.entries(rows).filter((entry): entry is [string, Described] => 'file' in entry[1]);

type Defaults<Rows> = {
  [Name in keyof Rows as Rows[Name] extends { default: unknown } ? Name : never]: Rows[Name] extends {
    default: infer Default;
  }
    ? Default
    : never;
};

export function defaultsOf<Rows extends Table>(rows: Rows): Defaults<Rows> {
  const defaults = Object.entries(rows).flatMap(([name, row]) => ('default' in row ? [[name, row.default]] : []));
  return Object.fromEntries(defaults) as Defaults<Rows>;
}

/** Some rows of a table, in its order. */
export function only<Rows extends Table, Name extends keyof Rows & string>(
  rows: Rows,
  ...names: Name[]
): Pick<Rows, Name> {
  const wanted: readonly string[] = names;
  return Object.fromEntries(Object.entries(rows).filter(([name]) => wanted.includes(name))) as Pick<Rows, Name>;
}

// The members that cannot be read from a column: they have none, or it is encrypted.
type Sealed<Rows> = { [Name in keyof Rows]: Rows[Name] extends { isSealed: true } ? Name : never }[keyof Rows];
type Computed<Rows> = { [Name in keyof Rows]: Rows[Name] extends { isStored: false } ? Name : never }[keyof Rows];

/** A record as answers show it. @param others what is no column, or is shown differently */
export function toAnswer<Rows extends Table>(
  rows: Rows,
  record: object,
  others: Record<Computed<Rows> | Sealed<Rows>, unknown> & { [Name in keyof Rows]?: unknown },
): Record<string, unknown> {
  return view(
    Object.entries(rows).map(([name, { answer }]) => [name, name, answer]),
    record,
    others,
  );
}

/** A record as export files hold it. @param others replace the column, by their name in files */
export function toFileItem<Rows extends Table>(
  rows: Rows,
  record: object,
  others: Record<Sealed<Rows>, unknown> & Record<string, unknown>,
): Record<string, unknown> {
  return view(
    inFiles(rows).map(([name, { file, fileName = name }]) => [fileName, name, file]),
    record,
    others,
  );
}

function view(
  members: [shownAs: string, column: string, type: z.ZodType][],
  record: object,
  others: Record<string, unknown>,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, column, type] of members) {
    const value = Object.hasOwn(others, name) ? others[name] : (record as Record<string, unknown>)[column];
    if (value === null || value === undefined) {
      if (!(type instanceof z.ZodOptional)) shown[name] = null;
    } else shown[name] = value;
  }
  return shown;
}
