// Parsers of column types, where the driver's own do not fit.
import pg from 'pg';
import { parseExact } from '../../core/text/exact-json.ts';

const { INT8, JSON: JSON_TEXT, JSONB } = pg.types.builtins;

// Conditions and schemas hold numbers of users, and jsonb keeps their digits. Set for the whole process, so that the object
// mapper and the hand-written statements read alike.
for (const type of [JSON_TEXT, JSONB]) pg.types.setTypeParser(type, parseExact);

/** Of the hand-written statements. */
export const types = new pg.TypeOverrides();
// Counters and versions stay far below 2^53, so bigint columns are read as numbers.
types.setTypeParser(INT8, (text) => Number(text));
