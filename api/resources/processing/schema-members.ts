// What a schema holds.
import { z } from 'zod';
import type { JsonSchema } from '../../../core/schemas/schema.ts';
import type { Schema } from '../../../db/entities.ts';
import { namedRows, usedRows } from './named-members.ts';
import { answerShape, createShape, membersOf, readOnly, required, updateShape } from '../table.ts';
import { version } from '../values.ts';

// Whether it can be used is checked in a thread (resources/schemas.ts).
// Kept as sent: copying by members would lose one called __proto__.
const isJsonSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));

export const jsonSchema = z
  .custom<JsonSchema>(isJsonSchema, 'must be a JSON Schema: an object, or true or false')
  .meta({
    description: 'A JSON Schema, draft-07 or 2020-12 (named by `$schema`; without it 2020-12).',
    override: { type: ['object', 'boolean'] },
    examples: [{ type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }],
  });
const shownSchema = z
  .union([z.record(z.string(), z.unknown()), z.boolean()])
  .meta({ description: 'A JSON Schema.', examples: [{ type: 'object', required: ['id'] }] });

/** Clients may send what is `required` or `optional`, with its default, and a slug; the others are read-only. */
export const schemaMembers = membersOf<Schema>()({
  ...namedRows('sch', 'Order'),
  schema: required(jsonSchema, { answer: shownSchema }),
  version: readOnly(version),
  ...usedRows,
});

export const createSchemaSchema = z.object(createShape(schemaMembers));
export const updateSchemaSchema = z.object(updateShape(schemaMembers));
export const schemaAnswer = z.object(answerShape(schemaMembers)).meta({ id: 'Schema' });
